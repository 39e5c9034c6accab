"""Who may start, and who may read, which measurement between which sites.

[ADON] 2.2.1 (4) asks "Who can initiate measurements within/between iPlant, MU and ISI resources? Who can
view the measurement data of certain performance metrics?", and answers by coordination by hand.  Here the
configuration answers, ``policy.measurement_access``:

- Without an entry for *start* (or *read*) the table of :mod:`adon.access.policy` decides alone: everybody
  with a role reads, who runs the network starts.
- With at least one, an actor may exactly what an entry grants, whatever the role; what none grants is
  refused.  Administrators always may: they write the configuration.

An entry is about a series: one metric in one direction between two sites (or of one host).  Alarms and what
is derived from a series are as readable as the series itself.  Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Literal, TypeVar

from adon.access.identity import Actor
from adon.access.policy import Action, Object, Permission, Role, may
from adon.config.policy import MeasurementGrant
from adon.errors import Forbidden, NotAuthenticated
from measurement.model import Series

Deed = Literal["start", "read"]
Item = TypeVar("Item")

_ACTIONS: dict[Deed, Action] = {"start": Action.MEASUREMENT_START, "read": Action.MEASUREMENT_READ}


def may_measure(
    actor: Actor | None, deed: Deed, series: Series, grants: Sequence[MeasurementGrant]
) -> Permission:
    """Whether an actor may start the measurement of a series, or read it.

    :param grants: ``policy.measurement_access`` of the configuration.
    """
    concerned = [grant for grant in grants if grant.may == deed]
    if actor is None or Role.ADMIN in actor.roles or not concerned:
        return may(actor, _ACTIONS[deed], Object("measurement"))
    if any(_grants(grant, actor, series) for grant in concerned):
        return Permission(True, f"the configuration lets {actor.name} {deed} {_words(series)}")
    return Permission(False, f"no entry of measurement_access lets {actor.name} {deed} {_words(series)}")


def authorise_measurement(
    actor: Actor | None, deed: Deed, series: Series, grants: Sequence[MeasurementGrant]
) -> None:
    """Nothing, if :func:`may_measure` allows it.

    :raises NotAuthenticated: if an identity might help.
    :raises Forbidden: if the actor is known and may not.
    """
    permission = may_measure(actor, deed, series, grants)
    if not permission.allowed:
        raise (NotAuthenticated if actor is None else Forbidden)(permission.reason)


def readable(
    actor: Actor | None, items: Iterable[tuple[Series, Item]], grants: Sequence[MeasurementGrant]
) -> list[Item]:
    """Of things about series, those that an actor may read; each series is judged once."""

    @cache
    def may_read(series: Series) -> bool:
        return may_measure(actor, "read", series, grants).allowed

    return [item for series, item in items if may_read(series)]


def _grants(grant: MeasurementGrant, actor: Actor, series: Series) -> bool:
    return (
        grant.includes(actor.name, actor.roles, actor.groups)
        and (grant.metrics is None or any(_means(pattern, series.metric) for pattern in grant.metrics))
        and _names(grant.from_, {series.source})
        and _names(grant.to, {series.destination})
    )


def _names(allowed: Sequence[str] | None, held: Collection[str]) -> bool:
    return allowed is None or any(name in held for name in allowed)


def _means(pattern: str, metric: str) -> bool:
    return metric.startswith(pattern[:-1]) if pattern.endswith(".*") else metric == pattern


def _words(series: Series) -> str:
    if not series.destination:
        return f"{series.metric} of {series.source}"
    return f"{series.metric} from {series.source} to {series.destination}"

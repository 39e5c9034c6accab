"""Alarms, planned runs and overlaps of the archive, as far as an actor may see them.

An alarm is visible to the readers of its series.  A planned run has no series of its own: it is visible to an
actor who may read or start one of the metrics of its test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any, TypeVar

from adon.access.identity import Actor
from adon.access.policy import Action
from adon.measurement_plan import METRICS
from apps.rest.runs import read_task
from apps.rest.services import Services
from measurement.anomaly.alarm import Alarm
from measurement.model import Series, from_json
from measurement.scheduling import Execution

MOST_READ = 100_000
"""Documents that are read at most for the visible ones among them."""

T = TypeVar("T")


def alarms(
    parts: Services,
    actor: Actor | None,
    *,
    path: str | None = None,
    metric: str | None = None,
    limit: int = 1000,
    **period: Any,
) -> list[Alarm]:
    """Return the visible alarms, the newest first.

    :param period: ``since``, ``until`` and ``open_only`` as in :meth:`Measurements.documents`.
    :raises Unavailable: if the archive cannot be read.
    """
    may_read = cache(lambda series: parts.policy.decide(actor, Action.MEASUREMENT_READ, series).allowed)

    def read(document: dict[str, Any]) -> Alarm | None:
        alarm = from_json(Alarm, document)
        wanted = path in (None, alarm.series.path) and metric in (None, alarm.series.metric)
        return alarm if wanted and may_read(alarm.series) else None

    return _read_visible(parts, "alarm", read, limit, **period)


def executions(parts: Services, actor: Actor | None, *, limit: int = 1000, **period: Any) -> list[Execution]:
    """Return the visible runs, the newest first.

    :param period: ``since`` and ``until`` of the planned start.
    :raises Unavailable: if the archive cannot be read.
    """
    visible = tasks_seen_by(parts, actor)

    def read(document: dict[str, Any]) -> Execution | None:
        execution = from_json(Execution, document)
        return execution if visible(execution.task) else None

    return _read_visible(parts, "execution", read, limit, **period)


def overlaps(parts: Services, actor: Actor | None, since: float) -> list[tuple[Execution, Execution]]:
    """Return the visible pairs of conflicting runs that ran at the same time.

    :param since: detected at this time or later.
    :raises Unavailable: if the archive cannot be read.
    """
    visible = tasks_seen_by(parts, actor)

    def read(document: dict[str, Any]) -> tuple[Execution, Execution] | None:
        first, second = (from_json(Execution, document[name]) for name in ("first", "second"))
        return (first, second) if visible(first.task) and visible(second.task) else None

    return _read_visible(parts, "overlap", read, MOST_READ, since=since)


def tasks_seen_by(parts: Services, actor: Actor | None) -> Callable[[str], bool]:
    """Return a function that tells whether the actor may see the task of a name."""
    actions = (Action.MEASUREMENT_READ, Action.MEASUREMENT_START)

    @cache
    def visible(task: str) -> bool:
        return any(
            parts.policy.decide(actor, action, series).allowed
            for series in series_of(task)
            for action in actions
        )

    return visible


def could_read(
    parts: Services,
    actor: Actor | None,
    *,
    path: str | None,
    source: str | None,
    destination: str | None,
    metric: str | None,
) -> bool:
    """Return whether the actor may read any possible series with these parts; None stands for any.

    Grants compare names only, so the names in the grants and one further name represent all.
    """
    grants = [grant for grant in parts.policy.grants if grant.may == "read"]
    sources = _representatives(source, (grant.from_ for grant in grants))
    destinations = _representatives(destination, (grant.to for grant in grants))
    metrics = _representatives(metric, (grant.metrics for grant in grants))
    return any(
        parts.policy.decide(
            actor, Action.MEASUREMENT_READ, Series(path or "", *ends, name.replace(".*", ".x"))
        ).allowed
        for ends in product(sources, destinations)
        for name in metrics
    )


def _representatives(given: str | None, named: Iterable[tuple[str, ...] | None]) -> set[str]:
    return {given} if given is not None else {"", *(name for names in named for name in names or ())}


def series_of(task: str) -> tuple[Series, ...]:
    """Return the series of a task's test, from its name (:func:`adon.measurement_plan.task_id`).

    The name may be from an earlier configuration.  A name of another form gives a series that no grant names.
    """
    read = read_task(task)
    metrics = () if read is None else METRICS.get(read.kind, ())
    if read is None or not metrics:
        return (Series("", "", "", task),)
    return tuple(Series(*read.key, metric.value) for metric in metrics)


def _read_visible(
    parts: Services,
    kind: str,
    read: Callable[[dict[str, Any]], T | None],
    limit: int,
    since: float | None = None,
    until: float | None = None,
    *,
    open_only: bool = False,
) -> list[T]:
    """Return at most ``limit`` documents for which ``read`` returns a value."""
    batch = limit
    while True:
        documents = parts.measurements.documents(kind, since, until, batch, open_only=open_only)
        found = [one for one in map(read, documents) if one is not None]
        if len(found) >= limit or len(documents) < batch or batch >= MOST_READ:
            return found[:limit]
        batch = min(batch * 8, MOST_READ)

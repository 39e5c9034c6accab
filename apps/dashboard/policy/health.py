"""How the flows of a template fare, in a few numbers.  Pure: outcomes of the API to values."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from adon.api.flows import OutcomeView


@dataclass(frozen=True, slots=True)
class Health:
    """What outcomes say.

    :param judged: flows that were admitted, so that their QSpec could be kept.
    :param kept: of them, those that kept it all the time that it was known.
    :param error: median of (promised - achieved) / achieved; None where nothing tells.
    :param last: when the last one ended in seconds since the epoch.
    """

    flows: int
    judged: int
    kept: int
    error: float | None
    last: float | None


def health(outcomes: Iterable[OutcomeView]) -> Health:
    """Of these outcomes, those that ended last first."""
    found = list(outcomes)
    judged = [one for one in found if one.admitted_at is not None]
    errors = [one.error for one in found if one.error is not None]
    return Health(
        len(found),
        len(judged),
        sum(one.kept for one in judged),
        statistics.median(errors) if errors else None,
        found[0].ended_at if found else None,
    )


def by_template(outcomes: Iterable[OutcomeView]) -> dict[str, Health]:
    """By the template's name, whatever version served them."""
    sorted_: dict[str, list[OutcomeView]] = {}
    for one in outcomes:
        sorted_.setdefault(one.template.partition("@")[0], []).append(one)
    return {name: health(some) for name, some in sorted_.items()}

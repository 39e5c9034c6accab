"""What became of the plan in the last hour: plan against truth."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from adon.access.identity import Actor
from apps.rest import runs, seen
from apps.rest.runs import Fate
from apps.rest.services import Services
from measurement.scheduling import Execution

HOUR_S = 3600.0
MOST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Executed:
    """One run: plan against truth, in seconds.

    :param slot: what the plan keeps for it; None if the plan of now does not have it.
    """

    run: Execution
    fate: Fate
    slot: float | None
    overlapped: bool

    @property
    def late(self) -> float | None:
        """By how much it began after its planned start."""
        return None if self.run.started is None else self.run.started - self.run.planned_start

    @property
    def lasted(self) -> float | None:
        """None where begin or end is not known."""
        run = self.run
        return None if run.started is None or run.ended is None else run.ended - run.started


@dataclass(frozen=True, slots=True)
class LastHour:
    """What became of the plan in the last hour.

    :param shown: the newest runs.
    :param overlaps: pairs of conflicting runs that ran at the same time.
    :param slips: median and largest delay of the starts, in seconds; None if nothing started.
    """

    shown: list[Executed]
    counts: Mapping[Fate, int]
    overlaps: int
    slips: tuple[float, float] | None


def last_hour(parts: Services, actor: Actor | None, now: float, slots: Mapping[str, float]) -> LastHour:
    """The runs of the last hour that this actor may see, held against the plan.

    :param slots: per planned task the seconds that the plan keeps for a run.
    :raises Unavailable: if the archive cannot be read.
    """
    found = seen.executions(parts, actor, since=now - HOUR_S, limit=seen.MOST_READ)
    overlaps = seen.overlaps(parts, actor, now - HOUR_S)
    met = {run.id for pair in overlaps for run in pair}
    slips = runs.slips(found)
    shown = [
        Executed(run, runs.fate(run), slots.get(runs.planned(run.task)), run.id in met)
        for run in found[:MOST_SHOWN]
    ]
    return LastHour(
        shown,
        Counter(runs.fate(run) for run in found),
        len(overlaps),
        (statistics.median(slips), max(slips)) if slips else None,
    )

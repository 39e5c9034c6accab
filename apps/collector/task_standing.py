"""What becomes of tasks of ours that stand at the points without end, beside the plan: pure.

Each is posted for an hour and followed, a few minutes before it ends, by the next one, which begins when it
ends: what a collector that vanished has left ends by itself.  A task that gives no results is asked about:
one that the point has lost (it was restarted) or that has failed is posted anew, less and less often.

Times here are of the monotonic clock: a step of the wall clock must neither end a task nor keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from measurement.errors import PointError
from measurement.fleet import AGAIN_AT_MOST
from measurement.poller import PathTest
from measurement.pscheduler import retry
from measurement.pscheduler.client import ScheduledRun
from measurement.pscheduler.specs import PostedTask

LASTS = 3600.0
"""Seconds for which a task is posted."""
AHEAD = 300.0
"""Seconds before its end at which the next one is posted."""
AFTER = 120.0
"""Seconds after its end for which results of a task may still come."""
SILENT = 30.0
MISSES = 3.0
"""Results missing, or :data:`SILENT` seconds if that is longer, after which a task is asked about."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A test that goes on at a point.

    :param test: its request is for :data:`LASTS` seconds.
    :param period: seconds between its results.
    """

    point: str
    test: PathTest
    period: float

    @property
    def patience(self) -> float:
        """Seconds without a result that are nothing to ask about."""
        return max(SILENT, MISSES * self.period)


@dataclass(frozen=True, slots=True)
class Held:
    """A task that was posted, and when it begins and ends."""

    task: PostedTask
    begins: float
    ends: float
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is of a wanted test.

    :param tasks: the one that runs and the one after it; one that has just ended.
    :param heard: when its last result was read.
    :param misses: how often in a row a task of it came to nothing.
    :param failures: how often in a row the point could not be asked, or would not have it.
    :param resume: nothing is done about it before then.
    """

    tasks: tuple[Held, ...] = ()
    heard: float = float("-inf")
    misses: int = 0
    failures: int = 0
    resume: float = 0.0


class Todo(Enum):
    """What is to be done about a wanted test."""

    NOTHING = "nothing"
    POST = "post a task, the first or the next"
    ASK = "ask why nothing comes"


def todo(wanted: Wanted, standing: Standing, now: float) -> Todo:
    """What is to be done now."""
    if now < standing.resume:
        return Todo.NOTHING
    if not standing.tasks:
        return Todo.POST
    if now - max(standing.heard, standing.tasks[0].begins) > wanted.patience:
        return Todo.ASK
    return Todo.POST if standing.tasks[-1].ends - now < AHEAD else Todo.NOTHING


def after_result(wanted: Wanted, standing: Standing, now: float) -> Standing:
    """After a result.  A task that gives one and ends at once (a workflow that is over) has not recovered."""
    lasting = standing.tasks and now - standing.tasks[0].begins > wanted.patience
    return replace(standing, heard=now, misses=0 if lasting else standing.misses)


def without_ended(standing: Standing, now: float) -> Standing:
    """Without the tasks that ended long enough ago."""
    kept = tuple(held for held in standing.tasks if held.ends + AFTER > now)
    return standing if kept == standing.tasks else replace(standing, tasks=kept)


def after_loss(standing: Standing, now: float) -> Standing:
    """After a task turned out to be gone: the first time anew at once, then after ever longer pauses."""
    pause = 0.0 if standing.misses == 0 else min(AGAIN_AT_MOST, SILENT * 2.0 ** min(standing.misses, 20))
    return Standing((), standing.heard, standing.misses + 1, resume=now + pause)


def silent(wanted: Wanted, standing: Standing, now: float) -> Standing:
    """After a task turned out to go on without results: it is asked about less and less often."""
    pause = min(AGAIN_AT_MOST, wanted.patience * 2.0 ** min(standing.misses, 20))
    return replace(standing, misses=standing.misses + 1, failures=0, resume=now + pause)


def after_refusal(standing: Standing, error: PointError, now: float, chance: float) -> Standing:
    """After the point could not be asked, or would not have it."""
    failures = standing.failures + 1
    wait = retry.before_next(error, failures, chance)
    pause = AGAIN_AT_MOST if wait is None else min(wait, AGAIN_AT_MOST)
    return replace(standing, failures=failures, resume=now + pause)


def verdict(runs: Iterable[ScheduledRun]) -> str | None:
    """Why a task gives nothing (any more), from its runs; None while one is to come or under way."""
    found = list(runs)
    if not found:
        return "the point does not know it any more"
    if any(not run.state.terminal for run in found):
        return None
    last = max(found, key=lambda run: (bool(run.errors), run.end))
    return f"its run is {last.state}: {last.errors or 'no reason given'}"

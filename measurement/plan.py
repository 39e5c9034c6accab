"""Which tests start now: pure, with time as an argument.

Tests are periodic.  Two tests conflict if they share a measurement point and at least one of them loads
the network (spec section 5): a ping during a throughput test measures the test.  Among the tests that
are due the one with the earliest deadline (its last start plus two periods; EDF) goes first, and a due
test that must wait keeps later ones off its points, so light tests cannot starve a heavy one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from measurement.model import Metric, PathKey
from measurement.pscheduler.specs import Kind, TestRequest

LONGEST_BACKOFF = 600.0
_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One periodic test of one directed path.

    :param metrics: what it is done for; further values of its result are not kept.
    :param points: the names of the measurement points it keeps busy.
    :param period: seconds from start to start.
    """

    key: PathKey
    request: TestRequest
    metrics: tuple[Metric, ...]
    points: frozenset[str]
    period: float

    @property
    def name(self) -> str:
        """Unique among planned tests: a directed path has at most one test of each kind."""
        return f"{self.key}/{self.request.kind}"

    @property
    def loads(self) -> bool:
        """True when the test itself fills the path."""
        return self.request.kind is Kind.THROUGHPUT

    def conflicts(self, other: PlannedTest) -> bool:
        """True when the two would disturb each other."""
        return (self.loads or other.loads) and not self.points.isdisjoint(other.points)


@dataclass(frozen=True, slots=True)
class History:
    """What has become of a test so far.

    :param started: when it last started.
    :param failures: how often in a row it failed.
    """

    started: float
    failures: int = 0


def due_at(test: PlannedTest, history: History | None) -> float:
    """When a test should start next: a period after its last start, later the more often it failed."""
    if history is None:
        return _NEVER
    doublings = min(max(history.failures - 1, 0), 10)
    longest = max(test.period, LONGEST_BACKOFF)
    return history.started + min(test.period * 2.0**doublings, longest)


def to_start(
    tests: Iterable[PlannedTest],
    now: float,
    history: Mapping[str, History],
    running: Collection[str],
    quiet: Collection[str] = (),
) -> list[PlannedTest]:
    """The tests to start now, in order.

    :param history: per test name; a test that never ran is missing.
    :param running: names of the tests under way.
    :param quiet: names of paths on which no load may be offered now (counters serve there).
    """
    known = list(tests)
    busy = [test for test in known if test.name in running]
    due = [
        test
        for test in known
        if test.name not in running
        and due_at(test, history.get(test.name)) <= now
        and not (test.loads and test.key.path in quiet)
    ]
    chosen = []
    for test in sorted(due, key=lambda test: (_deadline(test, history), test.period, test.name)):
        if not any(test.conflicts(other) for other in busy):
            chosen.append(test)
        busy.append(test)
    return chosen


def _deadline(test: PlannedTest, history: Mapping[str, History]) -> float:
    return due_at(test, history.get(test.name)) + test.period

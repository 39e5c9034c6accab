"""The mesh of tests that an application's needs ask for, at periods proved to fit: pure.

An application template says which metrics it needs and how old a value may be (``max_age``).  Each metric is
given by one kind of test, and each test runs in every direction given.  Its period follows from the age:
a run is released every p seconds and over by the next release, so the starts of two runs that follow each
other are at most 2p - e apart (e: the slot).  A value is as old as that, and what its slot is longer
than the measurement, and the time to fetch the next one, before the next one replaces it; hence ::

    p <= (max_age + lasts - FETCH) / 2

(the "half-half" rule for keeping data fresh; Xiong and Ramamritham, *Deriving deadlines and periods for
real-time update transactions*, IEEE Trans. Computers 53 (5), 2004).  EDF-CE's schedule for such periods is
the proof that they fit; the age that each test really keeps is read off it.

A bound on loss fixes how many packets a test needs: with none of n lost, loss is below 3/n with 95 %
confidence (the rule of three; Hanley and Lippman-Hand, JAMA 249 (13), 1983).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from measurement.model import Metric, PathKey
from measurement.pscheduler import specs
from measurement.pscheduler.specs import Ends, TestRequest
from measurement.psconfig import write
from measurement.scheduling import (
    Agreement,
    Flexible,
    HyperperiodTooLong,
    NoSchedule,
    Schedule,
    Task,
    fit_periods,
)

FETCH = 5.0
"""Seconds from the end of a run until its value is archived."""

THROUGHPUT_SECONDS = 10.0
ECHO_REQUESTS = 10
FEWEST_PACKETS = 100
MOST_PACKETS = 10_000
LONGEST_PERIOD = 86_400.0
_TESTS: Mapping[str, tuple[Metric, ...]] = {
    "throughput": (Metric.THROUGHPUT,),
    "rtt": (Metric.RTT,),
    "latency": (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS),
}


@dataclass(frozen=True, slots=True)
class Need:
    """What an application needs to know of one metric.

    :param max_age: seconds that a value may be old.
    :param streams: of a throughput test.
    :param bound: the hard bound on the metric, in its units; None when it has none.
    :raises ValueError: for an age or a number of streams that is not above zero.
    """

    max_age: float
    streams: int = 1
    bound: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.max_age) and self.max_age > 0):
            raise ValueError(f"max_age: {self.max_age!r} must be above zero")
        if self.streams < 1:
            raise ValueError(f"streams: {self.streams!r} must be at least one")


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of one path.

    :param points: measurement points that a test keeps busy.
    :param links: links that it crosses.
    :param capacity: per link or domain, bits/s: what a throughput test offers there.
    """

    key: PathKey
    ends: Ends
    points: frozenset[str]
    links: frozenset[str]
    capacity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeshTest:
    """One test of the mesh.

    :param task: with the period that fits.
    :param worst_age: seconds; no value of it is ever older than this while the plan is kept to.
    """

    key: PathKey
    ends: Ends
    request: TestRequest
    metrics: tuple[Metric, ...]
    task: Task
    worst_age: float


@dataclass(frozen=True, slots=True)
class Mesh:
    """Tests that keep every value as fresh as it is needed, and the schedule that proves it.

    :param notes: one line for each need that is met only in part.
    """

    tests: tuple[MeshTest, ...]
    schedule: Schedule
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoMesh:
    """The needs cannot be met together, and why."""

    cause: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    direction: Direction
    request: TestRequest
    metrics: tuple[Metric, ...]
    max_age: float

    @property
    def id(self) -> str:
        return f"{self.direction.key}/{self.request.kind}"

    @property
    def longest_period(self) -> float:
        """As :func:`longest_period`."""
        return longest_period(self.max_age, self.request.lasts)


def longest_period(max_age: float, lasts: float) -> float:
    """The longest period that keeps values younger than ``max_age``; whole milliseconds, as scheduled.

    :param lasts: seconds that a test measures.
    """
    return math.floor(min((max_age + lasts - FETCH) / 2, LONGEST_PERIOD) * 1000) / 1000


def mesh(
    needs: Mapping[Metric, Need], directions: Iterable[Direction], agreement: Agreement | None = None
) -> Mesh | NoMesh:
    """The tests that meet the needs in every direction.

    :param agreement: what tests may spend of links and domains; None: everything.
    """
    wanted = [each for direction in directions for each in _wanted(needs, direction)]
    if not wanted:
        return NoMesh("nothing is needed, or there is no path to measure")
    short = [each for each in wanted if each.longest_period < each.request.slot]
    if short:
        return NoMesh("; ".join(map(_too_fresh, short)))
    try:
        found = fit_periods(
            [_flexible(each) for each in wanted], Agreement() if agreement is None else agreement
        )
    except HyperperiodTooLong as error:
        return NoMesh(str(error))
    if isinstance(found, NoSchedule):
        return NoMesh(found.text)
    tests = tuple(_test(each, found) for each in wanted)
    return Mesh(tests, found, tuple(_notes(needs)))


def planned(tests: Iterable[MeshTest]) -> list[write.Planned]:
    """The tests of a mesh for :func:`measurement.psconfig.write.write`."""
    return [
        write.Planned(
            write.End(test.key.source, test.ends.source, test.ends.source_node),
            write.End(test.key.destination, test.ends.dest, test.ends.dest_node),
            test.request.kind,
            test.request.spec,
            test.task.period,
            max(0.0, test.task.period - test.request.slot),
        )
        for test in tests
    ]


def _wanted(needs: Mapping[Metric, Need], direction: Direction) -> Iterable[_Wanted]:
    for kind, metrics in _TESTS.items():
        served = tuple(metric for metric in metrics if metric in needs)
        if served:
            request = _request(kind, needs, direction.ends)
            yield _Wanted(direction, request, served, min(needs[metric].max_age for metric in served))


def _request(kind: str, needs: Mapping[Metric, Need], ends: Ends) -> TestRequest:
    if kind == "throughput":
        return specs.throughput(ends, THROUGHPUT_SECONDS, needs[Metric.THROUGHPUT].streams)
    if kind == "rtt":
        return specs.rtt(ends, ECHO_REQUESTS)
    packets = min(_packets(needs), MOST_PACKETS)
    return specs.latency(ends, packets, 0.1 if packets <= FEWEST_PACKETS else 0.01)


def _packets(needs: Mapping[Metric, Need]) -> int:
    bound = needs[Metric.LOSS].bound if Metric.LOSS in needs else None
    if bound is None or bound <= 0:
        return FEWEST_PACKETS
    return max(FEWEST_PACKETS, math.ceil(3 / bound))


def _notes(needs: Mapping[Metric, Need]) -> Iterable[str]:
    packets = _packets(needs)
    if packets > MOST_PACKETS:
        yield (
            f"loss: a bound of {needs[Metric.LOSS].bound:g} takes {packets} packets to be told; "
            f"a test sends {MOST_PACKETS}"
        )


def _too_fresh(wanted: _Wanted) -> str:
    least = 2 * wanted.request.slot - wanted.request.lasts + FETCH
    return (
        f"{wanted.id}: a value cannot be kept younger than {wanted.max_age:g} s: a test occupies its points "
        f"for {wanted.request.slot:g} s, so at least {least:g} s are needed"
    )


def _flexible(wanted: _Wanted) -> Flexible:
    """From half the longest period on: fresher than needed is no use, and the round has more divisors."""
    longest = wanted.longest_period
    shortest = max(math.ceil(longest * 500) / 1000, math.ceil(wanted.request.slot * 1000) / 1000)
    direction = wanted.direction
    loads = Metric.THROUGHPUT in wanted.metrics
    task = Task(
        wanted.id,
        direction.ends.source,
        direction.ends.dest,
        wanted.request.kind,
        min(shortest, longest),
        wanted.request.slot,
        None,
        direction.points,
        direction.links,
        loads,
        load=direction.capacity if loads else {},
    )
    return Flexible(task, longest)


def _test(wanted: _Wanted, schedule: Schedule) -> MeshTest:
    task = schedule.tasks[wanted.id]
    starts = sorted(job.start for job in schedule.jobs if job.task == wanted.id)
    gap = longest_gap(starts, schedule.hyperperiod) / 1000
    worst = gap + wanted.request.slot - wanted.request.lasts + FETCH
    direction = wanted.direction
    return MeshTest(direction.key, direction.ends, wanted.request, wanted.metrics, task, worst)


def longest_gap(starts: Sequence[int], round_length: int) -> int:
    """The longest time between two starts that follow each other in a schedule that is repeated."""
    again = [*starts, starts[0] + round_length]
    return max(after - before for before, after in pairwise(again))

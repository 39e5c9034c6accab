"""What became of the plan: executed runs, held against the conflicts and the agreement.

A point may start late, or a run may last longer than planned: the plan's freedom of conflicts is proved, its
execution is checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.task import Footprint, conflicts
from measurement.scheduling.ticks import seconds

RESOLUTION_S = 0.5
"""A shorter overlap is not distinguishable from none."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What the plan wanted of one run, and what happened.  Times are seconds since the Unix epoch.

    :param number: of the run, as in :class:`~measurement.scheduling.horizon.Start`.
    :param started: None: it never started.
    :param ended: None: it is not known to have ended.
    :param outcome: ``done``, or why not, one line.
    """

    task: str
    number: int
    planned_start: float
    started: float | None
    ended: float | None
    outcome: str

    @property
    def id(self) -> str:
        """Unique over epochs too."""
        return f"{self.task}@{self.planned_start:.3f}"


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two runs of conflicting tests that ran at the same time.

    :param first: the one that started earlier.
    :param seconds: for how long they did.
    """

    first: Execution
    second: Execution
    seconds: float


@dataclass(frozen=True, slots=True)
class Excess:
    """More was offered to a link or domain than the agreement allows.

    :param at: wall time at which the excess began.
    :param offered: bits/s, from then until the next change.
    :param tasks: who offered it.
    """

    where: str
    at: float
    offered: float
    allowed: float
    tasks: tuple[str, ...]


def overlaps(executions: Iterable[Execution], tests: Iterable[Footprint]) -> list[Overlap]:
    """Executed runs of conflicting tests that overlapped, two runs of one loading test included.

    Points report whole seconds of their clocks, whose offset from ours is measured anew for each run: runs
    that share less than half a second only touched.  A run that is not known to have ended,
    or that ended before it began, is reckoned with its planned duration.

    :param tests: the tasks, and on-demand requests, that the runs are of.
    :raises ValueError: naming a run whose test is not among them.
    """
    known = {test.id: test for test in tests}
    neighbours = ConflictGraph.of(known.values()).neighbours
    under_way: dict[str, list[tuple[float, Execution]]] = {}
    found = []
    for start, end, run in _in_order(executions, known):
        for other in sorted(_with_itself(run.task, neighbours, known)):
            # Per task few are under way at once, mostly one: who has ended is dropped in passing.
            still = [each for each in under_way.get(other, []) if each[0] > start]
            under_way[other] = still
            shared = [(each, min(until, end) - start) for until, each in still]
            found += [Overlap(each, run, length) for each, length in shared if length >= RESOLUTION_S]
        under_way.setdefault(run.task, []).append((end, run))
    return found


def _with_itself(
    task: str, neighbours: Mapping[str, frozenset[str]], known: Mapping[str, Footprint]
) -> frozenset[str]:
    return neighbours[task] | {task} if conflicts(known[task], known[task]) else neighbours[task]


def excesses(
    executions: Iterable[Execution], tests: Iterable[Footprint], agreement: Agreement
) -> list[Excess]:
    """Every instant from which on executed runs offered more than the agreement allows, in order of time.

    Parameters and errors as in :func:`overlaps`.
    """
    known = {test.id: test for test in tests}
    ordered = list(_in_order(executions, known))
    found: list[Excess] = []
    for where, allowed in sorted(agreement.allowed.items()):
        users = [each for each in ordered if known[each[2].task].load.get(where, 0.0) > 0]
        found += _excesses_at(where, allowed, users, known)
    return sorted(found, key=lambda excess: (excess.at, excess.where))


def _excesses_at(
    where: str,
    allowed: float,
    runs: list[tuple[float, float, Execution]],
    known: Mapping[str, Footprint],
) -> Iterator[Excess]:
    under_way: list[tuple[float, str]] = []
    for start, end, run in runs:
        while under_way and under_way[0][0] <= start:
            heappop(under_way)
        heappush(under_way, (end, run.task))
        offered = math.fsum(known[task].load[where] for _, task in under_way)
        if offered > allowed:
            tasks = tuple(sorted(task for _, task in under_way))
            yield Excess(where, start, offered, allowed, tasks)


def _in_order(
    executions: Iterable[Execution], known: Mapping[str, Footprint]
) -> Iterator[tuple[float, float, Execution]]:
    """(started, ended, run) of the runs that started, by start."""
    ran = []
    for run in executions:
        if run.task not in known:
            raise ValueError(f"run {run.id}: its test is not among those known")
        if run.started is not None:
            end = run.ended
            if end is None or end < run.started:  # the point set its clock during the run
                end = run.started + seconds(known[run.task].execution_time)
            ran.append((run.started, end, run))
    return iter(sorted(ran, key=lambda each: (each[0], each[2].id)))

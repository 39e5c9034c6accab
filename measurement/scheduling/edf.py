"""EDF-CE: earliest deadline first with concurrent execution, non-preemptive ([ADON] algorithm 1).

The printed algorithm walks all release and finish times and at each of them tries every pending job in EDF
order.  This walk makes the same decisions without the tries that cannot succeed: a job that does not fit
now is looked at again at the first instant at which the tests under way let it, which is known, since
nothing is preempted.  Each start can postpone each pending neighbour once, hence n·d heap operations for n
jobs of conflict degree d.

Where it departs from the printed listing (spec section 5):

- Releases at the hyperperiod belong to the next round.
- A miss is noticed for any pending job as soon as it is certain, whether or not the job could start; the
  listing checks only jobs that start.  Jobs pending at the hyperperiod have missed, as no deadline is later.
- Equal deadlines are decided by period, then by id: the result depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.task import Footprint, Task
from measurement.scheduling.ticks import Ticks
from measurement.scheduling.values import Job


class Pending(NamedTuple):
    """A job that is to be placed; its order is the order of decisions: time, then EDF, period, id.

    :param time: when to look at it: its release, or a later instant before which it cannot start.
    :param period: 0 for an on-demand job: at equal deadlines it goes first.
    :param test: the place of its task in the order of ids.
    """

    time: Ticks
    deadline: Ticks
    period: Ticks
    test: int
    number: int
    release: Ticks


@dataclass(frozen=True, slots=True)
class Miss:
    """A job that cannot be over in time.

    :param instant: when that was certain.
    :param blocked_until: what runs then does not let it start before; None: it never can.
    :param placed: the jobs placed until then.
    """

    task: str
    number: int
    release: Ticks
    deadline: Ticks
    instant: Ticks
    blocked_until: Ticks | None
    placed: tuple[Job, ...]


class Allowance:
    """What may still be offered to one link or domain, while a walk goes on."""

    def __init__(self, allowed: int) -> None:
        self._free = allowed
        self._under_way: list[tuple[Ticks, int]] = []  # (finish, load), a heap

    def earliest(self, load: int, time: Ticks) -> Ticks | None:
        """The first instant from ``time`` on at which the tests now under way leave room; None: never."""
        while self._under_way and self._under_way[0][0] <= time:
            self._free += heappop(self._under_way)[1]
        if load <= self._free:
            return time
        free = self._free
        for finish, freed in sorted(self._under_way):
            free += freed
            if load <= free:
                return finish
        return None

    def take(self, load: int, finish: Ticks) -> None:
        """A test begins to offer load."""
        self._free -= load
        heappush(self._under_way, (finish, load))


class Walk:
    """The working state of one walk: which tests are under way, and until when.

    :param tests: periodic tasks and on-demand requests.
    :param graph: their conflicts.
    """

    def __init__(self, tests: Iterable[Footprint], agreement: Agreement, graph: ConflictGraph) -> None:
        known = sorted(tests, key=lambda test: test.id)
        self.ids = [test.id for test in known]
        self.index: Mapping[str, int] = {name: number for number, name in enumerate(self.ids)}
        if len(self.index) < len(self.ids):
            twice = next(a for a, b in zip(self.ids, self.ids[1:], strict=False) if a == b)
            raise ValueError(f"task {twice}: there are two of this id")
        self._lasts = [test.execution_time for test in known]
        self._neighbours = [
            [self.index[other] for other in graph.neighbours[name] if other in self.index]
            for name in self.ids
        ]
        allowances = {where: Allowance(limit) for where, limit in agreement.limits.items()}
        self._loads = [
            [(allowances[where], rate) for where, rate in agreement.count_limited(test.load).items()]
            for test in known
        ]
        self._busy_until: list[Ticks] = [0] * len(known)

    def begin(self, test: int, start: Ticks) -> Ticks:
        """A test starts; its finish."""
        finish = self._busy_until[test] = start + self._lasts[test]
        for allowance, rate in self._loads[test]:
            allowance.take(rate, finish)
        return finish

    def earliest(self, test: int, time: Ticks) -> Ticks | None:
        """The first instant from ``time`` on at which what is under way lets a test start; None: never."""
        earliest = max(time, max(map(self._busy_until.__getitem__, self._neighbours[test]), default=time))
        for allowance, rate in self._loads[test]:
            room = allowance.earliest(rate, time)
            if room is None:
                return None
            earliest = max(earliest, room)
        return earliest

    def place(self, pending: list[Pending]) -> list[Job] | Miss:
        """Start every job, each as early as EDF-CE lets it; the list is used up."""
        heapify(pending)
        placed: list[Job] = []
        while pending:
            time, deadline, period, test, number, release = heappop(pending)
            start = self.earliest(test, time)
            if start is None or start + self._lasts[test] > deadline:
                return Miss(self.ids[test], number, release, deadline, time, start, tuple(placed))
            if start > time:
                heappush(pending, Pending(start, deadline, period, test, number, release))
                continue
            finish = self.begin(test, time)
            placed.append(Job(self.ids[test], number, release, time, finish, deadline))
        return placed


def place_round(
    tasks: Sequence[Task], agreement: Agreement, graph: ConflictGraph, length: Ticks
) -> tuple[Job, ...] | Miss:
    """EDF-CE over one round.

    :param length: the hyperperiod.
    :raises ValueError: if two tasks have the same id.
    """
    walk = Walk(tasks, agreement, graph)
    placed = walk.place([released for task in tasks for released in releases(task, walk, length)])
    return placed if isinstance(placed, Miss) else tuple(placed)


def releases(task: Task, walk: Walk, length: Ticks) -> list[Pending]:
    """The jobs of one task in one round; a release at its end belongs to the next."""
    interval, deadline, test = task.interval, task.relative_deadline, walk.index[task.id]
    return [
        Pending(release, release + deadline, interval, test, number, release)
        for number, release in enumerate(range(0, length, interval))
    ]

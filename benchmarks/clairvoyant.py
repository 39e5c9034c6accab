"""Schedules and a bound of a scheduler that knows all requests, sizes and changes of the network in advance.

*Schedule*: a priority list.  At every event the active transfers are visited in its order, and each takes the
path where it has the highest rate next to those before it; it waits where that is less than ``worth`` of
its rate alone.  A pause and a move cost nothing.  The simulator shares the links as for every other policy.
The search (list scheduling, then local search: Pinedo, Scheduling, chapter 14) starts with the classical
orders and changes one thing at a time.  It finds good schedules, not provably the best one.

*Bound*: a linear program with the bits x(j, p, t) of transfer j over path p in interval t.  Its constraints
hold for every schedule in the simulator, with pauses and moves at no cost:

- no link carries more than its capacity in an interval (b streams of other people keep at least b / (b + S)
  of it, where S are all streams of the workload);
- a transfer has at most the rate of its streams and its host, on one path at a time;
- all its bits are sent, none before its request.

A completion is at least the mean busy time, with every bit at the start of its interval, plus half the size
over the highest rate; and at least the request plus the time alone (Goemans, SODA 1997, on mean busy times).
No schedule has a lower mean than the minimum of the mean of these.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from adon.simulation import policies
from adon.simulation.engine import TransferRecord, simulate
from adon.simulation.measures import summarize
from adon.simulation.simulated_network import LinkDirection, SimulatedPath
from adon.simulation.workload import Transfer, Workload, rate_alone
from adon.values import FrozenMap

WORTHS = (0.05, 0.35, 0.7, 1.0)
INTERVALS = 120
"""Approximate number of intervals of the bound until the end of a good schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """See the module's text.

    :param order: numbers of the transfers, the first one first; None: least remaining bytes first.
    :param fixed: paths of transfers that use one path only, by number.
    """

    order: tuple[int, ...] | None
    worth: float
    fixed: Mapping[int, str] = field(default_factory=FrozenMap)


@dataclass
class ClairvoyantPolicy:
    """Carries out a schedule with the true state of the network."""

    workload: Workload
    schedule: Schedule
    name: str = "clairvoyant"
    quiet: frozenset[str] = frozenset()
    active: dict[int, Transfer] = field(default_factory=dict)
    placed: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._changes = iter(self.workload.network.changes)
        self.wake_at: float | None = next(self._changes, None)
        order = self.schedule.order
        self._ranks = None if order is None else {number: place for place, number in enumerate(order)}

    def decide(self, event: policies.PolicyEvent, view: policies.PolicyView) -> Sequence[policies.Order]:
        """As :meth:`Policy.decide`."""
        match event:
            case policies.TransferSubmitted(transfer):
                self.active[transfer.number] = transfer
            case policies.TransferEnded(transfer):
                del self.active[transfer.number]
                self.placed.pop(transfer.number, None)
        while self.wake_at is not None and self.wake_at <= view.now:
            self.wake_at = next(self._changes, None)
        return list(self._assign(view))

    def _assign(self, view: policies.PolicyView) -> Iterator[policies.Order]:
        shares = _Shares(self.workload, view.now)
        for transfer in sorted(self.active.values(), key=lambda one: self._rank(one, view)):
            number, present = transfer.number, self.placed.get(transfer.number)
            path = self._best_path(transfer, shares)
            if path is None:
                if present is not None:
                    del self.placed[number]
                    yield policies.PauseTransfer(number)
                continue
            shares.add(transfer, path)
            if path.name != present:
                self.placed[number] = path.name
                yield policies.UsePath(number, path.name)

    def _rank(self, transfer: Transfer, view: policies.PolicyView) -> tuple[float, int]:
        if self._ranks is None:
            return transfer.size - view.sent(transfer.number), transfer.number
        return self._ranks[transfer.number], transfer.number

    def _best_path(self, transfer: Transfer, shares: _Shares) -> SimulatedPath | None:
        fixed = self.schedule.fixed.get(transfer.number)
        best, most = None, 0.0
        for path in self.workload.network.between(transfer.source, transfer.destination):
            if fixed in (None, path.name):
                alone, rate = shares.alone(transfer, path), shares.rate(transfer, path)
                if rate > most and rate >= self.schedule.worth * alone * (1 - 1e-9):
                    best, most = path, rate
        return best


class _Shares:
    """Capacity that earlier transfers of the list use; n streams get n / (n + b) of a link with b others."""

    def __init__(self, workload: Workload, now: float) -> None:
        self._network, self._now = workload.network, now
        self._used: dict[LinkDirection, float] = {}
        self._streams: dict[LinkDirection, int] = {}

    def alone(self, transfer: Transfer, path: SimulatedPath) -> float:
        """Return the bits/s of a transfer without the earlier ones."""
        return rate_alone(self._network, transfer, path, self._now)

    def rate(self, transfer: Transfer, path: SimulatedPath) -> float:
        """Return the bits/s of one more transfer."""
        rate = rate_alone(self._network, transfer, path, self._now, others=False)
        for way in path.directions_from(transfer.source):
            link = self._network.links[way[0]]
            streams = self._streams.get(way, 0) + transfer.streams
            share = streams / (streams + link.other_streams.at(self._now))
            rate = min(rate, link.capacity.at(self._now) * share - self._used.get(way, 0.0))
        return max(0.0, rate)

    def add(self, transfer: Transfer, path: SimulatedPath) -> None:
        """Put a transfer onto a path."""
        rate = self.rate(transfer, path)
        for way in path.directions_from(transfer.source):
            self._used[way] = self._used.get(way, 0.0) + rate
            self._streams[way] = self._streams.get(way, 0) + transfer.streams


# -- the best schedule ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """A schedule with its mean completion time in seconds."""

    schedule: Schedule
    mean: float
    records: tuple[TransferRecord, ...]


def search_schedule(workload: Workload, rng: random.Random, tries: int) -> ScheduleRun:
    """Return the schedule with the lowest mean of the classical ones and a number of changes."""
    starts = (Schedule(order, worth) for order, worth in product(_classical_orders(workload), WORTHS))
    best = min((run_schedule(workload, one) for one in starts), key=lambda one: one.mean)
    for _ in range(tries):
        tried = run_schedule(workload, _neighbour(best, workload, rng))
        if tried.mean < best.mean:
            best = tried
    return best


def run_schedule(workload: Workload, schedule: Schedule) -> ScheduleRun:
    """Simulate a schedule, without tests."""
    records = simulate(workload, ClairvoyantPolicy(workload, schedule), tests=False)
    return ScheduleRun(schedule, summarize(workload, records).mean, tuple(records))


def _classical_orders(workload: Workload) -> Iterator[tuple[int, ...] | None]:
    keys: tuple[Callable[[Transfer], float], ...] = (
        lambda one: one.size,
        lambda one: one.at,
        lambda one: math.inf if one.deadline is None else one.deadline,
    )
    yield None
    for key in keys:
        ranked = sorted((key(one), one.number) for one in workload.transfers)
        yield tuple(number for _, number in ranked)


def _neighbour(found: ScheduleRun, workload: Workload, rng: random.Random) -> Schedule:
    """Return a schedule that differs in one thing."""
    schedule, transfer, kind = found.schedule, rng.choice(workload.transfers), rng.random()
    if kind < 0.1:
        return replace(schedule, worth=rng.choice(WORTHS))
    if kind < 0.4:
        paths = [path.name for path in workload.network.between(transfer.source, transfer.destination)]
        fixed = {number: path for number, path in schedule.fixed.items() if number != transfer.number}
        if transfer.number not in schedule.fixed:
            fixed[transfer.number] = rng.choice(paths)
        return replace(schedule, fixed=FrozenMap(fixed))
    order = list(schedule.order if schedule.order is not None else _order_of_ends(found))
    place = order.index(transfer.number)
    other = min(len(order) - 1, max(0, place + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8))))
    order.insert(other, order.pop(place))
    return replace(schedule, order=tuple(order))


def _order_of_ends(found: ScheduleRun) -> tuple[int, ...]:
    ends = [(math.inf if one.ended is None else one.ended, one.transfer.number) for one in found.records]
    return tuple(number for _, number in sorted(ends))


# -- the bound ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Rows:
    """Rows of a sparse matrix with their limits."""

    numbers: dict[object, int] = field(default_factory=dict)
    limits: list[float] = field(default_factory=list)
    entries: list[tuple[float, int, int]] = field(default_factory=list)

    def add(self, row: object, limit: float, column: int, weight: float) -> None:
        """Add an entry."""
        number = self.numbers.setdefault(row, len(self.numbers))
        if number == len(self.limits):
            self.limits.append(limit)
        self.entries.append((weight, number, column))

    def matrix(self, columns: int) -> Any:
        """Return the matrix."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        weights, rows, places = zip(*self.entries, strict=True)
        return csr_matrix((weights, (rows, places)), (len(self.limits), columns))


def mean_completion_bound(workload: Workload, until: float, intervals: int = INTERVALS) -> float:
    """Return seconds from request to end that no schedule's mean is below.

    Bits are in gigabits, so that the numbers of the program are near one.

    :param until: end of a good schedule; later intervals are coarse.
    :raises RuntimeError: if the solver fails.
    """
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    network, transfers = workload.network, workload.transfers
    streams = sum(one.streams for one in transfers)
    pieces = list(_pieces(workload, _intervals(workload, until, intervals)))
    most, equal = _Rows(), _Rows()
    half = {one.number: -one.bits / (2 * _highest_rate(workload, one)) for one in transfers}
    for column, (transfer, path, interval) in enumerate(pieces):
        start, end = interval
        number, begin = transfer.number, max(start, transfer.at)
        for way in path.directions_from(transfer.source):
            link = network.links[way[0]]
            share = streams / (streams + link.other_streams.at(start))
            most.add((way, start), link.capacity.at(start) * (end - start) * share / 1e9, column, 1.0)
        rate = rate_alone(network, transfer, path, start, others=False)
        most.add((number, start), end - begin, column, 1e9 / rate)
        most.add(("end", number), half[number], column, begin / (transfer.bits / 1e9))
        equal.add(number, transfer.bits / 1e9, column, 1.0)
    for column, transfer in enumerate(transfers, len(pieces)):
        most.add(("end", transfer.number), half[transfer.number], column, -1.0)
    width, least = len(pieces) + len(transfers), [one.at + seconds_alone(workload, one) for one in transfers]
    solved = linprog(
        [0.0] * len(pieces) + [1 / len(transfers)] * len(transfers),
        A_ub=most.matrix(width),
        b_ub=most.limits,
        A_eq=equal.matrix(width),
        b_eq=equal.limits,
        bounds=[(0, None)] * len(pieces) + [(end, None) for end in least],
        method="highs",
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    return float(solved.fun) - math.fsum(one.at for one in transfers) / len(transfers)


def _intervals(workload: Workload, until: float, count: int) -> list[tuple[float, float]]:
    """Return intervals in which the network does not change; the last one is longer than all transfers."""
    first, changes = workload.transfers[0].at, workload.network.changes
    step = max(until - first, 1.0) / count
    last = max([until, *changes, *(one.at for one in workload.transfers)])
    borders = {first, until, last, *(at for at in changes if at > first)}
    borders.update(first + step * place for place in range(count))
    one_by_one = [one.bits / max(1.0, _best_rate(workload, one, last)) for one in workload.transfers]
    return list(pairwise([*sorted(borders), last + 10 * math.fsum(one_by_one) + 1.0]))


def _pieces(
    workload: Workload, intervals: Sequence[tuple[float, float]]
) -> Iterator[tuple[Transfer, SimulatedPath, tuple[float, float]]]:
    for transfer in workload.transfers:
        for interval in intervals:
            for path in workload.network.between(transfer.source, transfer.destination):
                rate = rate_alone(workload.network, transfer, path, interval[0], others=False)
                if interval[1] > transfer.at and rate > 0:
                    yield transfer, path, interval


def _best_rate(workload: Workload, transfer: Transfer, now: float, *, others: bool = True) -> float:
    network = workload.network
    paths = network.between(transfer.source, transfer.destination)
    return max(rate_alone(network, transfer, path, now, others=others) for path in paths)


def _highest_rate(workload: Workload, transfer: Transfer) -> float:
    times = [transfer.at, *(at for at in workload.network.changes if at > transfer.at)]
    return max(_best_rate(workload, transfer, at, others=False) for at in times)


def seconds_alone(workload: Workload, transfer: Transfer) -> float:
    """Return the seconds of a transfer that uses the best path at every time and no other transfer meets."""
    left, now = transfer.bits, transfer.at
    for until in (*(at for at in workload.network.changes if at > transfer.at), math.inf):
        rate = _best_rate(workload, transfer, now)
        if rate > 0 and left <= rate * (until - now):
            return now + left / rate - transfer.at
        left, now = left - rate * (until - now), until
    return math.inf

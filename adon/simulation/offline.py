"""Who knows the future: the best schedule found, with all requests, sizes and changes of the network known.

A schedule is a *priority list*: at every event the transfers that are there are gone through in its order,
and each is put onto the path where it has most beside those before it; where it would have less than
``worth`` of what it would have there alone, it waits.  So queueing is deliberate, and a transfer may be
paused and moved at no cost.  What the transfers then have is worked out by the same simulator as for
everybody else: TCP's shares, not shares by decree.

The search (list scheduling, then local search: Pinedo, Scheduling, ch. 14) begins with the classical orders,
smallest first, smallest remainder first, earliest deadline first, first come first served, each with several
values of ``worth``, and then improves the best by swapping two transfers, binding one to a path, or letting
it go.  It finds good schedules, not provably the best; what nobody can beat is
:mod:`adon.simulation.bound`'s.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.frozenmap import FrozenMap
from adon.simulation.engine import Record, simulate
from adon.simulation.measures import Measures, measured
from adon.simulation.network import Path
from adon.simulation.policy import Finished, Happening, Order, Pause, Submitted, Take, View
from adon.simulation.workload import Transfer, Workload

WORTHS = (0.05, 0.35, 0.7, 1.0)

Cost = Callable[[Measures], tuple[float, ...]]
"""What a search makes small."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """See the module's text.

    :param order: the transfers' numbers, first to be served first; None: by what is left of each, least
        first.
    :param worth: the part of what it would have alone below which a transfer waits.
    :param bound: transfers that use one path only, by number.
    :param pauses: whether a transfer that has begun may wait again, or move while its path works.
    """

    order: tuple[int, ...] | None
    worth: float
    bound: Mapping[int, str] = field(default_factory=FrozenMap)
    pauses: bool = True


@dataclass
class Planned:
    """A policy that carries out a schedule, knowing the network as it is."""

    workload: Workload
    schedule: Schedule
    name: str = "offline"
    quiet: frozenset[str] = frozenset()
    active: dict[int, Transfer] = field(default_factory=dict)
    on: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._changes = iter(self.workload.network.changes)
        self.wake: float | None = next(self._changes, None)
        order = self.schedule.order
        self._rank = None if order is None else {number: place for place, number in enumerate(order)}

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        match what:
            case Submitted(transfer):
                self.active[transfer.number] = transfer
            case Finished(transfer):
                del self.active[transfer.number]
                self.on.pop(transfer.number, None)
        while self.wake is not None and self.wake <= view.now:
            self.wake = next(self._changes, None)
        return list(self._assigned(view))

    def _assigned(self, view: View) -> Iterator[Order]:
        taken = _Taken(self.workload, view.now)
        for transfer in sorted(self.active.values(), key=lambda one: self._place(one, view)):
            number, present = transfer.number, self.on.get(transfer.number)
            path = self._kept(present, view.now) or self._best(transfer, taken)
            if path is None:
                if present is not None:
                    del self.on[number]
                    yield Pause(number)
                continue
            taken.add(transfer, path)
            if path.name != present:
                self.on[number] = path.name
                yield Take(number, path.name)

    def _place(self, transfer: Transfer, view: View) -> tuple[bool, float, int]:
        fixed = not self.schedule.pauses and transfer.number in self.on
        if self._rank is None:
            return not fixed, transfer.size - view.sent(transfer.number), transfer.number
        return not fixed, self._rank[transfer.number], transfer.number

    def _kept(self, present: str | None, now: float) -> Path | None:
        """The path that it has and keeps, whoever else there is."""
        if self.schedule.pauses or present is None:
            return None
        path = self.workload.network.path(present)
        return path if path.works(now) else None

    def _best(self, transfer: Transfer, taken: _Taken) -> Path | None:
        only = self.schedule.bound.get(transfer.number)
        best, most = None, 0.0
        for path in self.workload.network.between(transfer.source, transfer.destination):
            if only is not None and path.name != only:
                continue
            by_itself, beside = taken.alone(transfer, path), taken.rate(transfer, path)
            if beside > most and beside >= self.schedule.worth * by_itself * (1 - 1e-9):
                best, most = path, beside
        return best


class _Taken:
    """What those before have of every link, as if they came first.

    Other people's streams share with all of ours: where there are b of them, n of ours have n/(n + b).
    """

    def __init__(self, workload: Workload, now: float) -> None:
        self._network, self._now = workload.network, now
        self._used: dict[object, float] = {}
        self._streams: dict[object, int] = {}

    def rate(self, transfer: Transfer, path: Path) -> float:
        """Bits/s for one more."""
        rate = self._own(transfer, path)
        for way in path.way(transfer.source):
            link = self._network.links[way[0]]
            streams = self._streams.get(way, 0) + transfer.streams
            share = streams / (streams + link.background.at(self._now))
            rate = min(rate, link.capacity.at(self._now) * share - self._used.get(way, 0.0))
        return max(0.0, rate)

    def alone(self, transfer: Transfer, path: Path) -> float:
        """Bits/s for it if it were the only one."""
        rate = self._own(transfer, path)
        for name, _ in path.way(transfer.source):
            link = self._network.links[name]
            share = transfer.streams / (transfer.streams + link.background.at(self._now))
            rate = min(rate, link.capacity.at(self._now) * share)
        return rate

    def _own(self, transfer: Transfer, path: Path) -> float:
        if not path.works(self._now):
            return 0.0
        limit = self._network.stream_limit(path, transfer.source, self._now)
        return min(transfer.ceiling, limit * transfer.streams)

    def add(self, transfer: Transfer, path: Path) -> None:
        """It has the path."""
        rate = self.rate(transfer, path)
        for way in path.way(transfer.source):
            self._used[way] = self._used.get(way, 0.0) + rate
            self._streams[way] = self._streams.get(way, 0) + transfer.streams


def by_mean(found: Measures) -> tuple[float, ...]:
    """The mean completion time first, deadlines second."""
    return found.mean, 0.0 if found.deadlines is None else -found.deadlines


def by_deadlines(found: Measures) -> tuple[float, ...]:
    """Deadlines first, the mean completion time second."""
    return 0.0 if found.deadlines is None else -found.deadlines, found.mean


@dataclass(frozen=True, slots=True)
class Found:
    """The best schedule found, and what it comes to."""

    schedule: Schedule
    measures: Measures
    records: tuple[Record, ...]


def search(
    workload: Workload,
    chance: random.Random,
    tries: int,
    cost: Cost = by_mean,
    *,
    pauses: Sequence[bool] = (True, False),
) -> Found:
    """The best schedule found in so many tries beyond the classical orders."""
    starts = [
        Schedule(order, worth, pauses=may)
        for may in pauses
        for order in _orders(workload)
        for worth in WORTHS
    ]
    best = min((_tried(workload, schedule) for schedule in starts), key=lambda one: cost(one.measures))
    for _ in range(tries):
        neighbour = _neighbour(best, workload, chance)
        tried = _tried(workload, neighbour)
        if cost(tried.measures) < cost(best.measures):
            best = tried
    return best


def _tried(workload: Workload, schedule: Schedule) -> Found:
    records = simulate(workload, Planned(workload, schedule), measured=False)
    return Found(schedule, measured(workload, records), tuple(records))


def _orders(workload: Workload) -> Iterator[tuple[int, ...] | None]:
    """The classical orders."""
    transfers = workload.transfers

    def sorted_by(key: Callable[[Transfer], float]) -> tuple[int, ...]:
        return tuple(one.number for one in sorted(transfers, key=lambda one: (key(one), one.number)))

    yield None
    yield sorted_by(lambda one: one.size)
    yield sorted_by(lambda one: one.at)
    yield sorted_by(lambda one: math.inf if one.deadline is None else one.deadline)


def _neighbour(found: Found, workload: Workload, chance: random.Random) -> Schedule:
    """A schedule that differs in one thing."""
    schedule = found.schedule
    transfer = chance.choice(workload.transfers)
    kind = chance.random()
    if kind < 0.1:
        return replace(schedule, worth=chance.choice(WORTHS))
    if kind < 0.4:
        paths = [path.name for path in workload.network.between(transfer.source, transfer.destination)]
        bound = {number: path for number, path in schedule.bound.items() if number != transfer.number}
        if transfer.number not in schedule.bound:
            bound[transfer.number] = chance.choice(paths)
        return replace(schedule, bound=FrozenMap(bound))
    order = list(schedule.order if schedule.order is not None else _as_served(found))
    place = order.index(transfer.number)
    other = min(len(order) - 1, max(0, place + chance.choice((-8, -4, -2, -1, 1, 2, 4, 8))))
    order.insert(other, order.pop(place))
    return replace(schedule, order=tuple(order))


def _as_served(found: Found) -> tuple[int, ...]:
    """The order in which transfers ended: a list that comes near to an order by what is left."""
    ends = [(math.inf if one.ended is None else one.ended, one.transfer.number) for one in found.records]
    return tuple(number for _, number in sorted(ends))

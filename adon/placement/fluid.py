"""What becomes of placed applications, as fluids: every connection has its max-min fair share all the time.

Each transfer between two tasks is one connection; all of an application start when it is placed, and it is
done with its last one ([CHOREO] 6.1 transfers the same bytes for real).  Between two events (one comes, a
transfer ends, placements are looked at again) all rates are constant.  Applications that find no room wait
until another is done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from adon.fluid import Demand, max_min_rates
from adon.placement.completion import links, ways
from adon.placement.model import Application, Assignment, Impossible, Machine
from adon.placement.sequences import MigrationCost, Move, Placing, Running, beside, reconsidered
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

DONE_BITS = 1e-3
"""What is left of a transfer that is over: rounding."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An application and when it comes, in seconds."""

    at: float
    application: Application


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one application; times in seconds.

    :param moves: how often it was moved while it ran.
    :param where: since when its tasks were on which machines, the first placement first.
    """

    name: str
    came: float
    placed: float
    ended: float
    moves: int = 0
    where: tuple[tuple[float, Assignment], ...] = ()

    @property
    def seconds(self) -> float:
        """How long it took, waiting included."""
        return self.ended - self.came


@dataclass(frozen=True, slots=True)
class Again:
    """That placements are looked at again while they run ([CHOREO] 2.4).

    :param every: seconds.
    """

    every: float
    cost: MigrationCost


@dataclass(slots=True)
class _Live:
    """:param still: until when it stands still because it moves."""

    arrival: Arrival
    placed: float
    machines: dict[str, str]
    bits: dict[tuple[str, str], float]
    still: float = 0.0
    moves: int = 0
    where: list[tuple[float, Assignment]] = field(default_factory=list)

    def running(self) -> Running:
        left = {pair: bits / 8 for pair, bits in self.bits.items()}
        return Running(self.arrival.application, self.machines, left)


def run(
    snapshot: Snapshot,
    machines: Sequence[Machine],
    arrivals: Sequence[Arrival],
    place: Placing,
    again: Again | None = None,
) -> tuple[Ran, ...]:
    """Run applications to their end; in the order in which they came.

    :raises Impossible: if one cannot be placed even with all machines free.
    """
    return _Run(snapshot, machines, place, again).run(sorted(arrivals, key=lambda one: one.at))


@dataclass(slots=True)
class _Run:
    snapshot: Snapshot
    machines: Sequence[Machine]
    place: Placing
    again: Again | None
    now: float = 0.0
    live: list[_Live] = field(default_factory=list)
    ended: list[Ran] = field(default_factory=list)

    def run(self, arrivals: Sequence[Arrival]) -> tuple[Ran, ...]:
        """All of them."""
        known = list(links(self.snapshot))
        over = ways(known)
        capacities = {number: link.rate for number, link in enumerate(known)}
        coming, look = list(arrivals), math.inf if self.again is None else self.again.every
        waiting: list[Arrival] = []
        while coming or waiting or self.live:
            rates = self._rates(over, capacities)
            ends = [self.now + bits / rates[key] for key, bits in self._bits() if rates.get(key, 0.0) > 0]
            ends += [one.still for one in self.live if one.still > self.now]
            due = min([*ends, look if self.live else math.inf, coming[0].at if coming else math.inf])
            if math.isinf(due):
                raise Impossible("sent", "nothing gets through any more")
            self._advance(max(due, self.now), rates)
            changed = self._end()
            while coming and coming[0].at <= self.now:
                waiting.append(coming.pop(0))
                changed = True
            if look <= self.now and self.again is not None:
                look = self.now + self.again.every
                changed |= self._look(self.again)
                changed |= self._end()  # nothing of it may be left to send where it is now
            while waiting and changed:  # else nobody would find room where there was none before
                waiting = self._place(waiting)
                changed = self._end()  # what sends nothing over the network is done at once
        return tuple(sorted(self.ended, key=lambda one: (one.came, one.name)))

    def _bits(self) -> list[tuple[tuple[int, tuple[str, str]], float]]:
        return [
            ((index, pair), bits) for index, one in enumerate(self.live) for pair, bits in one.bits.items()
        ]

    def _rates(
        self, over: dict[Pair, tuple[int, ...]], capacities: dict[int, float]
    ) -> dict[tuple[int, tuple[str, str]], float]:
        keys, demands = [], []
        for (index, pair), _ in self._bits():
            one = self.live[index]
            ends = Pair(one.machines[pair[0]], one.machines[pair[1]])
            if ends.source != ends.destination and one.still <= self.now:
                keys.append((index, pair))
                demands.append(Demand(over[ends]))
        used = {number for demand in demands for number in demand.links}
        shares = max_min_rates({number: capacities[number] for number in used}, demands)
        return dict(zip(keys, shares, strict=True))

    def _advance(self, to: float, rates: dict[tuple[int, tuple[str, str]], float]) -> None:
        for (index, pair), rate in rates.items():
            one = self.live[index]
            one.bits[pair] -= rate * (to - self.now)
            if one.bits[pair] <= max(DONE_BITS, rate * 1e-9):
                del one.bits[pair]
        self.now = to

    def _end(self) -> bool:
        """Have those ended that are done, and have arrived where they move; whether there were any."""
        done = [one for one in self.live if not one.bits and one.still <= self.now]
        for one in done:
            self.live.remove(one)
            name = one.arrival.application.name
            self.ended.append(Ran(name, one.arrival.at, one.placed, self.now, one.moves, tuple(one.where)))
        return bool(done)

    def _place(self, waiting: list[Arrival]) -> list[Arrival]:
        """Those that find room; who still waits is returned."""
        left = []
        for arrival in waiting:
            application = arrival.application
            try:
                problem = beside(
                    application, self.machines, self.snapshot, [one.running() for one in self.live]
                )
                placement = self.place(problem)
            except Impossible:
                if not self.live:
                    raise
                left.append(arrival)
                continue
            machines = dict(placement.machines)
            bits = {
                pair: 8.0 * count
                for pair, count in application.sent.items()
                if count and machines[pair[0]] != machines[pair[1]]
            }
            self.live.append(_Live(arrival, self.now, machines, bits, where=[(self.now, machines)]))
        return left

    def _look(self, again: Again) -> bool:
        """Move what gains by it; whether there was any."""
        moved = False
        for one in self.live:
            others = [other.running() for other in self.live if other is not one]
            move = reconsidered(one.running(), others, self.machines, self.snapshot, self.place, again.cost)
            if move is not None:
                self._move(one, move)
                moved = True
        return moved

    def _move(self, one: _Live, move: Move) -> None:
        one.machines = dict(move.placement.machines)
        one.bits = {
            pair: bits for pair, bits in one.bits.items() if one.machines[pair[0]] != one.machines[pair[1]]
        }
        one.where.append((self.now, one.machines))
        one.still, one.moves = self.now + move.cost, one.moves + 1

"""When waiting transfers find room: a fluid model of the paths they wait for.

Each path is a lane of so many bits/s, shared by the streams on it in equal parts (max-min, as TCP does to
first order).  In between two finishes everything stays as it is; at each finish those who wait are tried in
their order, by the rule by which the broker admits::

    s · capacity / (streams there + s) >= bound        s: the streams that the bound is meant for

A lane's work is kept as the bits that each stream has had since it began (its *virtual time*): a transfer is
done when that has grown by its bits per stream, whoever comes and goes meanwhile.  So a finish costs one look
at a heap (the method of generalised processor sharing: Parekh and Gallager, IEEE/ACM ToN 1(3), 1993).

Values and functions only; sizes in bits, times in seconds from now.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

EVENTS = 5_000
"""Finishes looked at before the rest is left open."""


@dataclass(frozen=True, slots=True)
class Runner:
    """A transfer that runs."""

    bits: float
    streams: int


@dataclass(frozen=True, slots=True)
class Wisher:
    """A transfer that waits.

    :param asks: the streams that its bound is meant for; ``streams``: those by which it has its share.
    :param lanes: where it would go.
    """

    number: int
    bits: float
    streams: int
    asks: int
    bound: float
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """A path.

    :param others: streams of other people, who neither come nor go.
    """

    capacity: float
    running: tuple[Runner, ...] = ()
    others: float = 0.0


@dataclass(slots=True)
class _Lane:
    capacity: float
    others: float = 0.0
    streams: int = 0
    now: float = 0.0
    virtual: float = 0.0
    ends: list[tuple[float, int]] = field(default_factory=list)  # a heap of virtual end and streams

    def advance(self, now: float) -> None:
        if self.streams and math.isfinite(self.capacity):
            self.virtual += (now - self.now) * self.capacity / (self.streams + self.others)
        self.now = now

    def enter(self, bits: float, streams: int) -> None:
        heapq.heappush(self.ends, (self.virtual + bits / streams, streams))
        self.streams += streams

    def next_end(self) -> float:
        if not self.ends or self.capacity <= 0:
            return math.inf
        sharing = self.streams + self.others
        return self.now + max(0.0, self.ends[0][0] - self.virtual) * sharing / self.capacity

    def finish(self) -> None:
        virtual, streams = heapq.heappop(self.ends)
        self.virtual = max(self.virtual, virtual)
        self.streams -= streams

    def share(self, wisher: Wisher) -> float:
        return wisher.asks * self.capacity / (self.streams + self.others + wisher.asks)


def starts(
    lanes: Mapping[str, Lane],
    wishers: Iterable[Wisher],
    until: int,
    events: int = EVENTS,
) -> dict[int, float]:
    """After how many seconds each who waits would start; who is not in it would not, as far as was looked.

    :param lanes: per path what it carries and who is there.
    :param wishers: in the order in which they are tried.
    :param until: the number of the one that is asked for: when it starts that is enough.
    """
    roads = {name: _Lane(lane.capacity, lane.others) for name, lane in lanes.items()}
    for name, lane in lanes.items():
        for runner in lane.running:
            roads[name].enter(runner.bits, runner.streams)
    waiting, found, now = list(wishers), dict[int, float](), 0.0
    for _ in range(events):
        waiting = [wisher for wisher in waiting if not _admitted(wisher, roads, now, found)]
        if until in found or not waiting:
            break
        first = min(roads.values(), key=_Lane.next_end, default=None)
        if first is None or math.isinf(first.next_end()):
            break
        now = first.next_end()
        for road in roads.values():
            road.advance(now)
        first.finish()
    return found


def _admitted(wisher: Wisher, roads: Mapping[str, _Lane], now: float, found: dict[int, float]) -> bool:
    fitting = [roads[name] for name in wisher.lanes if name in roads]
    best = max(fitting, key=lambda road: road.share(wisher), default=None)
    if best is None or best.share(wisher) < wisher.bound:
        return False
    best.enter(wisher.bits, wisher.streams)
    found[wisher.number] = now
    return True

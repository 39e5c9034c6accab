"""State of the network that the map shows: topology, directed paths and rates of flows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adon.api.flows import FlowView
from adon.api.network import CircuitView, NetworkView, PathView

STILL_S = 30.0
"""A flow without a new byte for this time has the rate 0; switches report counters every few seconds."""

Reading = list[Any]
"""Time in seconds since the epoch, bytes at that time, and bit/s or None. A list, because JSON stores it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Content of the map.

    :param ways: the directed paths.
    :param readings: rate of each flow (:func:`update_rates`).
    """

    network: NetworkView
    ways: Sequence[PathView]
    readings: Mapping[str, Reading]

    def directions(self, path: str) -> list[PathView]:
        """Return the directions of a path."""
        return [way for way in self.ways if way.path == path]

    def rate(self, path: str) -> float | None:
        """Return the bit/s of flows on a path in its fuller direction; None if it is not known."""
        known = [self._sum(way.flows) for way in self.directions(path)]
        return max((rate for rate in known if rate is not None), default=None)

    def capacity(self, path: str) -> float | None:
        """Return the capacity of a path in bit/s."""
        return next((way.capacity_bps for way in self.directions(path)), None)

    def marked(self, shown: str) -> CircuitView | None:
        """Return the path to highlight: of ``path:al2s``, or of the flow of ``flow:f-17``."""
        kind, _, name = shown.partition(":")
        for one in self.network.circuits:
            if (kind == "path" and one.name == name) or (kind == "flow" and name in one.flows):
                return one
        return None

    def _sum(self, flows: Sequence[str]) -> float | None:
        rates = [self.readings[flow][2] for flow in flows if flow in self.readings]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known or not flows else None


def update_rates(before: Mapping[str, Reading], flows: Iterable[FlowView], now: float) -> dict[str, Reading]:
    """Return the reading of each flow at this time, from the reading before and the bytes that it moved."""
    return {flow.id: _update(before.get(flow.id), flow.bytes_moved, now) for flow in flows}


def _update(before: Reading | None, moved: int, now: float) -> Reading:
    if before is None:
        return [now, moved, None]
    at, had, rate = before
    if moved > had and now > at:
        return [now, moved, 8.0 * (moved - had) / (now - at)]
    return [at, had, 0.0 if now - at > STILL_S else rate]

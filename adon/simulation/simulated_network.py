"""Links and transit paths of a simulated network, whose state changes over time.

A link has its capacity in each direction (full duplex).  Competing traffic has two forms: traffic that does
not yield to TCP is subtracted from the capacity, and ``other_streams`` counts TCP streams that share the link
fairly.  Paths may share links, for example the access link of a campus, or a bottleneck that no controller
knows.  Capacities are goodput in bits/s, delays are seconds one way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.broker.cost.terms import theoretical_throughput
from adon.step_function import StepFunction, constant
from adon.values import FrozenMap

TCP_PAYLOAD = 1448
"""Bytes of data in a full segment with time stamps (RFC 7323)."""

FRAME = 1514
"""Bytes of its untagged Ethernet frame, which is what the counters of a switch count."""

LinkDirection = tuple[str, bool]
"""A link in one direction: True as seen from the first end of its paths, False for the opposite."""


@dataclass(frozen=True, slots=True)
class HostLimit:
    """What one TCP stream of a site's host reaches at most.

    :param window: bytes in flight: the smaller of the two hosts' buffers; None: unlimited.
    :param rate: bits/s that one processor core of the host handles.
    """

    window: float | None = None
    rate: float = math.inf


@dataclass(frozen=True, slots=True)
class SimulatedLink:
    """See the module's text.

    :param loss: ratio of packets that the link loses at random.
    :param queue: seconds that a packet waits in the link while it is full.
    """

    capacity: StepFunction[float]
    delay: StepFunction[float] = field(default_factory=lambda: constant(0.0))
    loss: StepFunction[float] = field(default_factory=lambda: constant(0.0))
    other_streams: StepFunction[float] = field(default_factory=lambda: constant(0.0))
    queue: float = 0.0


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which a path carries nothing.

    :param visible: whether the ports of the edges go down with it; otherwise packets are lost without a sign.
    """

    begins: float
    ends: float
    visible: bool = True


@dataclass(frozen=True, slots=True)
class SimulatedPath:
    """A transit path between two sites, both directions.

    :param layer: 2 or 3.
    :param advertised: bits/s that it is sold with: the capacity in the controller's configuration.
    """

    name: str
    layer: int
    ends: tuple[str, str]
    links: tuple[str, ...]
    advertised: float
    outages: tuple[Outage, ...] = ()

    def directions_from(self, source: str) -> tuple[LinkDirection, ...]:
        """Return the links from one end to the other."""
        return tuple((link, source == self.ends[0]) for link in self.links)

    def has_outage(self, now: float, *, visible: bool = False) -> bool:
        """Return whether it carries nothing, or with ``visible`` whether its ports are down."""
        return any(one.begins <= now < one.ends and (one.visible or not visible) for one in self.outages)


@dataclass(frozen=True, slots=True)
class SimulatedNetwork:
    """Links by name, and the paths over them in the order of a configuration.

    :param hosts: limits of one stream by site; unlimited elsewhere.
    :raises ValueError: for a path over a link that does not exist.
    """

    links: Mapping[str, SimulatedLink]
    paths: tuple[SimulatedPath, ...]
    hosts: Mapping[str, HostLimit] = field(default_factory=FrozenMap)

    def __post_init__(self) -> None:
        missing = [
            f"{path.name}: {link}" for path in self.paths for link in path.links if link not in self.links
        ]
        if missing:
            raise ValueError(f"paths: no such link: {', '.join(missing)}; expected {', '.join(self.links)}")

    @property
    def sites(self) -> tuple[str, ...]:
        """All sites, in the order of the paths."""
        return tuple(dict.fromkeys(end for path in self.paths for end in path.ends))

    def between(self, source: str, destination: str) -> tuple[SimulatedPath, ...]:
        """Return the paths between two sites."""
        return tuple(path for path in self.paths if {source, destination} == set(path.ends))

    def path(self, name: str) -> SimulatedPath:
        """Return the path with a name.

        :raises KeyError: if there is none.
        """
        return {path.name: path for path in self.paths}[name]

    def rtt(self, path: SimulatedPath, now: float) -> float:
        """Return the round-trip time with empty queues, in seconds."""
        return 2 * math.fsum(self.links[link].delay.at(now) for link in path.links)

    def loss(self, path: SimulatedPath, now: float) -> float:
        """Return the ratio of packets lost at random, one way."""
        return 1.0 - math.prod(1.0 - self.links[link].loss.at(now) for link in path.links)

    def stream_limit(self, path: SimulatedPath, source: str, now: float) -> float:
        """Return the bits/s that one stream from a site reaches at most.

        The least of its host, one window per round trip, and Mathis' bound for random loss ([ADON] 4.3).
        """
        host = self.hosts.get(source, HostLimit())
        rtt, loss = self.rtt(path, now), self.loss(path, now)
        return theoretical_throughput(host.rate, 1, host.window, rtt, loss, TCP_PAYLOAD)

    @property
    def changes(self) -> tuple[float, ...]:
        """The times after 0 at which anything changes, rising."""
        found = {at for path in self.paths for one in path.outages for at in (one.begins, one.ends)}
        for link in self.links.values():
            for quantity in (link.capacity, link.delay, link.loss, link.other_streams):
                found.update(quantity.times)
        return tuple(sorted(at for at in found if at > 0))

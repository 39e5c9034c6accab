"""Links and transit paths whose state changes over time.

A link carries its capacity in each direction (full duplex).  Other people's traffic on it is of two kinds:
what does not yield is left out of the capacity, and ``background`` counts TCP streams that share like ours.
Paths may share links, for example a campus's access link or a bottleneck that nobody told the broker of.
Capacities are goodput, bits/s; delays seconds, one way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.frozenmap import FrozenMap
from adon.simulation.steps import Steps, steady
from adon.simulation.tcp import EASY, Stream

Resource = tuple[str, bool]
"""A link in one direction: True as its paths' first end sees it, False against that."""


@dataclass(frozen=True, slots=True)
class Link:
    """See the module's text.

    :param loss: ratio of packets that it loses at random.
    :param queue: seconds that a packet waits in it while it is full.
    """

    capacity: Steps
    delay: Steps = field(default_factory=lambda: steady(0.0))
    loss: Steps = field(default_factory=lambda: steady(0.0))
    background: Steps = field(default_factory=lambda: steady(0.0))
    queue: float = 0.0

    @property
    def changes(self) -> tuple[float, ...]:
        """When anything about it changes."""
        parts = (self.capacity, self.delay, self.loss, self.background)
        return tuple(at for part in parts for at in part.changes)


@dataclass(frozen=True, slots=True)
class Outage:
    """A path carries nothing for a while.

    :param seen: whether the edges' ports go down with it; otherwise packets just do not arrive.
    """

    begins: float
    ends: float
    seen: bool = True


@dataclass(frozen=True, slots=True)
class Path:
    """A transit path between two sites, both ways.

    :param layer: 2 or 3.
    :param advertised: bits/s that it is configured, or sold, to have: what a controller is told.
    """

    name: str
    layer: int
    ends: tuple[str, str]
    links: tuple[str, ...]
    advertised: float
    outages: tuple[Outage, ...] = ()

    def way(self, source: str) -> tuple[Resource, ...]:
        """The links from one of its ends to the other."""
        return tuple((link, source == self.ends[0]) for link in self.links)

    def works(self, now: float) -> bool:
        """Whether packets get through."""
        return not any(outage.begins <= now < outage.ends for outage in self.outages)

    def live(self, now: float) -> bool:
        """Whether the edges' ports say that it works."""
        return not any(outage.seen and outage.begins <= now < outage.ends for outage in self.outages)


@dataclass(frozen=True, slots=True)
class Network:
    """Links by name, and the paths over them in the order of a configuration.

    :raises ValueError: if a path names a link that is not there.
    """

    links: Mapping[str, Link]
    paths: tuple[Path, ...]
    hosts: Mapping[str, Stream] = field(default_factory=FrozenMap)

    def __post_init__(self) -> None:
        wrong = [
            f"{path.name}: {link}" for path in self.paths for link in path.links if link not in self.links
        ]
        if wrong:
            raise ValueError(f"paths: there are no such links: {', '.join(wrong)}")

    @property
    def sites(self) -> tuple[str, ...]:
        """All sites, in the order in which paths name them."""
        return tuple(dict.fromkeys(end for path in self.paths for end in path.ends))

    def between(self, source: str, destination: str) -> tuple[Path, ...]:
        """The paths that join two sites."""
        return tuple(path for path in self.paths if {source, destination} == set(path.ends))

    def path(self, name: str) -> Path:
        """The path of this name.

        :raises KeyError: if there is none.
        """
        for path in self.paths:
            if path.name == name:
                return path
        raise KeyError(name)

    def rtt(self, path: Path, now: float) -> float:
        """Seconds there and back, with no queue on the way."""
        return 2 * math.fsum(self.links[link].delay.at(now) for link in path.links)

    def loss(self, path: Path, now: float) -> float:
        """The ratio of packets lost at random, one way."""
        return 1.0 - math.prod(1.0 - self.links[link].loss.at(now) for link in path.links)

    def stream_limit(self, path: Path, source: str, now: float) -> float:
        """Bits/s that one stream from this site reaches on a path at best (:mod:`adon.simulation.tcp`)."""
        return self.hosts.get(source, EASY).limit(self.rtt(path, now), self.loss(path, now))

    def capacity(self, path: Path, now: float) -> float:
        """Bits/s that it carries, other people's streams included; 0 while it does not work."""
        if not path.works(now):
            return 0.0
        return min(self.links[link].capacity.at(now) for link in path.links)

    @property
    def changes(self) -> tuple[float, ...]:
        """When anything changes, in order."""
        found = {at for link in self.links.values() for at in link.changes}
        found |= {at for path in self.paths for o in path.outages for at in (o.begins, o.ends)}
        return tuple(sorted(found))

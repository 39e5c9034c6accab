"""What an experiment is held against: the network that it names.

Values only.  Who builds networks (``mininet_topos``) says them; all rates are those of the testbed, after
the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Way:
    """A transit path of the network.

    :param ends: the two sites that it joins.
    :param goodput: bits/s of a single TCP stream on it while it is idle.
    """

    ends: tuple[str, str]
    goodput: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What a link of the testbed can be, at the scale it has.

    :param rate: bits/s on the wire, the least and the most.
    :param delay: seconds, at most.
    """

    rate: tuple[float, float] = (100e3, 1e9)
    delay: float = 1.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A network at a scale.

    :param scale: what its rates were divided by.
    :param sites: per site the hosts that send and receive (data transfer nodes), the first is taken where
        only the site is named.
    """

    network: str
    scale: float
    sites: Mapping[str, tuple[str, ...]]
    ways: Mapping[str, Way]
    links: frozenset[str] = frozenset()
    limits: Limits = Limits()

    def site(self, end: str) -> str | None:
        """The site of this name, or that has the host of this name; None if there is neither."""
        if end in self.sites:
            return end
        return next((site for site, hosts in self.sites.items() if end in hosts), None)

    def host(self, end: str) -> str:
        """The host of this name, or the first of the site of this name.

        :raises KeyError: if there is neither.
        """
        return self.sites[end][0] if end in self.sites else end

    def between(self, one: str, other: str) -> Mapping[str, Way]:
        """The paths between two ends."""
        sites = self.site(one), self.site(other)
        if None in sites:
            return FrozenMap()
        return FrozenMap({name: way for name, way in self.ways.items() if set(sites) == set(way.ends)})

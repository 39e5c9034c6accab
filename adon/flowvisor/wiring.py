"""What the configuration says about the wires, and whether a link that was found contradicts it.

Three things are known before any frame is sent: which ports hosts hang on, which ports lead to which
other ports (configured links), and which ports the two ends of each path are.  A link where a host should
be is either a wrong cable or a host that relays our frames to pretend a link (no signature helps against a
relay), so none is ever believed there, and no frame is sent there that could be relayed.

Between two ends of a path there may be a provider's network, which passes no LLDP: that a path end shows
no link is normal.  That it shows one to a *wrong* edge is a wrong cable.

Functions of values.  Ports by datapath id and name: numbers are known only of connected switches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adon.config import Configuration

NamedPort = tuple[int, str]
"""Datapath id and port name."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """See the module's text.

    :param hosts: per port that hosts hang on, the first one's name.
    :param links: per port of a configured link the port at its other end.
    :param path_ends: per port that is an end of paths, the ports that are their other ends.
    :param edges: the switches that paths begin and end at.
    """

    hosts: Mapping[NamedPort, str] = field(default_factory=dict)
    links: Mapping[NamedPort, NamedPort] = field(default_factory=dict)
    path_ends: Mapping[NamedPort, frozenset[NamedPort]] = field(default_factory=dict)
    edges: frozenset[int] = frozenset()

    @classmethod
    def of(cls, configuration: Configuration, links: Iterable[tuple[NamedPort, NamedPort]] = ()) -> Wiring:
        """What a configuration says.

        :param links: the two ends of each configured link between switches.
        """
        switches, sites = configuration.switches, configuration.sites
        dpids = {name: switches[site.edge].dpid for name, site in sites.items()}
        hosts: dict[NamedPort, str] = {}
        for name, site in sites.items():
            for called, host in site.hosts.items():
                hosts.setdefault((dpids[name], host.port), called)
        ends: dict[NamedPort, frozenset[NamedPort]] = {}
        for path in configuration.paths.values():
            one, other = ((dpids[site], end.port) for site, end in path.ends.items())
            ends[one] = ends.get(one, frozenset()) | {other}
            ends[other] = ends.get(other, frozenset()) | {one}
        pairs = [pair for one, other in links for pair in ((one, other), (other, one))]
        return cls(hosts, dict(pairs), ends, frozenset(dpids.values()))

    def silent(self, port: NamedPort) -> bool:
        """Whether no frame is to be sent there: a host hangs on it, and no configured link."""
        return port in self.hosts and port not in self.links

    def contradiction(self, one: NamedPort, other: NamedPort) -> str:
        """What is wrong about a link between these two ports; empty if nothing is."""
        return self._against(one, other) or self._against(other, one)

    def _against(self, here: NamedPort, there: NamedPort) -> str:
        if here in self.links:
            wanted = self.links[here]
            return "" if wanted == there else f"{_text(here)} is configured to lead to {_text(wanted)}"
        if here in self.hosts:
            return f"{_text(here)} is the port of host {self.hosts[here]}: no switch belongs there"
        allowed = self.path_ends.get(here)
        if allowed is not None and there[0] in self.edges and there not in allowed:
            named = ", ".join(_text(end) for end in sorted(allowed))
            return f"{_text(here)} is the end of a path whose other end is {named}"
        return ""


def _text(port: NamedPort) -> str:
    return f"port {port[1]!r} of {port[0]:016x}"

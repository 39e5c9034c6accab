"""State of a link between two switch ports, from the LLDP probes received over it.

A link is *live* when both ends received a probe of the other within the window (R14).  Every other condition
of a pair of ports has a state of its own, in which the link is not used (:func:`judge_link`).  If several
conditions hold, the most severe state wins.

As in 802.1Q and OpenFlow, three conditions differ: a port may be switched off (*admin*), have no carrier
(*oper*), or receive nothing although both are up (*live*).

Functions of values, apart from :class:`Link` and :class:`Port`, which
:mod:`adon.flowvisor.discovery.link_discovery` keeps. Times in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from adon.config import Configuration
from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery.lldp import Neighbour
from adon.flowvisor.topology.network_graph import PortKey, PortState
from adon.flowvisor.topology.path import dpid_text
from adon.reasons import AnnouncementCode
from adon.units import format_duration

NamedPort = tuple[int, str]
"""Datapath id and port name."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """Configured wiring, against which discovered links are checked.

    A link at the port of a host is a wrong cable, or a host that relays frames to pretend a link (a signature
    does not prevent relays).  No link is accepted there, and no frame is sent there.  The two ends of a path
    may be joined by a provider's network, which passes no LLDP.  So a path end without a link is normal, but
    a link to a *wrong* edge is an error.  Ports have a datapath id and name, because only connected switches
    have numbers.

    :param hosts: per port with hosts, the name of the first host.
    :param links: per port of a configured link the port at its other end.
    :param path_ends: per port that is an end of paths, the ports of their other ends.
    :param edges: the switches at the ends of paths.
    """

    hosts: Mapping[NamedPort, str] = field(default_factory=dict)
    links: Mapping[NamedPort, NamedPort] = field(default_factory=dict)
    path_ends: Mapping[NamedPort, frozenset[NamedPort]] = field(default_factory=dict)
    edges: frozenset[int] = frozenset()

    @classmethod
    def of(cls, configuration: Configuration, links: Iterable[tuple[NamedPort, NamedPort]] = ()) -> Wiring:
        """Return the wiring of a configuration.

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

    def is_silent(self, port: NamedPort) -> bool:
        """Return whether the port sends no frames: it has a host, and no configured link."""
        return port in self.hosts and port not in self.links

    def find_contradiction(self, one: NamedPort, other: NamedPort) -> str:
        """Return the contradiction of a link between two ports to the configuration; empty without one."""
        return self._find_mismatch(one, other) or self._find_mismatch(other, one)

    def _find_mismatch(self, here: NamedPort, there: NamedPort) -> str:
        if here in self.links:
            wanted = self.links[here]
            return "" if wanted == there else f"{_text(here)} is configured to lead to {_text(wanted)}"
        if here in self.hosts:
            return f"{_text(here)} is the port of host {self.hosts[here]}, but a switch is connected there"
        allowed = self.path_ends.get(here)
        if allowed is not None and there[0] in self.edges and there not in allowed:
            named = ", ".join(_text(end) for end in sorted(allowed))
            return f"{_text(here)} is the end of a path whose other end is {named}"
        return ""


def _text(port: NamedPort) -> str:
    return f"port {port[1]!r} of {port[0]:016x}"


MOST_COUNTED = 20
"""Maximum count of failures: 2^18 times the shortest penalty is above any cap in use."""


@dataclass(frozen=True, slots=True)
class FlapHistory:
    """Flap damping of one link: exponential hold-down with a cap (R15, R17).

    The first failure has no penalty.  The second counted failure has the base penalty, and each further one
    doubles it up to the cap.  The count decreases by one per ``flap_forgiven`` without a failure.
    OpenKilda's path computation avoids unstable links in the same way; BGP's route flap damping (RFC 2439)
    has a decaying figure of merit instead of a count.

    :param count: counted failures at :attr:`last`.
    :param last: time of the last failure.
    :param until: end of the hold-down.
    """

    count: int = 0
    last: float = 0.0
    until: float = 0.0

    def add_failure(self, now: float, settings: LinkDiscovery) -> FlapHistory:
        """Return the state after one more failure."""
        count = min(MOST_COUNTED, self.count_failures(now, settings) + 1)
        penalty = 0.0 if count < 2 else settings.flap_penalty * 2.0 ** (count - 2)
        return FlapHistory(count, now, now + min(settings.flap_penalty_cap, penalty))

    def count_failures(self, now: float, settings: LinkDiscovery) -> int:
        """Return the number of failures that still count."""
        return max(0, self.count - int((now - self.last) / settings.flap_forgiven))


LinkKey = tuple[PortKey, PortKey]
"""The two ends, the smaller one first."""

RISE = 1 / 16
"""Upward gain of the smoothed minimum of a delay; downwards it follows at once."""


class LinkState(StrEnum):
    """State of a pair of ports."""

    LIVE = "live"
    SETTLING = "settling"
    PENALISED = "penalised"
    ONE_WAY = "one-way"
    DOWN = "down"
    UNKNOWN = "unknown"
    LOOP = "loop"
    SHARED = "shared"
    MISWIRED = "miswired"


@dataclass(slots=True)
class Port:
    """A port of a connected switch.

    :param state: the last report of the switch.
    :param up_since: start of the present state; earlier frames are ignored.
    :param settled_at: earliest use of a link at this port (debounce).
    :param foreign: another system's LLDP, and the end of its validity.
    :param reported: time of the last report per kind, so that a host cannot fill the log.
    """

    dpid: int
    name: str
    state: PortState
    up_since: float
    settled_at: float
    foreign: tuple[Neighbour, float] | None = None
    reported: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> PortKey:
        """Datapath id and number."""
        return (self.dpid, self.state.number)


@dataclass(slots=True)
class SwitchPorts:
    """Ports of a switch that is, or was, connected.

    :param ports: by number.
    :param since: time of the last connection.
    """

    ports: dict[int, Port]
    since: float
    next_probe: float
    connected: bool = True


@dataclass(frozen=True, slots=True)
class ProbeArrival:
    """The last probe from one end: its arrival time and sequence number."""

    at: float
    sequence: int


@dataclass(slots=True)
class Link:
    """A known link.

    :param since: start of its state.
    :param state: None before the first judgement.
    :param arrivals: last probe by its sender.
    :param delays: smoothed minimum of the one-way delay to the other end by the sender, s.
    :param whole: probes arrive in both directions, and both ports are up; a failure ends this.
    :param reported: the last reported state.
    :param due: earliest change of state by the clock alone.
    """

    ends: LinkKey
    since: float
    state: LinkState | None = None
    reason: str = ""
    arrivals: dict[PortKey, ProbeArrival] = field(default_factory=dict)
    delays: dict[PortKey, float] = field(default_factory=dict)
    flaps: FlapHistory = field(default_factory=FlapHistory)
    whole: bool = False
    reported: LinkState | None = None
    due: float = float("inf")

    def fresh(self, now: float, window: float) -> frozenset[PortKey]:
        """Return the ends whose probes arrived within the window."""
        return frozenset(end for end, arrival in self.arrivals.items() if now < arrival.at + window)

    def forget_probes(self) -> None:
        """Forget all received probes."""
        self.arrivals.clear()
        self.delays.clear()

    def note_delay(self, sender: PortKey, delay: float) -> None:
        """Add a measurement of the one-way delay from an end, s; negative noise counts as zero."""
        delay, known = max(0.0, delay), self.delays.get(sender)
        rises = known is not None and delay > known
        self.delays[sender] = known + RISE * (delay - known) if known is not None and rises else delay


@dataclass(frozen=True, slots=True)
class LinkConditions:
    """Inputs of :func:`judge_link` in addition to the link.

    :param ports: the ports of both ends; None for a missing port.
    :param connected: whether the switches of both ends are connected.
    :param back_since: time of the later connection of both switches.
    :param whole: whether both ends receive probes of the other, and both ports are up.
    :param contradiction: contradiction to the configuration; empty without one.
    :param shared: whether an end receives probes of a third port.
    """

    ports: tuple[Port | None, Port | None]
    connected: bool
    back_since: float
    whole: bool
    contradiction: str
    shared: bool


def next_change(link: Link, seen: LinkConditions, now: float, window: float) -> float:
    """Return the earliest time at which the clock alone may change the state."""
    times = [arrival.at + window for arrival in link.arrivals.values()]
    times += [port.settled_at for port in seen.ports if port is not None]
    times += [seen.back_since + window, link.since + window]
    return min((time for time in times if time > now), default=float("inf"))


def judge_link(link: Link, seen: LinkConditions, now: float, window: float) -> tuple[LinkState, str]:
    """Return the present state of a link, and the reason."""
    fresh, whole = link.fresh(now, window), seen.whole
    if not seen.connected:
        return LinkState.UNKNOWN, "a switch is not connected"
    if (closed := _find_closed_port(seen)) is not None:
        return LinkState.DOWN, closed
    if fresh and link.ends[0][0] == link.ends[1][0]:
        same = link.ends[0] == link.ends[1]
        loop = "a port receives its own probes" if same else "two ports of one switch are connected"
        return LinkState.LOOP, loop
    if fresh and seen.contradiction:
        return LinkState.MISWIRED, seen.contradiction
    if not whole and link.state is LinkState.UNKNOWN and now < seen.back_since + window:
        return LinkState.UNKNOWN, "a switch connected less than a probe window ago"
    if not fresh:
        return LinkState.DOWN, "no probe arrives in either direction"
    if not whole:
        return LinkState.ONE_WAY, "probes arrive in one direction only"
    if seen.shared:
        return LinkState.SHARED, "a port receives the probes of several ports: this is no point-to-point link"
    if now < link.flaps.until:
        return LinkState.PENALISED, f"it failed {link.flaps.count} times"
    if any(port is not None and now < port.settled_at for port in seen.ports):
        return LinkState.SETTLING, "a port came up less than the debounce time ago"
    return LinkState.LIVE, ""


def _find_closed_port(seen: LinkConditions) -> str | None:
    for port in seen.ports:
        if port is None:
            return "a port was removed"
        if not port.state.live:
            return f"port {port.name!r} " + ("has no carrier" if port.state.admin else "is switched off")
    return None


_REPORTED: Mapping[LinkState, tuple[str, AnnouncementCode]] = {
    LinkState.LIVE: ("info", "link-live"),
    LinkState.PENALISED: ("warning", "link-penalised"),
    LinkState.ONE_WAY: ("warning", "link-one-way"),
    LinkState.DOWN: ("warning", "link-down"),
    LinkState.LOOP: ("error", "link-loop"),
    LinkState.SHARED: ("warning", "link-shared"),
    LinkState.MISWIRED: ("error", "link-miswired"),
}
"""Reported states; the other states are transient."""


def choose_report(link: Link, now: float, window: float) -> tuple[str, AnnouncementCode] | None:
    """Return level and code of the report of a link's state; None for no report.

    A new link starts one-way, which is reported only if it lasts.  The changes of a flapping link are not
    reported during its hold-down.
    """
    if link.state is None or link.state is link.reported or link.state not in _REPORTED:
        return None
    if link.reported is None:
        if link.state is LinkState.DOWN:
            return None
        if link.state is LinkState.ONE_WAY and now < link.since + window:
            return None
    fails = link.state in (LinkState.DOWN, LinkState.ONE_WAY)
    if fails and link.reported is LinkState.PENALISED and now < link.flaps.until:
        return None
    return _REPORTED[link.state]


def port_text(key: PortKey, port: Port | None) -> str:
    """Return datapath id, number and, if present, escaped name of a port (R24)."""
    return f"{dpid_text(key[0])} port {key[1]}" + ("" if port is None else f" ({port.name!r})")


def format_state(link: Link, names: tuple[str, str], now: float) -> str:
    """Return a link's state in words."""
    text = f"link {names[0]} - {names[1]} is {link.state}"
    if link.state is LinkState.PENALISED or (link.state is LinkState.DOWN and link.flaps.until > now):
        text += f", not used for {format_duration(round(link.flaps.until - now, 1))}"
    return f"{text}: {link.reason}" if link.reason else text

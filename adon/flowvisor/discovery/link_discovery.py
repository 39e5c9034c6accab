"""Link discovery: the schedule of LLDP probes, and the evaluation of received probes.

Each port that may have a link sends a probe once per interval (R14).  The probes of one switch are sent
together, those of different switches at different times, to spread the load of switches and decision thread.
A port that comes up sends a probe at once, and so does a port that receives a new neighbour's probe.  So a
new link is known within a round trip, not within an interval.

A signed probe (:mod:`adon.flowvisor.discovery.lldp`) counts if it is from this controller and from a port
that is up, was sent after that port came up, is younger than the window, and is newer than the last probe.
Therefore a replayed frame proves nothing.

A controller that was suspended sent no probes, so missing probes say nothing about a link: that time does not
count.  The links of a disconnected switch are *unknown*, not down, which is no flap.

Functions return frames to send and reports as values; times are arguments, in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery import lldp
from adon.flowvisor.discovery.link import (
    Link,
    LinkConditions,
    LinkKey,
    LinkState,
    Port,
    ProbeArrival,
    SwitchPorts,
    Wiring,
    choose_report,
    format_state,
    judge_link,
    next_change,
    port_text,
)
from adon.flowvisor.topology.network_graph import PortKey, PortState
from adon.reasons import AnnouncementCode

DOWN_LINK_SHOWN_S = 86_400.0
"""Time for which a link that went down is shown."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame to send out of a port of a switch."""

    dpid: int
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class LinkChange:
    """Change of a link's state; ``before`` is None for a new link."""

    ends: LinkKey
    before: LinkState | None
    after: LinkState
    reason: str


@dataclass(frozen=True, slots=True)
class DiscoveryReport:
    """A report for operators, with its level and code."""

    level: str
    code: AnnouncementCode
    text: str


@dataclass(slots=True)
class LinkEffects:
    """Effects of one event."""

    frames: list[Frame] = field(default_factory=list)
    changes: list[LinkChange] = field(default_factory=list)
    reports: list[DiscoveryReport] = field(default_factory=list)


class LinkTable:
    """Known links, re-evaluated by events and by time.

    :func:`adon.flowvisor.discovery.link.judge_link` decides the state of a link.  Links that share a port are
    judged together, since a port that receives probes of two others is no end of a wire.

    :param switches: all switches that were ever connected; the caller updates them.
    """

    def __init__(self, settings: LinkDiscovery, wiring: Wiring, switches: Mapping[int, SwitchPorts]) -> None:
        self._settings = settings
        self._wiring = wiring
        self._switches = switches
        self._links: dict[LinkKey, Link] = {}
        self._at: dict[PortKey, set[LinkKey]] = {}
        # At most the time of the first due link; exact after each wake.
        self._due = float("inf")

    @property
    def due(self) -> float | None:
        """Time of the next :meth:`wake`; None if no link is due by the clock."""
        return None if self._due == float("inf") else self._due

    def all(self) -> tuple[Link, ...]:
        """Return all links, sorted by their ends."""
        return tuple(self._links[key] for key in sorted(self._links))

    def live(self) -> frozenset[LinkKey]:
        """Return the usable links."""
        return frozenset(key for key, link in self._links.items() if link.state is LinkState.LIVE)

    def at(self, port: PortKey) -> frozenset[LinkKey]:
        """Return the links of a port."""
        return frozenset(self._at.get(port, ()))

    def of_switch(self, dpid: int) -> frozenset[LinkKey]:
        """Return the links of a switch."""
        return frozenset(key for key in self._links if dpid in (key[0][0], key[1][0]))

    def between(self, one: PortKey, other: PortKey, now: float) -> Link:
        """Return the link between two ports; create it if it is new."""
        key = (min(one, other), max(one, other))
        if key not in self._links:
            self._links[key] = Link(key, since=now)
            for end in key:
                self._at.setdefault(end, set()).add(key)
        return self._links[key]

    def settle(self, keys: Iterable[LinkKey], now: float, found: LinkEffects) -> None:
        """Judge these links again, and those that share a port with them."""
        touched = {key for ends in keys for end in ends for key in self._at.get(end, ())}
        for key in sorted(touched):
            self._judge(self._links[key], now, found)

    def forget_probes(self, keys: Iterable[LinkKey], now: float, found: LinkEffects) -> None:
        """Forget the probes received over these links."""
        chosen = tuple(keys)
        for key in chosen:
            self._links[key].forget_probes()
        self.settle(chosen, now, found)

    def wake(self, now: float, found: LinkEffects) -> None:
        """Judge the links that are due."""
        if self._due <= now:
            self.settle([key for key, link in self._links.items() if link.due <= now], now, found)
            self._due = min((link.due for link in self._links.values()), default=float("inf"))

    def extend_validity(self, by: float) -> None:
        """Extend the validity of received probes by a time."""
        for link in self._links.values():
            link.arrivals = {end: replace(last, at=last.at + by) for end, last in link.arrivals.items()}

    # -- inside -------------------------------------------------------------------------------------

    def _judge(self, link: Link, now: float, found: LinkEffects) -> None:
        window = self._settings.window
        seen = self._situation(link, now)
        (state, reason), due = judge_link(link, seen, now, window), next_change(link, seen, now, window)
        if link.whole and not seen.whole and state is not LinkState.UNKNOWN:
            link.flaps = link.flaps.add_failure(now, self._settings)
        if state is not link.state:
            found.changes.append(LinkChange(link.ends, link.state, state, reason))
            link.since = now
        link.state, link.reason, link.whole = state, reason, seen.whole
        link.due = min(due, link.flaps.until) if link.flaps.until > now else due
        self._report(link, now, found)
        self._forget_if_over(link, now)
        self._due = min(self._due, link.due)

    def _report(self, link: Link, now: float, found: LinkEffects) -> None:
        worth = choose_report(link, now, self._settings.window)
        if worth is not None:
            link.reported = link.state
            one, other = (self._name(end) for end in link.ends)
            found.reports.append(DiscoveryReport(*worth, format_state(link, (one, other), now)))

    def _situation(self, link: Link, now: float) -> LinkConditions:
        switches = [self._switches[dpid] for dpid, _ in link.ends]
        one, other = (s.ports.get(end[1]) for s, end in zip(switches, link.ends, strict=True))
        against, up = "", False
        if one is not None and other is not None:
            against = self._wiring.find_contradiction((one.dpid, one.name), (other.dpid, other.name))
            up = one.state.live and other.state.live
        connected, fresh = (
            all(switch.connected for switch in switches),
            link.fresh(now, self._settings.window),
        )
        return LinkConditions(
            ports=(one, other),
            connected=connected,
            whole=connected and up and fresh >= set(link.ends),
            back_since=max(switch.since for switch in switches),
            contradiction=against,
            shared=any(self._count_senders(end, now) > 1 for end in link.ends),
        )

    def _count_senders(self, end: PortKey, now: float) -> int:
        """Return the number of other ports whose probes a port receives."""
        links = (self._links[key] for key in self._at[end])
        return sum(bool(link.fresh(now, self._settings.window) - {end}) for link in links)

    def _forget_if_over(self, link: Link, now: float) -> None:
        if link.state is not LinkState.DOWN or now < link.flaps.until:
            return
        if link.reported is not None and now < link.since + DOWN_LINK_SHOWN_S:
            link.due = min(link.due, link.since + DOWN_LINK_SHOWN_S)
            return
        del self._links[link.ends]
        link.due = float("inf")
        for end in link.ends:
            self._at[end].discard(link.ends)
            if not self._at[end]:
                del self._at[end]

    def _name(self, end: PortKey) -> str:
        return port_text(end, self._switches[end[0]].ports.get(end[1]))


REPORT_INTERVAL_S = 60.0
"""Minimum time between two reports of one kind about one port."""
FOREIGN_TTL_S = 300.0
"""Maximum validity of a foreign neighbour's frame."""
CLOCK_GRAIN_S = 2e-6
"""Times in frames are whole microseconds."""
GOLDEN = 0.618_033_988_75
"""Golden ratio: its multiples modulo 1 are spread evenly for any number of them."""

NO_ROUND_TRIPS: Mapping[int, float] = MappingProxyType({})


class Discovery:
    """Link discovery of one controller.

    :param identity: identity and signing key of the controller.
    :param wiring: configured wiring.
    """

    def __init__(self, settings: LinkDiscovery, identity: lldp.Identity, wiring: Wiring) -> None:
        self._settings = settings
        self._identity = identity
        self._wiring = wiring
        self._switches: dict[int, SwitchPorts] = {}
        self._links = LinkTable(settings, wiring, self._switches)
        self._sequence = 0
        self._now: float | None = None

    # -- events -------------------------------------------------------------------------------------

    def switch_up(self, dpid: int, ports: Mapping[str, PortState], now: float) -> LinkEffects:
        """Add a connected switch with its ports by name."""
        found = self.switch_down(dpid, now)
        phase = GOLDEN * (len(self._switches) + 1) % 1
        known = {state.number: Port(dpid, name, state, now, now) for name, state in ports.items()}
        self._switches[dpid] = SwitchPorts(known, now, now + phase * self._settings.hello)
        found.frames += self._probe_frames(known.values(), now)
        self._links.settle(self._links.of_switch(dpid), now, found)
        return found

    def switch_down(self, dpid: int, now: float) -> LinkEffects:
        """Mark a switch as disconnected: the state of its links is unknown."""
        found = self._start_event(now)
        if dpid in self._switches:
            self._switches[dpid].connected = False
            self._links.forget_probes(self._links.of_switch(dpid), now, found)
        return found

    def port_changed(self, dpid: int, name: str, state: PortState | None, now: float) -> LinkEffects:
        """Update or (None) remove a port; down counts at once, up after the debounce."""
        found = self._start_event(now)
        switch = self._switches.get(dpid)
        if switch is None or not switch.connected:
            return found
        before = next((port for port in switch.ports.values() if port.name == name), None)
        if before is not None and (state is None or state.number != before.state.number):
            self._remove(switch, before, now, found)
            before = None
        if state is None:
            return found
        taken = switch.ports.get(state.number)
        if taken is not None and taken is not before:
            self._remove(switch, taken, now, found)
        if before is not None and before.state.live and state.live:
            before.state = state
            return found
        reported = {} if before is None else before.reported
        port = Port(dpid, name, state, now, now + self._settings.debounce, reported=reported)
        switch.ports[state.number] = port
        self._links.forget_probes(self._links.at(port.key), now, found)
        found.frames += self._probe_frames([port], now)
        return found

    def lldp_received(
        self,
        dpid: int,
        number: int,
        data: bytes,
        now: float,
        round_trips: Mapping[int, float] = NO_ROUND_TRIPS,
    ) -> LinkEffects:
        """Evaluate a received LLDP frame.

        :param round_trips: between controller and switch per datapath id, s; subtracted from the link's
            delay.
        """
        found = self._start_event(now)
        port = self.port((dpid, number))
        if port is None or not port.state.live:
            return found
        match lldp.parse_frame(data, self._identity):
            case lldp.Probe() as probe:
                self._receive_probe(port, probe, now, round_trips, found)
            case lldp.Neighbour() as neighbour:
                self._note_neighbour(port, neighbour, now, found)
            case lldp.InvalidFrame(why, forged=True):
                self._report(port, "hello-forged", "warning", f"received {why}", now, found)
            case lldp.InvalidFrame(why):
                text = f"received a malformed LLDP frame: {why}"
                self._report(port, "hello-malformed", "info", text, now, found)
        return found

    def wake(self, now: float) -> LinkEffects:
        """Send the probes and judge the links that are due."""
        found = self._start_event(now)
        for switch in self._switches.values():
            if switch.connected and switch.next_probe <= now:
                found.frames += self._probe_frames(switch.ports.values(), now)
                after = switch.next_probe + self._settings.hello
                switch.next_probe = after if after > now else now + self._settings.hello
        return found

    def next_wake(self) -> float | None:
        """Return the time of the next :meth:`wake`; None without a connected switch or known link."""
        times = [switch.next_probe for switch in self._switches.values() if switch.connected]
        times += [] if self._links.due is None else [self._links.due]
        return min(times, default=None)

    # -- queries ------------------------------------------------------------------------------------

    def live_links(self) -> frozenset[tuple[int, int, int, int]]:
        """Return datapath id and port number of both ends of each usable link, smaller end first."""
        return frozenset((*one, *other) for one, other in self._links.live())

    def links(self) -> tuple[Link, ...]:
        """Return all known links, usable or not; read only."""
        return self._links.all()

    def port(self, key: PortKey) -> Port | None:
        """Return a port as last reported; read only."""
        switch = self._switches.get(key[0])
        return None if switch is None or not switch.connected else switch.ports.get(key[1])

    def neighbours(self, now: float) -> tuple[tuple[Port, lldp.Neighbour], ...]:
        """Return the ports with a foreign neighbour, and the neighbour."""
        return tuple(
            (port, port.foreign[0])
            for dpid in sorted(self._switches)
            for _, port in sorted(self._switches[dpid].ports.items())
            if port.foreign is not None and now < port.foreign[1]
        )

    # -- probes -------------------------------------------------------------------------------------

    def _probe_frames(self, ports: Iterable[Port], now: float) -> list[Frame]:
        return [self._probe_frame(port, now) for port in ports if self._sends_probes(port)]

    def _sends_probes(self, port: Port) -> bool:
        return port.state.live and not self._wiring.is_silent((port.dpid, port.name))

    def _probe_frame(self, port: Port, now: float) -> Frame:
        self._sequence += 1
        probe = lldp.Probe(*port.key, self._sequence, now, self._identity.controller)
        ttl = int(self._settings.window) + 1
        return Frame(*port.key, lldp.probe_frame(self._identity, probe, port.name, port.state.mac, ttl))

    def _receive_probe(
        self, port: Port, probe: lldp.Probe, now: float, round_trips: Mapping[int, float], found: LinkEffects
    ) -> None:
        if probe.controller != self._identity.controller:
            text = "received the probe of another controller of this network, which does not count"
            self._report(port, "hello-standby", "info", text, now, found)
            return
        sender = self.port((probe.dpid, probe.port))
        if sender is None or not self._is_credible(sender, probe, now):
            return
        link = self._links.between(sender.key, port.key, now)
        last = link.arrivals.get(sender.key)
        if last is not None and probe.sequence <= last.sequence:
            return
        known = sender.key in link.fresh(now, self._settings.window)
        link.arrivals[sender.key] = ProbeArrival(now, probe.sequence)
        control = (round_trips.get(sender.dpid, 0.0) + round_trips.get(port.dpid, 0.0)) / 2
        link.note_delay(sender.key, now - probe.sent_at - control)
        self._links.settle({link.ends}, now, found)
        if not known and not link.whole:
            found.frames += self._probe_frames([port], now)

    def _is_credible(self, sender: Port, probe: lldp.Probe, now: float) -> bool:
        age = now - probe.sent_at
        recent = -CLOCK_GRAIN_S <= age < self._settings.window
        return sender.state.live and recent and probe.sent_at >= sender.up_since - CLOCK_GRAIN_S

    def _note_neighbour(self, port: Port, neighbour: lldp.Neighbour, now: float, found: LinkEffects) -> None:
        before = port.foreign
        if neighbour.ttl == 0:
            port.foreign = None
            return
        port.foreign = (neighbour, now + min(FOREIGN_TTL_S, neighbour.ttl))
        if before is None or before[0] != neighbour:
            system = neighbour.system or neighbour.chassis
            text = f"is connected to port {neighbour.port!r} of the foreign system {system!r}"
            self._report(port, "neighbour-foreign", "info", text, now, found)

    # -- inside -------------------------------------------------------------------------------------

    def _start_event(self, now: float) -> LinkEffects:
        """Judge the links that are due; a suspension of the controller extends the validity of probes."""
        found, interval = LinkEffects(), self._settings.hello
        suspended = 0.0 if self._now is None else now - self._now - interval
        self._now = now
        if suspended > interval:
            self._links.extend_validity(suspended)
        self._links.wake(now, found)
        return found

    def _remove(self, switch: SwitchPorts, port: Port, now: float, found: LinkEffects) -> None:
        del switch.ports[port.state.number]
        self._links.forget_probes(self._links.at(port.key), now, found)

    def _report(
        self, port: Port, code: AnnouncementCode, level: str, text: str, now: float, found: LinkEffects
    ) -> None:
        last = port.reported.get(code)
        if last is None or now - last >= REPORT_INTERVAL_S:
            port.reported[code] = now
            found.reports.append(DiscoveryReport(level, code, f"{port_text(port.key, port)} {text}"))

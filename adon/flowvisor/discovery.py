"""Finding links: who says hello when, and what is made of the hellos that come in.

Each port that may carry a link says hello once per interval (R14).  The hellos of one switch go together,
those of different switches at different times, so that neither switches nor decision thread get them all
at once.  A port that comes up says hello at once, and so does one that hears a neighbour for the first
time: a new link is known within a round trip, not within an interval.

What is believed of a hello that is properly signed (:mod:`adon.flowvisor.lldp`): one of this controller,
from a port that is up, sent after that port came up, not older than a link may be silent, and newer than
the last one.  So a frame that was recorded and comes again proves nothing.

When the controller itself was not awake (a stall, a clock that was set forward) it sent no hellos, and
that none came says nothing about a link: the time that was slept counts for nobody.  A switch that is not
connected cannot be asked either: its links are *unknown*, not down, and that is no flap.

Pure: time is an argument, frames to send and what is to be told come back as values.  What the links are
is kept in :mod:`adon.flowvisor.link_table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from adon.config.network import LinkDiscovery
from adon.flowvisor import lldp
from adon.flowvisor.link import Heard, Link, Port, PortKey, SwitchPorts, port_text
from adon.flowvisor.link_table import Found, Frame, LinkTable, Report
from adon.flowvisor.port import PortState
from adon.flowvisor.wiring import Wiring
from adon.reasons import AnnouncementCode

TELL_AGAIN_S = 60.0
"""About one port the same kind of thing is reported at most so often."""
FOREIGN_TTL_S = 300.0
"""A foreign neighbour is believed no longer than this, whatever its frames say."""
CLOCK_GRAIN_S = 2e-6
"""Times in frames are whole microseconds."""
GOLDEN = 0.618_033_988_75
"""Multiples of it, modulo 1, spread evenly however many there are."""

NO_ROUND_TRIPS: Mapping[int, float] = MappingProxyType({})


class Discovery:
    """See the module's text.

    :param identity: who we are, and the key that signs hellos.
    :param wiring: what the configuration says about the wires.
    """

    def __init__(self, settings: LinkDiscovery, identity: lldp.Identity, wiring: Wiring) -> None:
        self._settings = settings
        self._identity = identity
        self._wiring = wiring
        self._switches: dict[int, SwitchPorts] = {}
        self._links = LinkTable(settings, wiring, self._switches)
        self._sequence = 0
        self._now: float | None = None

    # -- what happens -------------------------------------------------------------------------------

    def switch_up(self, dpid: int, ports: Mapping[str, PortState], now: float) -> Found:
        """A switch connected with these ports, by name."""
        found = self.switch_down(dpid, now)
        phase = GOLDEN * (len(self._switches) + 1) % 1
        known = {s.number: _port(dpid, name, s, now, settled_at=now) for name, s in ports.items()}
        self._switches[dpid] = SwitchPorts(known, now, now + phase * self._settings.hello)
        found.frames += self._hellos(known.values(), now)
        self._links.settle(self._links.of_switch(dpid), now, found)
        return found

    def switch_down(self, dpid: int, now: float) -> Found:
        """The connection to a switch is gone: nothing is known of its links."""
        found = self._begin(now)
        if dpid in self._switches:
            self._switches[dpid].connected = False
            self._links.unhear(self._links.of_switch(dpid), now, found)
        return found

    def port_changed(self, dpid: int, name: str, state: PortState | None, now: float) -> Found:
        """A port appeared, changed or (None) went away; down counts at once, up after the debounce."""
        found = self._begin(now)
        switch = self._switches.get(dpid)
        if switch is None or not switch.connected:
            return found
        before = next((port for port in switch.ports.values() if port.name == name), None)
        if before is not None and (state is None or state.number != before.number):
            self._remove(switch, before, now, found)
            before = None
        if state is None:
            return found
        taken = switch.ports.get(state.number)
        if taken is not None and taken is not before:
            self._remove(switch, taken, now, found)
        stays_up = before is not None and before.up and state.live
        if before is not None and stays_up:
            before.admin, before.oper, before.mac = state.admin, state.oper, state.mac
            return found
        port = _port(dpid, name, state, now, settled_at=now + self._settings.debounce)
        port.told = {} if before is None else before.told
        switch.ports[port.number] = port
        self._links.unhear(self._links.at(port.key), now, found)
        found.frames += self._hellos([port], now)
        return found

    def lldp_received(
        self,
        dpid: int,
        number: int,
        data: bytes,
        now: float,
        round_trips: Mapping[int, float] = NO_ROUND_TRIPS,
    ) -> Found:
        """A port heard an LLDP frame.

        :param round_trips: between controller and switch per datapath id, s; taken off the link's delay.
        """
        found = self._begin(now)
        port = self._port((dpid, number))
        if port is None or not port.up:
            return found
        match lldp.parse(data, self._identity):
            case lldp.Hello() as hello:
                self._hear(port, hello, now, round_trips, found)
            case lldp.Neighbour() as neighbour:
                self._meet(port, neighbour, now, found)
            case lldp.Refused(why, forged=True):
                self._tell(port, "hello-forged", "warning", f"hears {why}", now, found)
            case lldp.Refused(why):
                self._tell(
                    port, "hello-malformed", "info", f"hears an LLDP frame that is not one: {why}", now, found
                )
        return found

    def wake(self, now: float) -> Found:
        """Do what is due by the clock."""
        found = self._begin(now)
        for switch in self._switches.values():
            if switch.connected and switch.next_hello <= now:
                found.frames += self._hellos(switch.ports.values(), now)
                after = switch.next_hello + self._settings.hello
                switch.next_hello = after if after > now else now + self._settings.hello
        return found

    def next_wake(self) -> float | None:
        """When :meth:`wake` is wanted next; None as long as no switch is connected and no link known."""
        times = [switch.next_hello for switch in self._switches.values() if switch.connected]
        times += [] if self._links.due is None else [self._links.due]
        return min(times, default=None)

    # -- what is known ------------------------------------------------------------------------------

    def live_links(self) -> frozenset[tuple[int, int, int, int]]:
        """Datapath id and port number of both ends of each link that may be used, smaller end first."""
        return frozenset((*one, *other) for one, other in self._links.live())

    def links(self) -> tuple[Link, ...]:
        """Every link known, also those that may not be used; to be read only."""
        return self._links.all()

    def port(self, key: PortKey) -> Port | None:
        """A port as it was reported last; to be read only."""
        return self._port(key)

    def neighbours(self, now: float) -> tuple[tuple[Port, lldp.Neighbour], ...]:
        """The ports that hear another system, and what it says of itself."""
        return tuple(
            (port, port.foreign[0])
            for dpid in sorted(self._switches)
            for _, port in sorted(self._switches[dpid].ports.items())
            if port.foreign is not None and now < port.foreign[1]
        )

    # -- hellos -------------------------------------------------------------------------------------

    def _hellos(self, ports: Iterable[Port], now: float) -> list[Frame]:
        return [self._hello(port, now) for port in ports if port.up and self._speaks(port)]

    def _speaks(self, port: Port) -> bool:
        return not self._wiring.silent((port.dpid, port.name))

    def _hello(self, port: Port, now: float) -> Frame:
        self._sequence += 1
        hello = lldp.Hello(port.dpid, port.number, self._sequence, now, self._identity.controller)
        ttl = int(self._settings.window) + 1
        return Frame(*port.key, lldp.hello_frame(self._identity, hello, port.name, port.mac, ttl))

    def _hear(
        self, port: Port, hello: lldp.Hello, now: float, round_trips: Mapping[int, float], found: Found
    ) -> None:
        if hello.controller != self._identity.controller:
            text = "hears the hello of another controller of this network, which is not counted"
            self._tell(port, "hello-standby", "info", text, now, found)
            return
        sender = self._port((hello.dpid, hello.port))
        if sender is None or not self._believed(sender, hello, now):
            return
        link = self._links.between(sender.key, port.key, now)
        last = link.heard.get(sender.key)
        if last is not None and hello.sequence <= last.sequence:
            return
        known = sender.key in link.fresh(now, self._settings.window)
        link.heard[sender.key] = Heard(now, hello.sequence)
        control = (round_trips.get(sender.dpid, 0.0) + round_trips.get(port.dpid, 0.0)) / 2
        link.note_delay(sender.key, now - hello.sent_at - control)
        self._links.settle({link.ends}, now, found)
        if not known and not link.whole:
            found.frames += self._hellos([port], now)

    def _believed(self, sender: Port, hello: lldp.Hello, now: float) -> bool:
        age = now - hello.sent_at
        recent = -CLOCK_GRAIN_S <= age < self._settings.window
        return sender.up and recent and hello.sent_at >= sender.up_since - CLOCK_GRAIN_S

    def _meet(self, port: Port, neighbour: lldp.Neighbour, now: float, found: Found) -> None:
        before = port.foreign
        if neighbour.ttl == 0:
            port.foreign = None
            return
        port.foreign = (neighbour, now + min(FOREIGN_TTL_S, neighbour.ttl))
        if before is None or before[0] != neighbour:
            text = f"is joined to {neighbour.port!r} of {neighbour.system or neighbour.chassis!r}, not ours"
            self._tell(port, "neighbour-foreign", "info", text, now, found)

    # -- inside -------------------------------------------------------------------------------------

    def _begin(self, now: float) -> Found:
        """Let what is due happen first; the time that we slept ourselves is nobody's silence."""
        found, hello = Found(), self._settings.hello
        slept = 0.0 if self._now is None else now - self._now - hello
        self._now = now
        if slept > hello:
            self._links.extend_hearing(slept)
        self._links.wake(now, found)
        return found

    def _port(self, key: PortKey) -> Port | None:
        switch = self._switches.get(key[0])
        return None if switch is None or not switch.connected else switch.ports.get(key[1])

    def _remove(self, switch: SwitchPorts, port: Port, now: float, found: Found) -> None:
        del switch.ports[port.number]
        self._links.unhear(self._links.at(port.key), now, found)

    def _tell(
        self, port: Port, code: AnnouncementCode, level: str, text: str, now: float, found: Found
    ) -> None:
        last = port.told.get(code)
        if last is None or now - last >= TELL_AGAIN_S:
            port.told[code] = now
            found.reports.append(Report(level, code, f"{port_text(port.key, port)} {text}"))


def _port(dpid: int, name: str, state: PortState, now: float, *, settled_at: float) -> Port:
    return Port(
        dpid=dpid,
        number=state.number,
        name=name,
        mac=state.mac,
        admin=state.admin,
        oper=state.oper,
        up=state.live,
        up_since=now,
        settled_at=settled_at,
    )

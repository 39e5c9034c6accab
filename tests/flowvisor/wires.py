"""Switches with wires between them, for what finds links: frames that are sent arrive where the wire ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery.link import LinkState, Wiring
from adon.flowvisor.discovery.link_discovery import (
    Discovery,
    DiscoveryReport,
    Frame,
    LinkChange,
    LinkEffects,
)
from adon.flowvisor.discovery.lldp import Identity
from adon.flowvisor.topology.network_graph import PortKey, PortState

IDENTITY = Identity("test", b"run-0001", bytes(range(32)))
QUICK = LinkDiscovery.model_validate({"debounce": "500 ms"})
ODD = "sw ü\u202e;rm -rf\n"
"""A port's name as somebody with no good in mind would choose it."""


class Wires:
    """Some switches with ports 1..n called ``p1``… , joined as ``wires`` says; time passes when told to.

    :param wires: per sending end the ends where its frames arrive.
    :param delay: of every wire, s.
    """

    def __init__(
        self,
        *joined: tuple[PortKey, PortKey],
        switches: int = 2,
        ports: int = 3,
        settings: LinkDiscovery | None = None,
        wiring: Wiring | None = None,
        delay: float = 0.0,
    ) -> None:
        self.settings = QUICK if settings is None else settings
        self.discovery = Discovery(self.settings, IDENTITY, Wiring() if wiring is None else wiring)
        self.now, self.delay = 1_000_000.0, delay
        self.wires: dict[PortKey, set[PortKey]] = {}
        for one, other in joined:
            self.wires.setdefault(one, set()).add(other)
            self.wires.setdefault(other, set()).add(one)
        self.dpids = tuple(range(1, switches + 1))
        self.ports = {(d, p): True for d in self.dpids for p in range(1, ports + 1)}
        self.connected: set[int] = set()
        self.reports: list[DiscoveryReport] = []
        self.changes: list[LinkChange] = []
        self.sent: list[Frame] = []
        self._flying: list[tuple[float, PortKey, bytes]] = []

    def name(self, key: PortKey) -> str:
        return f"p{key[1]}" if key != (1, 3) else ODD

    def connect(self, *dpids: int) -> None:
        for dpid in dpids or self.dpids:
            ports = {
                self.name(key): PortState(key[1], up) for key, up in self.ports.items() if key[0] == dpid
            }
            self.connected.add(dpid)
            self.take(self.discovery.switch_up(dpid, ports, self.now))

    def disconnect(self, dpid: int) -> None:
        self.connected.discard(dpid)
        self.take(self.discovery.switch_down(dpid, self.now))

    def port(self, key: PortKey, *, up: bool, told: bool = True) -> None:
        """A port goes down or up; ``told`` False: its switch does not notice."""
        self.ports[key] = up
        if told and key[0] in self.connected:
            state = PortState(key[1], up, oper=up)
            self.take(self.discovery.port_changed(key[0], self.name(key), state, self.now))

    def cut(self, one: PortKey, other: PortKey) -> None:
        """Frames from one end do not arrive at the other any more."""
        self.wires[one].discard(other)

    def hear(self, key: PortKey, data: bytes, round_trips: Mapping[int, float] | None = None) -> None:
        trips = {} if round_trips is None else round_trips
        self.take(self.discovery.lldp_received(*key, data, self.now, trips))

    def take(self, found: LinkEffects) -> None:
        self.reports += found.reports
        self.changes += found.changes
        self.sent += found.frames
        for frame in found.frames:
            self._send(frame)
        self._land()

    def _send(self, frame: Frame) -> None:
        key = (frame.dpid, frame.port)
        if frame.dpid in self.connected and self.ports.get(key):
            for end in self.wires.get(key, ()):
                self._flying.append((self.now + self.delay, end, frame.data))

    def _land(self) -> None:
        while landed := [one for one in self._flying if one[0] <= self.now]:
            self._flying = [one for one in self._flying if one[0] > self.now]
            for _, end, data in landed:
                if self.ports[end] and end[0] in self.connected:
                    self.hear(end, data)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, waking the discovery when it asks to be."""
        end = self.now + seconds
        while (next_time := self._next()) <= end:
            assert next_time > self.now, "asks to be woken again and again"
            self.now = next_time
            self._land()
            self.take(self.discovery.wake(self.now))
        self.now = end

    def _next(self) -> float:
        times = [at for at, _, _ in self._flying]
        wake = self.discovery.next_wake()
        return min(times if wake is None else [*times, wake], default=float("inf"))

    # -- what is looked at ------------------------------------------------------------------------------

    @property
    def live(self) -> set[tuple[PortKey, PortKey]]:
        return {((a, b), (c, d)) for a, b, c, d in self.discovery.live_links()}

    def states(self) -> dict[tuple[PortKey, PortKey], LinkState | None]:
        return {link.ends: link.state for link in self.discovery.links()}

    @property
    def told(self) -> list[tuple[str, str]]:
        """Level and code of each report."""
        return [(report.level, report.code) for report in self.reports]

    def heard(self, code: str) -> int:
        """How many reports have this code."""
        return [report.code for report in self.reports].count(code)


def line_of(number: int) -> Iterable[tuple[PortKey, PortKey]]:
    """Wires that join so many switches in a line: port 2 of each to port 1 of the next."""
    return [((dpid, 2), (dpid + 1, 1)) for dpid in range(1, number)]

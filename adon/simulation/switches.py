"""Edge switches that do as they are told and count what passes: what the decision core sees of the network.

Rules take effect when their batch's barrier is answered.  Which path a transfer takes is read from the
rules themselves, as a switch would: its ingress rule's output port.  Counters count frames, so a little more
than the data; where nothing gets through, the near edge still counts what TCP sends again (one frame per
stream and second), which is how a path that swallows packets is told from a silent transfer (R22).

Group entries and meters are not used by what the core asks of such switches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.explain.event_player import IdealSwitch
from adon.flowvisor.action import Output
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.rule import Change, Op, Rule, Slot
from adon.simulation.network import Network, Path
from adon.simulation.tcp import FRAME, TCP_PAYLOAD
from adon.simulation.workload import Transfer


@dataclass(frozen=True, slots=True)
class Wiring:
    """Which switch is whose edge, and which port leads where.

    :param dpids: by site.
    :param addresses: of each site's data transfer node.
    :param ports: by site, the number of the port onto each path.
    """

    dpids: Mapping[str, int]
    addresses: Mapping[str, str]
    ports: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, network: Network) -> Wiring:
        """One edge and one data transfer node per site, port 1 toward it, a port of its own for each path."""
        sites = network.sites
        return cls(
            {site: 0xA01 + place for place, site in enumerate(sites)},
            {site: f"10.{place}.0.10" for place, site in enumerate(sites, 1)},
            {site: {p.name: number for number, p in enumerate(_leaving(network, site), 2)} for site in sites},
        )

    def onto(self, site: str, port: int) -> str | None:
        """The path that a port of a site's edge leads onto."""
        return next((path for path, number in self.ports[site].items() if number == port), None)


def _leaving(network: Network, site: str) -> list[Path]:
    return [path for path in network.paths if site in path.ends]


@dataclass(slots=True)
class Carried:
    """What one transfer has sent: bytes in all, bytes per path, seconds of sending in vain.

    :param path: the one it is on.
    """

    transfer: Transfer
    path: str | None = None
    sent: float = 0.0
    stalled: float = 0.0
    by_path: dict[str, float] = field(default_factory=dict)

    def note(self, sent: float, stalled: float) -> None:
        """It has sent so much by now."""
        if self.path is not None:
            self.by_path[self.path] = self.by_path.get(self.path, 0.0) + sent - self.sent
        self.sent, self.stalled = sent, stalled

    @property
    def left(self) -> int:
        """Bytes of frames that entered the near edge."""
        return round(self.sent * FRAME / TCP_PAYLOAD + self.stalled * FRAME * self.transfer.streams)

    def arrived(self, path: str | None) -> int:
        """Bytes of frames that left the far edge, come by this path."""
        return 0 if path is None else round(self.by_path.get(path, 0.0) * FRAME / TCP_PAYLOAD)


class CountingSwitch(IdealSwitch):
    """An edge that counts the frames of transfers; see the module's text.

    :param carried: by flow number.
    """

    def __init__(self, dpid: int, wiring: Wiring, carried: Mapping[int, Carried]) -> None:
        super().__init__(dpid)
        self._wiring = wiring
        self._carried = carried
        self._ingress: dict[int, Rule] = {}
        self._bases: dict[Slot, int] = {}

    def apply(self, change: Change, now: float) -> str:
        """Carry out a change."""
        rule = change.rule
        if not isinstance(rule, Rule):
            raise TypeError(f"simulated switches have rules only, no {type(rule).__name__}")
        if change.op is not Op.MODIFY or rule.slot not in self.table:
            self._bases[rule.slot] = self._total(rule)
        self._steer(rule, gone=change.op is Op.DELETE)
        return super().apply(change, now)

    def _steer(self, rule: Rule, *, gone: bool) -> None:
        kind, number = cookie_owner(rule.cookie)
        carried = self._carried.get(number)
        if kind is not Kind.FLOW_INGRESS or carried is None or not self._forward(rule, carried.transfer):
            return
        if gone:
            self._ingress.pop(number, None)
        else:
            self._ingress[number] = rule

    def _forward(self, rule: Rule, transfer: Transfer) -> bool:
        return rule.match.ip_src == self._wiring.addresses[transfer.source]

    def path_of(self, number: int) -> str | None:
        """The path that a flow's packets take by the rules; None without a rule."""
        rule, carried = self._ingress.get(number), self._carried.get(number)
        if rule is None or carried is None:
            return None
        port = next(action.port for action in rule.actions if isinstance(action, Output))
        return self._wiring.onto(carried.transfer.source, port)

    def count(self) -> None:
        """Count what has passed each rule since it was added."""
        for slot, held in self.table.items():
            if isinstance(held.rule, Rule):
                held.bytes = max(0, self._total(held.rule) - self._bases[slot])
                held.packets = -(-held.bytes // FRAME)

    def _total(self, rule: Rule) -> int:
        """What a rule in this place would have counted from the beginning."""
        kind, number = cookie_owner(rule.cookie)
        carried = self._carried.get(number)
        if carried is None or kind not in (Kind.FLOW_INGRESS, Kind.FLOW_DELIVERY):
            return 0
        if not self._forward(rule, carried.transfer):
            return 0
        if kind is Kind.FLOW_INGRESS:
            return carried.left
        port = 0 if rule.match.in_port is None else rule.match.in_port
        return carried.arrived(self._wiring.onto(carried.transfer.destination, port))

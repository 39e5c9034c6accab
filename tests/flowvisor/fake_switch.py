"""A switch that forwards, as a working stand-in: flow-mods in, packets through, counters and time-outs.

It follows the OpenFlow 1.3 specification where our rules can tell: an add with the same slot replaces
(6.4), strict modifies and deletes obey the cookie filter and change actions only, the highest priority
wins, an idle rule goes.  :class:`Net` joins two edges by pipes that behave like transit paths: a VLAN
overlay passes only its own VLAN, a router only frames addressed to it.

Laws are in the helper, so that every test gets them free: :meth:`Net.apply` replays each batch on a copy
and requires that twice applied is once applied.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from adon.flowvisor.action import Output, PopVlan, PushVlan, SetEthDst, SetEthSrc, ToController
from adon.flowvisor.path import Attachment, CandidatePath, Layer
from adon.flowvisor.pipeline import owner_of
from adon.flowvisor.reconcile import Phase
from adon.flowvisor.rule import Change, GroupEntry, MeterEntry, Op, ReportedRule, Rule, Slot

CONTROLLER = -1


@dataclass(frozen=True)
class Packet:
    eth_src: str
    eth_dst: str
    ip_src: str
    ip_dst: str
    ip_proto: int = 6
    tp_src: int = 40_000
    tp_dst: int = 5_001
    vlan: int | None = None
    eth_type: int = 0x0800
    size: int = 1_500


@dataclass
class Entry:
    rule: Any
    packets: int = 0
    bytes: int = 0
    installed: float = 0.0
    used: float = 0.0


@dataclass
class FakeSwitch:
    dpid: int
    table: dict[Slot, Entry] = field(default_factory=dict)

    def apply(self, change: Change, now: float = 0.0) -> None:
        rule = change.rule
        assert rule.dpid == self.dpid, "a change for another switch"
        held = self.table.get(rule.slot)
        if change.op is Op.ADD:
            self.table[rule.slot] = Entry(rule, installed=now, used=now)
        elif held is not None and (isinstance(rule, MeterEntry) or owner_of(held.rule) == owner_of(rule)):
            if change.op is Op.DELETE:
                del self.table[rule.slot]
            elif isinstance(rule, Rule):
                held.rule = replace(held.rule, actions=rule.actions, meter=rule.meter)
            else:
                held.rule = rule

    def forward(self, in_port: int, packet: Packet, now: float = 0.0) -> list[tuple[int, Packet]]:
        """Where the packet leaves, as it then is; nothing if no rule takes it."""
        hits = [entry for entry in self._rules() if matches(entry.rule, in_port, packet)]
        if not hits:
            return []
        top = max(entry.rule.priority for entry in hits)
        best = [entry for entry in hits if entry.rule.priority == top]
        assert len(best) == 1, f"ambiguous: {[entry.rule for entry in best]}"
        entry = best[0]
        entry.packets, entry.bytes, entry.used = entry.packets + 1, entry.bytes + packet.size, now
        return list(_act(entry.rule, packet))

    def expire(self, now: float) -> list[Rule]:
        """Remove the rules that have been idle for their time-out, and say which."""
        idle = [e.rule for e in self._rules() if 0 < e.rule.idle_timeout <= now - e.used]
        for rule in idle:
            del self.table[rule.slot]
        return idle

    def report(self, now: float = 0.0) -> list[ReportedRule]:
        return [ReportedRule(e.rule, e.packets, e.bytes, now - e.installed) for e in self._rules()]

    def equipment(self) -> tuple[GroupEntry | MeterEntry, ...]:
        held = [e.rule for e in self.table.values() if not isinstance(e.rule, Rule)]
        return tuple(replace(e, owner=None) if isinstance(e, MeterEntry) else e for e in held)

    def _rules(self) -> list[Entry]:
        return [entry for entry in self.table.values() if isinstance(entry.rule, Rule)]


def matches(rule: Rule, in_port: int, packet: Packet) -> bool:
    wanted = rule.match
    asked = {
        name: value
        for name in ("vlan", "eth_type", "ip_proto", "ip_src", "ip_dst", "tp_src", "tp_dst")
        if (value := getattr(wanted, name)) is not None
    }
    return wanted.in_port in (None, in_port) and all(getattr(packet, n) == v for n, v in asked.items())


def _act(rule: Rule, packet: Packet) -> Iterator[tuple[int, Packet]]:
    for action in rule.actions:
        match action:
            case PushVlan(vlan):
                assert packet.vlan is None, "a second tag"
                packet = replace(packet, vlan=vlan)
            case PopVlan():
                assert packet.vlan is not None, "no tag to take off"
                packet = replace(packet, vlan=None)
            case SetEthSrc(mac):
                packet = replace(packet, eth_src=mac)
            case SetEthDst(mac):
                packet = replace(packet, eth_dst=mac)
            case Output(port):
                yield port, packet
            case ToController():
                yield CONTROLLER, packet


class Net:
    """Edges joined by transit paths, with DTNs on them."""

    def __init__(self, paths: Iterable[CandidatePath], hosts: Iterable[Attachment]) -> None:
        both_ways = [direction for path in paths for direction in (path, path.reversed())]
        self.hosts = {host.host: host for host in hosts}
        ends = [host.dpid for host in self.hosts.values()] + [p.source_end.dpid for p in both_ways]
        self.switches = {dpid: FakeSwitch(dpid) for dpid in dict.fromkeys(ends)}
        self.pipes = both_ways
        self.copied: list[Packet] = []
        self.now = 0.0

    def rules(self) -> set[Rule]:
        return {entry.rule for switch in self.switches.values() for entry in switch.table.values()}

    def report(self) -> list[ReportedRule]:
        return [rule for switch in self.switches.values() for rule in switch.report(self.now)]

    def put(self, rules: Iterable[Rule]) -> None:
        """Place rules without a question, as somebody else would."""
        for rule in rules:
            self.switches[rule.dpid].table[rule.slot] = Entry(rule)

    def apply(self, changes: Iterable[Change]) -> None:
        batch = list(changes)
        for change in batch:
            self.switches[change.rule.dpid].apply(change, self.now)
        again = copy.deepcopy(self.switches)
        for change in batch:
            again[change.rule.dpid].apply(change, self.now)
        tables = {d: {e.rule for e in s.table.values()} for d, s in again.items()}
        assert tables == {d: {e.rule for e in s.table.values()} for d, s in self.switches.items()}

    def apply_phases(self, plan: Iterable[Phase]) -> Iterator[Change]:
        """Apply a plan change by change, yielding after each: whatever a switch may pass through."""
        for phase in plan:
            for changes in phase.batches.values():
                for change in changes:
                    self.apply([change])
                    yield change

    def send(self, source: str, destination: str, **fields: object) -> tuple[list[Packet], list[str]]:
        """A DTN sends one packet to another: what that receives, and the paths it took."""
        sender, receiver = self.hosts[source], self.hosts[destination]
        packet = Packet(sender.mac, sender.gateway_mac, sender.address, receiver.address)
        packet = replace(packet, **fields)  # type: ignore[arg-type]
        received: list[Packet] = []
        taken: list[str] = []
        for port, sent in self.switches[sender.dpid].forward(sender.port, packet, self.now):
            if port == CONTROLLER:
                self.copied.append(sent)
                continue
            for path, arrived in self._carry(sender.dpid, port, sent):
                taken.append(path.key.path)
                end = path.destination_end
                received += [
                    frame
                    for out, frame in self.switches[end.dpid].forward(end.port, arrived, self.now)
                    if out == receiver.port and end.dpid == receiver.dpid
                ]
        return received, taken

    def _carry(self, dpid: int, port: int, packet: Packet) -> Iterator[tuple[CandidatePath, Packet]]:
        for path in self.pipes:
            if (path.source_end.dpid, path.source_end.port) != (dpid, port):
                continue
            if path.layer is Layer.L2 and packet.vlan == path.vlan:
                yield path, packet
            router = path.source_end.next_hop_mac
            if path.layer is Layer.L3 and packet.vlan is None and packet.eth_dst == router:
                far = path.destination_end.next_hop_mac
                assert far is not None
                # The far router resolves the DTN by ARP; which MAC it finds there is not ours to assume.
                yield path, replace(packet, eth_src=far, eth_dst="02:ff:ff:ff:ff:ff")

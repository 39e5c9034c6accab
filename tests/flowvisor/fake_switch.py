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

from adon.flowvisor.action import ToGroup
from adon.flowvisor.connections import is_connections, is_soft
from adon.flowvisor.path import Attachment, CandidatePath, Layer
from adon.flowvisor.pipeline import owner_of
from adon.flowvisor.reconcile import Phase
from adon.flowvisor.rule import Change, Entry, GroupEntry, MeterEntry, Op, ReportedRule, Rule, Slot
from tests.support import datapath
from tests.support.datapath import CONTROLLER, Packet


@dataclass
class Held:
    rule: Entry
    packets: int = 0
    bytes: int = 0
    installed: float = 0.0
    used: float = 0.0


@dataclass
class FakeSwitch:
    dpid: int
    table: dict[Slot, Held] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)

    def objection(self, change: Change) -> str:
        """What it answers to a group or meter that is there, or is not (OpenFlow 1.3.5, 6.5 and 6.7)."""
        entry, there = change.rule, change.rule.slot in self.table
        if isinstance(entry, Rule):
            lacking = entry.meter is not None and (self.dpid, "meter", entry.meter) not in self.table
            if change.op is not Op.DELETE and lacking:
                return "OFPET_METER_MOD_FAILED(12) OFPMMFC_INVALID_METER(2)"
            groups = [action.group for action in entry.actions if isinstance(action, ToGroup)]
            dangling = any((self.dpid, "group", number) not in self.table for number in groups)
            refused = change.op is not Op.DELETE and dangling
            return "OFPET_BAD_ACTION(2) OFPBAC_BAD_OUT_GROUP(9)" if refused else ""
        kind, short = ("METER", "MM") if isinstance(entry, MeterEntry) else ("GROUP", "GM")
        if change.op is Op.ADD and there:
            return f"OFPET_{kind}_MOD_FAILED OFP{short}FC_{kind}_EXISTS"
        if change.op is Op.MODIFY and not there:
            return f"OFPET_{kind}_MOD_FAILED OFP{short}FC_UNKNOWN_{kind}"
        return ""

    def apply(self, change: Change, now: float = 0.0) -> None:
        rule = change.rule
        assert rule.dpid == self.dpid, "a change for another switch"
        if isinstance(rule, Rule) and is_connections(rule) and rule.match.tp_src is None:
            self._change_all(change.op, rule)
            return
        held = self.table.get(rule.slot)
        if change.op is Op.ADD:
            self.table[rule.slot] = Held(rule, installed=now, used=now)
        elif held is not None and (isinstance(rule, MeterEntry) or owner_of(held.rule) == owner_of(rule)):
            if change.op is Op.DELETE:
                del self.table[rule.slot]
                for hanging in self.hanging_on(rule):
                    del self.table[hanging.slot]
            elif isinstance(rule, Rule) and isinstance(held.rule, Rule):
                does = {n: getattr(rule, n) for n in ("actions", "meter", "metadata", "goto")}
                held.rule = replace(held.rule, **does)
            else:
                held.rule = rule

    def _change_all(self, op: Op, all_of: Rule) -> None:
        """What stands for all connections of a flow: every rule of its cookie is changed, none is made."""
        for slot, held in tuple(self.table.items()):
            if isinstance(held.rule, Rule) and held.rule.cookie == all_of.cookie:
                if op is Op.DELETE:
                    del self.table[slot]
                else:
                    does = {n: getattr(all_of, n) for n in ("actions", "meter", "metadata", "goto")}
                    held.rule = replace(held.rule, **does)

    def hanging_on(self, entry: Entry) -> list[Rule]:
        """The rules that go with a group or meter (6.5, 6.7)."""
        return [
            held.rule
            for held in self.table.values()
            if isinstance(held.rule, Rule)
            and (
                (isinstance(entry, GroupEntry) and ToGroup(entry.number) in held.rule.actions)
                or (isinstance(entry, MeterEntry) and held.rule.meter == entry.number)
            )
        ]

    def forward(self, in_port: int, packet: Packet, now: float = 0.0) -> list[tuple[int, Packet]]:
        """Where the packet leaves, as it then is; nothing if no rule takes it."""
        entries = [held.rule for held in self.table.values()]
        self._unambiguous(in_port, packet)
        passage = datapath.forward(entries, in_port, packet, lambda port: port not in self.dead)
        for step in passage.steps:
            if step.rule is not None:
                held = self.table[step.rule.slot]
                held.packets, held.bytes, held.used = held.packets + 1, held.bytes + packet.size, now
        return list(passage.outputs)

    def _unambiguous(self, in_port: int, packet: Packet) -> None:
        """Two rules of one priority that take the same packet: the specification leaves open which does."""
        first = [
            held.rule
            for held in self.table.values()
            if isinstance(held.rule, Rule)
            and held.rule.table == 0
            and datapath.matches(held.rule.match, in_port, packet)
        ]
        top = [rule for rule in first if rule.priority == max(one.priority for one in first)]
        assert len(top) <= 1, f"ambiguous: {top}"

    def expire(self, now: float) -> list[Rule]:
        """Remove the rules that have been idle for their time-out; those of which the switch tells."""
        idle = [
            held.rule
            for held in self.table.values()
            if isinstance(held.rule, Rule) and 0 < held.rule.idle_timeout <= now - held.used
        ]
        for rule in idle:
            del self.table[rule.slot]
        return [rule for rule in idle if not is_soft(rule)]

    def report(self, now: float = 0.0) -> list[ReportedRule]:
        return [
            ReportedRule(held.rule, held.packets, held.bytes, now - held.installed)
            for held in self.table.values()
            if isinstance(held.rule, Rule)
        ]

    def equipment(self) -> tuple[GroupEntry | MeterEntry, ...]:
        """Groups and meters as a switch reports them: whose a meter is it does not know."""
        entries = (held.rule for held in self.table.values())
        return tuple(
            replace(entry, owner=None) if isinstance(entry, MeterEntry) else entry
            for entry in entries
            if not isinstance(entry, Rule)
        )


class Net:
    """Edges joined by transit paths, with DTNs on them."""

    def __init__(self, paths: Iterable[CandidatePath], hosts: Iterable[Attachment]) -> None:
        both_ways = [direction for path in paths for direction in (path, path.reversed())]
        self.hosts = {host.host: host for host in hosts}
        ends = [host.dpid for host in self.hosts.values()] + [p.source_end.dpid for p in both_ways]
        ends += [hop.dpid for path in both_ways for hop in path.hops]
        self.switches = {dpid: FakeSwitch(dpid) for dpid in dict.fromkeys(ends)}
        self.pipes = both_ways
        self.copied: list[Packet] = []
        self.now = 0.0

    def rules(self) -> set[Entry]:
        return {entry.rule for switch in self.switches.values() for entry in switch.table.values()}

    def report(self) -> list[ReportedRule]:
        return [rule for switch in self.switches.values() for rule in switch.report(self.now)]

    def put(self, rules: Iterable[Entry]) -> None:
        """Place rules without a question, as somebody else would."""
        for rule in rules:
            self.switches[rule.dpid].table[rule.slot] = Held(rule)

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

    def _through(self, path: CandidatePath, packet: Packet) -> list[Packet]:
        """What comes out of the switches in the middle: one packet, by the port that the path goes on by."""
        for hop in path.hops:
            outputs = self.switches[hop.dpid].forward(hop.in_port, packet, self.now)
            if [port for port, _ in outputs] != [hop.out_port]:
                return []
            packet = outputs[0][1]
        return [packet]

    def _carry(self, dpid: int, port: int, packet: Packet) -> Iterator[tuple[CandidatePath, Packet]]:
        for path in self.pipes:
            if (path.source_end.dpid, path.source_end.port) != (dpid, port):
                continue
            if path.layer is Layer.L2 and packet.vlan == path.vlan:
                yield from ((path, arrived) for arrived in self._through(path, packet))
            router = path.source_end.next_hop_mac
            if path.layer is Layer.L3 and packet.vlan is None and packet.eth_dst == router:
                far = path.destination_end.next_hop_mac
                assert far is not None
                # The far router resolves the DTN by ARP; which MAC it finds there is not ours to assume.
                yield path, replace(packet, eth_src=far, eth_dst="02:ff:ff:ff:ff:ff")

"""Edges joined by transit paths, with DTNs on them.

A :class:`FakeNetwork` joins :class:`~tests.support.fake_switch.FakeSwitch` edges by pipes that behave like
transit paths: a VLAN overlay passes only its own VLAN, a router only frames addressed to it.  It applies each
batch twice on a copy and requires the result of applying it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from adon.flowvisor.rules.reconcile import Phase
from adon.flowvisor.rules.rule import Change, Entry, ReportedRule
from adon.flowvisor.topology.path import Attachment, CandidatePath, Layer
from tests.support.datapath import CONTROLLER, Packet
from tests.support.fake_switch import FakeSwitch


class FakeNetwork:
    """Edges joined by transit paths, with DTNs on them."""

    def __init__(self, paths: Iterable[CandidatePath], hosts: Iterable[Attachment]) -> None:
        both_ways = [direction for path in paths for direction in (path, path.reverse())]
        self.hosts = {host.host: host for host in hosts}
        ends = [host.dpid for host in self.hosts.values()] + [p.source_end.dpid for p in both_ways]
        ends += [hop.dpid for path in both_ways for hop in path.hops]
        self.switches = {dpid: FakeSwitch(dpid) for dpid in dict.fromkeys(ends)}
        self.pipes = both_ways
        self.copied: list[Packet] = []
        self.now = 0.0

    def rules(self) -> set[Entry]:
        return {entry for switch in self.switches.values() for entry in switch.entries()}

    def report(self) -> list[ReportedRule]:
        return [rule for switch in self.switches.values() for rule in switch.report(self.now)]

    def put(self, rules: Iterable[Entry]) -> None:
        """Place rules without a question, as somebody else would."""
        for rule in rules:
            self.switches[rule.dpid].put(rule)

    def apply(self, changes: Iterable[Change]) -> None:
        batch = list(changes)
        for change in batch:
            self.switches[change.rule.dpid].apply(change, self.now)
        again = {dpid: switch.copy() for dpid, switch in self.switches.items()}
        for change in batch:
            again[change.rule.dpid].apply(change, self.now)
        for dpid, switch in self.switches.items():
            assert again[dpid].entries() == switch.entries()

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

"""Where a packet would go, and why: switch by switch, table by table, rule by rule.

What one switch does is :mod:`adon.flowvisor.datapath`; here packets travel from switch to switch along
*wires*, which paths and links give.  A rule that is not ours is known by its match only: there the trace
ends, and says whose rule it is not.  A wire of a layer-3 path has a router at each end, which takes frames
addressed to it and hands them on readdressed; to whom it addresses them is found by ARP, not by us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from adon.flowvisor.datapath import CONTROLLER, NORMAL, Packet, Passage, forward
from adon.flowvisor.path import CandidatePath, Layer
from adon.flowvisor.pipeline import is_ours
from adon.flowvisor.rule import Entry, Rule, dpid_text

MOST_LEGS = 64
"""A packet that passed so many switches is in a loop, or as good as."""
ANY_MAC = "ff:ff:ff:ff:ff:ff"
"""Stands for the address that a router finds by ARP."""


class Fate(StrEnum):
    """How a packet's way ends."""

    DELIVERED = "delivered"
    DROPPED = "dropped"
    NORMAL = "forwarded by the switch itself (NORMAL)"
    FOREIGN = "taken by a rule that is not ours"
    LEFT = "leaves by a port that no path of ours uses"
    LOST = "not taken by any path on that port"
    LOOP = "in a loop"
    UNREACHABLE = "its port is down"


@dataclass(frozen=True, slots=True)
class Wire:
    """Where a frame arrives that leaves a switch by a port.

    :param vlan: it carries frames with this tag only; None: untagged ones.
    :param routers: on layer 3, whom frames must be addressed to, and who readdresses them at the far end.
    """

    path: str
    dpid: int
    port: int
    to_dpid: int
    to_port: int
    vlan: int | None = None
    routers: tuple[str, str] | None = None

    def carry(self, packet: Packet) -> Packet | None:
        """The packet as it arrives; None if this wire does not take it."""
        if packet.vlan != self.vlan:
            return None
        if self.routers is None:
            return packet
        near, far = self.routers
        return replace(packet, eth_src=far, eth_dst=ANY_MAC) if packet.eth_dst == near else None


@dataclass(frozen=True, slots=True)
class Leg:
    """A packet in one switch: where it came in, and what became of it there."""

    dpid: int
    in_port: int
    packet: Packet
    passage: Passage
    by: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """How one copy of the packet ended, at which switch, and the packet as it was then."""

    fate: Fate
    dpid: int
    detail: str
    packet: Packet


@dataclass(frozen=True, slots=True)
class Trace:
    """A packet's whole way; ``copies`` counts those that went to the controller."""

    legs: tuple[Leg, ...]
    ends: tuple[End, ...]
    copies: int = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths it took, in order."""
        return tuple(dict.fromkeys(leg.by for leg in self.legs if leg.by))


def wires(paths: Iterable[CandidatePath]) -> Iterator[Wire]:
    """The wires that candidate paths consist of, in the direction given."""
    for path in paths:
        near, far = path.source_end, path.destination_end
        if path.layer is Layer.L3:
            if near.next_hop_mac is not None and far.next_hop_mac is not None:
                routers = (near.next_hop_mac, far.next_hop_mac)
                yield Wire(path.key.path, near.dpid, near.port, far.dpid, far.port, None, routers)
            continue
        leaving = [(near.dpid, near.port), *((hop.dpid, hop.out_port) for hop in path.hops)]
        arriving = [*((hop.dpid, hop.in_port) for hop in path.hops), (far.dpid, far.port)]
        for (dpid, port), (to_dpid, to_port) in zip(leaving, arriving, strict=True):
            yield Wire(path.key.path, dpid, port, to_dpid, to_port, path.vlan)


def trace(
    packet: Packet,
    dpid: int,
    in_port: int,
    entries: Callable[[int], Sequence[Entry]],
    wired: Iterable[Wire],
    hosts: Mapping[tuple[int, int], str],
    live: Callable[[int, int], bool],
) -> Trace:
    """Follow a packet that enters a switch by a port.

    :param entries: what is in a switch; rules that are not ours without their actions.
    :param hosts: who hangs on which port (datapath id, port number).
    :param live: whether a port (datapath id, port number) has a link.
    """
    by_port: dict[tuple[int, int], list[Wire]] = {}
    for wire in dict.fromkeys(wired):
        by_port.setdefault((wire.dpid, wire.port), []).append(wire)
    legs: list[Leg] = []
    ends: list[End] = []
    copies = 0
    waiting = [(dpid, in_port, packet, "")]
    while waiting:
        here, port, arrived, by = waiting.pop(0)
        if len(legs) >= MOST_LEGS:
            ends.append(End(Fate.LOOP, here, f"after {MOST_LEGS} switches", arrived))
            break
        leg = Leg(here, port, arrived, _passage(here, port, arrived, entries, live), by)
        legs.append(leg)
        stop = _stop(leg)
        if stop is not None:
            ends.append(stop)
            continue
        for out, leaving in leg.passage.outputs:
            if out == CONTROLLER:
                copies += 1
                continue
            onward = _onward(here, out, leaving, by_port, hosts, live)
            if isinstance(onward, End):
                ends.append(onward)
            else:
                waiting.extend(onward)
    return Trace(tuple(legs), tuple(ends), copies)


def _passage(
    dpid: int,
    port: int,
    packet: Packet,
    entries: Callable[[int], Sequence[Entry]],
    live: Callable[[int, int], bool],
) -> Passage:
    return forward(entries(dpid), port, packet, lambda number: live(dpid, number))


def _stop(leg: Leg) -> End | None:
    """Whether the packet's way ends in this switch's tables."""
    last = leg.passage.steps[-1]
    if last.rule is None:
        where = f"no rule of table {last.table} takes it"
        return End(Fate.DROPPED, leg.dpid, where, leg.packet)
    if not is_ours(last.rule):
        return End(Fate.FOREIGN, leg.dpid, _place(last.rule), leg.packet)
    if not leg.passage.outputs:
        return End(Fate.DROPPED, leg.dpid, f"by {_place(last.rule)}", leg.packet)
    return None


def _place(rule: Rule) -> str:
    return f"table {rule.table}, priority {rule.priority}"


def _onward(
    dpid: int,
    out: int,
    packet: Packet,
    by_port: Mapping[tuple[int, int], Sequence[Wire]],
    hosts: Mapping[tuple[int, int], str],
    live: Callable[[int, int], bool],
) -> End | list[tuple[int, int, Packet, str]]:
    if out == NORMAL:
        return End(Fate.NORMAL, dpid, "", packet)
    if not live(dpid, out):
        return End(Fate.UNREACHABLE, dpid, f"port {out}", packet)
    if (dpid, out) in hosts:
        return End(Fate.DELIVERED, dpid, f"to {hosts[dpid, out]}", packet)
    leading = by_port.get((dpid, out), ())
    arrived = ((wire, wire.carry(packet)) for wire in leading)
    taken = [(wire.to_dpid, wire.to_port, frame, wire.path) for wire, frame in arrived if frame is not None]
    if taken:
        return taken[:1]
    fate = Fate.LOST if leading else Fate.LEFT
    tag = "untagged" if packet.vlan is None else f"VLAN {packet.vlan}"
    return End(fate, dpid, f"port {out} of {dpid_text(dpid)}, {tag}", packet)

"""What a switch does with a packet, by its entries alone: OpenFlow's own rules as a function of values.

Follows the OpenFlow Switch Specification 1.3.5 where our entries can tell: of the rules that match, the
one of highest priority is taken (5.3); its instructions are carried out in the order meter, actions,
metadata, goto (5.9); a fast-failover group takes its first bucket whose port is live (5.6.1); a table
without a matching rule drops (5.4); a packet does not go back out of the port that it came in by (4.5).
Meters let everything through here: whether a packet is one too many is not a question of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network

from adon.flowvisor.rules.action import (
    Action,
    Normal,
    Output,
    PopVlan,
    PushVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    SetVlan,
    ToController,
    ToGroup,
)
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, Match
from adon.flowvisor.rules.rule import Entry, GroupEntry, Rule

CONTROLLER, NORMAL = -1, -2
"""Where a packet can go beside ports: the controller, or the switch's own forwarding."""


@dataclass(frozen=True, slots=True)
class Packet:
    """The headers that our rules look at or change; ``vlan`` None is untagged."""

    eth_src: str
    eth_dst: str
    ip_src: str
    ip_dst: str
    ip_proto: int = 6
    tp_src: int = 40_000
    tp_dst: int = 5_001
    vlan: int | None = None
    eth_type: int = ETH_TYPE_IPV4
    dscp: int = 0
    size: int = 1_500


@dataclass(frozen=True, slots=True)
class Step:
    """One table on the way through a switch; ``rule`` None: nothing matched, the packet is dropped."""

    table: int
    rule: Rule | None
    bucket: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A packet's way through one switch.

    :param outputs: where it leaves and how it looks then: port numbers, :data:`CONTROLLER` or :data:`NORMAL`.
    """

    steps: tuple[Step, ...]
    outputs: tuple[tuple[int, Packet], ...]


@dataclass(slots=True)
class _State:
    packet: Packet
    in_port: int
    metadata: int = 0
    outputs: list[tuple[int, Packet]] = field(default_factory=list)
    bucket: int | None = None


def matches(match: Match, in_port: int, packet: Packet, metadata: int = 0) -> bool:
    """Whether a packet is meant by a match; ``other`` is not looked at."""
    if match.metadata is not None and metadata & match.metadata.mask != match.metadata.value:
        return False
    pairs = (
        (match.in_port, in_port),
        (match.vlan, packet.vlan),
        (match.eth_type, packet.eth_type),
        (match.ip_proto, packet.ip_proto),
        (match.tp_src, packet.tp_src),
        (match.tp_dst, packet.tp_dst),
    )
    if any(asked is not None and asked != has for asked, has in pairs):
        return False
    return _within(packet.ip_src, match.ip_src) and _within(packet.ip_dst, match.ip_dst)


def _within(address: str, asked: str | None) -> bool:
    if asked is None or asked == address:
        return True
    network = ip_network(asked, strict=False)
    found = ip_address(address)
    return found.version == network.version and found in network


def best(rules: Iterable[Rule], in_port: int, packet: Packet, metadata: int = 0) -> Rule | None:
    """The rule of one table that takes a packet; of equal priorities the first (5.3 leaves it open)."""
    hits = [rule for rule in rules if matches(rule.match, in_port, packet, metadata)]
    return max(hits, key=lambda rule: rule.priority, default=None)


def forward(
    entries: Iterable[Entry],
    in_port: int,
    packet: Packet,
    live: Callable[[int], bool] = lambda _: True,
    first_table: int = 0,
) -> Passage:
    """A packet's way through one switch.

    :param entries: what is in the switch.
    :param live: whether a port has a link.
    """
    tables: dict[int, list[Rule]] = {}
    groups: dict[int, GroupEntry] = {}
    for entry in entries:
        if isinstance(entry, Rule):
            tables.setdefault(entry.table, []).append(entry)
        elif isinstance(entry, GroupEntry):
            groups[entry.number] = entry
    state, steps, table = _State(packet, in_port), list[Step](), first_table
    while True:
        rule = best(tables.get(table, ()), in_port, state.packet, state.metadata)
        if rule is None:
            return Passage((*steps, Step(table, None)), tuple(state.outputs))
        state.bucket = None
        _carry_out(rule.actions, state, groups, live)
        steps.append(Step(table, rule, state.bucket))
        if rule.metadata is not None:
            state.metadata = state.metadata & ~rule.metadata.mask | rule.metadata.value
        if rule.goto is None or rule.goto <= table:  # a later table only (OpenFlow 1.3.5, 5.1)
            return Passage(tuple(steps), tuple(state.outputs))
        table = rule.goto


def _carry_out(
    actions: Iterable[Action],
    state: _State,
    groups: Mapping[int, GroupEntry],
    live: Callable[[int], bool],
) -> None:
    for action in actions:
        match action:
            case Output(port):
                if port != state.in_port:  # back there only by the reserved port IN_PORT (4.5)
                    state.outputs.append((port, state.packet))
            case Normal():
                state.outputs.append((NORMAL, state.packet))
            case ToController():
                state.outputs.append((CONTROLLER, state.packet))
            case ToGroup(number):
                _through_group(groups.get(number), state, groups, live)
            case SetQueue():
                pass  # which queue a packet waits in does not change where it goes
            case _:
                state.packet = rewritten(state.packet, action)


def rewritten(packet: Packet, action: Action) -> Packet:
    """A packet after an action that changes headers.

    :raises ValueError: for an action that changes none, and for a tag taken off that is not there.
    """
    match action:
        case PushVlan(vlan) | SetVlan(vlan):
            return replace(packet, vlan=vlan)
        case PopVlan():
            if packet.vlan is None:
                raise ValueError("there is no tag to take off")
            return replace(packet, vlan=None)
        case SetEthSrc(mac):
            return replace(packet, eth_src=mac)
        case SetEthDst(mac):
            return replace(packet, eth_dst=mac)
        case SetDscp(dscp):
            return replace(packet, dscp=dscp)
        case _:
            raise ValueError(f"{action} changes no header")


def _through_group(
    group: GroupEntry | None,
    state: _State,
    groups: Mapping[int, GroupEntry],
    live: Callable[[int], bool],
) -> None:
    if group is None:
        return  # a switch refuses a rule that names a group it has not: only in half a picture
    before = state.packet
    for number, bucket in enumerate(group.buckets):
        if group.kind == "fast_failover" and bucket.watch_port is not None and not live(bucket.watch_port):
            continue
        state.packet = before
        _carry_out(bucket.actions, state, groups, live)
        state.bucket = number
        if group.kind != "all":
            break
    state.packet = before  # what a bucket changes is seen by its own outputs only (5.6)

"""Rules of unregistered flows: packet-in rules, and rules of their connections (R18).

A switch sends the packets that match an entry of ``policy.reactive`` to the controller (``REACTIVE`` rules).
A flow from such an entry has no rule for all of its packets at the near edge.  Each of its connections,
identified by its source port, gets its own rule there after its first packet was admitted.  Delivery at the
far edge and the reverse path are rules of the flow, so that a connection costs one flow-mod.

The rules of connections are soft state: they are many, idle out by themselves, and are not stored.  **One
rule** of the same kind and cookie without a source port represents all of them.  It is desired, saved and
compared as any other rule, but its messages change all rules of that cookie at once (OFPFC_MODIFY and
OFPFC_DELETE, OpenFlow 1.3.5, 6.4).  :func:`merge_connections` merges the rules of a switch's report in the
same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adon.flowspace import ANY_PORT, PROTOCOL_NAMES, Box, Ranges
from adon.flowvisor.rules.action import ToController, UnknownAction
from adon.flowvisor.rules.cookie import Kind, cookie, cookie_kind
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, Match
from adon.flowvisor.rules.pipeline import (
    CONNECTION_PRIORITY,
    REACTIVE_PRIORITY,
    REFUSED_PRIORITY,
    SINGLE,
    WHOLE_FRAME,
    Pipeline,
    owner_of,
)
from adon.flowvisor.rules.rule import Entry, ReportedRule, Rule
from adon.flowvisor.topology.path import Attachment

MAX_TIMEOUT_S = 0xFFFF
_VERSIONS = ((4, ETH_TYPE_IPV4, Attachment.ipv4), (6, ETH_TYPE_IPV6, Attachment.ipv6))


class FlowspacePart(Protocol):
    """Interface of a part of a flowspace (:class:`adon.config.slices.Flowspace`)."""

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Connections of this part."""

    def reaches(self, ends: tuple[str, str]) -> bool:
        """Return whether flows between these sites may belong to this part."""


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """Site and addresses of a host."""

    site: str
    addresses: tuple[str, ...]


def is_connections(entry: Entry) -> bool:
    """Return whether a rule represents all connections of an unregistered flow, or is one of them."""
    return isinstance(entry, Rule) and cookie_kind(entry.cookie) is Kind.FLOW_CONNECTION


def stands_for_connections(entry: Entry) -> bool:
    """Return whether a rule represents all connections of an unregistered flow."""
    return is_connections(entry) and isinstance(entry, Rule) and entry.match.tp_src is None


def is_soft(rule: Rule) -> bool:
    """Return whether a rule may expire without a report, and is created again on demand."""
    return cookie_kind(rule.cookie) in (Kind.FLOW_CONNECTION, Kind.REFUSED)


# -- packet-in rules --------------------------------------------------------------------------------------


def reactive_rules(
    spaces: Sequence[FlowspacePart],
    index: int,
    pipeline: Pipeline,
    here: Iterable[Attachment],
    everywhere: Sequence[HostAddresses],
) -> Iterator[Rule]:
    """Yield the packet-in rules of one switch, per pair of hosts, protocol and port.

    No other packets reach the controller.  A host cannot spoof an address, because each is matched at its
    port.

    :param index: the switch's position in the configuration, which its cookie names.
    :param here: the hosts at this switch.
    :param everywhere: all hosts.
    """
    for source in here:
        for destination in everywhere:
            if destination.site == source.site:
                continue
            for space in spaces:
                if space.reaches((source.site, destination.site)):
                    for match in _list_matches(space.boxes, source, destination):
                        yield Rule(
                            source.dpid,
                            pipeline.at(REACTIVE_PRIORITY),
                            match,
                            (ToController(WHOLE_FRAME),),
                            cookie(Kind.REACTIVE, index),
                            table=pipeline.classification,
                        )


def _list_matches(boxes: Iterable[Box], source: Attachment, destination: HostAddresses) -> Iterator[Match]:
    for version, eth_type, of in _VERSIONS:
        address = of(source)
        for other in destination.addresses:
            if address is None or (":" in other) is not (version == 6):
                continue
            pair = Match(in_port=source.port, eth_type=eth_type, ip_src=address, ip_dst=other)
            yield from _list_pair_matches(boxes, version, pair, address, other)


def _list_pair_matches(
    boxes: Iterable[Box], version: int, pair: Match, source: str, destination: str
) -> Iterator[Match]:
    for box in boxes:
        common = None if box.version != version else box.between(source, destination)
        if common is None:
            continue
        for protocol in (each for each in PROTOCOL_NAMES if _has(common.ranges[2], each)):
            for port in _ports(common.ranges[3]):
                yield replace(pair, ip_proto=protocol, tp_dst=port)


def _has(ranges: Ranges, number: int) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _ports(ranges: Ranges) -> Iterator[int | None]:
    if ranges == ANY_PORT:
        yield None
        return
    for first, last in ranges:
        yield from range(first, last + 1)


def drop_rule(reactive: Rule, destination_port: int, seconds: float) -> Rule:
    """Return the rule that drops refused packets for a time, above their packet-in rule.

    :param reactive: the packet-in rule of the same switch, addresses and protocol.
    :param seconds: duration, rounded up.
    """
    return replace(
        reactive,
        priority=reactive.priority + REFUSED_PRIORITY - REACTIVE_PRIORITY,
        match=replace(reactive.match, tp_dst=destination_port),
        actions=(),
        cookie=cookie(Kind.REFUSED, reactive.cookie & 0xFFFF_FFFF),
        hard_timeout=min(MAX_TIMEOUT_S, max(1, -int(-seconds // 1))),
    )


# -- rules of connections ------------------------------------------------------------------------------------


def connection_rules(
    rules: Iterable[Entry], source: Attachment, pipelines: Mapping[int, Pipeline]
) -> tuple[Entry, ...]:
    """Return the rules of an unregistered flow, from those of a registered flow with the same ports.

    The ingress rule at the near edge becomes the rule of each connection.  The rule at the far edge has no
    idle timeout: the flow ends with its last connection.  All are in a lower band than registered flows.
    """
    return tuple(_connection_rule(rule, source, pipelines) for rule in rules)


def _connection_rule(rule: Entry, source: Attachment, pipelines: Mapping[int, Pipeline]) -> Entry:
    kind = cookie_kind(rule.cookie) if isinstance(rule, Rule) else None
    if not isinstance(rule, Rule) or kind not in (Kind.FLOW_INGRESS, Kind.FLOW_DELIVERY):
        return rule
    priority = pipelines.get(rule.dpid, SINGLE).at(CONNECTION_PRIORITY)
    from_source = rule.dpid == source.dpid and rule.match.ip_src in (source.address, source.address6)
    if kind is Kind.FLOW_INGRESS and from_source:
        other_kind = Kind.FLOW_INGRESS ^ Kind.FLOW_CONNECTION
        return replace(rule, priority=priority, cookie=rule.cookie ^ other_kind << 48)
    return replace(rule, priority=priority, idle_timeout=0)


@dataclass(frozen=True, slots=True)
class MergedReport:
    """Report of a switch with merged connections.

    :param rules: all connections of a flow as one rule with the sum of their counters; without refusals.
    :param connections: number of connections per owner.
    """

    rules: tuple[ReportedRule, ...]
    connections: Mapping[str, int]


def merge_connections(reported: Iterable[ReportedRule]) -> MergedReport:
    """Merge the connections of each flow in a switch's report into one rule.

    If the connections of a flow have different actions, the merged rule has an unknown action, so that
    reconciliation corrects it.
    """
    plain: list[ReportedRule] = []
    together: dict[tuple[int, Match], ReportedRule] = {}
    connections: Counter[str] = Counter()
    for item in reported:
        kind = cookie_kind(item.rule.cookie)
        if kind is Kind.FLOW_CONNECTION:
            rule = replace(item.rule, match=replace(item.rule.match, tp_src=None))
            slot = (rule.cookie, rule.match)
            known = together.get(slot)
            together[slot] = replace(item, rule=rule) if known is None else _add_counters(known, item, rule)
            connections[owner_of(rule)] += 1
        elif kind is not Kind.REFUSED:
            plain.append(item)
    return MergedReport((*plain, *together.values()), connections)


def _add_counters(known: ReportedRule, item: ReportedRule, rule: Rule) -> ReportedRule:
    return ReportedRule(
        known.rule if rule == known.rule else replace(known.rule, actions=(UnknownAction("different"),)),
        known.packets + item.packets,
        known.bytes + item.bytes,
        max(known.duration, item.duration),
    )

"""Our values as OpenFlow 1.3 messages, and the switch's answers as our values.

With :mod:`adon.flowvisor.openflow_roles` the only module of ``adon/`` that imports os-ken, and of os-ken
only its protocol library: no controller, no thread, no socket.  A *datapath* is whatever os-ken's messages
take as one; the tests give a ``ProtocolDesc``.  References are to the OpenFlow Switch Specification 1.3.5.

- Modifies and deletes are strict and filtered by the rule's full cookie (R1): should the slot belong to
  somebody else by now, the switch does nothing.
- Nothing a switch reports is lost.  What a match says beyond our own fields is kept as text in
  :attr:`~adon.flowvisor.rule.Match.other` and written back on request; a rule of ours with instructions we
  never use is reported without actions.  Either way it equals no desired rule, so reconciling removes or
  replaces it.
- A packet from the network is parsed no further than needed, and never raises.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from os_ken.lib.packet import ethernet, ipv4, vlan
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

from adon.flowvisor.action import (
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
from adon.flowvisor.cookie import COOKIE_MASK, COOKIE_PREFIX, Kind, cookie_owner, is_ours
from adon.flowvisor.lldp import is_lldp
from adon.flowvisor.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, Match
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.rule import Change, Op, ReportedRule, Rule, Slot
from adon.flowvisor.topology import PortState

ETH_TYPE_VLAN = 0x8100
FULL_COOKIE_MASK = (1 << 64) - 1

_COMMANDS: Mapping[Op, int] = {
    Op.ADD: ofp.OFPFC_ADD,
    Op.MODIFY: ofp.OFPFC_MODIFY_STRICT,
    Op.DELETE: ofp.OFPFC_DELETE_STRICT,
}

_PORT_FIELDS: Mapping[int, tuple[str, str]] = {
    6: ("tcp_src", "tcp_dst"),
    17: ("udp_src", "udp_dst"),
    132: ("sctp_src", "sctp_dst"),
}
"""IP protocol number to the OXM fields of its ports."""

_PLAIN_FIELDS = ("in_port", "eth_type", "ip_proto")
"""Fields that mean the same, under the same name, here and in OXM."""

_ADDRESS_FIELDS: Mapping[int, tuple[str, str]] = {
    ETH_TYPE_IPV4: ("ipv4_src", "ipv4_dst"),
    ETH_TYPE_IPV6: ("ipv6_src", "ipv6_dst"),
}
"""EtherType to the OXM fields of its addresses."""

RemovedReason = Literal["idle", "hard", "delete", "group"]

_REMOVED: Mapping[int, RemovedReason] = {
    ofp.OFPRR_IDLE_TIMEOUT: "idle",
    ofp.OFPRR_HARD_TIMEOUT: "hard",
    ofp.OFPRR_DELETE: "delete",
    ofp.OFPRR_GROUP_DELETE: "group",
}


def flow_mod(datapath: Any, change: Change) -> Any:
    """The OFPFlowMod (7.3.4.1) that carries out one change.

    FLOW_REMOVED is asked for with every rule: whoever removes one, we hear of it at once (R20).

    :raises ValueError: for a rule that is not ours, or whose match OpenFlow 1.3 cannot say.
    """
    rule = change.rule
    if not isinstance(rule, Rule) or not is_ours(rule.cookie):
        raise ValueError(f"{rule} is not ours: it is not touched")
    deletes = change.op is Op.DELETE
    return parser.OFPFlowMod(
        datapath=datapath,
        cookie=rule.cookie,
        cookie_mask=0 if change.op is Op.ADD else FULL_COOKIE_MASK,
        table_id=rule.table,
        command=_COMMANDS[change.op],
        idle_timeout=0 if deletes else rule.idle_timeout,
        hard_timeout=0,
        priority=rule.priority,
        buffer_id=ofp.OFP_NO_BUFFER,
        out_port=ofp.OFPP_ANY,
        out_group=ofp.OFPG_ANY,
        flags=0 if deletes else int(ofp.OFPFF_SEND_FLOW_REM),
        match=_oxm(rule.match),
        instructions=[] if deletes else _instructions(rule.actions),
    )


def _oxm(match: Match) -> Any:
    fields: dict[str, Any] = {
        name: value for name in _PLAIN_FIELDS if (value := getattr(match, name)) is not None
    }
    if match.vlan is not None:
        fields["vlan_vid"] = ofp.OFPVID_PRESENT | match.vlan
    addresses = _ADDRESS_FIELDS.get(match.eth_type or 0, ())
    for name, address in zip(addresses, (match.ip_src, match.ip_dst), strict=False):
        if address is not None:
            fields[name] = address
    if match.tp_src is not None or match.tp_dst is not None:
        names = _PORT_FIELDS.get(-1 if match.ip_proto is None else match.ip_proto)
        if names is None:
            raise ValueError(f"ports cannot be matched for IP protocol {match.ip_proto}")
        ports = zip(names, (match.tp_src, match.tp_dst), strict=True)
        fields.update((name, port) for name, port in ports if port is not None)
    fields.update(ofp.oxm_from_jsondict(field) for field in (json.loads(match.other) if match.other else ()))
    return parser.OFPMatch(**fields)


def _instructions(actions: Sequence[Action]) -> list[Any]:
    messages = [message for action in actions for message in _action(action)]
    return [parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, messages)]


def _action(action: Action) -> list[Any]:
    match action:
        case PushVlan(vlan_id):
            tag = parser.OFPActionSetField(vlan_vid=ofp.OFPVID_PRESENT | vlan_id)
            return [parser.OFPActionPushVlan(ETH_TYPE_VLAN), tag]
        case PopVlan():
            return [parser.OFPActionPopVlan()]
        case SetEthSrc(mac):
            return [parser.OFPActionSetField(eth_src=mac)]
        case SetEthDst(mac):
            return [parser.OFPActionSetField(eth_dst=mac)]
        case SetVlan(vlan_id):
            return [parser.OFPActionSetField(vlan_vid=ofp.OFPVID_PRESENT | vlan_id)]
        case SetDscp(dscp):
            return [parser.OFPActionSetField(ip_dscp=dscp)]
        case SetQueue(queue):
            return [parser.OFPActionSetQueue(queue)]
        case ToGroup(group):
            return [parser.OFPActionGroup(group)]
        case Normal():
            return [parser.OFPActionOutput(ofp.OFPP_NORMAL)]
        case Output(port):
            return [parser.OFPActionOutput(port)]
        case ToController(max_len):
            return [parser.OFPActionOutput(ofp.OFPP_CONTROLLER, max_len)]


def stats_request(datapath: Any, *, ours_only: bool = False) -> Any:
    """The request for all rules with their counters (7.3.5.2), or only for those with our cookie."""
    return parser.OFPFlowStatsRequest(
        datapath,
        flags=0,
        table_id=ofp.OFPTT_ALL,
        out_port=ofp.OFPP_ANY,
        out_group=ofp.OFPG_ANY,
        cookie=COOKIE_PREFIX if ours_only else 0,
        cookie_mask=COOKIE_MASK if ours_only else 0,
        match=parser.OFPMatch(),
    )


def reported(dpid: int, stat: Any, ignored: Iterable[tuple[int, int]] = ()) -> ReportedRule | Slot:
    """One OFPFlowStats: a rule of ours with its counters, or the slot of a foreign rule.

    :param ignored: cookies (value, mask) that are foreign whatever their prefix says (R2): those of
        another ADON on the same switch, for example.
    """
    match = _match(stat.match)
    if not is_ours(stat.cookie) or any(stat.cookie & mask == value for value, mask in ignored):
        return (dpid, stat.table_id, stat.priority, match)
    rule = Rule(
        dpid=dpid,
        priority=stat.priority,
        match=match,
        actions=_actions(stat.instructions),
        cookie=stat.cookie,
        idle_timeout=stat.idle_timeout,
        table=stat.table_id,
    )
    return ReportedRule(
        rule, stat.packet_count, stat.byte_count, stat.duration_sec + stat.duration_nsec / 1e9
    )


def _match(oxm: Any) -> Match:
    reported_fields = dict(oxm.items())
    known: dict[str, Any] = {}
    for name in _PLAIN_FIELDS:
        if isinstance(reported_fields.get(name), int | str):
            known[name] = reported_fields.pop(name)
    for ours, name in zip(
        ("ip_src", "ip_dst"), _ADDRESS_FIELDS.get(known.get("eth_type", 0), ()), strict=False
    ):
        if isinstance(reported_fields.get(name), str):
            known[ours] = reported_fields.pop(name)
    tag = reported_fields.get("vlan_vid")
    if isinstance(tag, int) and tag & ofp.OFPVID_PRESENT:
        known["vlan"] = reported_fields.pop("vlan_vid") & ~ofp.OFPVID_PRESENT
    for ours, name in zip(
        ("tp_src", "tp_dst"), _PORT_FIELDS.get(known.get("ip_proto", -1), ()), strict=False
    ):
        if isinstance(reported_fields.get(name), int):
            known[ours] = reported_fields.pop(name)
    return Match(**known, other=_other(reported_fields))


def _other(fields: Mapping[str, Any]) -> str:
    if not fields:
        return ""
    return json.dumps([ofp.oxm_to_jsondict(name, fields[name]) for name in sorted(fields)], sort_keys=True)


def _actions(instructions: Iterable[Any]) -> tuple[Action, ...]:
    """The actions of a rule of ours; none if it does anything that our rules never do."""
    only = list(instructions)
    if len(only) != 1 or only[0].type != ofp.OFPIT_APPLY_ACTIONS:
        return ()
    actions: list[Action] = []
    pushed = False
    for message in only[0].actions:
        if pushed:
            action = _pushed_tag(message)
        elif isinstance(message, parser.OFPActionPushVlan) and message.ethertype == ETH_TYPE_VLAN:
            pushed = True
            continue
        else:
            action = _plain_action(message)
        if action is None:
            return ()
        pushed = False
        actions.append(action)
    return () if pushed else tuple(actions)


def _pushed_tag(message: Any) -> Action | None:
    if isinstance(message, parser.OFPActionSetField) and message.key == "vlan_vid":
        return PushVlan(message.value & ~ofp.OFPVID_PRESENT)
    return None


def _plain_action(message: Any) -> Action | None:
    match message:
        case parser.OFPActionPopVlan():
            return PopVlan()
        case parser.OFPActionSetField(key="eth_src", value=mac):
            return SetEthSrc(mac)
        case parser.OFPActionSetField(key="eth_dst", value=mac):
            return SetEthDst(mac)
        case parser.OFPActionOutput(port=ofp.OFPP_CONTROLLER, max_len=max_len):
            return ToController(max_len)
        case parser.OFPActionOutput(port=port):
            return Output(port)
    return None


def ports(descriptions: Iterable[Any]) -> dict[str, PortState]:
    """Ports by name from OFPPort descriptions (7.2.1); reserved ports are left out."""
    return {port_name(port): port_state(port) for port in descriptions if port.port_no <= ofp.OFPP_MAX}


def port_name(port: Any) -> str:
    """A port's name as text, whatever bytes the switch put there."""
    name = port.name
    return name.decode("utf-8", "replace").rstrip("\0") if isinstance(name, bytes) else str(name)


def port_state(port: Any) -> PortState:
    """A port's number, address, and whether it is neither switched off nor without link."""
    admin = not port.config & ofp.OFPPC_PORT_DOWN
    oper = not port.state & ofp.OFPPS_LINK_DOWN
    mac = str(port.hw_addr).lower()
    return PortState(number=port.port_no, live=admin and oper, mac=mac, admin=admin, oper=oper)


def packet_out(datapath: Any, port: int, data: bytes) -> Any:
    """The OFPPacketOut (7.3.7) that sends a frame of ours out of a port, past all tables."""
    return parser.OFPPacketOut(
        datapath=datapath,
        buffer_id=ofp.OFP_NO_BUFFER,
        in_port=ofp.OFPP_CONTROLLER,
        actions=[parser.OFPActionOutput(port)],
        data=data,
    )


def lldp_frame(message: Any) -> tuple[int, bytes] | None:
    """The port and the bytes of a packet-in that a discovery rule of ours sent; None for any other (R18)."""
    try:
        if cookie_owner(message.cookie)[0] is not Kind.DISCOVERY:
            return None
    except ValueError:
        return None
    port = message.match.get("in_port")
    if not isinstance(port, int) or not is_lldp(message.data):
        return None
    return port, bytes(message.data)


def first_packet(message: Any) -> tuple[FiveTuple, str, str] | None:
    """Connection, source and destination address of a packet-in that a learning rule sent.

    None for anything else: a cookie that is not that of a learning rule (R18), a packet that is not
    IPv4, a later fragment, or bytes that make no sense.
    """
    try:
        if cookie_owner(message.cookie)[0] is not Kind.FLOW_LEARN:
            return None
    except ValueError:
        return None
    return five_tuple(message.data)


def five_tuple(data: bytes) -> tuple[FiveTuple, str, str] | None:
    """Connection, source and destination address of an Ethernet frame, or None; never raises.

    os-ken's own TCP parser is not used: it would go through the options, and an option of length 0
    keeps it there for ever.  The ports are the first four bytes of TCP, UDP and SCTP alike.
    """
    try:
        header, _, rest = ethernet.ethernet.parser(data)
        if header.ethertype == ETH_TYPE_VLAN:
            header, _, rest = vlan.vlan.parser(rest)
        if header.ethertype != ETH_TYPE_IPV4:
            return None
        packet, _, _ = ipv4.ipv4.parser(rest)
        if packet.version != 4 or packet.header_length < 5 or packet.offset:
            return None
        if packet.proto not in _PORT_FIELDS:
            return FiveTuple(packet.proto, 0), packet.src, packet.dst
        source_port, destination_port = struct.unpack_from("!HH", rest, packet.header_length * 4)
    except struct.error:
        return None
    return FiveTuple(packet.proto, destination_port, source_port), packet.src, packet.dst


def error_text(message: Any) -> str:
    """An OFPErrorMsg by its names: ``OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL`` (7.4.4)."""
    kind = ofp.ofp_error_type_to_str(message.type)
    if message.code is None:
        return f"{kind} (experimenter)"
    return f"{kind} {ofp.ofp_error_code_to_str(message.type, message.code)}"


def removed_rule(dpid: int, message: Any) -> Rule | None:
    """The rule that an OFPFlowRemoved (7.4.2) is about, without its actions, which it does not tell.

    None if the rule was not ours.
    """
    if not is_ours(message.cookie):
        return None
    return Rule(
        dpid=dpid,
        priority=message.priority,
        match=_match(message.match),
        actions=(),
        cookie=message.cookie,
        idle_timeout=message.idle_timeout,
        table=message.table_id,
    )


def removed_reason(message: Any) -> RemovedReason:
    """Why a rule was removed; a reason that OpenFlow 1.3 does not know counts as a deletion."""
    return _REMOVED.get(message.reason, "delete")

"""The same messages from os-ken's own classes: what ours are held against, to the byte and to the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor.openflow import encode
from adon.flowvisor.openflow.wire import V13
from adon.flowvisor.rules import action as acts
from adon.flowvisor.rules.match import ETH_TYPE_IPV6, Match
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, Rule

VERSIONS = (4, 5)
DATAPATHS = {version: ProtocolDesc(version=version) for version in VERSIONS}

_PORTS = {6: "tcp", 17: "udp", 132: "sctp"}
_COMMANDS = {Op.ADD: 0, Op.MODIFY: 1, Op.DELETE: 2}


def packed(message: Any, xid: int = 0) -> bytes:
    """What os-ken puts on the wire."""
    message.set_xid(xid)
    message.serialize()
    return bytes(message.buf)


def mod(change: Change, datapath: Any) -> Any:
    """os-ken's object for one change."""
    match change.rule:
        case Rule() as rule:
            return _flow_mod(change.op, rule, datapath)
        case GroupEntry() as group:
            return _group_mod(change.op, group, datapath)
        case MeterEntry() as meter:
            return _meter_mod(change.op, meter, datapath)


def _flow_mod(op: Op, rule: Rule, datapath: Any) -> Any:
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    commands = {Op.ADD: ofp.OFPFC_ADD, Op.MODIFY: ofp.OFPFC_MODIFY_STRICT, Op.DELETE: ofp.OFPFC_DELETE_STRICT}
    deletes = op is Op.DELETE
    return parser.OFPFlowMod(
        datapath=datapath,
        cookie=rule.cookie,
        cookie_mask=0 if op is Op.ADD else 2**64 - 1,
        table_id=rule.table,
        command=commands[op],
        idle_timeout=0 if deletes else rule.idle_timeout,
        hard_timeout=0 if deletes else rule.hard_timeout,
        priority=rule.priority,
        out_port=ofp.OFPP_ANY,
        out_group=ofp.OFPG_ANY,
        flags=0 if deletes else ofp.OFPFF_SEND_FLOW_REM,
        match=oxm(rule.match, datapath),
        instructions=[] if deletes else _instructions(rule, datapath),
    )


def oxm(match: Match, datapath: Any) -> Any:
    """os-ken's match."""
    fields: dict[str, Any] = {"in_port": match.in_port, "eth_type": match.eth_type}
    fields |= {"ip_proto": match.ip_proto, "metadata": None}
    if match.metadata is not None:
        whole = match.metadata.mask == 2**64 - 1
        fields["metadata"] = match.metadata.value if whole else (match.metadata.value, match.metadata.mask)
    fields["vlan_vid"] = None if match.vlan is None else 0x1000 | match.vlan
    version = "ipv6" if match.eth_type == ETH_TYPE_IPV6 else "ipv4"
    fields |= {f"{version}_src": match.ip_src, f"{version}_dst": match.ip_dst}
    protocol = _PORTS.get(-1 if match.ip_proto is None else match.ip_proto, "none")
    fields |= {f"{protocol}_src": match.tp_src, f"{protocol}_dst": match.tp_dst}
    wanted = {name: value for name, value in fields.items() if value is not None}
    wanted.update(_others(bytes.fromhex(match.other), datapath.ofproto))
    return datapath.ofproto_parser.OFPMatch(**wanted)


def _others(data: bytes, protocol: Any) -> Iterator[tuple[str, Any]]:
    while data:
        number, value, mask, length = protocol.oxm_parse(data, 0)
        name, *values = protocol.oxm_to_user(number, value, mask)
        yield name, values[0] if mask is None else tuple(values)
        data = data[length:]


def _instructions(rule: Rule, datapath: Any) -> list[Any]:
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    actions = [item for one in rule.actions for item in action(one, datapath)]
    found = []
    if rule.meter is not None:
        found.append(parser.OFPInstructionMeter(rule.meter))
    if actions:
        found.append(parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions))
    if rule.metadata is not None:
        found.append(parser.OFPInstructionWriteMetadata(rule.metadata.value, rule.metadata.mask))
    if rule.goto is not None:
        found.append(parser.OFPInstructionGotoTable(rule.goto))
    return found


def action(one: acts.Action, datapath: Any) -> list[Any]:
    """os-ken's actions for one of ours."""
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    match one:
        case acts.PushVlan(vlan):
            return [parser.OFPActionPushVlan(0x8100), parser.OFPActionSetField(vlan_vid=0x1000 | vlan)]
        case acts.PopVlan():
            return [parser.OFPActionPopVlan()]
        case acts.SetVlan(vlan):
            return [parser.OFPActionSetField(vlan_vid=0x1000 | vlan)]
        case acts.SetEthSrc(mac):
            return [parser.OFPActionSetField(eth_src=mac)]
        case acts.SetEthDst(mac):
            return [parser.OFPActionSetField(eth_dst=mac)]
        case acts.SetDscp(dscp):
            return [parser.OFPActionSetField(ip_dscp=dscp)]
        case acts.SetQueue(queue):
            return [parser.OFPActionSetQueue(queue)]
        case acts.ToGroup(group):
            return [parser.OFPActionGroup(group)]
        case acts.Output(port):
            return [parser.OFPActionOutput(port, 0)]
        case acts.Normal():
            return [parser.OFPActionOutput(ofp.OFPP_NORMAL, 0)]
        case acts.ToController(max_len):
            return [parser.OFPActionOutput(ofp.OFPP_CONTROLLER, max_len)]
        case acts.UnknownAction():
            raise AssertionError("nobody asks for that")


def _group_mod(op: Op, group: GroupEntry, datapath: Any) -> Any:
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    kinds = {
        "all": ofp.OFPGT_ALL,
        "select": ofp.OFPGT_SELECT,
        "indirect": ofp.OFPGT_INDIRECT,
        "fast_failover": ofp.OFPGT_FF,
    }
    weight = 1 if group.kind == "select" else 0
    wanted = () if op is Op.DELETE else group.buckets
    buckets = [_bucket(one, weight, datapath) for one in wanted]
    return parser.OFPGroupMod(
        datapath, _COMMANDS[op], kinds[group.kind], group_id=group.number, buckets=buckets
    )


def _bucket(one: Bucket, weight: int, datapath: Any) -> Any:
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    actions = [item for each in one.actions for item in action(each, datapath)]
    port = ofp.OFPP_ANY if one.watch_port is None else one.watch_port
    return parser.OFPBucket(weight, port, ofp.OFPG_ANY, actions)


def _meter_mod(op: Op, meter: MeterEntry, datapath: Any) -> Any:
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    band = parser.OFPMeterBandDrop(rate=meter.rate // 1000, burst_size=meter.burst // 1000)
    return parser.OFPMeterMod(
        datapath,
        _COMMANDS[op],
        ofp.OFPMF_KBPS | ofp.OFPMF_BURST | ofp.OFPMF_STATS,
        meter.number,
        [] if op is Op.DELETE else [band],
    )


def request(name: encode.Request, datapath: Any) -> Any:
    """The object of os-ken for a request."""
    ofp, parser = datapath.ofproto, datapath.ofproto_parser
    match name:
        case "rules":
            return parser.OFPFlowStatsRequest(datapath)
        case "flow counters":
            return parser.OFPFlowStatsRequest(datapath, cookie=0xAD10 << 48, cookie_mask=0xFFF0 << 48)
        case "groups":
            return parser.OFPGroupDescStatsRequest(datapath)
        case "meters":
            return parser.OFPMeterConfigStatsRequest(datapath)
        case "group features":
            return parser.OFPGroupFeaturesStatsRequest(datapath)
        case "meter features":
            return parser.OFPMeterFeaturesStatsRequest(datapath)
        case "tables":
            return parser.OFPTableStatsRequest(datapath, 0)
        case "table features":
            return parser.OFPTableFeaturesStatsRequest(datapath, 0)
        case "queues" if ofp.OFP_VERSION == V13:
            return parser.OFPQueueGetConfigRequest(datapath, ofp.OFPP_ANY)
        case "queues":
            return parser.OFPQueueDescStatsRequest(datapath)

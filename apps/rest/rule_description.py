"""Rules of switches in words: what an entry is for, which packets it takes, and what it does with them."""

from __future__ import annotations

from collections.abc import Mapping

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
    UnknownAction,
)
from adon.flowvisor.rules.cookie import Kind, cookie_kind, cookie_tenant
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Bucket, Entry, GroupEntry, MeterEntry, Rule
from adon.units import format_rate

_PURPOSE: Mapping[Kind, str] = {
    Kind.MEASUREMENT: "pins a pair of measurement addresses to this path",
    Kind.TRANSIT: "takes this path's packets on",
    Kind.PIPELINE: "joins our tables",
    Kind.DISCOVERY: "shows the controller our own LLDP frames",
    Kind.REACTIVE: "shows the controller packets that a template may want",
    Kind.REFUSED: "drops unannounced packets that were refused, for a while",
    Kind.FLOW_INGRESS: "puts this flow's packets onto its path, at the sender's edge",
    Kind.FLOW_DELIVERY: "hands this flow's packets to their DTN, at the receiver's edge",
    Kind.FLOW_LEARN: "forwards this flow and shows the controller its first packets",
    Kind.FLOW_POLICY: "marks, queues or limits this flow's packets",
    Kind.FLOW_CONNECTION: "puts a connection of this unannounced flow onto its path, at the sender's edge",
}
_ACTIONS: Mapping[type[Action], str] = {
    PushVlan: "tag them {0.vlan}",
    PopVlan: "take the tag off",
    SetVlan: "change the tag to {0.vlan}",
    SetEthSrc: "write {0.mac} as sender",
    SetEthDst: "address them to {0.mac}",
    SetDscp: "mark them DSCP {0.dscp}",
    SetQueue: "put them into queue {0.queue}",
    ToGroup: "hand them to group {0.group}",
    Output: "send them out of port {0.port}",
    Normal: "forward them as without OpenFlow",
    ToController: "show the first bytes to the controller",
    UnknownAction: "something that our rules never do",
}
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}


def describe_purpose(entry: Entry) -> str:
    """Return what an entry is for, in one clause."""
    match entry:
        case Rule():
            return _of_rule(entry)
        case GroupEntry():
            return "leaves a port that is down without asking the controller"
        case MeterEntry():
            return f"drops what is above {format_rate(entry.rate)}"


def _of_rule(rule: Rule) -> str:
    kind = cookie_kind(rule.cookie)
    if kind is None:
        return "made by a version of this program that knows more kinds of rules"
    tenant = cookie_tenant(rule.cookie)
    return _PURPOSE[kind] + (f", for slice {tenant}" if tenant else "")


def describe_packets(match: Match) -> str:
    """Return which packets a match means, in words."""
    parts = (
        [] if match.ip_proto is None else [_PROTOCOLS.get(match.ip_proto, f"IP protocol {match.ip_proto}")]
    )
    if match.ip_src is not None:
        parts.append(f"from {match.ip_src}" + _port(match.tp_src))
    if match.ip_dst is not None:
        parts.append(f"to {match.ip_dst}" + _port(match.tp_dst))
    if match.vlan is not None:
        parts.append(f"tagged {match.vlan}")
    if match.in_port is not None:
        parts.append(f"coming in by port {match.in_port}")
    if match.metadata is not None:
        parts.append(f"labelled {match.metadata} by an earlier table")
    return " ".join(parts) if parts else "every packet"


def _port(number: int | None) -> str:
    return "" if number is None else f" port {number}"


def describe_steps(entry: Entry) -> tuple[str, ...]:
    """Return what is done with the packets, step by step, in words."""
    match entry:
        case Rule():
            return _of_instructions(entry)
        case GroupEntry():
            return tuple(_bucket(bucket) for bucket in entry.buckets)
        case MeterEntry():
            return (describe_purpose(entry),)


def _of_instructions(rule: Rule) -> tuple[str, ...]:
    steps = [] if rule.meter is None else [f"pass meter {rule.meter}"]
    steps += [_ACTIONS[type(action)].format(action) for action in rule.actions]
    if rule.metadata is not None:
        steps.append(f"label them {rule.metadata}")
    if rule.goto is not None:
        steps.append(f"go on to table {rule.goto}")
    return tuple(steps) if steps else ("drop them",)


def _bucket(bucket: Bucket) -> str:
    condition = "" if bucket.watch_port is None else f"while port {bucket.watch_port} is up: "
    return condition + ", ".join(_ACTIONS[type(action)].format(action) for action in bucket.actions)

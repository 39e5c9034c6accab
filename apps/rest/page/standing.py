"""What stands behind a flow: the rules that are there for it, and the paths that would take it over."""

from __future__ import annotations

from dataclasses import dataclass

from adon.broker.flow import Flow
from adon.errors import Unavailable
from apps.rest.api.rules import explained
from apps.rest.page.rule_views import PRESENT
from apps.rest.rule_models import ExplainedRule
from apps.rest.services import services

MOST_RULES = 100
PROTOCOLS = {6: "tcp", 17: "udp", 132: "sctp", 1: "icmp", 58: "icmp"}


@dataclass(frozen=True, slots=True)
class Spare:
    """A path that a flow's rules are ready for beside its own; ``reason`` says why it cannot be used now."""

    path: str
    usable: bool
    reason: str


def spares(flow: Flow) -> list[Spare] | None:
    """The paths that stand by for a running flow, in order; None where it has no path, or nobody knows."""
    if flow.path is None or not flow.state.holds_rules:
        return None
    try:
        snapshot = services().snapshots.get()
    except Unavailable:
        return None
    ways = [way for way in snapshot["paths"] if way["path"] == flow.path and flow.id in way["flows"]]
    if not ways:
        return None
    ends = (ways[0]["source"], ways[0]["destination"])
    found = [
        Spare(way["path"], way["usable"], way["reason"])
        for way in snapshot["paths"]
        if (way["source"], way["destination"]) == ends and way["path"] != flow.path and way["ports_known"]
    ]
    return found[: snapshot["standby_paths"]]


def rules_of(flow: Flow) -> list[ExplainedRule]:
    """What is, or should be, in switches for it."""
    saved = services().store.rules(owner=flow.id, states=PRESENT)
    return [explained(one) for one in saved[:MOST_RULES]]


def packet_of(flow: Flow) -> dict[str, str]:
    """The question for the trace of one of its packets: its first connection, or else its first port."""
    asked = {"from": flow.request.source, "to": flow.request.destination}
    if not flow.tuples:
        return {**asked, "port": str(flow.request.ports[0])} if flow.request.ports else asked
    first = flow.tuples[0]
    asked |= {"protocol": PROTOCOLS.get(first.protocol, "tcp"), "port": str(first.destination_port)}
    return asked if first.source_port is None else {**asked, "source_port": str(first.source_port)}


def switch_names() -> dict[str, str]:
    """The switches' names by datapath id; nothing without the controller."""
    try:
        return {one["dpid"]: one["name"] for one in services().snapshots.get()["switches"]}
    except Unavailable:
        return {}

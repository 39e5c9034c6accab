"""What a path needs in the switches whatever flows are on it.

At its edges, in the staged pipeline, the transit rule that takes packets with the path's label onto it;
with a backup and a switch that can, through a fast-failover group (OpenFlow 1.3.5, 5.6.1), so that a port
that goes down is left without asking the controller.  In the switches between the edges, one rule per
direction: what comes in on the path's VLAN goes on to the next hop.

These rules stand ready before any flow needs them (R16) and belong to the path, not to a flow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adon.flowvisor.action import Action, Output, PushVlan, SetEthDst, ToGroup
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.path import CandidatePath, Layer
from adon.flowvisor.pipeline import (
    FLOW_PRIORITY,
    SINGLE,
    TRANSIT_PRIORITY,
    Pipeline,
    group_number,
    label,
)
from adon.flowvisor.rule import Bucket, Entry, GroupEntry, Rule


def onto(path: CandidatePath, receiver_mac: str | None = None) -> tuple[Action, ...]:
    """What takes a frame onto a path at its near edge.

    :param receiver_mac: the far DTN's; None if the frame is addressed to it already.
    :raises ValueError: for a path with neither a VLAN nor a next hop.
    """
    end = path.source_end
    if path.layer is Layer.L2 and path.vlan is not None:
        address: tuple[Action, ...] = () if receiver_mac is None else (SetEthDst(receiver_mac),)
        return (*address, PushVlan(path.vlan), Output(end.port))
    if end.next_hop_mac is None:
        raise ValueError(f"path {path.key} has neither a VLAN nor a next hop")
    return (SetEthDst(end.next_hop_mac), Output(end.port))


def path_rules(
    path: CandidatePath,
    pipelines: Mapping[int, Pipeline],
    backups: Mapping[int, CandidatePath] | None = None,
) -> tuple[Entry, ...]:
    """The entries of one path, both directions.

    :param pipelines: per datapath id; a switch that is not named has the single form.
    :param backups: per datapath id of an edge that has fast-failover groups, the path to fall back to, in the
        direction away from that edge.
    """
    spare = {} if backups is None else backups
    entries: list[Entry] = []
    for way in (path, path.reversed()):
        entries.extend(_edge(way, pipelines.get(way.source_end.dpid, SINGLE), spare))
        entries.extend(_middle(way, pipelines))
    return tuple(entries)


def _edge(path: CandidatePath, pipeline: Pipeline, backups: Mapping[int, CandidatePath]) -> Iterator[Entry]:
    if not pipeline.staged:
        return
    dpid = path.source_end.dpid
    actions = onto(path)
    backup = backups.get(dpid)
    if backup is not None:
        number = group_number(path.index)
        buckets = tuple(Bucket(onto(way), way.source_end.port) for way in (path, backup))
        yield GroupEntry(dpid, number, "fast_failover", buckets)
        actions = (ToGroup(number),)
    yield _rule(path, pipeline, dpid, Match(metadata=label(path)), actions, FLOW_PRIORITY, pipeline.transit)


def _middle(path: CandidatePath, pipelines: Mapping[int, Pipeline]) -> Iterator[Rule]:
    for hop in path.hops:
        pipeline = pipelines.get(hop.dpid, SINGLE)
        arriving = Match(in_port=hop.in_port, vlan=path.vlan)
        band, table = TRANSIT_PRIORITY, pipeline.classification
        yield _rule(path, pipeline, hop.dpid, arriving, (Output(hop.out_port),), band, table)


def _rule(
    path: CandidatePath,
    pipeline: Pipeline,
    dpid: int,
    match: Match,
    actions: tuple[Action, ...],
    band: int,
    table: int,
) -> Rule:
    return Rule(
        dpid=dpid,
        priority=pipeline.at(band),
        match=match,
        actions=actions,
        cookie=cookie(Kind.TRANSIT, path.index),
        table=table,
    )

"""From a decision to OpenFlow rules: pure compilation, no switch in sight.

Who addresses whom.  A DTN sends to its own gateway's MAC and expects to hear from it, whichever path
its packets take; the two campuses need not share a subnet.  So each edge rewrites, in both
directions (``A``, ``B``: the DTNs; ``gA``, ``gB``: the gateways they know; ``rA``, ``rB``: the routers of a
layer-3 path beside the edges)::

        DTN A            edge A                                  edge B            DTN B
       +------+        +---------+      layer 2: VLAN v        +---------+        +------+
       |      |--------| ingress |=============================| delivery|--------|      |
       +------+        +---------+                             +---------+        +------+
    src>dst  A>gA       dst:=B, push v       A>B, VLAN v        pop v, gB>B         gB>B     there
             gA>A       pop v, gA>A          B>A, VLAN v        dst:=A, push v      B>gB     back

       +------+        +---------+     layer 3: rA ~~~~ rB     +---------+        +------+
       |      |--------| ingress |-----[rA]~~~routed~~~[rB]----| delivery|--------|      |
       +------+        +---------+                             +---------+        +------+
             A>gA       dst:=rA     A>rA            rB>B        gB>B                gB>B      there
             gA>A       gA>A        rA>A            B>rB        dst:=rB             B>gB      back

On layer 2 the source MAC stays the sender's own, so that the overlay's switches learn where each DTN
is.  On layer 3 the router takes it off; the delivery rewrite makes both look alike to the receiver.
ARP and neighbour discovery are left to the campus's own rules or static entries (R23).  Hosts that both have
IPv6 addresses get rules for both versions.

Where the rules sit.  Per 5-tuple and direction there is **one ingress rule** at the near edge, which
chooses the path and carries the idle time-out, and **one delivery rule per candidate path** at the far
edge.  All candidates' delivery rules stay installed, so a move changes the ingress rule of each
direction and nothing else (R16).  The way back takes the same path (a stateful firewall on it would
not have it otherwise).  A data port is the destination port there and the source port on the way
back (R23).

Slots collide, and an untagged match would also take tagged frames, if a layer-3 and a layer-2 path
share one port of an edge: give them ports of their own.

Tables, priorities, the two forms of the pipeline: :mod:`adon.flowvisor.rules.pipeline`; cookies:
:mod:`adon.flowvisor.rules.cookie` (R1, R7, R8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from adon.flowspace import PROTOCOL_NAMES
from adon.flowvisor.rules.action import (
    Action,
    Output,
    PopVlan,
    PushVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    ToController,
    ToGroup,
)
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, Match
from adon.flowvisor.rules.pipeline import (
    FLOW_PRIORITY,
    LEARN_PRIORITY,
    MEASUREMENT_PRIORITY,
    SINGLE,
    TRANSIT_PRIORITY,
    Pipeline,
    both,
    group_number,
    label,
    policy_number,
)
from adon.flowvisor.rules.rule import Bucket, Entry, GroupEntry, MeterEntry, Rule
from adon.flowvisor.topology.path import Attachment, CandidatePath, FiveTuple, Layer


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a flow's packets get at the edge in addition to their path: tenant, marking, queue, rate limit.

    Decided by the slice and the queue ladder.

    :param tenant: the number of the slice, 0 for none; it goes into the cookies.
    :param dscp: the six bits written into every packet, both ways; None leaves them alone.
    :param queues: pairs of an edge's datapath id and the queue at its port that leads onto the path (R12).
    :param meters: the meters that the flow's packets pass, at most one per edge; made and removed with it.
    """

    tenant: int = 0
    dscp: int | None = None
    queues: tuple[tuple[int, int], ...] = ()
    meters: tuple[MeterEntry, ...] = ()

    def queue_at(self, dpid: int) -> int | None:
        """The queue of one edge."""
        return dict(self.queues).get(dpid)

    def meter_at(self, dpid: int) -> int | None:
        """The number of the meter at one edge."""
        return next((meter.number for meter in self.meters if meter.dpid == dpid), None)

    def polices(self, dpid: int) -> bool:
        """Whether this edge has anything to do beside forwarding."""
        return self.dscp is not None or self.queue_at(dpid) is not None or self.meter_at(dpid) is not None


PLAIN = Treatment()
"""Forwarded as it comes."""


NO_PIPELINES: Mapping[int, Pipeline] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Steered:
    """A flow as rules see it: between whom, over which paths, how treated.

    :param number: the flow's number, owner in the cookies.
    :param candidates: the paths, in the direction source to destination, that the flow may be moved
        to; the chosen one is always included.
    :param pipelines: per datapath id; a switch that is not named has the single form.
    """

    number: int
    source: Attachment
    destination: Attachment
    chosen: CandidatePath
    candidates: Sequence[CandidatePath]
    treatment: Treatment = PLAIN
    pipelines: Mapping[int, Pipeline] = field(default_factory=lambda: NO_PIPELINES)

    def pipeline(self, dpid: int) -> Pipeline:
        """The pipeline of one switch."""
        return self.pipelines.get(dpid, SINGLE)

    def back(self) -> Steered:
        """The same seen from the destination."""
        return replace(
            self,
            source=self.destination,
            destination=self.source,
            chosen=self.chosen.reverse(),
            candidates=tuple(path.reverse() for path in self.candidates),
        )

    @property
    def paths(self) -> tuple[CandidatePath, ...]:
        """Every path it is on or may be moved to."""
        listed = tuple(self.candidates)
        return listed if self.chosen in listed else (self.chosen, *listed)


def flow_rules(
    flow: Steered, tuples: Sequence[FiveTuple], priority: int, idle_timeout: int
) -> tuple[Entry, ...]:
    """The rules of one flow: its connections on the chosen path, and delivery from every candidate.

    :param tuples: as seen from the source; the way back is derived.
    :param priority: 0..999, added to FLOW_PRIORITY.
    :param idle_timeout: whole seconds, on ingress rules only.
    :raises ValueError: for a priority outside the band of flows.
    """
    if not 0 <= priority <= 999:
        raise ValueError(f"priority {priority} is not between 0 and 999")
    band = FLOW_PRIORITY + priority
    rules: list[Entry] = [*flow.treatment.meters, *_policies(flow)]
    for connection in tuples:
        for there in _traffic(flow.source, flow.destination, connection):
            rules += _both_ways(flow, there, Kind.FLOW_INGRESS, band, idle_timeout)
    return _once(rules)


def learn_rules(flow: Steered, protocol: int, *, curious: bool = True) -> tuple[Entry, ...]:
    """The rules of a flow that declared no ports: forward, and show us its first packets.

    They match the two hosts and the IP protocol, below all flow rules: a connection that has its own
    rules does not reach them.  Only the direction from the source is copied to the controller; every
    connection sends packets that way, and each copied packet costs.  They have no idle time-out: once
    every connection has its own rules they are idle although the flow is not.

    :param curious: whether anything is copied to the controller: a flow for whose connections a switch has
        no room goes by these rules alone (R9).
    """
    rules: list[Entry] = [*flow.treatment.meters, *_policies(flow)]
    for there in _traffic(flow.source, flow.destination, protocol):
        first, *others = _both_ways(flow, there, Kind.FLOW_LEARN, LEARN_PRIORITY)
        rules.append(replace(first, actions=(ToController(), *first.actions)) if curious else first)
        rules += others
    return _once(rules)


def measurement_rules(
    source: Attachment,
    destination: Attachment,
    path: CandidatePath,
    pipelines: Mapping[int, Pipeline] = NO_PIPELINES,
) -> tuple[Entry, ...]:
    """The rules that pin a pair of measurement addresses to one path, in both directions.

    All IP protocols: the test's control connection and its packets take the same way.  The same pair
    of addresses given from the other end yields the same rules.

    :param source: the sender's DTN with the measurement address as its address
        (:meth:`~adon.flowvisor.topology.topology.Topology.test_ends`).
    """
    test = Steered(path.index, source, destination, path, (), pipelines=pipelines)
    rules: list[Entry] = []
    for there in _traffic(source, destination, None):
        rules += _both_ways(test, there, Kind.MEASUREMENT, MEASUREMENT_PRIORITY)
    return _once(rules)


def _traffic(source: Attachment, destination: Attachment, what: FiveTuple | int | None) -> Iterator[Match]:
    """The packets of one connection, of one IP protocol, or all, between two DTNs, per version of IP."""
    for eth_type, src, dst in _addresses(source, destination):
        hosts = Match(eth_type=eth_type, ip_src=src, ip_dst=dst)
        if what is None or isinstance(what, int):
            yield replace(hosts, ip_proto=what)
        elif what.protocol not in PROTOCOL_NAMES:
            yield replace(hosts, ip_proto=what.protocol)
        else:
            yield replace(
                hosts, ip_proto=what.protocol, tp_src=what.source_port, tp_dst=what.destination_port
            )


def _addresses(source: Attachment, destination: Attachment) -> Iterator[tuple[int, str, str]]:
    """EtherType and addresses, for each version of IP that both ends have."""
    for eth_type, of in ((ETH_TYPE_IPV4, Attachment.ipv4), (ETH_TYPE_IPV6, Attachment.ipv6)):
        src, dst = of(source), of(destination)
        if src is not None and dst is not None:
            yield eth_type, src, dst


def _both_ways(flow: Steered, there: Match, kind: Kind, band: int, idle_timeout: int = 0) -> list[Rule]:
    """The rules of some traffic and of what comes back: ingress there and back, delivery there and back.

    :param kind: of the ingress rules; measurement rules are all of one kind.
    """
    back = replace(there, ip_src=there.ip_dst, ip_dst=there.ip_src, tp_src=there.tp_dst, tp_dst=there.tp_src)
    ways = ((flow, there), (flow.back(), back))
    delivery = kind if kind is Kind.MEASUREMENT else Kind.FLOW_DELIVERY
    ingress = [_ingress(*way, kind, band, idle_timeout) for way in ways]
    return [*ingress, *(rule for way in ways for rule in _deliveries(*way, delivery, band))]


def _ingress(flow: Steered, traffic: Match, kind: Kind, band: int, idle_timeout: int = 0) -> Rule:
    """At the sender's edge: onto the path, addressed to whoever takes the frame off it."""
    dpid, path = flow.source.dpid, flow.chosen
    pipeline = flow.pipeline(dpid)
    rule = Rule(
        dpid=dpid,
        priority=pipeline.at(band),
        match=replace(traffic, in_port=flow.source.port),
        actions=(SetEthDst(flow.destination.mac),),
        cookie=cookie(kind, flow.number, flow.treatment.tenant),
        idle_timeout=idle_timeout,
        table=pipeline.classification,
    )
    if not pipeline.staged:
        policy = _policy_actions(flow, dpid)
        way = onto(path, flow.destination.mac)
        return replace(rule, actions=(*policy, *way), meter=flow.treatment.meter_at(dpid))
    if kind is not Kind.MEASUREMENT and flow.treatment.polices(dpid):
        marks = both(label(path), policy_number(flow.number))
        return replace(rule, metadata=marks, goto=pipeline.policy)
    return replace(rule, metadata=label(path), goto=pipeline.transit)


def _policies(flow: Steered) -> Iterator[Rule]:
    """In the staged form, what both edges do to the flow's packets between classification and transit."""
    number = policy_number(flow.number)
    for end, dpid in enumerate((flow.source.dpid, flow.destination.dpid)):
        pipeline = flow.pipeline(dpid)
        if not pipeline.staged or not flow.treatment.polices(dpid) or (end and dpid == flow.source.dpid):
            continue
        for eth_type in _policed_types(flow):
            yield Rule(
                dpid=dpid,
                priority=pipeline.at(FLOW_PRIORITY),
                match=Match(eth_type=eth_type, metadata=number),
                actions=_policy_actions(flow, dpid),
                cookie=cookie(Kind.FLOW_POLICY, flow.number, flow.treatment.tenant),
                table=pipeline.policy,
                meter=flow.treatment.meter_at(dpid),
                goto=pipeline.transit,
            )


def _policed_types(flow: Steered) -> tuple[int | None, ...]:
    """DSCP can only be written where the match says which version of IP it is (OpenFlow 1.3.5, 7.2.3.8)."""
    if flow.treatment.dscp is None:
        return (None,)
    return tuple(eth_type for eth_type, _, _ in _addresses(flow.source, flow.destination))


def _policy_actions(flow: Steered, dpid: int) -> tuple[Action, ...]:
    dscp, queue = flow.treatment.dscp, flow.treatment.queue_at(dpid)
    marking: tuple[Action, ...] = () if dscp is None else (SetDscp(dscp),)
    return marking if queue is None else (*marking, SetQueue(queue))


def _deliveries(flow: Steered, traffic: Match, kind: Kind, band: int) -> Iterator[Rule]:
    """At the receiver's edge: off every path, to the DTN as if from its own gateway."""
    receiver = flow.destination
    pipeline = flow.pipeline(receiver.dpid)
    for path in flow.paths:
        untag: tuple[Action, ...] = (PopVlan(),) if path.vlan is not None else ()
        yield Rule(
            dpid=receiver.dpid,
            priority=pipeline.at(band),
            match=replace(traffic, in_port=path.destination_end.port, vlan=path.vlan),
            actions=(
                *untag,
                SetEthSrc(receiver.gateway_mac),
                SetEthDst(receiver.mac),
                Output(receiver.port),
            ),
            cookie=cookie(kind, flow.number, flow.treatment.tenant),
            table=pipeline.classification,
        )


def _once(rules: Sequence[Entry]) -> tuple[Entry, ...]:
    """Each rule once, in order: paths that share a port share their delivery rule."""
    return tuple(dict.fromkeys(rules))


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
    """The entries of one path, both directions; they belong to the path and stand ready (R16).

    At its edges, in the staged pipeline, the transit rule that takes packets with the path's label onto it;
    with a backup and a switch that can, through a fast-failover group (OpenFlow 1.3.5, 5.6.1), so that a port
    that goes down is left without the controller.  In the switches between the edges one rule per direction:
    what comes in on the path's VLAN goes on to the next hop.

    :param pipelines: per datapath id; a switch that is not named has the single form.
    :param backups: per datapath id of an edge that has fast-failover groups, the path to fall back to, in the
        direction away from that edge.
    """
    spare = {} if backups is None else backups
    entries: list[Entry] = []
    for way in (path, path.reverse()):
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

"""Rule compiler: from a decision to OpenFlow rules.

MAC addresses: a DTN sends to its own gateway's MAC and receives from it, on any path; the two campuses need
not share a subnet.  So each edge rewrites addresses in both directions (``A``, ``B``: the DTNs; ``gA``,
``gB``: their gateways; ``rA``, ``rB``: the routers of a layer-3 path at the edges)::

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

On layer 2 the source MAC is the sender's own, so that the overlay's switches learn the location of each DTN.
On layer 3 the router removes it.  After the delivery rewrite both are equal to the receiver.  The campus's
own rules or static entries handle ARP and neighbour discovery (R23).  Two hosts with IPv6 addresses get rules
for both versions.

Placement of rules: each 5-tuple and direction has **one ingress rule** at the near edge, which chooses the
path and has the idle timeout, and **one delivery rule per candidate path** at the far edge.  All candidates'
delivery rules stay installed, so a reroute changes only the ingress rule of each direction (R16).  The
reverse direction takes the same path, as a stateful firewall requires.  A data port is the destination port
of the forward direction and the source port of the reverse direction (R23).

A layer-3 and a layer-2 path need different ports of an edge: on a common port their slots collide, and an
untagged match also takes tagged frames.

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
    """Treatment of a flow's packets at the edge: tenant, marking, queue, rate limit.

    The slice and the queue ladder decide it.

    :param tenant: number of the slice in the cookies, 0 for none.
    :param dscp: the six bits written into every packet, in both directions; None for no change.
    :param queues: pairs of an edge's datapath id and the queue at its port that leads onto the path (R12).
    :param meters: meters of the flow's packets, at most one per edge, installed and removed with the flow.
    """

    tenant: int = 0
    dscp: int | None = None
    queues: tuple[tuple[int, int], ...] = ()
    meters: tuple[MeterEntry, ...] = ()

    def queue_at(self, dpid: int) -> int | None:
        """Return the queue of one edge."""
        return dict(self.queues).get(dpid)

    def meter_at(self, dpid: int) -> int | None:
        """Return the number of the meter at one edge."""
        return next((meter.number for meter in self.meters if meter.dpid == dpid), None)

    def polices(self, dpid: int) -> bool:
        """Return whether this edge does more than forwarding."""
        return self.dscp is not None or self.queue_at(dpid) is not None or self.meter_at(dpid) is not None


PLAIN = Treatment()
"""Plain forwarding."""


NO_PIPELINES: Mapping[int, Pipeline] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RuleInputs:
    """Inputs of a flow's rules: ends, paths and treatment.

    :param number: the flow's number, owner in the cookies.
    :param candidates: possible paths of the flow, in the direction source to destination; the chosen path is
        always included.
    :param pipelines: per datapath id; other switches have the single form.
    """

    number: int
    source: Attachment
    destination: Attachment
    chosen: CandidatePath
    candidates: Sequence[CandidatePath]
    treatment: Treatment = PLAIN
    pipelines: Mapping[int, Pipeline] = field(default_factory=lambda: NO_PIPELINES)

    def pipeline(self, dpid: int) -> Pipeline:
        """Return the pipeline of one switch."""
        return self.pipelines.get(dpid, SINGLE)

    def back(self) -> RuleInputs:
        """Return the reverse direction of the flow."""
        return replace(
            self,
            source=self.destination,
            destination=self.source,
            chosen=self.chosen.reverse(),
            candidates=tuple(path.reverse() for path in self.candidates),
        )

    @property
    def paths(self) -> tuple[CandidatePath, ...]:
        """The chosen path and all candidates."""
        listed = tuple(self.candidates)
        return listed if self.chosen in listed else (self.chosen, *listed)


def flow_rules(
    flow: RuleInputs, tuples: Sequence[FiveTuple], priority: int, idle_timeout: int
) -> tuple[Entry, ...]:
    """Return the rules of one flow: its connections on the chosen path, and delivery from every candidate.

    :param tuples: connections from the source; the reverse direction is derived.
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
            rules += _pair_rules(flow, there, Kind.FLOW_INGRESS, band, idle_timeout)
    return _drop_duplicates(rules)


def learn_rules(flow: RuleInputs, protocol: int, *, curious: bool = True) -> tuple[Entry, ...]:
    """Return the rules of a flow without declared ports: forward, and copy first packets to the controller.

    They match the two hosts and the IP protocol, below all flow rules: a connection with its own rules does
    not reach them.  Only packets from the source are copied to the controller, because every connection has
    them, and copies have a cost.  The rules have no idle timeout, because they are idle once every connection
    has its own rules.

    :param curious: False copies no packets, for a flow whose connections exceed the table capacity (R9).
    """
    rules: list[Entry] = [*flow.treatment.meters, *_policies(flow)]
    for there in _traffic(flow.source, flow.destination, protocol):
        first, *others = _pair_rules(flow, there, Kind.FLOW_LEARN, LEARN_PRIORITY)
        rules.append(replace(first, actions=(ToController(), *first.actions)) if curious else first)
        rules += others
    return _drop_duplicates(rules)


def measurement_rules(
    source: Attachment,
    destination: Attachment,
    path: CandidatePath,
    pipelines: Mapping[int, Pipeline] = NO_PIPELINES,
) -> tuple[Entry, ...]:
    """Return the rules that pin a pair of measurement addresses to one path, in both directions.

    They match all IP protocols: the test's control connection and its packets take the same path.  The same
    pair of addresses in reverse order yields the same rules.

    :param source: the sender's DTN with the measurement address
        (:meth:`~adon.flowvisor.topology.topology.Topology.test_ends`).
    """
    test = RuleInputs(path.index, source, destination, path, (), pipelines=pipelines)
    rules: list[Entry] = []
    for there in _traffic(source, destination, None):
        rules += _pair_rules(test, there, Kind.MEASUREMENT, MEASUREMENT_PRIORITY)
    return _drop_duplicates(rules)


def _traffic(source: Attachment, destination: Attachment, what: FiveTuple | int | None) -> Iterator[Match]:
    """Yield matches of a connection, an IP protocol, or all packets between two DTNs, per IP version."""
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
    """Yield EtherType and addresses for each version of IP that both ends have."""
    for eth_type, of in ((ETH_TYPE_IPV4, Attachment.ipv4), (ETH_TYPE_IPV6, Attachment.ipv6)):
        src, dst = of(source), of(destination)
        if src is not None and dst is not None:
            yield eth_type, src, dst


def _pair_rules(flow: RuleInputs, there: Match, kind: Kind, band: int, idle_timeout: int = 0) -> list[Rule]:
    """Return the ingress and delivery rules of both directions of some traffic.

    :param kind: of the ingress rules; all measurement rules have one kind.
    """
    back = replace(there, ip_src=there.ip_dst, ip_dst=there.ip_src, tp_src=there.tp_dst, tp_dst=there.tp_src)
    ways = ((flow, there), (flow.back(), back))
    delivery = kind if kind is Kind.MEASUREMENT else Kind.FLOW_DELIVERY
    ingress = [_ingress(*way, kind, band, idle_timeout) for way in ways]
    return [*ingress, *(rule for way in ways for rule in _deliveries(*way, delivery, band))]


def _ingress(flow: RuleInputs, traffic: Match, kind: Kind, band: int, idle_timeout: int = 0) -> Rule:
    """Return the rule at the sender's edge, which forwards onto the path to the next receiver."""
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
        way = forwarding_actions(path, flow.destination.mac)
        return replace(rule, actions=(*policy, *way), meter=flow.treatment.meter_at(dpid))
    if kind is not Kind.MEASUREMENT and flow.treatment.polices(dpid):
        marks = both(label(path), policy_number(flow.number))
        return replace(rule, metadata=marks, goto=pipeline.policy)
    return replace(rule, metadata=label(path), goto=pipeline.transit)


def _policies(flow: RuleInputs) -> Iterator[Rule]:
    """Yield the policy rules of both edges in the staged form, between classification and transit."""
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


def _policed_types(flow: RuleInputs) -> tuple[int | None, ...]:
    """Return the EtherTypes of policy rules: SetDscp needs a match on the IP version (1.3.5, 7.2.3.8)."""
    if flow.treatment.dscp is None:
        return (None,)
    return tuple(eth_type for eth_type, _, _ in _addresses(flow.source, flow.destination))


def _policy_actions(flow: RuleInputs, dpid: int) -> tuple[Action, ...]:
    dscp, queue = flow.treatment.dscp, flow.treatment.queue_at(dpid)
    marking: tuple[Action, ...] = () if dscp is None else (SetDscp(dscp),)
    return marking if queue is None else (*marking, SetQueue(queue))


def _deliveries(flow: RuleInputs, traffic: Match, kind: Kind, band: int) -> Iterator[Rule]:
    """Yield the rules at the receiver's edge, from every path to the DTN as if from its own gateway."""
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


def _drop_duplicates(rules: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return each rule once, in order: paths with a common port have a common delivery rule."""
    return tuple(dict.fromkeys(rules))


def forwarding_actions(path: CandidatePath, receiver_mac: str | None = None) -> tuple[Action, ...]:
    """Return the actions that forward a frame onto a path at its near edge.

    :param receiver_mac: MAC address of the far DTN; None if the frame has it already.
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
    """Return the entries of one path in both directions, installed before its flows (R16).

    Each edge with the staged pipeline has a transit rule, which forwards packets with the path's label onto
    it.  With a backup and a capable switch the rule uses a fast-failover group (OpenFlow 1.3.5, 5.6.1), which
    leaves a failed port without the controller.  The switches between the edges have one rule per direction,
    which forwards packets on the path's VLAN to the next hop.

    :param pipelines: per datapath id; other switches have the single form.
    :param backups: backup path per datapath id of an edge with fast-failover groups, in the direction away
        from that edge.
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
    actions = forwarding_actions(path)
    backup = backups.get(dpid)
    if backup is not None:
        number = group_number(path.index)
        buckets = tuple(Bucket(forwarding_actions(way), way.source_end.port) for way in (path, backup))
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

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

Tables, priorities, the two forms of the pipeline: :mod:`adon.flowvisor.pipeline`; cookies:
:mod:`adon.flowvisor.cookie` (R1, R7, R8).  What a path needs whatever its flows:
:mod:`adon.flowvisor.path_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from adon.flowvisor.action import (
    Action,
    Output,
    PopVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    ToController,
)
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, Match
from adon.flowvisor.path import Attachment, CandidatePath, FiveTuple
from adon.flowvisor.path_rules import onto
from adon.flowvisor.pipeline import (
    FLOW_PRIORITY,
    LEARN_PRIORITY,
    MEASUREMENT_PRIORITY,
    SINGLE,
    Pipeline,
    both,
    label,
    policy_number,
)
from adon.flowvisor.rule import Entry, Rule
from adon.flowvisor.treatment import PLAIN, Treatment

PROTOCOLS_WITH_PORTS = frozenset({6, 17, 132})
"""TCP, UDP, SCTP: the IP protocols whose ports OpenFlow 1.3 matches."""

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
            chosen=self.chosen.reversed(),
            candidates=tuple(path.reversed() for path in self.candidates),
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
            ways = ((flow, there), (flow.back(), _way_back(there)))
            rules.extend(_ingress(*way, Kind.FLOW_INGRESS, band, idle_timeout) for way in ways)
            for way in ways:
                rules.extend(_deliveries(*way, Kind.FLOW_DELIVERY, band))
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
        first = _ingress(flow, there, Kind.FLOW_LEARN, LEARN_PRIORITY)
        rules.append(replace(first, actions=(ToController(), *first.actions)) if curious else first)
        back = _way_back(there)
        rules.append(_ingress(flow.back(), back, Kind.FLOW_LEARN, LEARN_PRIORITY))
        rules.extend(_deliveries(flow, there, Kind.FLOW_DELIVERY, LEARN_PRIORITY))
        rules.extend(_deliveries(flow.back(), back, Kind.FLOW_DELIVERY, LEARN_PRIORITY))
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
        (:meth:`~adon.flowvisor.topology.Topology.test_ends`).
    """
    test = Steered(path.index, source, destination, path, (), pipelines=pipelines)
    rules: list[Entry] = []
    for there in _traffic(source, destination, None):
        ways = ((test, there), (test.back(), _way_back(there)))
        rules.extend(_ingress(*way, Kind.MEASUREMENT, MEASUREMENT_PRIORITY) for way in ways)
        for way in ways:
            rules.extend(_deliveries(*way, Kind.MEASUREMENT, MEASUREMENT_PRIORITY))
    return _once(rules)


def _traffic(source: Attachment, destination: Attachment, what: FiveTuple | int | None) -> Iterator[Match]:
    """The packets of one connection, of one IP protocol, or all, between two DTNs, per version of IP."""
    for eth_type, src, dst in _addresses(source, destination):
        hosts = Match(eth_type=eth_type, ip_src=src, ip_dst=dst)
        if what is None or isinstance(what, int):
            yield replace(hosts, ip_proto=what)
        elif what.protocol not in PROTOCOLS_WITH_PORTS:
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


def _way_back(there: Match) -> Match:
    return replace(
        there,
        ip_src=there.ip_dst,
        ip_dst=there.ip_src,
        tp_src=there.tp_dst,
        tp_dst=there.tp_src,
    )


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

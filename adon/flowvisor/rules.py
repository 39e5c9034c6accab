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
ARP is answered by the campus's own rules or by static entries: our rules match IPv4 only (R23).

Where the rules sit.  Per 5-tuple and direction there is **one ingress rule** at the near edge, which
chooses the path and carries the idle time-out, and **one delivery rule per candidate path** at the far
edge.  All candidates' delivery rules stay installed, so a move changes the ingress rule of each
direction and nothing else (R16).  The way back takes the same path (a stateful firewall on it would
not have it otherwise).  A data port is the destination port there and the source port on the way
back (R23).

Slots collide, and an untagged match would also take tagged frames, if a layer-3 and a layer-2 path
share one port of an edge: give them ports of their own.

Conventions for cookies and priorities: :mod:`adon.flowvisor.rule` (R1, R7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adon.flowvisor.path import Attachment, CandidatePath, FiveTuple, Layer
from adon.flowvisor.rule import (
    FLOW_PRIORITY,
    LEARN_PRIORITY,
    MEASUREMENT_PRIORITY,
    Action,
    Kind,
    Match,
    Output,
    PopVlan,
    PushVlan,
    Rule,
    SetEthDst,
    SetEthSrc,
    ToController,
    cookie,
)

ETH_TYPE_IPV4 = 0x0800
PROTOCOLS_WITH_PORTS = frozenset({6, 17, 132})
"""TCP, UDP, SCTP: the IP protocols whose ports OpenFlow 1.3 matches."""


def flow_rules(
    number: int,
    source: Attachment,
    destination: Attachment,
    tuples: Sequence[FiveTuple],
    chosen: CandidatePath,
    candidates: Sequence[CandidatePath],
    priority: int,
    idle_timeout: int,
    *,
    offset: int = 0,
) -> tuple[Rule, ...]:
    """The rules of one flow: its connections on the chosen path, and delivery from every candidate.

    :param number: the flow's number, owner in the cookies.
    :param tuples: as seen from ``source``; the way back is derived.
    :param candidates: the paths, in the direction source to destination, that the flow may be moved
        to; the chosen one is always included.
    :param priority: 0..999, added to FLOW_PRIORITY.
    :param idle_timeout: whole seconds, on ingress rules only.
    :param offset: shifts all our priority bands (``policy.priority_offset``, R7).
    :raises ValueError: for a priority outside the band of flows.
    """
    if not 0 <= priority <= 999:
        raise ValueError(f"priority {priority} is not between 0 and 999")
    ingress = Rule(
        dpid=0,
        priority=FLOW_PRIORITY + priority + offset,
        match=Match(),
        actions=(),
        cookie=cookie(Kind.FLOW_INGRESS, number),
        idle_timeout=idle_timeout,
    )
    delivery = replace(ingress, cookie=cookie(Kind.FLOW_DELIVERY, number), idle_timeout=0)
    paths = _with(chosen, candidates)
    rules: list[Rule] = []
    for connection in tuples:
        there = _traffic(source, destination, connection)
        back = _way_back(there)
        rules.append(_ingress(ingress, source, destination, chosen, there))
        rules.append(_ingress(ingress, destination, source, chosen.reversed(), back))
        rules.extend(_delivery(delivery, destination, path, there) for path in paths)
        rules.extend(_delivery(delivery, source, path.reversed(), back) for path in paths)
    return _once(rules)


def learn_rules(
    number: int,
    source: Attachment,
    destination: Attachment,
    protocol: int,
    chosen: CandidatePath,
    candidates: Sequence[CandidatePath],
    *,
    offset: int = 0,
) -> tuple[Rule, ...]:
    """The rules of a flow that declared no ports: forward, and show us its first packets.

    They match the two hosts and the IP protocol, below all flow rules: a connection that has its own
    rules does not reach them.  Only the direction from the source is copied to the controller; every
    connection sends packets that way, and each copied packet costs.  They have no idle time-out: once
    every connection has its own rules they are idle although the flow is not.
    """
    learn = Rule(
        dpid=0,
        priority=LEARN_PRIORITY + offset,
        match=Match(),
        actions=(),
        cookie=cookie(Kind.FLOW_LEARN, number),
    )
    delivery = replace(learn, cookie=cookie(Kind.FLOW_DELIVERY, number))
    there = _traffic(source, destination, protocol)
    back = _way_back(there)
    paths = _with(chosen, candidates)
    first = _ingress(learn, source, destination, chosen, there)
    return _once(
        [
            replace(first, actions=(ToController(), *first.actions)),
            _ingress(learn, destination, source, chosen.reversed(), back),
            *(_delivery(delivery, destination, path, there) for path in paths),
            *(_delivery(delivery, source, path.reversed(), back) for path in paths),
        ]
    )


def measurement_rules(
    source: Attachment, destination: Attachment, path: CandidatePath, *, offset: int = 0
) -> tuple[Rule, ...]:
    """The rules that pin a pair of measurement addresses to one path, in both directions.

    All IP protocols: the test's control connection and its packets take the same way.  The same pair
    of addresses given from the other end yields the same rules.

    :param source: the sender's DTN with the measurement address as its address
        (:meth:`~adon.flowvisor.topology.Topology.test_ends`).
    """
    pinned = Rule(
        dpid=0,
        priority=MEASUREMENT_PRIORITY + offset,
        match=Match(),
        actions=(),
        cookie=cookie(Kind.MEASUREMENT, path.index),
    )
    there = _traffic(source, destination, None)
    back = _way_back(there)
    return _once(
        [
            _ingress(pinned, source, destination, path, there),
            _ingress(pinned, destination, source, path.reversed(), back),
            _delivery(pinned, destination, path, there),
            _delivery(pinned, source, path.reversed(), back),
        ]
    )


def _traffic(source: Attachment, destination: Attachment, what: FiveTuple | int | None) -> Match:
    """The packets of one connection, of one IP protocol, or all, from one DTN to another."""
    hosts = Match(eth_type=ETH_TYPE_IPV4, ipv4_src=source.address, ipv4_dst=destination.address)
    if what is None or isinstance(what, int):
        return replace(hosts, ip_proto=what)
    if what.protocol not in PROTOCOLS_WITH_PORTS:
        return replace(hosts, ip_proto=what.protocol)
    return replace(hosts, ip_proto=what.protocol, tp_src=what.source_port, tp_dst=what.destination_port)


def _way_back(there: Match) -> Match:
    return replace(
        there,
        ipv4_src=there.ipv4_dst,
        ipv4_dst=there.ipv4_src,
        tp_src=there.tp_dst,
        tp_dst=there.tp_src,
    )


def _ingress(
    like: Rule, sender: Attachment, receiver: Attachment, path: CandidatePath, traffic: Match
) -> Rule:
    """At the sender's edge: onto the path, addressed to whoever takes the frame off it."""
    next_hop = path.source_end.next_hop_mac
    address: tuple[Action, ...]
    if path.layer is Layer.L2 and path.vlan is not None:
        address = (SetEthDst(receiver.mac), PushVlan(path.vlan))
    elif next_hop is not None:
        address = (SetEthDst(next_hop),)
    else:
        raise ValueError(f"path {path.key} has neither a VLAN nor a next hop")
    return replace(
        like,
        dpid=sender.dpid,
        match=replace(traffic, in_port=sender.port),
        actions=(*address, Output(path.source_end.port)),
    )


def _delivery(like: Rule, receiver: Attachment, path: CandidatePath, traffic: Match) -> Rule:
    """At the receiver's edge: off the path, to the DTN as if from its own gateway."""
    untag: tuple[Action, ...] = (PopVlan(),) if path.vlan is not None else ()
    return replace(
        like,
        dpid=receiver.dpid,
        match=replace(traffic, in_port=path.destination_end.port, vlan=path.vlan),
        actions=(*untag, SetEthSrc(receiver.gateway_mac), SetEthDst(receiver.mac), Output(receiver.port)),
    )


def _with(chosen: CandidatePath, candidates: Sequence[CandidatePath]) -> tuple[CandidatePath, ...]:
    return (*candidates,) if chosen in candidates else (chosen, *candidates)


def _once(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Each rule once, in order: paths that share a port share their delivery rule."""
    return tuple(dict.fromkeys(rules))

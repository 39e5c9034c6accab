"""Fireflies: who is told, by scitags' flow records, that a connection of a flow begins or ends.

Only flows with scitags, only if a collector is configured, and only connections whose two ports are known:
the format has no place for an unknown one.  Those are the connections that were learnt; of a flow that
declared its ports the source's is any, and its DTN is the one that can tell.  When a connection began is not
kept: one that ends is told with the beginning of its flow.  Format: :mod:`adon.marking`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from adon.broker.desired_rules import find_attachments
from adon.broker.effects import Effect, SendFirefly
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.tenancy import asked_marking
from adon.broker.world import World
from adon.flowvisor.topology.path import FiveTuple
from adon.marking import FireflyFlow, firefly

_PROTOCOLS: dict[int, Literal["tcp", "udp"]] = {6: "tcp", 17: "udp"}


def began(world: World, flow: Flow, connection: FiveTuple, event: Event) -> list[Effect]:
    """Say that a connection was first seen."""
    return _fireflies(world, flow, [connection], event, ended=None)


def announce_end(world: World, flow: Flow, event: Event) -> list[Effect]:
    """Say that a flow's connections are over."""
    return _fireflies(world, flow, flow.tuples, event, ended=event.at)


def _fireflies(
    world: World, flow: Flow, connections: Iterable[FiveTuple], event: Event, ended: float | None
) -> list[Effect]:
    tags = asked_marking(flow.request, world.flows.need(flow).template).scitags
    ends = find_attachments(flow, world.network.topology)
    if world.configuration.policy.fireflies is None or tags is None or ends is None:
        return []
    source, destination = ends
    pairs = [(source.ipv4(), destination.ipv4()), (source.ipv6(), destination.ipv6())]
    addresses = next((pair for pair in pairs if pair[0] is not None and pair[1] is not None), None)
    if addresses is None:
        return []
    since = flow.submitted_at if flow.started_at is None else flow.started_at
    sent = list[Effect]()
    for one in connections:
        protocol = _PROTOCOLS.get(one.protocol)
        if protocol is None or one.source_port is None:
            continue
        about = FireflyFlow(
            source=str(addresses[0]),
            destination=str(addresses[1]),
            protocol=protocol,
            source_port=one.source_port,
            destination_port=one.destination_port,
            started=event.at if ended is None else since,
            ended=ended,
        )
        sent.append(SendFirefly(event.id, firefly(tags, about, event.at, world.configuration.network)))
    return sent

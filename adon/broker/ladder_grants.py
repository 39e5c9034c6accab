"""The queue ladders of the edges' ports, and what each flow gets by them (spec section 4).

A ladder is worked out anew from the flows whenever it is asked for: nothing is kept that a restart could
lose.  It is that of the port by which a flow's packets leave their source's edge; the way back carries
acknowledgements and is not graded.  What a flow is granted becomes a queue, a meter, or nothing
(:func:`~adon.flowvisor.rules.queue_ladder.choose_enforcement`), and is recorded beside what was asked.
"""

from __future__ import annotations

from dataclasses import replace

from adon.broker.choice import Choice
from adon.broker.flow import Flow, FlowState
from adon.broker.gate import Gate
from adon.broker.tenancy import marking_of
from adon.broker.world import World
from adon.errors import NotFound
from adon.flowvisor.rules.queue_ladder import Claim, GrantRecord, Ladder
from adon.flowvisor.rules.rule import MeterEntry
from adon.flowvisor.rules.rule_compiler import Treatment
from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from adon.templates_catalog.model import QSpec


def ladder(world: World, flow: Flow, path: str) -> tuple[str, Ladder]:
    """The name of the port by which a flow would leave for a path, and the ladder there, without the flow.

    :raises NotFound: if there is no such path.
    """
    site = world.flows.ends(flow)[0]
    port = _port(world, site, path)
    if port is None:
        raise NotFound("path", path)
    claims = [
        claim(world, other)
        for other in world.flows.running()
        if other.number != flow.number
        and world.flows.ends(other)[0] == site
        and other.path is not None
        and _port(world, site, other.path) == port
    ]
    return port, Ladder.of(_capacity(world, site, port), world.configuration.policy.ladder.shares, claims)


def claim(world: World, flow: Flow) -> Claim:
    """What a flow asks of a port."""
    return claim_of(flow.number, world.flows.priority(flow), world.flows.need(flow).qspec)


def claim_of(number: int, priority: int, qspec: QSpec) -> Claim:
    """What a flow that needs this asks of a port."""
    throughput = qspec.throughput
    if throughput is None:
        return Claim(number, priority, 0.0)
    target = 0.0 if throughput.target is None else throughput.target
    return Claim(number, priority, throughput.min, target)


def refusal(world: World, flow: Flow, path: str) -> str:
    """Why the ladder has no place for a flow on a path; empty if it has one."""
    return ladder(world, flow, path)[1].refusal(claim(world, flow))


def gate(world: World, flow: Flow, path: str | None) -> Gate | None:
    """The port by which a flow leaves for a path; None without ladders, or without such a path."""
    if world.configuration.policy.ladder.mode == "off" or path is None:
        return None
    if _port(world, world.flows.ends(flow)[0], path) is None:
        return None
    port, others = ladder(world, flow, path)
    dpid = _edge(world, flow)
    state = world.network.topology.ports.get(dpid, {}).get(port)
    number = -1 if state is None else state.number
    return Gate(port, others.capacity, others.claims, world.means.get(dpid), number)


def grant_on_path(world: World, flow: Flow, path: str | None, gone: int | None = None) -> GrantRecord | None:
    """What a flow has on a path; None without ladders, or if it fits none any more.

    :param gone: the number of a flow whose claim is not to count.
    """
    through = gate(world, flow, path)
    if through is None:
        return None
    if gone is not None:
        through = replace(through, claims=tuple(one for one in through.claims if one.number != gone))
    dpid, policy = _edge(world, flow), world.configuration.policy.ladder
    return through.grant(policy, claim(world, flow), lambda: world.meters.number(dpid, flow.number))


def treatment(world: World, flow: Flow) -> Treatment:
    """What a flow's packets get at the edges: tenant, marking, and the queue or meter it was granted."""
    configuration, template = world.configuration, world.flows.need(flow).template
    tenant = None if flow.slice is None else configuration.slices.get(flow.slice)
    grant, dpid = flow.granted, _edge(world, flow)
    burst = configuration.policy.ladder.burst
    queues: tuple[tuple[int, int], ...] = ()
    meters: tuple[MeterEntry, ...] = ()
    if grant is not None and grant.number is not None:
        if grant.by == "queue":
            queues = ((dpid, grant.number),)
        else:
            meters = (_meter(dpid, grant.number, grant.ceiling, burst, flow.number),)
    return Treatment(
        tenant=0 if tenant is None else tenant.number,
        dscp=marking_of(flow.request, template, flow.slice, configuration).dscp,
        queues=queues,
        meters=meters,
    )


def falls(world: World, flow: Flow, choice: Choice) -> Flow | None:
    """The one running flow of the same slice that would lose its rung to a more urgent newcomer.

    Only where the ladder is all that keeps the newcomer off a path that has what its QSpec needs.
    """
    if world.configuration.policy.ladder.mode == "off":
        return None
    for record in choice.selection.records:
        if record.path not in choice.paths or not _only_the_ladder(world, flow, record):
            continue
        number = ladder(world, flow, record.path)[1].find_displaced(claim(world, flow))
        other = world.flows.get(number[0]) if len(number) == 1 else None
        if other is None or other.state is not FlowState.ACTIVE or world.network.busy(other.id):
            continue
        if other.slice != flow.slice:  # another tenant's flow stays
            continue
        if other.path == record.path and world.flows.priority(other) < world.flows.priority(flow):
            return other
    return None


def _only_the_ladder(world: World, flow: Flow, record: CandidateRecord) -> bool:
    if record.verdict is not Verdict.EXCLUDED or record.why != refusal(world, flow, record.path):
        return False
    return not any(metric.unknown or metric.bound_met is False for metric in record.metrics)


def _meter(dpid: int, number: int, ceiling: float, burst_s: float, flow: int) -> MeterEntry:
    rate = max(1000, int(ceiling) // 1000 * 1000)  # a switch knows whole kbit/s
    return MeterEntry(dpid, number, rate, max(1000, int(rate * burst_s) // 1000 * 1000), flow)


def _port(world: World, site: str, path: str) -> str | None:
    """The name of the port of a site's edge that leads onto a path; None if there is no such path."""
    configuration = world.configuration
    if path in configuration.paths:
        return configuration.paths[path].ends[site].port
    circuits = world.network.topology.overlay_paths.circuits
    found = next((circuit for circuit in circuits if circuit.name == path), None)
    if found is None:
        return None
    link = configuration.links.get(found.links[0 if found.source == site else -1])
    return None if link is None else link.ends.get(configuration.sites[site].edge)


def _capacity(world: World, site: str, port: str) -> float:
    """What a port of a site's edge carries: the most that a path or link there does."""
    configuration, edge = world.configuration, world.configuration.sites[site].edge
    paths = (p.capacity for p in configuration.paths.values() if site in p.ends and p.ends[site].port == port)
    links = (link.capacity for link in configuration.links.values() if link.ends.get(edge) == port)
    return max((*paths, *links))


def _edge(world: World, flow: Flow) -> int:
    configuration = world.configuration
    return configuration.switches[configuration.sites[world.flows.ends(flow)[0]].edge].dpid

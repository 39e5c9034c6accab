"""What switches tell of a flow's packets, and what follows: counters, idle rules, first packets.

A flow is not up because its rules are installed (R22): the far edge's counters say whether packets arrive,
and a path that swallows them is left.  A flow is over when all its ingress rules are idle.  A connection
of a flow without declared ports is learnt from its first packet.  What counters prove is worked out in
:mod:`adon.broker.counters`; here it is applied to the flows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adon.broker.counters import Evidence
from adon.broker.desired_rules import find_attachments
from adon.broker.effects import Announce, Effect, SaveFlow
from adon.broker.events import CountersReported, Event, FirstPacket, RuleRemoved, RulesReported
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_placement import Placing
from adon.broker.world import World
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import ReportedRule, Rule
from adon.flowvisor.selection.performance import PathChange
from adon.flowvisor.topology.path import FiveTuple
from adon.units import format_duration
from measurement.model import Metric, PathKey

MAX_LEARNT = 64
"""Connections learnt per flow; more share the learning rule's path without rules of their own."""


def count(world: World, placing: Placing, event: RulesReported, *, fresh: bool) -> list[Effect]:
    """Share out a switch's counters among the flows.

    :param fresh: whether the switch has just come (back): rates begin anew.
    """
    mine = _by_owner(event.rules)
    effects: list[Effect] = []
    for flow in world.flows.running():
        effects += _take(world, placing, flow, mine.get(flow.id, []), event, fresh=fresh)
    return effects


def count_some(world: World, placing: Placing, event: CountersReported) -> list[Effect]:
    """Share out the counters of some flows; of the others nothing is said."""
    effects: list[Effect] = []
    for owner, rules in _by_owner(event.rules).items():
        flow = world.flows.owner(owner)
        if flow is not None and flow.state.holds_rules:
            effects += _take(world, placing, flow, rules, event, fresh=False)
    return effects


def _by_owner(rules: Iterable[ReportedRule]) -> dict[str, list[ReportedRule]]:
    found: dict[str, list[ReportedRule]] = {}
    for item in rules:
        found.setdefault(owner_of(item.rule), []).append(item)
    return found


def _take(
    world: World,
    placing: Placing,
    flow: Flow,
    rules: list[ReportedRule],
    event: RulesReported | CountersReported,
    *,
    fresh: bool,
) -> list[Effect]:
    ends = find_attachments(flow, world.network.topology)
    if flow.advised or ends is None or event.dpid not in (ends[0].dpid, ends[1].dpid):
        return []
    counters = world.flows.counters(flow)
    if fresh:
        counters.begin_anew()
    counters.report(event.at, event.dpid, rules, *ends)
    return _judge(world, placing, flow, event, at_far_edge=event.dpid == ends[1].dpid)


def _judge(world: World, placing: Placing, flow: Flow, event: Event, *, at_far_edge: bool) -> list[Effect]:
    """Say whether packets really arrive (R22), as the far edge tells; leave a path that loses all."""
    counters = world.flows.counters(flow)
    evidence = flow.evidence
    if at_far_edge and flow.state is FlowState.ACTIVE:
        after = world.configuration.policy.evidence_after
        evidence = counters.evidence(event.at, flow.state_since, after)
    counted = replace(
        flow,
        bytes_sent=max(flow.bytes_sent, counters.sent),
        bytes_delivered=max(flow.bytes_delivered, counters.delivered),
        evidence=evidence,
    )
    world.flows.put(counted)
    effects: list[Effect] = [] if counted == flow else [SaveFlow(event.id, counted)]
    if not at_far_edge or counted.state is not FlowState.ACTIVE:
        return effects
    if evidence is Evidence.SWALLOWED:
        counters.begin_anew()
        why = f"packets of {flow.id} leave but none arrive"
        world.shun(flow.path, why, event.at)
        _supersede(world, flow, why, event.at)
        text = f"flow {flow.id}: {evidence}"
        effects.append(Announce(event.id, "warning", "packets-lost", text, flow.id))
        return [*effects, *placing.reexamine(counted, event)]
    if counted.bytes_delivered > flow.bytes_delivered and _is_settled(world, counted, event.at):
        world.damping.record_path_success(str(counted.path))
    return [*effects, *_end_unused(world, placing, counted, event)]


def _supersede(world: World, flow: Flow, why: str, now: float) -> None:
    """What was measured before a path swallowed packets says nothing of it any more.

    Without this the flow would come back when the hold-off is over, because of the values that made it choose
    the path at first.  Nothing is known until a newer result; the capacity is not called into question.
    """
    key = PathKey(str(flow.path), *world.flows.ends(flow))
    for metric in Metric:
        world.performance.supersede(key, metric, PathChange(now, why, less=False))


def _is_settled(world: World, flow: Flow, now: float) -> bool:
    """Whether what arrives now must have come over the flow's present path."""
    since = flow.path_since
    return since is not None and now - since > world.configuration.policy.evidence_after


def _end_unused(world: World, placing: Placing, flow: Flow, event: Event) -> list[Effect]:
    """End a flow without ports that nothing was learnt of: its learning rules have no idle time-out."""
    if flow.request.ports or flow.tuples:
        return []
    idle = world.flows.need(flow).template.selection.idle_timeout
    last = world.flows.counters(flow).last_sent
    if event.at - (flow.state_since if last is None else last) <= idle:
        return []
    return _end_idle(placing, flow, idle, event)


def _end_idle(placing: Placing, flow: Flow, idle: float, event: Event) -> list[Effect]:
    reason = f"no packet for {format_duration(idle)}: the flow has ended"
    return placing.end(flow, FlowState.FINISHED, reason, event)[1]


def rule_removed(world: World, placing: Placing, event: RuleRemoved) -> list[Effect]:
    """An idle ingress rule: the flow has ended if all of them are; if not, the rule comes back."""
    flow = world.flows.owner(owner_of(event.rule))
    if flow is None or event.reason != "idle" or not flow.state.holds_rules:
        return []
    wanted = world.network.wanted_rules(flow.id)
    ingress = [rule for rule in wanted if isinstance(rule, Rule) and _steers(rule)]
    if event.rule.slot not in {rule.slot for rule in ingress}:
        return []
    counters = world.flows.counters(flow)
    counters.idled_out(event.rule, event.at)
    if counters.idle(ingress, event.at):
        return _end_idle(placing, flow, event.rule.idle_timeout, event)
    effects: list[Effect] = []
    connection = [rule for rule in ingress if _ports(rule) == _ports(event.rule)]
    if not flow.request.ports and counters.idle(connection, event.at):
        ended = _ports(event.rule)
        kept = tuple(c for c in flow.tuples if {c.destination_port, c.source_port} != ended)
        flow = world.flows.put(replace(flow, tuples=kept))
        effects.append(SaveFlow(event.id, flow))
        wanted = tuple(rule for rule in wanted if not isinstance(rule, Rule) or _ports(rule) != ended)
    return [*effects, *placing.act(world.network.want(flow.id, wanted, event.id, event.at), event)]


def _steers(rule: Rule) -> bool:
    return cookie_owner(rule.cookie)[0] is Kind.FLOW_INGRESS


def first_packet(world: World, placing: Placing, event: FirstPacket) -> list[Effect]:
    """Give a connection of a flow without declared ports rules of its own."""
    flow = world.flows.get(cookie_owner(event.cookie)[1])
    if flow is None or flow.state is not FlowState.ACTIVE or world.network.busy(flow.id):
        return []
    ends = find_attachments(flow, world.network.topology)
    if ends is None or len(flow.tuples) >= MAX_LEARNT:
        return []
    return placing.learn(flow, _forward(event, ends[0].address), event)


def _ports(rule: Rule) -> set[int | None]:
    """The two ports of a connection, whichever direction the rule is for."""
    return {rule.match.tp_src, rule.match.tp_dst}


def _forward(event: FirstPacket, source_address: str) -> FiveTuple:
    """The connection in the flow's forward direction; only the listening port identifies it."""
    if event.source == source_address:
        return event.tuple
    seen = event.tuple
    return FiveTuple(seen.protocol, int(seen.source_port or 0), seen.destination_port)

"""Which paths are closed to a flow: by policy, slice, queue ladder, a full switch, reservations of others.

Asked before a path is chosen, so before any rule is compiled; a decision shows each closed path with the
reason.  The path that a flow is on is never closed to it: limits are for admission and moves.  Sources:
R9; spec section 4; FlowVisor.  Nothing is changed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from adon.broker import ladder_grants, use_grants
from adon.broker.choice import Choice, Need
from adon.broker.desired_rules import rules_for_flow
from adon.broker.flow import Flow
from adon.broker.intake import PROTOCOLS
from adon.broker.resources import paths as reserved_paths
from adon.broker.room import Occupancy, count, shortage
from adon.broker.tenancy import ask_of
from adon.broker.world import World
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.rules.slices import Usage, find_violation
from adon.flowvisor.selection.selection import Selection
from adon.flowvisor.topology.path import CandidatePath
from adon.reasons import Reason, reason_of

WITHIN_REACH = 1000
"""Rules; a table that has room for so many more is no limit for any flow, and nothing is counted."""


def closed_paths(world: World, flow: Flow, need: Need, now: float) -> dict[str, Reason]:
    """Per path name why a flow may not have it now."""
    configuration = world.configuration
    sliced = flow.slice is not None and flow.slice in configuration.slices
    graded = configuration.policy.ladder.mode != "off"
    unfit = any(world.abilities.unfit.values())
    barred = _forbidden_paths(world, flow, need)
    reserved = {**reserved_paths.closed_paths(world, flow, now), **barred}
    if not sliced and not is_limited(world):
        return reserved
    found = world.network.topology.candidates(flow.request.source, flow.request.destination)
    paths = {c.key.path: c.path for c in found if c.path is not None and c.key.path != flow.path}
    rules = _needed_rules(world, flow, need, paths)
    lacking = reason_of("no-rule-space", _lacking(world, flow, rules, now))
    reasons = {}
    for name, path in paths.items():
        reasons[name] = (
            barred.get(name)
            or lacking
            or (reason_of("switch-unfit", _unfit(world, path)) if unfit else None)
            or (reason_of("slice-limit", _of_slice(world, flow, need, path, rules)) if sliced else None)
            or (reason_of("no-queue", ladder_grants.refusal(world, flow, name)) if graded else None)
            or reserved.get(name)
        )
    return {**barred, **{name: reason for name, reason in reasons.items() if reason}}


def _forbidden_paths(world: World, flow: Flow, need: Need) -> dict[str, Reason]:
    """The paths that the configuration does not let the requester use, the present one left out."""
    if not world.configuration.policy.use_access:
        return {}
    found = world.network.topology.candidates(flow.request.source, flow.request.destination)
    return use_grants.closed_paths(
        world, flow, need, [one.key.path for one in found if one.key.path != flow.path]
    )


def is_limited(world: World) -> bool:
    """Whether anything but a slice may close a path to a flow now: ladders, or what switches can hold."""
    graded = world.configuration.policy.ladder.mode != "off"
    return graded or any(world.abilities.unfit.values()) or _has_limits(world)


def no_room(world: World, flow: Flow, entries: Iterable[Entry] | None) -> str:
    """Why the rules that a flow would have do not fit its slice or its switches; empty if they do."""
    if entries is None or not (_has_limits(world) or flow.slice is not None):
        return ""
    needed = count(entries)
    for dpid, number in sorted(needed.items()):
        short = _lacks(world, dpid, flow, number)
        if short:
            return shortage(dpid, short)
    tenant = None if flow.slice is None else world.configuration.slices.get(flow.slice)
    if tenant is None or tenant.rule_budget is None:
        return ""
    held = _rules_of_slice(world, flow)
    over = [dpid for dpid, number in needed.items() if held[dpid] + number > tenant.rule_budget]
    return (
        shortage(over[0], f"slice {flow.slice!r} has {tenant.rule_budget} rules per switch") if over else ""
    )


def occupancy(world: World, dpid: int, without: Flow | None = None) -> Occupancy:
    """How full one switch is.

    :param without: a flow whose rules do not count.
    """
    ours = world.network.rules(dpid) + world.connected.at(dpid)
    if without is not None:
        ours -= count(world.network.wanted_rules(without.id)).get(dpid, 0)
    others = world.network.foreign_rules(dpid)
    return Occupancy(ours, others, world.room.maximum.get(dpid), _budget(world, dpid))


def _budget(world: World, dpid: int) -> int | None:
    return next((s.rule_budget for s in world.configuration.switches.values() if s.dpid == dpid), None)


def _lacks(world: World, dpid: int, flow: Flow, number: int) -> str:
    """Why so many more rules do not fit into a switch; where it has no known limit, nothing is counted."""
    if _budget(world, dpid) is None and dpid not in world.room.maximum:
        return ""
    return occupancy(world, dpid, flow).lacks(number)


def _has_limits(world: World) -> bool:
    """Whether any switch has a limit that may be met."""
    room = world.room
    if room.full:
        return True
    held = ((most, occupancy(world, dpid)) for dpid, most in room.maximum.items())
    near = any(found.ours + found.others + WITHIN_REACH > most for most, found in held)
    budgets = any(switch.rule_budget is not None for switch in world.configuration.switches.values())
    return near or budgets


def _unfit(world: World, path: CandidatePath) -> str:
    """Why a switch of a path cannot hold rules of ours as it is configured (R8)."""
    dpids = (path.source_end.dpid, *(hop.dpid for hop in path.hops), path.destination_end.dpid)
    found = ((dpid, world.abilities.unfit.get(dpid, ())) for dpid in dpids)
    return next((shortage(dpid, "; ".join(reasons)) for dpid, reasons in found if reasons), "")


def _needed_rules(
    world: World, flow: Flow, need: Need, paths: Mapping[str, CandidatePath]
) -> Mapping[int, int]:
    """Rules per switch that a flow without any would get; none for one that has them already.

    Whichever path is chosen, the delivery rules of all candidates are installed: the number is the same.
    """
    if not paths or flow.state.holds_rules:
        return {}
    choice = Choice(Selection(None, (), Reason("no-path", "")), {}, paths)
    on = replace(flow, path=next(iter(paths)))
    topology, priority = world.network.topology, world.flows.priority(flow)
    return count(rules_for_flow(on, need, choice, priority, topology) or ())


def _lacking(world: World, flow: Flow, rules: Mapping[int, int], now: float) -> str:
    """Which of a flow's switches has no room for it."""
    for dpid, number in sorted(rules.items()):
        short = world.room.why_full(dpid, now) or _lacks(world, dpid, flow, number)
        if short:
            return shortage(dpid, short)
    return ""


def _of_slice(world: World, flow: Flow, need: Need, path: CandidatePath, rules: Mapping[int, int]) -> str:
    name = str(flow.slice)
    declared = flow.tuples if flow.request.ports else ()
    protocol = PROTOCOLS[need.template.protocol]
    ask = ask_of(flow.request, need.template, protocol, declared, world.configuration)
    refused = find_violation(
        name,
        world.configuration.slices[name],
        ask,
        path.key.path,
        path.capacity,
        Usage({path.key.path: _bandwidth(world, flow, path)}, _rules_of_slice(world, flow)),
        rules,
    )
    return "" if refused is None else refused.cause


def _bandwidth(world: World, flow: Flow, path: CandidatePath) -> float:
    """The bounds of the slice's other flows on a path, the same way."""
    return sum(
        world.flows.bound(other)
        for other in world.flows.alongside(flow)
        if other.slice == flow.slice and other.path == path.key.path and other.number != flow.number
    )


def _rules_of_slice(world: World, flow: Flow) -> Counter[int]:
    """The rules of the slice's other flows, per switch."""
    held: Counter[int] = Counter()
    for other in world.flows.running():
        if other.slice == flow.slice and other.number != flow.number:
            held.update(count(world.network.wanted_rules(other.id)))
            held.update(world.connected.of(other.id))
    return held


def room_for_connections(world: World, flow: Flow, dpid: int, now: float) -> tuple[int | None, str]:
    """How many more connections of a flow fit into a switch, None for any number; and what is in the way.

    The slice's budget counts them as it counts rules (R9).
    """
    full = world.room.why_full(dpid, now)
    if full:
        return 0, full
    found: list[tuple[int, str]] = []
    taken = occupancy(world, dpid)
    if taken.free is not None:
        found.append((taken.free, shortage(dpid, taken.lacks(taken.free + 1))))
    tenant = None if flow.slice is None else world.configuration.slices.get(flow.slice)
    if tenant is not None and tenant.rule_budget is not None:
        own = count(world.network.wanted_rules(flow.id)).get(dpid, 0) + world.connected.of(flow.id)[dpid]
        left = tenant.rule_budget - _rules_of_slice(world, flow)[dpid] - own
        found.append((left, f"slice {flow.slice!r} has {tenant.rule_budget} rules per switch"))
    return min(found, default=(None, ""))

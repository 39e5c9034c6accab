"""What the requesters of present flows may use (:mod:`adon.broker.use_access`); nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.choice import Need
from adon.broker.flow import Flow
from adon.broker.tenancy import priority_of
from adon.broker.use_access import Use, barred_compute, barred_path, bound
from adon.broker.world import World
from adon.flowvisor.rules.slices import Requester
from adon.reasons import Reason


def closed_paths(world: World, flow: Flow, need: Need, paths: Iterable[str]) -> dict[str, Reason]:
    """Of these paths, those that the flow's requester may not use for it, and why."""
    grants = world.configuration.policy.use_access
    who = who_asks(flow)
    if not bound(who, grants):
        return {}
    use = use_of(world, flow, need)
    reasons = {path: barred_path(who, use, grants, path) for path in paths}
    return {path: Reason("not-permitted", reason) for path, reason in reasons.items() if reason}


def closed_compute(world: World, flow: Flow, need: Need, site: str) -> str:
    """Why the flow's requester may not use a compute site for it; empty if they may."""
    grants = world.configuration.policy.use_access
    return barred_compute(who_asks(flow), use_of(world, flow, need), grants, site) if grants else ""


def rights(world: World, flow: Flow) -> tuple[object, ...]:
    """What flows must have in common to be bound alike."""
    if not world.configuration.policy.use_access:
        return ()
    return (flow.requester, flow.roles, flow.groups)


def who_asks(flow: Flow) -> Requester:
    """A flow's requester, as they were when they asked."""
    return Requester(flow.requester, frozenset(flow.roles), frozenset(flow.groups))


def use_of(world: World, flow: Flow, need: Need) -> Use:
    """What a flow uses whatever path it gets."""
    return Use(need.template.name, world.flows.ends(flow), priority_of(flow.request, need.template))

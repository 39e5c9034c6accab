"""What is configured, read-only: the policy in force, and the slices with what they use."""

from __future__ import annotations

from flask import Response, g

from adon.access.policy import Action
from adon.api.network import PolicyList, SliceList
from adon.config.slices import Slice
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.network_views import policy_items, to_slice_view
from apps.rest.paging import InOrder, listed, sliced
from apps.rest.services import services

api = blueprint("policy", "What is configured: the policy in force, and slices")


@api.get("/policy", responses=answers(200, PolicyList))
@action(Action.NETWORK_READ)
def list_policy(query: InOrder) -> Response:
    """Every setting of the policy, with its meaning and whether somebody configured it."""
    configuration = services().configuration
    shown, following = sliced(policy_items(configuration), query, lambda one: one.name)
    return listed(PolicyList(network=configuration.network, items=shown, next=following))


@api.get("/slices", responses=answers(200, SliceList))
@action(Action.PATH_READ)
def list_slices(query: InOrder) -> Response:
    """Slices, with their rules and what their flows reserve; a researcher sees those they belong to."""
    snapshot = services().snapshots.get()
    staff = services().policy.decide(g.actor, Action.NETWORK_READ).allowed
    used = {one["name"]: one for one in snapshot["slices"]}
    configured = services().configuration.slices
    names = sorted(name for name in configured if name in used and (staff or _member(configured[name])))
    shown, following = sliced(names, query, str)
    items = [
        to_slice_view(name, configured[name], used[name], snapshot["paths"], staff=staff) for name in shown
    ]
    return listed(SliceList(at=snapshot["at"], items=items, next=following))


def _member(tenant: Slice) -> bool:
    actor = requester()
    return tenant.members.includes(actor.name, actor.roles, actor.groups)

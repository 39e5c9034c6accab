"""Network: paths with their latest values, parts, queue, hosts, policy and slices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from flask import g

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import InOrder
from adon.api.network import (
    EstimateView,
    HostList,
    HostView,
    NetworkView,
    PathList,
    PathView,
    PolicyList,
    SliceList,
)
from adon.api.queue import QueueView
from adon.broker.estimates import METRIC as ESTIMATE
from adon.config.slices import Slice
from apps.rest.authentication import requester
from apps.rest.authorisation import flow_number, owner_filter
from apps.rest.dispatch import handles
from apps.rest.flow_views import to_flow_view
from apps.rest.network_views import policy_items, to_network_view, to_path_view, to_slice_view
from apps.rest.pagination import cut, sliced
from apps.rest.services import services
from measurement.model import Series


@handles(routes.LIST_PATHS)
def list_paths(query: InOrder) -> PathList:
    """Return every directed path with its latest values, and the edge switches."""
    return cut(path_list(), query, lambda one: f"{one.path}:{one.source}:{one.destination}")


def path_list() -> PathList:
    """The controller's read-out of the paths, with the metrics that this actor may read.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    estimates = [EstimateView.of(entry) for entry in snapshot["estimates"]]
    return PathList(
        at=snapshot["at"],
        items=[_readable(to_path_view(entry)) for entry in snapshot["paths"]],
        switches=snapshot["switches"],
        estimates=_seen((one, ESTIMATE, one) for one in estimates),
    )


@handles(routes.GET_NETWORK)
def get_network() -> NetworkView:
    """Return sites, switches, links and circuits with their states."""
    return to_network_view(services().snapshots.get())


T = TypeVar("T")


def _readable(path: PathView) -> PathView:
    names = _seen((path, name, name) for name in path.metrics)
    alarms = _seen((path, alarm.metric, alarm) for alarm in path.alarms)
    return path.model_copy(update={"metrics": {name: path.metrics[name] for name in names}, "alarms": alarms})


def _seen(items: Iterable[tuple[PathView | EstimateView, str, T]]) -> list[T]:
    """Of things about a metric of a path, those that this actor may read."""
    series = ((Series(of.path, of.source, of.destination, metric), thing) for of, metric, thing in items)
    return services().policy.readable(g.actor, series)


@handles(routes.GET_QUEUE)
def get_queue(query: InOrder) -> QueueView:
    """Return the queued flows in the order of service; a researcher sees own flows."""
    parts = services()
    snapshot = parts.snapshots.get()
    own = owner_filter(Action.FLOW_READ)
    flows = [parts.store.flow(flow_number(name)) for name in snapshot["queue"]]
    items = [to_flow_view(flow) for flow in flows if own is None or flow.requester == own]
    number = int(snapshot.get("queued", len(items)))
    view = QueueView(at=float(snapshot["at"]), waiting=number, items=items)
    return cut(view, query, lambda one: str(one.id))


@handles(routes.LIST_HOSTS)
def list_hosts(query: InOrder) -> HostList:
    """Return the data transfer nodes."""
    found = sorted(services().hosts.items())
    items = [HostView(name=name, site=site) for name, site in found]
    return cut(HostList(items=items), query, lambda one: str(one.name))


@handles(routes.LIST_POLICY)
def list_policy(query: InOrder) -> PolicyList:
    """Return every setting of the policy with its meaning and origin."""
    configuration = services().configuration
    shown, following = sliced(policy_items(configuration), query, lambda one: one.name)
    return PolicyList(network=configuration.network, items=shown, next=following)


@handles(routes.LIST_SLICES)
def list_slices(query: InOrder) -> SliceList:
    """Return slices with their rules and reserved rates; a researcher sees own slices."""
    snapshot = services().snapshots.get()
    staff = services().policy.decide(g.actor, Action.NETWORK_READ).allowed
    used = {one["name"]: one for one in snapshot["slices"]}
    configured = services().configuration.slices
    names = sorted(name for name in configured if name in used and (staff or _member(configured[name])))
    shown, following = sliced(names, query, str)
    items = [
        to_slice_view(name, configured[name], used[name], snapshot["paths"], staff=staff) for name in shown
    ]
    return SliceList(at=snapshot["at"], items=items, next=following)


def _member(tenant: Slice) -> bool:
    actor = requester()
    return tenant.members.includes(actor.name, actor.roles, actor.groups)

"""Network: paths, topology, queue, hosts, policy, slices, maintenance windows and failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from flask import g

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import InOrder
from adon.api.maintenance import RehearsalList, WhatIfQuery, WindowBody, WindowList, WindowQuery, WindowView
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
from adon.broker.maintenance import Stage
from adon.config.slices import Slice
from adon.errors import InvalidInput, NotFound
from apps.rest.authentication import requester
from apps.rest.authorisation import flow_number, object_number, owner_filter
from apps.rest.dispatch import handles
from apps.rest.flow_views import to_flow_view
from apps.rest.network_views import policy_items, to_network_view, to_path_view, to_slice_view
from apps.rest.pagination import cut, sliced
from apps.rest.request_input import keyed_command
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
    sites = services().configuration.sites
    found = sorted((host, name) for name, site in sites.items() for host in site.hosts)
    items = [HostView(name=host, site=name) for host, name in found]
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


REHEARSAL_S = 30.0
"""Every single failure of a large network takes a while."""


@handles(routes.LIST_WINDOWS)
def list_windows(query: WindowQuery) -> WindowList:
    """Return the maintenance windows that are announced or active."""
    return cut(WindowList(items=_windows(all_=query.all)), query, lambda one: str(one.id))


def _windows(*, all_: bool) -> list[WindowView]:
    parts = services()
    now = parts.clock()
    found = [WindowView.of(one, stage=one.stage(now)) for one in parts.store.windows(None if all_ else now)]
    return found if all_ else [one for one in found if one.stage is not Stage.CANCELLED]


@handles(routes.ADD_WINDOW)
def add_window(body: WindowBody) -> WindowView:
    """Announce a maintenance window: running flows leave before it, and no flow is admitted into it."""
    asked = keyed_command(request=body.request(), requester=requester().name)
    return WindowView.of(services().controller.call("maintenance.add", asked))


@handles(routes.GET_WINDOW)
def get_window(id_: str) -> WindowView:
    """Return one maintenance window, also one that has ended."""
    found = next((one for one in _windows(all_=True) if one.id == id_), None)
    if found is None:
        raise NotFound("maintenance", id_)
    return found


@handles(routes.CANCEL_WINDOW)
def cancel_window(id_: str) -> WindowView:
    """Cancel a maintenance window, also an active one."""
    asked = {"number": object_number("maintenance", "m", id_), "requester": requester().name}
    return WindowView.of(services().controller.call("maintenance.cancel", asked))


@handles(routes.WHAT_IF)
def what_if(query: WhatIfQuery) -> RehearsalList:
    """Return the effects of a failure on the running flows; change nothing."""
    if (query.failure is None) is not (query.name is None):
        raise InvalidInput.of(
            "name", "and failure need each other; expected for example failure=path-down and name=al2s"
        )
    answer: Mapping[str, Any]
    if query.failure is None:
        answer = services().rehearsals.get()
    else:
        scenario = {"failure": query.failure.value, "name": query.name}
        answer = services().controller.call("what-if", scenario, timeout=REHEARSAL_S)
    return RehearsalList(at=answer["at"], items=answer["items"])

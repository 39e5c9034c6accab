"""The network: paths with what is known about them now, what it is made of, the queue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from flask import Response, g

from adon.access.policy import Action
from adon.api.network import EstimateView, NetworkView, PathList, PathView, SwitchView
from adon.api.queue import QueueView
from adon.broker.estimates import METRIC as ESTIMATE
from adon.broker.flow import Flow
from apps.rest.answers import json_answer
from apps.rest.api.common import answers, blueprint, flow_number
from apps.rest.flow_views import to_flow_view
from apps.rest.guard import action, only_own
from apps.rest.network_views import to_network_view, to_path_view
from apps.rest.paging import InOrder, cut
from apps.rest.services import services
from measurement.model import Series

api = blueprint("network", "Transit paths, rules and the queue")


@api.get("/paths", responses=answers(200, PathList))
@action(Action.PATH_READ)
def list_paths(query: InOrder) -> Response:
    """Every directed path with its latest values, and the edge switches."""
    return cut(path_list(), query, lambda one: f"{one.path}:{one.source}:{one.destination}")


def path_list() -> PathList:
    """The controller's read-out of the paths, with the metrics that this actor may read.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    estimates = [EstimateView.model_validate(entry) for entry in snapshot["estimates"]]
    return PathList(
        at=snapshot["at"],
        items=[_readable(to_path_view(entry)) for entry in snapshot["paths"]],
        switches=[SwitchView.model_validate(entry) for entry in snapshot["switches"]],
        estimates=_seen((one, ESTIMATE, one) for one in estimates),
    )


@api.get("/network", responses=answers(200, NetworkView))
@action(Action.NETWORK_READ)
def get_network() -> Response:
    """What the network is made of: sites, switches, links, circuits, each with its state."""
    return json_answer(network_view())


def network_view() -> NetworkView:
    """The controller's read-out of the network.

    :raises Unavailable: if the controller does not answer.
    """
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


@api.get("/queue", responses=answers(200, QueueView))
@action(Action.FLOW_READ)
def get_queue(query: InOrder) -> Response:
    """The waiting flows, first to be served first; a researcher sees their own."""
    at, flows = waiting()
    number = int(services().snapshots.get().get("queued", len(flows)))
    items = [to_flow_view(flow) for flow in flows]
    return cut(QueueView(at=at, waiting=number, items=items), query, lambda one: str(one.id))


def waiting() -> tuple[float, list[Flow]]:
    """When the queue was read, and the waiting flows that this actor may see.

    :raises Unavailable: if the controller does not answer.
    """
    parts = services()
    snapshot = parts.snapshots.get()
    own = only_own(Action.FLOW_READ)
    flows = [parts.store.flow(flow_number(name)) for name in snapshot["queue"]]
    return float(snapshot["at"]), [flow for flow in flows if own is None or flow.requester == own]

"""The network: paths with what is known about them now, rules, the queue."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TypeVar

from flask import Response, g
from pydantic import Field

from adon.access.measurement import readable
from adon.access.policy import Action
from adon.broker.estimates import METRIC as ESTIMATE
from adon.broker.flow import Flow
from adon.errors import InvalidInput
from adon.flowvisor.rule import cookie_owner, dpid_text, rule_text
from adon.store.lease import CONTROLLER
from adon.store.rule_rows import SavedRule
from apps.rest.answers import done, json_answer
from apps.rest.api.common import Query, answers, blueprint, flow_number
from apps.rest.guard import action, check, only_own
from apps.rest.models import (
    ControllerList,
    ControllerView,
    DifferenceList,
    EstimateView,
    FlowView,
    PathList,
    PathView,
    QueueView,
    RuleList,
    RuleView,
    SwitchView,
    Synchronised,
)
from apps.rest.services import services
from measurement.model import Series

api = blueprint("network", "Transit paths, rules and the queue")


@api.get("/paths", responses=answers(200, PathList))
@action(Action.PATH_READ)
def list_paths() -> Response:
    """Every directed path with its latest values, and the edge switches."""
    return json_answer(path_list().body())


def path_list() -> PathList:
    """The controller's read-out of the paths, with the metrics that this actor may read.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    estimates = [EstimateView.model_validate(entry) for entry in snapshot["estimates"]]
    return PathList(
        at=snapshot["at"],
        items=[_readable(PathView.of(entry)) for entry in snapshot["paths"]],
        switches=[SwitchView.model_validate(entry) for entry in snapshot["switches"]],
        estimates=_seen((one, ESTIMATE, one) for one in estimates),
    )


T = TypeVar("T")


def _readable(path: PathView) -> PathView:
    names = _seen((path, name, name) for name in path.metrics)
    alarms = _seen((path, alarm.metric, alarm) for alarm in path.alarms)
    return path.model_copy(update={"metrics": {name: path.metrics[name] for name in names}, "alarms": alarms})


def _seen(items: Iterable[tuple[PathView | EstimateView, str, T]]) -> list[T]:
    """Of things about a metric of a path, those that this actor may read."""
    series = ((Series(of.path, of.source, of.destination, metric), thing) for of, metric, thing in items)
    return readable(g.actor, series, services().grants)


class RuleQuery(Query):
    """Which rules."""

    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    flow: str | None = Field(default=None, description="the rules of this flow (f-17)")


@api.get("/rules", responses=answers(200, RuleList))
@action(Action.RULE_READ)
def list_rules(query: RuleQuery) -> Response:
    """The rules that should be in the switches, and how far each has come; a researcher asks by flow."""
    store = services().store
    if query.flow is None:
        if only_own(Action.RULE_READ, "rule") is not None:
            raise InvalidInput.of("flow", "name a flow of yours, as in ?flow=f-17")
    else:
        check(Action.RULE_READ, "rule", store.flow(flow_number(query.flow)).requester)
    dpid = None if query.dpid is None else int(query.dpid, 16)
    found = store.rules(dpid=dpid, owner=query.flow)
    return json_answer(RuleList(items=[_rule(one) for one in found]).body())


def _rule(saved: SavedRule) -> RuleView:
    kind, _ = cookie_owner(saved.rule.cookie)
    return RuleView(
        dpid=dpid_text(saved.rule.dpid),
        state=saved.state,
        error=saved.error,
        owner=saved.owner,
        kind=kind.name.lower(),
        text=rule_text(saved.rule),
    )


@api.get("/rules/diff", responses=answers(200, DifferenceList))
@action(Action.NETWORK_READ)
def rules_diff() -> Response:
    """How the switches differ from what should be; nothing is changed (R4)."""
    return json_answer(DifferenceList.model_validate(services().controller.call("rules.diff", {})).body())


@api.post("/rules/sync", responses=answers(202, Synchronised))
@action(Action.NETWORK_SYNC)
def rules_sync() -> Response:
    """Read every connected switch and repair it now, whatever the period says (R4)."""
    answer = Synchronised.model_validate(services().controller.call("rules.sync", {}))
    return done(answer.body(), HTTPStatus.ACCEPTED)


@api.get("/controllers", responses=answers(200, ControllerList))
@action(Action.NETWORK_READ)
def list_controllers() -> Response:
    """Which controller is active, by the database; answered by a standby, too."""
    held = services().store.lease(CONTROLLER)
    if held is None:
        return json_answer(ControllerList(items=[]).body())
    leased = services().leased
    one = ControllerView(
        name=held.holder,
        active=held.seconds > 0 if leased else services().controller.connected,
        generation=held.generation,
        lease_s=max(0.0, held.seconds) if leased else None,
    )
    return json_answer(ControllerList(items=[one]).body())


@api.get("/queue", responses=answers(200, QueueView))
@action(Action.FLOW_READ)
def get_queue() -> Response:
    """The waiting flows, first to be served first; a researcher sees their own."""
    at, flows = waiting()
    return json_answer(QueueView(at=at, items=[FlowView.of(flow) for flow in flows]).body())


def waiting() -> tuple[float, list[Flow]]:
    """When the queue was read, and the waiting flows that this actor may see.

    :raises Unavailable: if the controller does not answer.
    """
    parts = services()
    snapshot = parts.snapshots.get()
    own = only_own(Action.FLOW_READ, "flow")
    flows = [parts.store.flow(flow_number(name)) for name in snapshot["queue"]]
    return float(snapshot["at"]), [flow for flow in flows if own is None or flow.requester == own]

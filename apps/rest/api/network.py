"""The network: paths with what is known about them, measurements, rules, the queue."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.broker.flow import Flow
from adon.errors import InvalidInput
from adon.flowvisor.rule import cookie_owner, dpid_text, rule_text
from adon.store.rule_rows import SavedRule
from adon.templates_catalog.model import Name
from apps.rest.answers import done, json_answer
from apps.rest.api.common import Query, answers, blueprint, flow_number
from apps.rest.guard import action, check, only_own
from apps.rest.models import (
    DifferenceList,
    FlowView,
    MeasurementList,
    MeasurementView,
    PathList,
    PathView,
    QueueView,
    RuleList,
    RuleView,
    SwitchView,
    Synchronised,
)
from apps.rest.services import MeasurementFilter, services
from apps.rest.times import Time, to_text
from measurement.model import Metric

api = blueprint("network", "Transit paths, measurements, rules and the queue")


@api.get("/paths", responses=answers(200, PathList))
@action(Action.PATH_READ)
def list_paths() -> Response:
    """Every directed path with its latest values, and the edge switches."""
    return json_answer(path_list().body())


def path_list() -> PathList:
    """The controller's read-out of the paths.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    return PathList(
        at=snapshot["at"],
        items=[PathView.of(entry) for entry in snapshot["paths"]],
        switches=[SwitchView.model_validate(entry) for entry in snapshot["switches"]],
    )


class MeasurementQuery(Query):
    """Which measurements."""

    path: Name | None = None
    source: Name | None = Field(default=None, description="the site the path leads from")
    destination: Name | None = Field(default=None, description="the site it leads to")
    metric: Metric | None = None
    since: Time | None = Field(default=None, description="observed then or later")
    until: Time | None = Field(default=None, description="observed before then")
    limit: int = Field(default=1000, ge=1, le=10_000)


@api.get("/measurements", responses=answers(200, MeasurementList))
@action(Action.MEASUREMENT_READ)
def list_measurements(query: MeasurementQuery) -> Response:
    """Measurements from the archive, the newest first."""
    found = services().measurements.query(MeasurementFilter(**dict(query)))
    full = len(found) == query.limit
    following = to_text(found[-1].observed_at) if full else None
    items = [MeasurementView.of(measurement) for measurement in found]
    return json_answer(MeasurementList(items=items, next=following).body())


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

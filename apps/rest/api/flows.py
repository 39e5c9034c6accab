"""Flows: submit, list, look at, cancel, report."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request
from pydantic import Field

from adon.access.policy import Action
from adon.api.decisions import DecisionList
from adon.api.flows import FlowBody, FlowHistory, FlowList, FlowView, HistoryEntry, ReportBody
from adon.api.queue import WaitingView
from adon.api.times import Time
from adon.broker.flow import Flow, FlowState
from adon.errors import InvalidInput
from adon.store.flow_rows import FlowFilter
from adon.values import Name
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import (
    PREFIX,
    FlowAddress,
    answers,
    blueprint,
    flow_number,
)
from apps.rest.decision_views import to_decision_view
from apps.rest.flow_views import to_flow_view, to_waiting_view
from apps.rest.guard import action, only_own, requester, wished
from apps.rest.owned import check_flow
from apps.rest.paging import MOST, InOrder, NewestFirst, listed, numbered, page, sliced
from apps.rest.repeating import idempotency_key
from apps.rest.services import services
from measurement.model import from_json

api = blueprint("flows", "Transfers: from the request to the outcome")


class FlowQuery(NewestFirst):
    """Which flows."""

    state: FlowState | None = None
    requester: str | None = Field(default=None, max_length=200)
    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    host: str | None = Field(default=None, max_length=100, description="that it leads from, or to")
    path: Name | None = Field(default=None, description="that it is on, or was last")
    since: Time | None = Field(default=None, description="submitted then or later")
    until: Time | None = Field(default=None, description="submitted before then")
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="stands in its label, reason, hosts, template or requester",
    )
    before: str | None = Field(
        default=None, max_length=20, description="flows submitted before this one (f-17)"
    )


@api.get("/flows", responses=answers(200, FlowList))
@action(Action.FLOW_READ)
def list_flows(query: FlowQuery) -> Response:
    """Flows, the newest first; a researcher sees their own."""
    own = only_own(Action.FLOW_READ)
    if own is not None and query.requester not in (None, own):
        return listed(FlowList(items=[]))
    wanted = FlowFilter(
        requester=query.requester if own is None else own,
        **query.model_dump(include={"state", "template", "host", "path", "text"}),
        since=query.since,
        until=query.until,
    )
    before = None if query.before is None else flow_number(query.before)
    # One more than asked for tells whether there is a next page.
    found = services().store.flows(wanted, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda flow: flow.id)
    return listed(FlowList(items=[to_flow_view(flow) for flow in shown], next=following))


@api.post("/flows", responses=answers(202, FlowView, 400, 409, 413, 415))
@action(Action.FLOW_SUBMIT)
def submit_flow(body: FlowBody) -> Response:  # noqa: ARG001 - checks and documents; sent as it came
    """Ask for a transfer; answers at once, the flow's state tells what becomes of it."""
    flow = submit(request.get_json(), request.headers.get("Idempotency-Key"))
    return done(to_flow_view(flow), HTTPStatus.ACCEPTED, f"{PREFIX}/flows/{flow.id}")


def submit(wish: object, key: str | None = None) -> Flow:
    """Hand a request to the controller, as it was given; the flow it became.

    :raises AdonError: as the controller refuses it.
    """
    command = wished(wish)
    if key is not None:
        command["idempotency_key"] = idempotency_key(key)
    return from_json(Flow, services().controller.call("flow.submit", command))


@api.get("/flows/<id>", responses=answers(200, FlowView))
@action(Action.FLOW_READ)
def get_flow(path: FlowAddress) -> Response:
    """One flow."""
    return json_answer(to_flow_view(_flow(path, Action.FLOW_READ)))


def _flow(path: FlowAddress, wanted: Action) -> Flow:
    flow = services().store.flow(path.number)
    check_flow(wanted, flow)
    return flow


@api.delete("/flows/<id>", responses=answers(200, FlowView, 409, 412))
@action(Action.FLOW_CANCEL)
def cancel_flow(path: FlowAddress) -> Response:
    """Cancel a flow that has not ended; with ``If-Match``, only in the state it was seen in."""
    flow = _flow(path, Action.FLOW_CANCEL)
    check_if_match(to_flow_view(flow))
    return done(to_flow_view(cancel(flow)), HTTPStatus.OK)


def cancel(flow: Flow) -> Flow:
    """Have the controller cancel a flow; the flow as it is then.

    :raises Conflict: if it has ended.
    """
    command = {"flow": flow.number, "requester": requester().name}
    return from_json(Flow, services().controller.call("flow.cancel", command))


@api.post("/flows/<id>/reports", responses=answers(202, FlowView, 400, 409, 413, 415))
@action(Action.FLOW_REPORT)
def report_transfer(path: FlowAddress, body: ReportBody) -> Response:
    """Tell how the transfer stands; ``finished`` and ``failed`` end the flow."""
    flow = _flow(path, Action.FLOW_REPORT)
    command = {"flow": flow.number, **body.model_dump(mode="json")}
    after = from_json(Flow, services().controller.call("flow.report", command))
    return done(to_flow_view(after), HTTPStatus.ACCEPTED, f"{PREFIX}/flows/{flow.id}")


class HistoryQuery(InOrder):
    """Steps of a flow's life."""

    last: int | None = Field(default=None, ge=1, le=MOST, description="only the last so many steps")


@api.get("/flows/<id>/history", responses=answers(200, FlowHistory))
@action(Action.FLOW_READ)
def get_history(path: FlowAddress, query: HistoryQuery) -> Response:
    """The steps of a flow's life."""
    flow = _flow(path, Action.FLOW_READ)
    if query.last is not None and query.after is not None:
        raise InvalidInput.of("after", "goes through all steps from the first; leave it out beside last")
    steps = services().store.history(flow.number, query.last)
    shown, following = numbered(steps, query) if query.last is None else (steps[-query.limit :], None)
    items = [HistoryEntry(at=one.at, state=one.state, reason=one.reason, path=one.path) for one in shown]
    return listed(FlowHistory(items=items, next=following))


@api.get("/flows/<id>/waiting", responses=answers(200, WaitingView, 409))
@action(Action.FLOW_READ)
def get_waiting(path: FlowAddress) -> Response:
    """What a waiting flow waits for, and its place in the queue."""
    return json_answer(waiting(_flow(path, Action.FLOW_READ)))


def waiting(flow: Flow) -> WaitingView:
    """What the controller says about a waiting flow.

    :raises Conflict: if it does not wait.
    :raises Unavailable: if the controller does not answer.
    """
    return to_waiting_view(services().controller.call("flow.waiting", {"flow": flow.number}))


@api.get("/flows/<id>/decisions", responses=answers(200, DecisionList))
@action(Action.DECISION_READ)
def list_flow_decisions(path: FlowAddress, query: InOrder) -> Response:
    """Everything that was decided about a flow, the oldest first."""
    flow = _flow(path, Action.DECISION_READ)
    found = services().store.decisions(flow.number)
    shown, following = sliced(found, query, lambda one: one.id)
    return listed(DecisionList(items=[to_decision_view(one) for one in shown], next=following))

"""Flows: submit, list, look at, cancel, report."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from flask import Response, request
from pydantic import Field

from adon.access.policy import Action
from adon.broker.flow import Flow, FlowState
from adon.store import codec
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import (
    PREFIX,
    FlowAddress,
    Query,
    answers,
    blueprint,
    flow_number,
    idempotency_key,
)
from apps.rest.guard import action, check_flow, only_own, requester
from apps.rest.models import (
    DecisionList,
    DecisionView,
    FlowBody,
    FlowHistory,
    FlowList,
    FlowView,
    HistoryEntry,
    ReportBody,
)
from apps.rest.queue_models import WaitingView
from apps.rest.services import services

api = blueprint("flows", "Transfers: from the request to the outcome")


class FlowQuery(Query):
    """Which flows."""

    state: FlowState | None = None
    requester: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=50, ge=1, le=500)
    before: str | None = Field(default=None, description="flows submitted before this one (f-17)")


@api.get("/flows", responses=answers(200, FlowList))
@action(Action.FLOW_READ)
def list_flows(query: FlowQuery) -> Response:
    """Flows, the newest first; a researcher sees their own."""
    own = only_own(Action.FLOW_READ, "flow")
    before = None if query.before is None else flow_number(query.before)
    # One more than asked for tells whether there is a next page.
    found = services().store.flows(
        state=query.state,
        requester=query.requester if own is None else own,
        limit=query.limit + 1,
        before=before,
    )
    if own is not None and query.requester not in (None, own):
        found = ()
    page = found[: query.limit]
    following = page[-1].id if len(found) > query.limit else None
    answer = json_answer(FlowList(items=[FlowView.of(flow) for flow in page], next=following).body())
    if following is not None:
        answer.headers["Link"] = f'<{_next_page(query, following)}>; rel="next"'
    return answer


def _next_page(query: FlowQuery, before: str) -> str:
    parts = {"state": query.state, "requester": query.requester, "limit": query.limit, "before": before}
    given = {name: value for name, value in parts.items() if value is not None}
    return request.path + "?" + "&".join(f"{name}={quote(str(value))}" for name, value in given.items())


@api.post("/flows", responses=answers(202, FlowView, 400, 409, 413, 415))
@action(Action.FLOW_SUBMIT)
def submit_flow(body: FlowBody) -> Response:  # noqa: ARG001 - checks and documents; sent as it came
    """Ask for a transfer; answers at once, the flow's state tells what becomes of it."""
    flow = submit(request.get_json(), request.headers.get("Idempotency-Key"))
    return done(FlowView.of(flow).body(), HTTPStatus.ACCEPTED, f"{PREFIX}/flows/{flow.id}")


def submit(wish: object, key: str | None = None) -> Flow:
    """Hand a request to the controller, as it was given; the flow it became.

    :raises AdonError: as the controller refuses it.
    """
    actor = requester()
    command: dict[str, object] = {
        "request": wish,
        "requester": actor.name,
        "roles": sorted(actor.roles),
        "groups": sorted(actor.groups),
    }
    if key is not None:
        command["idempotency_key"] = idempotency_key(key)
    return codec.decode_flow(services().controller.call("flow.submit", command))


@api.get("/flows/<id>", responses=answers(200, FlowView))
@action(Action.FLOW_READ)
def get_flow(path: FlowAddress) -> Response:
    """One flow."""
    return json_answer(FlowView.of(_flow(path, Action.FLOW_READ)).body())


def _flow(path: FlowAddress, wanted: Action) -> Flow:
    flow = services().store.flow(path.number)
    check_flow(wanted, flow)
    return flow


@api.delete("/flows/<id>", responses=answers(200, FlowView, 409, 412))
@action(Action.FLOW_CANCEL)
def cancel_flow(path: FlowAddress) -> Response:
    """Cancel a flow that has not ended; with ``If-Match``, only in the state it was seen in."""
    flow = _flow(path, Action.FLOW_CANCEL)
    check_if_match(FlowView.of(flow).body())
    return done(FlowView.of(cancel(flow)).body(), HTTPStatus.OK)


def cancel(flow: Flow) -> Flow:
    """Have the controller cancel a flow; the flow as it is then.

    :raises Conflict: if it has ended.
    """
    command = {"flow": flow.number, "requester": requester().name}
    return codec.decode_flow(services().controller.call("flow.cancel", command))


@api.post("/flows/<id>/reports", responses=answers(202, FlowView, 400, 409, 413, 415))
@action(Action.FLOW_REPORT)
def report_transfer(path: FlowAddress, body: ReportBody) -> Response:
    """Tell how the transfer stands; ``finished`` and ``failed`` end the flow."""
    flow = _flow(path, Action.FLOW_REPORT)
    command = {"flow": flow.number, **body.model_dump(mode="json")}
    after = codec.decode_flow(services().controller.call("flow.report", command))
    return done(FlowView.of(after).body(), HTTPStatus.ACCEPTED, f"{PREFIX}/flows/{flow.id}")


@api.get("/flows/<id>/history", responses=answers(200, FlowHistory))
@action(Action.FLOW_READ)
def get_history(path: FlowAddress) -> Response:
    """The steps of a flow's life."""
    flow = _flow(path, Action.FLOW_READ)
    steps = services().store.history(flow.number)
    items = [HistoryEntry(at=one.at, state=one.state, reason=one.reason, path=one.path) for one in steps]
    return json_answer(FlowHistory(items=items).body())


@api.get("/flows/<id>/waiting", responses=answers(200, WaitingView, 409))
@action(Action.FLOW_READ)
def get_waiting(path: FlowAddress) -> Response:
    """What a waiting flow waits for, when it may start, and what change of it would be admitted now."""
    return json_answer(waiting(_flow(path, Action.FLOW_READ)).body())


def waiting(flow: Flow) -> WaitingView:
    """What the controller says about a waiting flow.

    :raises Conflict: if it does not wait.
    :raises Unavailable: if the controller does not answer.
    """
    return WaitingView.answered(services().controller.call("flow.waiting", {"flow": flow.number}))


@api.get("/flows/<id>/decisions", responses=answers(200, DecisionList))
@action(Action.DECISION_READ)
def list_decisions(path: FlowAddress) -> Response:
    """Everything that was decided about a flow, the oldest first."""
    flow = _flow(path, Action.DECISION_READ)
    found = services().store.decisions(flow.number)
    return json_answer(DecisionList(items=[DecisionView.of(one) for one in found]).body())

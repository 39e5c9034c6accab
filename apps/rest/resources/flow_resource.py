"""Flows, their previews, decisions, outcomes and forecasts."""

from __future__ import annotations

import math

from flask import request

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import InOrder
from adon.api.decisions import (
    CalibrationList,
    CalibrationView,
    CurvePoint,
    DecisionList,
    DecisionPage,
    DecisionQuery,
    DecisionSummary,
    DecisionView,
    ForecastQuery,
    WhyNotView,
)
from adon.api.flows import (
    FlowBody,
    FlowHistory,
    FlowList,
    FlowQuery,
    FlowView,
    HistoryEntry,
    HistoryQuery,
    OutcomeList,
    OutcomeQuery,
    OutcomeView,
    PreviewView,
    TransferReport,
)
from adon.api.queue import WaitingView
from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.forecasting.calibration import Calibration, by_wait
from adon.errors import InvalidInput
from adon.store.decision_rows import DecisionFilter
from adon.store.flow_rows import FlowFilter
from apps.rest.authentication import requester
from apps.rest.authorisation import flow_number, owner_filter, with_requester
from apps.rest.dispatch import handles
from apps.rest.flow_views import to_decision_view, to_flow_view, to_outcome_view, to_preview_view
from apps.rest.pagination import cursor, numbered, page, read_cursor, sliced
from apps.rest.request_input import keyed_command
from apps.rest.services import services
from measurement.model import from_json


@handles(routes.LIST_FLOWS)
def list_flows(query: FlowQuery) -> FlowList:
    """Return flows, the newest first; a researcher sees own flows."""
    own = owner_filter(Action.FLOW_READ)
    if own is not None and query.requester not in (None, own):
        return FlowList(items=[])
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
    return FlowList(items=[to_flow_view(flow) for flow in shown], next=following)


@handles(routes.SUBMIT_FLOW)
def submit_flow(body: FlowBody) -> FlowView:  # noqa: ARG001 - checks and documents; sent as it came
    """Submit a flow; the answer does not wait for the decision, which the flow's state shows."""
    command = keyed_command(**with_requester(request.get_json()))
    return to_flow_view(from_json(Flow, services().controller.call("flow.submit", command)))


@handles(routes.GET_FLOW)
def get_flow(flow: Flow) -> FlowView:
    """Return one flow."""
    return to_flow_view(flow)


@handles(routes.CANCEL_FLOW)
def cancel_flow(flow: Flow) -> FlowView:
    """Cancel a flow that has not ended."""
    command = {"flow": flow.number, "requester": requester().name}
    return to_flow_view(from_json(Flow, services().controller.call("flow.cancel", command)))


@handles(routes.REPORT_TRANSFER)
def report_transfer(flow: Flow, body: TransferReport) -> FlowView:
    """Report the progress of a flow's transfer; ``finished`` and ``failed`` end the flow."""
    command = {"flow": flow.number, **body.model_dump(mode="json")}
    after = from_json(Flow, services().controller.call("flow.report", command))
    return to_flow_view(after)


@handles(routes.GET_HISTORY)
def get_history(flow: Flow, query: HistoryQuery) -> FlowHistory:
    """Return the state changes of a flow."""
    if query.last is not None and query.after is not None:
        raise InvalidInput.of("after", "contradicts last; expected one of both, for example last=20")
    steps = services().store.history(flow.number, query.last)
    shown, following = numbered(steps, query) if query.last is None else (steps[-query.limit :], None)
    items = [HistoryEntry(at=one.at, state=one.state, reason=one.reason, path=one.path) for one in shown]
    return FlowHistory(items=items, next=following)


@handles(routes.GET_WAITING)
def get_waiting(flow: Flow) -> WaitingView:
    """Return what a queued flow waits for, and its place in the queue."""
    return WaitingView.of(services().controller.call("flow.waiting", {"flow": flow.number}))


@handles(routes.LIST_FLOW_DECISIONS)
def list_flow_decisions(flow: Flow, query: InOrder) -> DecisionList:
    """Return all decisions about a flow, the oldest first."""
    found = services().store.decisions(flow.number)
    shown, following = sliced(found, query, lambda one: one.id)
    return DecisionList(items=[to_decision_view(one) for one in shown], next=following)


@handles(routes.PREVIEW_FLOW)
def preview_flow(body: FlowBody) -> PreviewView:  # noqa: ARG001 - checks and documents; sent as it came
    """Return the decision that a request would get now; store nothing."""
    return to_preview_view(services().controller.call("flow.preview", with_requester(request.get_json())))


@handles(routes.LIST_OUTCOMES)
def list_outcomes(query: OutcomeQuery) -> OutcomeList:
    """Return outcomes, the latest end first; a researcher sees those of own flows."""
    own = owner_filter(Action.FLOW_READ)
    before = read_cursor(query.before, int)
    found = services().store.outcomes(query.template, query.since, query.limit + 1, own, before)
    shown, following = page(found, query.limit, lambda one: cursor(one.ended_at, one.flow))
    return OutcomeList(items=[to_outcome_view(one) for one in shown], next=following)


@handles(routes.GET_OUTCOME)
def get_outcome(flow: Flow) -> OutcomeView:
    """Return the outcome of a flow; 404 before the flow has ended."""
    return to_outcome_view(services().store.outcome(flow.number))


@handles(routes.GET_CALIBRATION)
def get_calibration(query: ForecastQuery) -> CalibrationList:
    """Return coverage, calibration curve and errors of the forecasts of finished flows."""
    found = dict(by_wait(services().store.outcomes(query.template, limit=query.limit)))
    return CalibrationList(items=[_calibration_view(name, one) for name, one in found.items()])


def _calibration_view(flows: str, found: Calibration) -> CalibrationView:
    return CalibrationView.of(
        found,
        flows=flows,
        score=found.score if math.isfinite(found.score) else None,
        curve=[CurvePoint(nominal=level, observed=share) for level, share in found.curve],
    )


@handles(routes.LIST_DECISIONS)
def list_decisions(query: DecisionQuery) -> DecisionPage:
    """Return decisions, the newest first; a researcher sees those about own flows."""
    wanted = DecisionFilter(
        flow=None if query.flow is None else flow_number(query.flow),
        requester=owner_filter(Action.DECISION_READ),
        **query.model_dump(include={"template", "outcome", "path", "site"}),
        since=query.since,
        until=query.until,
    )
    before = read_cursor(query.before, str)
    found = services().store.decisions_in_short(wanted, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda one: cursor(one.at, one.id))
    return DecisionPage(
        items=[DecisionSummary.of(one, candidates=len(one.candidates)) for one in shown], next=following
    )


@handles(routes.GET_DECISION)
def get_decision(decision: Decision) -> DecisionView:
    """Return one decision with its candidates, scores, compute sites and reason."""
    return to_decision_view(decision)


@handles(routes.GET_WHY_NOT)
def get_why_not(decision: Decision) -> WhyNotView:
    """Return the smallest change with which the decision would select each other path and site.

    The first request computes it in some seconds by replays of the decision with changed inputs.
    """
    services().store.snapshot(decision.id)
    return services().why_nots.of(decision.id)

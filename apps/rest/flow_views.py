"""Documents of flows, their decisions, previews and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.base import UNITS, Seconds
from adon.api.decisions import DecisionView
from adon.api.flows import ConditionView, FlowView, OutcomeView, PathStay, PreviewView
from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome
from measurement.model import from_json


def to_outcome_view(outcome: FlowOutcome) -> OutcomeView:
    """The outcome as it is answered."""
    return OutcomeView.of(
        outcome,
        flow=f"f-{outcome.flow}",
        stays=[PathStay.of(one, seconds=one.until - one.since) for one in outcome.stays],
        conditions=[
            ConditionView(metric=metric, value=value, unit=UNITS.get(metric, ""))
            for metric, value in outcome.conditions.items()
        ],
    )


def to_preview_view(body: Mapping[str, Any]) -> PreviewView:
    """What the controller answered."""
    decision = to_decision_view(from_json(Decision, body["decision"]))
    forecast, size, pushed = body["forecast"], body["size"], body["pushed"]
    return PreviewView.of(
        body,
        outcome=decision.outcome,
        decision=decision,
        path=decision.path,
        compute_site=decision.compute_site,
        transfer_size_bytes=size,
        throughput=_rate(size, forecast),
        end=_end(body["at"], forecast) if decision.outcome == "admit" else None,
        displaced=sum(one["to"] is None for one in pushed),
        moved=sum(one["to"] is not None for one in pushed),
    )


def _rate(size: int, forecast: Mapping[str, Seconds] | None) -> dict[str, float] | None:
    """The mean rate at which so many bytes arrive within the forecast; the slowest belongs to the longest."""
    if forecast is None:
        return None
    terms = {"expected_bps": "expected", "low_bps": "high", "high_bps": "low"}
    times = {name: float(forecast[term]) for name, term in terms.items()}
    if min(times.values()) <= 0:
        return None
    rates = {name: size * 8 / seconds for name, seconds in times.items()}
    return {**rates, "coverage": float(forecast["coverage"])}


def _end(at: float, forecast: Mapping[str, Seconds] | None) -> dict[str, float] | None:
    if forecast is None:
        return None
    terms = {"earliest": "low", "expected": "expected", "latest": "high"}
    ends = {name: at + float(forecast[term]) for name, term in terms.items()}
    return ends if max(ends.values()) < float("inf") else None


def to_flow_view(flow: Flow) -> FlowView:
    """The flow as it is answered."""
    request = flow.request
    return FlowView.of(
        flow,
        final=flow.state.final,
        source=request.source,
        destination=request.destination,
        label=request.label,
        request=request.model_dump(mode="json", exclude_none=True),
        size_bytes=request.size,
        forecast=flow.diary.forecast,
        forecast_at=None if flow.diary.forecast is None else flow.diary.admitted_at,
        connections=flow.tuples,
        triggers=flow.triggered.fired,
    )


def to_decision_view(decision: Decision) -> DecisionView:
    """Return the document of a decision; each metric of a candidate has its unit."""
    body = decision.body()
    return DecisionView.of(body, candidates=[_with_units(one) for one in body["candidates"]])


def _with_units(candidate: Mapping[str, Any]) -> dict[str, Any]:
    metrics = [{**metric, "unit": UNITS.get(metric["metric"], "")} for metric in candidate["metrics"]]
    return {**candidate, "metrics": metrics}

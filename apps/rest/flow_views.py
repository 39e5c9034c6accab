"""Documents of flows: state, preview, wait and outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from adon.api.base import UNITS, Seconds
from adon.api.flows import ConditionView, Connection, FiredView, FlowView, OutcomeView, PreviewView, StayView
from adon.api.queue import WaitingView
from adon.api.times import to_text
from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome
from adon.broker.queueing.booking import Booking
from adon.broker.triggers.record import Fired
from apps.rest.decision_views import to_decision_view
from apps.rest.forecast_views import to_forecast_view
from measurement.model import from_json


def to_outcome_view(outcome: FlowOutcome) -> OutcomeView:
    """The outcome as it is answered."""
    same = ("template", "source", "destination", "state", "slice", "priority", "streams", "measured_by")
    times = ("submitted_at", "admitted_at", "started_at", "ended_at")
    more = ("requested_bytes", "transferred_bytes", "error", "kept", "moves", "decision", "compute_site")
    return OutcomeView(
        **{name: getattr(outcome, name) for name in (*same, *times, *more, "foretold")},
        flow=f"f-{outcome.flow}",
        waited_seconds=outcome.waited,
        duration_seconds=outcome.duration,
        throughput_bps=outcome.throughput,
        promised_bps=outcome.promised,
        quality_seconds=dict(outcome.quality),
        stays=[
            StayView(path=one.path, since=one.since, until=one.until, seconds=one.until - one.since)
            for one in outcome.stays
        ],
        conditions=[
            ConditionView(metric=metric, value=value, unit=UNITS.get(metric, ""))
            for metric, value in outcome.conditions.items()
        ],
        forecast=to_forecast_view(outcome.forecast),
    )


def to_preview_view(body: Mapping[str, Any]) -> PreviewView:
    """What the controller answered."""
    decision = to_decision_view(from_json(Decision, body["decision"]))
    forecast, size, pushed = body["forecast"], body["size"], body["pushed"]
    booking = body["booking"]
    return PreviewView.model_validate(
        {
            **{name: body[name] for name in ("at", "waits_for", "replaced")},
            "outcome": decision.outcome,
            "decision": decision,
            "path": decision.path,
            "compute_site": decision.compute_site,
            "transfer_size_bytes": size,
            "forecast": to_forecast_view(forecast),
            "throughput": _rate(size, forecast),
            "end": _end(body["at"], forecast) if decision.outcome == "admit" else None,
            "displaced": sum(one["to"] is None for one in pushed),
            "moved": sum(one["to"] is not None for one in pushed),
            "pushed": pushed,
            "booking": None if booking is None else {**booking, "rate_bps": booking["rate"]},
            "advised": body["advised"],
        }
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


def to_waiting_view(body: Mapping[str, Any]) -> WaitingView:
    """What the controller answered."""
    return WaitingView.model_validate(body)


def to_fired_view(fired: Fired) -> FiredView:
    """The trigger as it is answered."""
    return FiredView(name=fired.trigger, at=fired.at, count=fired.count, on=fired.on, text=fired.text)


def to_flow_view(flow: Flow) -> FlowView:
    """The flow as it is answered."""
    request = flow.request
    same = ("id", "state", "reason", "quality", "requester", "template", "submitted_at", "state_since")
    more = ("path", "path_since", "compute_site", "bytes_sent", "bytes_delivered", "bytes_reported")
    rest = ("evidence", "started_at", "ended_at", "moves", "advised", "decision", "slice", "aggregated")
    return FlowView(
        **{name: getattr(flow, name) for name in (*same, *more, *rest, "not_before", "deadline")},
        final=flow.state.final,
        source=request.source,
        destination=request.destination,
        label=request.label,
        request=request.model_dump(mode="json", exclude_none=True),
        size_bytes=request.size,
        transfer_size_bytes=flow.transfer_size,
        bytes_moved=flow.bytes_moved,
        granted=None if flow.granted is None else asdict(flow.granted),
        booking=None if flow.booking is None else _booked(flow.booking),
        forecast=to_forecast_view(flow.diary.forecast),
        forecast_at=None if flow.diary.forecast is None else flow.diary.admitted_at,
        connections=[
            Connection(
                protocol=one.protocol,
                destination_port=one.destination_port,
                source_port=one.source_port,
            )
            for one in flow.tuples
        ],
        triggers=[to_fired_view(one) for one in flow.triggered.fired],
    )


def _booked(booking: Booking) -> dict[str, Any]:
    times = {"begins": to_text(booking.begins), "ends": to_text(booking.ends)}
    return {"path": booking.path, "rate_bps": booking.rate, **times}

"""What stored flows tell of their forecasts, as outcomes that can be scored."""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome


def outcomes(flows: Iterable[Flow]) -> list[FlowOutcome]:
    """Of each flow that has ended and had a forecast, as much as scoring it needs."""
    return [_outcome(flow, flow.ended_at) for flow in flows if flow.forecast and flow.ended_at is not None]


def _outcome(flow: Flow, ended_at: float) -> FlowOutcome:
    return FlowOutcome(
        flow=flow.number,
        template=flow.template,
        source=flow.request.source,
        destination=flow.request.destination,
        state=flow.state.value,
        submitted_at=flow.submitted_at,
        ended_at=ended_at,
        requested_bytes=flow.request.size,
        transferred_bytes=flow.bytes_delivered if flow.bytes_reported is None else flow.bytes_reported,
        admitted_at=flow.forecast_at,
        started_at=flow.started_at,
        forecast=flow.forecast,
    )

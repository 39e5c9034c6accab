"""What the API answers about flows that have ended."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from adon.broker.outcomes import FlowOutcome
from apps.rest.models import UNITS, ForecastView, NewestFirstView, View
from apps.rest.times import Time


class StayView(View):
    """So long was a flow on one path."""

    path: str
    since: Time
    until: Time
    seconds: float


class ConditionView(View):
    """What the admitting decision saw on the path."""

    metric: str
    value: float
    unit: str


class OutcomeView(View):
    """What a flow leaves behind: what it was promised, what it got, and what it met on its way."""

    flow: str
    template: str
    source: str
    destination: str
    state: str = Field(description="how it ended")
    slice: str | None
    priority: int
    streams: int
    submitted_at: Time
    admitted_at: Time | None
    started_at: Time | None
    ended_at: Time
    waited_seconds: float
    duration_seconds: float | None
    requested_bytes: int
    transferred_bytes: int
    throughput_bps: float | None
    measured_by: str = Field(description="who says so")
    promised_bps: float | None
    error: float | None = Field(description="(promised - achieved) / achieved; above zero: too much")
    kept: bool = Field(description="whether its QSpec was kept all the time that it was known")
    quality_seconds: dict[str, float]
    moves: int
    stays: list[StayView]
    conditions: list[ConditionView]
    decision: str | None = Field(description="the one that admitted it")
    compute_site: str | None
    forecast: ForecastView | None
    foretold: bool | None = Field(description="whether the forecast's interval held")

    @classmethod
    def of(cls, outcome: FlowOutcome) -> Self:
        """The outcome as it is answered."""
        same = ("template", "source", "destination", "state", "slice", "priority", "streams", "measured_by")
        times = ("submitted_at", "admitted_at", "started_at", "ended_at")
        more = ("requested_bytes", "transferred_bytes", "error", "kept", "moves", "decision", "compute_site")
        return cls(
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
            forecast=ForecastView.of(outcome.forecast),
        )


class OutcomeList(NewestFirstView):
    """Outcomes, those of the flows that ended last first."""

    items: list[OutcomeView]

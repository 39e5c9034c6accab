"""What the API answers about a request that is only tried: what would be decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field

from adon.broker.decision import Decision
from apps.rest.models import DecisionView, ForecastView, Seconds, View
from apps.rest.times import Time
from measurement.model import from_json


class MeanRateView(View):
    """How fast a transfer is expected to be on average, in bits/s."""

    expected_bps: float
    low_bps: float
    high_bps: float
    coverage: float = Field(description="the share of such intervals that should hold the truth")


class ForeseenEndView(View):
    """When a transfer would be over."""

    earliest: Time
    expected: Time
    latest: Time


class PushedView(View):
    """What would become of a running flow by the one that is asked for."""

    flow: str
    path: str
    to: str | None = Field(description="the path that it would move to; none if it would wait")
    why: str


class BookingView(View):
    """What would be reserved in advance."""

    path: str
    rate_bps: float
    begins: Time
    ends: Time


class PreviewView(View):
    """What would be decided about a request if it were made now; nothing is kept of it."""

    at: Time
    outcome: str = Field(description="admit or queue; a request that would be refused is answered with 422")
    decision: DecisionView = Field(description="as it would be recorded; its id and its flow are 'preview'")
    path: str | None
    compute_site: str | None
    transfer_size_bytes: int = Field(description="what would travel")
    forecast: ForecastView | None = Field(description="how long that would take; none if nobody can say")
    throughput: MeanRateView | None = Field(description="by the forecast, on average")
    waits_for: list[str]
    end: ForeseenEndView | None = Field(description="now and its forecast together; none if it would wait")
    displaced: int = Field(description="running flows that would go back to the queue")
    moved: int = Field(description="running flows that would get another path")
    pushed: list[PushedView] = Field(description="those flows")
    replaced: list[str] = Field(
        description="flows that were seen but not announced, and would end; counted as still there"
    )
    booking: BookingView | None
    advised: bool = Field(description="decided and shown only: no switch would be told")

    @classmethod
    def answered(cls, body: Mapping[str, Any]) -> Self:
        """What the controller answered."""
        decision = DecisionView.of(from_json(Decision, body["decision"]))
        forecast, size, pushed = body["forecast"], body["size"], body["pushed"]
        booking = body["booking"]
        return cls.model_validate(
            {
                **{name: body[name] for name in ("at", "waits_for", "replaced")},
                "outcome": decision.outcome,
                "decision": decision,
                "path": decision.path,
                "compute_site": decision.compute_site,
                "transfer_size_bytes": size,
                "forecast": ForecastView.of(forecast),
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

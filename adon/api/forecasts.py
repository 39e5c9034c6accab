"""Forecasts of completion, and how well they held."""

from __future__ import annotations

from pydantic import Field

from adon.api.base import Query, Seconds, View
from adon.api.times import Time


class ForecastView(View):
    """When a transfer was expected to be over, in seconds from its admission on."""

    expected_seconds: Seconds
    low_seconds: Seconds
    high_seconds: Seconds
    coverage: float = Field(description="the share of such intervals that should hold the truth")
    terms: dict[str, Seconds] = Field(description="what the expectation is the sum of, in seconds")


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


class CurvePoint(View):
    """Of the intervals that should hold so many truths, so many did."""

    nominal: float
    observed: float


class CalibrationView(View):
    """How well the forecasts of some finished flows held.

    ``least`` and ``most`` bound the coverage with 95 % confidence; ``bias`` and ``error`` are the median of
    (expected - took) / took and of its size; ``score`` is the median interval score over what was taken.
    """

    flows: str = Field(description="all, at once, after a wait")
    count: int
    nominal: float
    covered: float
    least: float
    most: float
    bias: float
    error: float
    score: float | None
    curve: list[CurvePoint]


class CalibrationList(View):
    """Forecasts of all finished flows, and apart of those that ran at once and that had waited."""

    items: list[CalibrationView]


class ForecastQuery(Query):
    """Flows whose forecasts are compared with their ends."""

    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    limit: int = Field(default=500, ge=1, le=5000, description="of so many flows that have ended, the newest")

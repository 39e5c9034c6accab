"""What the API answers about what was not chosen."""

from __future__ import annotations

from pydantic import Field

from apps.rest.models import View


class QuantityView(View):
    """A quantity that was looked at, and how far it was changed."""

    kind: str = Field(
        description="metric, weight, bound, priority, size, wait, switch_margin, patience, dwell or closed"
    )
    name: str = Field(description="the metric's; of what was closed, why")
    path: str | None
    unit: str
    value: float | None = Field(description="none if it was not known")
    low: float
    high: float


class FlipView(View):
    """A change of one quantity by which the alternative would have been taken; decided on, not estimated."""

    kind: str
    name: str
    path: str | None
    unit: str
    value: float | None
    needed: float = Field(description="the nearest value with which it would have been taken")
    short_of: float | None = Field(description="the value beside that, with which it would not")
    told: float = Field(description="about the needed one, with few digits; it would have been taken too")
    size: float | None = Field(description="the logarithm of the ratio of needed and value; none: no ratio")
    text: str


class AlternativeView(View):
    """A path, or a compute site by a path, that was not taken."""

    path: str
    site: str | None = Field(description="none: whatever site goes with the path")
    verdict: str | None
    q: float | None
    why: str = Field(description="what was said of it then")
    text: str = Field(description="the smallest change in words, or that there is none")
    flips: list[FlipView] = Field(description="the smallest change first")


class WhyNotView(View):
    """Per alternative the nearest changes that would have had it taken."""

    decision: str
    outcome: str
    path: str | None
    compute_site: str | None
    alternatives: list[AlternativeView]
    searched: list[QuantityView]
    left_out: list[QuantityView] = Field(description="not looked at: that would have taken too long")
    decisions_made: int = Field(description="how often the decision was made again")
    code: str = Field(description="the version of the code that made the decision")
    this_code: str
    as_recorded: bool = Field(description="whether this code makes the same decision of what it saw")

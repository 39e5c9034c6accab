"""Alarms with their evidence, and subscriptions to them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adon.api.base import Body, ListView, NewestFirst, Time, View
from adon.api.measurements import SeriesView


class EvidenceView(View):
    """What a series was like in a stretch of time, in the unit of its metric."""

    mean: float
    deviation: float
    samples: list[tuple[Time, float]]


class AlarmBase(View):
    """Fields of an alarm that its short form has, too."""

    id: str
    kind: str
    direction: str | None
    bad: bool = Field(description="false for an improvement")
    severity: str
    text: str
    raised_at: Time


class AlarmView(AlarmBase):
    """What happened to a series, since when, on what evidence, and whether it is over."""

    series: SeriesView
    cleared_at: Time | None
    acknowledged_by: str | None
    acknowledged_at: Time | None
    before: EvidenceView
    after: EvidenceView | None


class AlarmList(ListView):
    """Alarms, the newest first."""

    items: list[AlarmView]


class FilterBody(Body):
    """Which alarms; what is left out is not narrowed."""

    path: str | None = Field(default=None, max_length=100)
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)
    kinds: list[Literal["plateau", "absence", "threshold"]] | None = None
    least: Literal["warning", "critical"] = Field(default="warning", description="the lowest severity")
    changes_for_the_better: bool = False
    ends: bool = Field(default=True, description="tell also when an alarm is over")


class SubscriptionBody(Body):
    """Which alarms are to be told, how, and to whom."""

    channel: Literal["mail", "webhook", "stream"]
    target: str = Field(
        default="",
        max_length=500,
        description="a mail address, or the URL to call; none for the event stream",
    )
    filter: FilterBody = FilterBody()


class SubscriptionView(View):
    """A subscription as it is kept."""

    id: str
    owner: str
    channel: str
    target: str
    filter: FilterBody


class SubscriptionList(ListView):
    """Subscriptions, the newest first."""

    items: list[SubscriptionView]


class AlarmQuery(NewestFirst):
    """Filters of alarms."""

    open: bool = Field(default=False, description="only open alarms")
    since: Time | None = Field(default=None, description="raised at this time or later")
    until: Time | None = Field(default=None, description="raised before this time")
    path: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)
    limit: int = Field(default=200, ge=1, le=1000)

"""Alarms with their evidence, and subscriptions to them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from adon.api.base import Body, ListView, NewestFirst, Time, View
from adon.api.measurements import SeriesView


class EvidenceView(View):
    """Statistics of a series in a period, in the unit of its metric."""

    mean: float
    deviation: float
    samples: list[tuple[Time, float]]


class AlarmBase(View):
    """Base of an alarm and its short form."""

    id: str
    kind: str
    direction: str | None
    bad: bool = Field(description="whether the change is for the worse")
    severity: str
    text: str
    raised_at: Time


class AlarmView(AlarmBase):
    """Alarm on a series: start, evidence and end."""

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
    """Filter of alarms; absent fields do not restrict it."""

    path: str | None = Field(default=None, max_length=100)
    source: str | None = Field(default=None, max_length=100)
    destination: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)
    kinds: list[Literal["plateau", "absence", "threshold"]] | None = None
    least: Literal["warning", "critical"] = Field(default="warning", description="lowest severity")
    changes_for_the_better: bool = False
    ends: bool = Field(default=True, description="whether the end of an alarm is reported, too")


class SubscriptionBody(Body):
    """Subscription to create: filter, channel and target."""

    channel: Literal["mail", "webhook", "stream"]
    target: str = Field(
        default="",
        max_length=500,
        description="mail address, or URL of the webhook; empty for the event stream",
    )
    filter: FilterBody = FilterBody()


class SubscriptionView(View):
    """Stored subscription."""

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

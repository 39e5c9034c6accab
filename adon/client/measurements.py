"""Measurements: values, the plan of tests and its runs, measuring now; alarms and who is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adon.api.alarms import AlarmView, SubscriptionView
from adon.api.base import Deleted
from adon.api.measurements import (
    BucketView,
    ExecutionView,
    MeasurementView,
    OverlapView,
    PointView,
    PsconfigTemplate,
    RunAccepted,
    ScheduleView,
)
from adon.client.calling import Caller, flag, part

MOST_VALUES = 10_000
"""Measurements of one page."""


class MeasurementCalls(Caller):
    """The measurement plane."""

    def measurements(self, **query: str) -> list[MeasurementView]:
        """Measurements, the newest first, one page; the query's names are the API's."""
        return self._items(MeasurementView, "/measurements", query)

    def each_measurement(self, limit: int | None = None, **query: str) -> Iterator[MeasurementView]:
        """Measurements, the newest first, asked for page by page as they are wanted."""
        return self._pages(MeasurementView, "/measurements", query, limit, "before", MOST_VALUES)

    def plot(self, **query: str) -> list[BucketView]:
        """A series in stretches of time, the oldest first; the query's names are the API's."""
        return self._items(BucketView, "/measurements/plot", query)

    def measure(self, path: str, source: str, destination: str, test: str) -> RunAccepted:
        """Have a configured test done now; when it will be."""
        body = {"path": path, "source": source, "destination": destination, "test": test}
        return self._post(RunAccepted, "/measurements", body)

    def schedule(self) -> ScheduleView:
        """The plan of tests and its next runs."""
        return self._get(ScheduleView, "/schedule")

    def schedule_page(self) -> str:
        """The plan as a picture (HTML)."""
        return self._text("/schedule/gantt")

    def psconfig(self, network: str) -> PsconfigTemplate:
        """The plan of tests as a pSConfig template."""
        return self._get(PsconfigTemplate, f"/psconfig/{part(network)}")

    def executions(
        self, since: str | None = None, limit: int = 200, until: str | None = None
    ) -> list[ExecutionView]:
        """What became of planned runs, the newest first."""
        return self._items(ExecutionView, "/executions", {"since": since, "until": until, "limit": limit})

    def points(self) -> list[PointView]:
        """The measurement points."""
        return list(self._pages(PointView, "/points", {}, None, "after"))

    def alarms(self, *, open_only: bool, **query: str) -> list[AlarmView]:
        """Alarms, the newest first; the query's names are the API's."""
        return self._items(AlarmView, "/alarms", {"open": flag(open_only), **query})

    def alarm(self, alarm: str) -> AlarmView:
        """One alarm with its evidence."""
        return self._get(AlarmView, f"/alarms/{part(alarm)}")

    def acknowledge(self, alarm: str) -> AlarmView:
        """Say that an alarm has been seen."""
        return self._post(AlarmView, f"/alarms/{part(alarm)}/acknowledge", {})

    def subscriptions(self) -> list[SubscriptionView]:
        """Who is told of which alarms."""
        return list(self._pages(SubscriptionView, "/subscriptions", {}, None))

    def subscribe(self, subscription: Mapping[str, Any]) -> SubscriptionView:
        """Be told of alarms."""
        return self._post(SubscriptionView, "/subscriptions", subscription)

    def unsubscribe(self, subscription: str) -> Deleted:
        """Be told no more."""
        return self._delete(Deleted, f"/subscriptions/{part(subscription)}")

    # -- the whole network at a glance -------------------------------------------------------------------

    def overlaps(self, since: str | None = None) -> list[OverlapView]:
        """Pairs of conflicting runs that ran at the same time all the same, noticed since then."""
        return self._items(OverlapView, "/overlaps", {"since": since})

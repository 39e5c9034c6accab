"""Measurements: values, the plan of tests and its runs, measuring now; alarms and who is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.alarms import AlarmView, SubscriptionView
from adon.api.base import Deleted
from adon.api.measurements import (
    BoxList,
    BucketView,
    ExecutionView,
    MeasurementView,
    MeshView,
    OverlapView,
    PointView,
    PsconfigTemplate,
    RunAccepted,
    ScheduleView,
    SeriesView,
)
from adon.client.calling import Caller, flag


class MeasurementCalls(Caller):
    """The measurement plane."""

    def measurements(self, **query: str) -> list[MeasurementView]:
        """Measurements, the newest first, one page; the query's names are the API's."""
        return self.call(routes.LIST_MEASUREMENTS, query=query).items

    def each_measurement(self, limit: int | None = None, **query: str) -> Iterator[MeasurementView]:
        """Measurements, the newest first, asked for page by page as they are wanted."""
        return self.each(routes.LIST_MEASUREMENTS, query, limit)

    def plot(self, **query: str) -> list[BucketView]:
        """A series in stretches of time, the oldest first; the query's names are the API's."""
        return self.call(routes.PLOT, query=query).items

    def measure(self, path: str, source: str, destination: str, test: str) -> RunAccepted:
        """Have a configured test done now; when it will be."""
        body = {"path": path, "source": source, "destination": destination, "test": test}
        return self.call(routes.RUN_NOW, body=body)

    def schedule(self) -> ScheduleView:
        """The plan of tests and its next runs."""
        return self.call(routes.GET_SCHEDULE)

    def schedule_page(self) -> str:
        """The plan as a picture (HTML)."""
        return self._text(routes.GET_GANTT)

    def psconfig(self, network: str) -> PsconfigTemplate:
        """The plan of tests as a pSConfig template."""
        return self.call(routes.GET_PSCONFIG, network=network)

    def executions(
        self, since: str | None = None, limit: int = 200, until: str | None = None
    ) -> list[ExecutionView]:
        """What became of planned runs, the newest first."""
        return self.call(routes.LIST_EXECUTIONS, query={"since": since, "until": until, "limit": limit}).items

    def points(self) -> list[PointView]:
        """The measurement points."""
        return self._all(routes.LIST_POINTS)

    def alarms(self, *, open_only: bool, **query: str) -> list[AlarmView]:
        """Alarms, the newest first; the query's names are the API's."""
        return self.call(routes.LIST_ALARMS, query={"open": flag(open_only), **query}).items

    def alarm(self, alarm: str) -> AlarmView:
        """One alarm with its evidence."""
        return self.call(routes.GET_ALARM, id=alarm)

    def acknowledge(self, alarm: str) -> AlarmView:
        """Say that an alarm has been seen."""
        return self.call(routes.ACKNOWLEDGE, id=alarm)

    def subscriptions(self) -> list[SubscriptionView]:
        """Who is told of which alarms."""
        return self._all(routes.LIST_SUBSCRIPTIONS)

    def subscribe(self, subscription: Mapping[str, Any]) -> SubscriptionView:
        """Be told of alarms."""
        return self.call(routes.SUBSCRIBE, body=subscription)

    def unsubscribe(self, subscription: str) -> Deleted:
        """Be told no more."""
        return self.call(routes.UNSUBSCRIBE, id=subscription)

    def overlaps(self, since: str | None = None) -> list[OverlapView]:
        """Pairs of conflicting runs that ran at the same time all the same, noticed since then."""
        return self.call(routes.GET_OVERLAPS, query={"since": since}).items

    def mesh(self, metric: str, path: str | None = None) -> MeshView:
        """From every site to every other: the latest value of a metric, its age, and whether it is good."""
        return self.call(routes.GET_MESH, query={"metric": metric, "path": path})

    def boxes(self, **query: Any) -> BoxList:
        """Series, each in boxes per hour or day; the query's names are the API's, without ``limit`` all."""
        return self._whole(routes.LIST_BOXES, query)

    def series(self, **query: Any) -> list[SeriesView]:
        """Series of which something is kept."""
        return self._all(routes.LIST_SERIES, query)

    def subscription(self, subscription: str) -> SubscriptionView:
        """One subscription."""
        return self.call(routes.GET_SUBSCRIPTION, id=subscription)

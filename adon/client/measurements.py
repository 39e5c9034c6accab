"""Measurements, tests and their plan, alarms and subscriptions, studies of instances."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.alarms import AlarmView, SubscriptionView
from adon.api.base import DeletionView
from adon.api.measurements import (
    BoxList,
    BucketView,
    ExecutionView,
    MeasurementView,
    MeshView,
    OverlapView,
    PointView,
    PsconfigTemplate,
    RunStart,
    ScheduleView,
    SeriesView,
)
from adon.api.studies import StudyDetail, StudyView
from adon.client.calling import Caller, flag

UNPACKED = 250_000
"""Bytes of JSON above which a document is sent compressed."""


class MeasurementCalls(Caller):
    """Methods for measurements, tests, alarms and subscriptions."""

    def measurements(self, **query: str) -> list[MeasurementView]:
        """Return one page of measurements, the newest first; ``query`` as in the API."""
        return self.call(routes.LIST_MEASUREMENTS, query=query).items

    def each_measurement(self, limit: int | None = None, **query: str) -> Iterator[MeasurementView]:
        """Yield measurements, the newest first; request pages as they are needed."""
        return self.each(routes.LIST_MEASUREMENTS, query, limit)

    def plot(self, **query: str) -> list[BucketView]:
        """Return a series in intervals, the oldest first; ``query`` as in the API."""
        return self.call(routes.PLOT, query=query).items

    def measure(self, path: str, source: str, destination: str, test: str) -> RunStart:
        """Run a configured test now; return its start."""
        body = {"path": path, "source": source, "destination": destination, "test": test}
        return self.call(routes.RUN_NOW, body=body)

    def schedule(self) -> ScheduleView:
        """Return the plan of tests and its next runs."""
        return self.call(routes.GET_SCHEDULE)

    def schedule_page(self) -> str:
        """Return the plan as a chart (HTML)."""
        return self._text(routes.GET_GANTT)

    def psconfig(self, network: str) -> PsconfigTemplate:
        """Return the plan of tests as a pSConfig template."""
        return self.call(routes.GET_PSCONFIG, network=network)

    def executions(
        self, since: str | None = None, limit: int = 200, until: str | None = None
    ) -> list[ExecutionView]:
        """Return the results of planned runs, the newest first."""
        return self.call(routes.LIST_EXECUTIONS, query={"since": since, "until": until, "limit": limit}).items

    def points(self) -> list[PointView]:
        """Return the measurement points."""
        return self._all(routes.LIST_POINTS)

    def alarms(self, *, open_only: bool, **query: str) -> list[AlarmView]:
        """Return alarms, the newest first; ``query`` as in the API."""
        return self.call(routes.LIST_ALARMS, query={"open": flag(open_only), **query}).items

    def alarm(self, alarm: str) -> AlarmView:
        """Return one alarm with its evidence."""
        return self.call(routes.GET_ALARM, id=alarm)

    def acknowledge(self, alarm: str) -> AlarmView:
        """Acknowledge an alarm."""
        return self.call(routes.ACKNOWLEDGE, id=alarm)

    def subscriptions(self) -> list[SubscriptionView]:
        """Return the subscriptions to alarms."""
        return self._all(routes.LIST_SUBSCRIPTIONS)

    def subscribe(self, subscription: Mapping[str, Any]) -> SubscriptionView:
        """Subscribe to alarms."""
        return self.call(routes.SUBSCRIBE, body=subscription)

    def unsubscribe(self, subscription: str) -> DeletionView:
        """Delete a subscription."""
        return self.call(routes.UNSUBSCRIBE, id=subscription)

    def overlaps(self, since: str | None = None) -> list[OverlapView]:
        """Return pairs of conflicting runs that overlapped."""
        return self.call(routes.GET_OVERLAPS, query={"since": since}).items

    def mesh(self, metric: str, path: str | None = None) -> MeshView:
        """Return the latest value of a metric between all sites, with age and verdict."""
        return self.call(routes.GET_MESH, query={"metric": metric, "path": path})

    def boxes(self, **query: Any) -> BoxList:
        """Return statistics of series per hour or day; without ``limit`` of all series."""
        return self._whole(routes.LIST_BOXES, query)

    def series(self, **query: Any) -> list[SeriesView]:
        """Return the series that the archive has."""
        return self._all(routes.LIST_SERIES, query)

    def subscription(self, subscription: str) -> SubscriptionView:
        """Return one subscription."""
        return self.call(routes.GET_SUBSCRIPTION, id=subscription)


class StudyCalls(Caller):
    """Methods for studies of instances (docs/health-and-probes.md)."""

    def studies(self, kind: str | None = None, limit: int | None = None) -> list[StudyView]:
        """Return studies in short, the latest first."""
        return list(self.each_study(kind, limit))

    def each_study(self, kind: str | None = None, limit: int | None = None) -> Iterator[StudyView]:
        """Yield studies in short, the latest first; request pages as they are needed."""
        return self.each(routes.LIST_STUDIES, {"kind": kind}, limit)

    def study(self, study: str) -> StudyDetail:
        """Return one study with its document."""
        return self.call(routes.GET_STUDY, id=study)

    def add_study(self, kind: str, document: Mapping[str, Any], title: str = "") -> StudyView:
        """Store a study; a large document is sent compressed.

        :param kind: ``health-round``, ``snapshot``, ``placement`` or ``evaluation``.
        :param title: what the document says if empty.
        :raises ValueError: for a document that is no JSON.
        """
        body: dict[str, Any] = {"kind": kind, "title": title}
        text = json.dumps(document, allow_nan=False).encode()
        if len(text) > UNPACKED:
            return self.call(routes.ADD_STUDY, body={**body, "packed": _packed(text)})
        return self.call(routes.ADD_STUDY, body={**body, "document": document})

    def delete_study(self, study: str) -> DeletionView:
        """Delete a study."""
        return self.call(routes.DELETE_STUDY, id=study)


def _packed(text: bytes) -> str:
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()

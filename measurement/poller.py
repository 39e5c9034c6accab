"""One test through the client, from asking to values; every failure comes back as a value.

Each test is a task of a single run.  A repeating task would save a request or two, but would put the
order of tests into the servers' hands: with single runs :mod:`measurement.plan` decides, quiet paths stay
quiet at once, nothing accumulates on a shared host, and a collector that is killed leaves at most one
run behind, which ends by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer, PointError
from measurement.model import Measurement, Metric, PathKey
from measurement.plan import PlannedTest
from measurement.pscheduler import results
from measurement.pscheduler.client import PSchedulerClient, Run, Schedule, ServerClock
from measurement.pscheduler.specs import PostedTask

SLIP = 60.0
PATIENCE = 120.0
HALF_PING = "halfping"  # what pScheduler falls back to for latency when nothing else is installed


@dataclass(frozen=True, slots=True)
class MeasurementFailed:
    """A value that was wanted and not obtained.

    :param cause: one line, with the host's name.
    :param at: when it failed, seconds since the epoch.
    """

    key: PathKey
    metric: Metric
    cause: str
    at: float


Outcome = Measurement | MeasurementFailed


@dataclass(frozen=True, slots=True)
class Point:
    """A measurement point: its client, and the name by which other points reach it."""

    client: PSchedulerClient
    node: str


class Poller:
    """Runs tests at the points; several threads may run different tests at once.

    :param points: the points by name; a test runs from the point named like its source site.
    :param clock: our time, seconds since the epoch.
    """

    def __init__(self, points: Mapping[str, Point], clock: Callable[[], float] = time.time) -> None:
        self._points = points
        self._clock = clock
        self._open: dict[str, tuple[PSchedulerClient, PostedTask]] = {}
        self._lock = threading.Lock()

    def run(self, test: PlannedTest) -> list[Outcome]:
        """Run a test once: for each metric wanted a measurement, or why there is none.

        :raises Stopped: at shutdown.
        """
        try:
            return self._measure(test)
        except PointError as error:
            at = self._clock()
            return [MeasurementFailed(test.key, metric, str(error), at) for metric in test.metrics]

    def cancel_all(self) -> list[PointError]:
        """Cancel every task still open, as far as the points can be reached; returns what went wrong."""
        with self._lock:
            tasks = list(self._open.values())
            self._open.clear()
        found = []
        for client, task in tasks:
            try:
                client.cancel(task)
            except PointError as error:
                found.append(error)
        return found

    def _measure(self, test: PlannedTest) -> list[Outcome]:
        client = self._lead(test)
        clock = client.server_clock()
        asked_at = clock.at_server(self._clock())
        run, tool = self._execute(client, test, clock)
        return [
            self._outcome(test.key, reading, run, clock, tool)
            for reading in results.read(run, test.request, asked_at)
            if reading.metric in test.metrics
        ]

    def _lead(self, test: PlannedTest) -> PSchedulerClient:
        """The client of the point that must be given the task: participant 0, the source's point."""
        asked = self._points[test.key.source]
        name = asked.client.lead(test.request)
        if name is None or name == asked.node:
            return asked.client
        for point in self._points.values():
            if point.node == name:
                return point.client
        raise BadAnswer(asked.client.host, f"participants: the lead {name!r} is no configured point")

    def _execute(self, client: PSchedulerClient, test: PlannedTest, clock: ServerClock) -> tuple[Run, str]:
        task = client.post(test.request, Schedule(slip=SLIP))
        with self._lock:
            self._open[task.uuid] = (client, task)
        run: Run | None = None
        try:
            lasts = test.request.lasts
            run = client.ended(
                task, client.first_run(task), clock, lasts=lasts, patience=SLIP + lasts + PATIENCE
            )
            return run, client.tool(task)
        finally:
            with self._lock:
                still_ours = self._open.pop(task.uuid, None) is not None
            if still_ours and (run is None or not run.state.terminal):
                self._give_up(client, task)

    def _give_up(self, client: PSchedulerClient, task: PostedTask) -> None:
        # What nobody waits for any more must not load the network later.
        try:
            client.cancel(task)
        except PointError:
            # The reason why it was given up is the one to report, and it is already on its way.
            return

    def _outcome(
        self,
        key: PathKey,
        reading: results.Reading | results.Refused,
        run: Run,
        clock: ServerClock,
        tool: str,
    ) -> Outcome:
        now = self._clock()
        host = run.document.host
        if isinstance(reading, results.Refused):
            return MeasurementFailed(key, reading.metric, f"{host}: {reading.cause}", now)
        if tool == HALF_PING and reading.metric is Metric.ONE_WAY_DELAY:
            return MeasurementFailed(key, reading.metric, f"{host}: halfping halves the round trip", now)
        observed = min(now, clock.ours(run.end))
        started = min(observed, clock.ours(run.start))
        try:
            return Measurement(
                key, reading.metric, reading.value, started, observed, run.url, tool, reading.parameters
            )
        except ValueError as error:
            return MeasurementFailed(key, reading.metric, f"{host}: {error}", now)

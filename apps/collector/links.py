"""What passes between the collector, the controller and the web process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from adon.errors import AdonError
from adon.measurement_plan import MeasurementPlan
from apps.collector.collector import Inbox
from apps.collector.conductor import Conductor
from apps.collector.deployed import Lists, read_lists, read_series
from apps.collector.keeper import Keeper
from apps.collector.planner import Planner
from apps.link import LinkClient, LinkServer
from measurement.anomaly.alarm import Alarm
from measurement.errors import shorten
from measurement.model import Measurement, Metric, Observation, PathKey, from_json, to_json
from measurement.notify.outbox import Delivery
from measurement.psconfig.needs import from_json as needs_from_json

LOG = logging.getLogger(__name__)
TESTS: Mapping[Metric, str] = {
    Metric.THROUGHPUT: "throughput",
    Metric.RTT: "rtt",
    Metric.ONE_WAY_DELAY: "latency",
    Metric.JITTER: "latency",
    Metric.LOSS: "latency",
}
"""Which test gives a metric; health is of rounds among instances (:mod:`apps.collector.rounds`)."""


class WebSide:
    """What the web processes that are connected to our own socket are told.

    :ivar server: our own socket's, once it is there.
    """

    def __init__(self) -> None:
        self.server: LinkServer | None = None

    def alarm(self, alarm: Alarm) -> None:
        """An alarm has news."""
        self._tell("alarm", to_json(alarm))

    def notice(self, delivery: Delivery) -> None:
        """What somebody has subscribed to on the event stream."""
        found = [to_json(alarm) for alarm in delivery.alarms]
        owner = delivery.subscription.owner
        self._tell("notice", {"owner": owner, "subscription": delivery.subscription.id, "alarms": found})

    def value(self, measured: Measurement) -> None:
        """A metric of a path has a new value."""
        body = {**measured.series._asdict(), "value": measured.value, "observed_at": measured.observed_at}
        self._tell("path", body)

    def _tell(self, kind: str, payload: Mapping[str, Any]) -> None:
        if self.server is not None:
            self.server.broadcast(kind, payload, "web")


def listen(
    link: LinkClient,
    inbox: Inbox,
    keeper: Keeper,
    conductor: Conductor,
    planner: Planner,
    watch: Callable[[Lists], None] = lambda _: None,
) -> None:
    """Have the controller's messages carried out by the collector's thread.

    :param planner: plans for what templates need in the link's thread, because that may take seconds.
    :param watch: has watched what flows that run want watched.
    """

    def on_quiet(payload: dict[str, Any]) -> None:
        paths = payload.get("paths")
        if isinstance(paths, list) and all(isinstance(path, str) for path in paths):
            inbox.call(lambda: _be_quiet(keeper, conductor, frozenset(paths)))
        else:
            # From our own controller: keep the last list that made sense, and say so.
            _bad("quiet", payload)

    def on_measure(payload: dict[str, Any]) -> None:
        inbox.call(lambda: _measure(conductor, payload))

    def on_observation(payload: dict[str, Any]) -> None:
        try:
            observation = from_json(Observation, payload)
        except ValueError:
            _bad("observation", payload)
            return
        inbox.call(lambda: _keep_observation(keeper, observation))

    def on_needs(payload: dict[str, Any]) -> None:
        try:
            needs = needs_from_json(payload)
        except ValueError:
            _bad("needs", payload)
        else:
            planner.replan(needs=needs)

    def on_monitor(payload: dict[str, Any]) -> None:
        try:
            series, lists = read_series(payload), read_lists(payload)
        except ValueError:
            _bad("monitor", payload)
            return
        inbox.call(lambda: keeper.tell_of(series))
        watch(lists)

    link.on("monitor", on_monitor)
    link.on("quiet", on_quiet)
    link.on("needs", on_needs)
    link.on("measure", on_measure)
    link.on("observation", on_observation)
    link.on("hello", lambda _: inbox.call(lambda: _greet(keeper, conductor)))


def carry_out(keeper: Keeper, conductor: Conductor, plan: MeasurementPlan) -> None:
    """Carry out another plan, and expect its values."""
    conductor.replan(plan)
    keeper.expect(plan.expected(conductor.quiet))


def _be_quiet(keeper: Keeper, conductor: Conductor, paths: frozenset[str]) -> None:
    conductor.be_quiet(paths)
    keeper.expect(conductor.plan.expected(paths))  # silence there is no alarm


def _greet(keeper: Keeper, conductor: Conductor) -> None:
    if conductor.measures:  # else what we remember is older than what is known
        keeper.greet()


def _keep_observation(keeper: Keeper, observation: Any) -> None:
    keeper.keep([observation])


def _measure(conductor: Conductor, payload: Mapping[str, Any]) -> None:
    try:
        key, metric = from_json(PathKey, payload["key"]), Metric(payload["metric"])
    except (KeyError, TypeError, ValueError):
        _bad("measure", payload)
        return
    if metric not in TESTS:
        LOG.info('event=not_demanded key=%s metric=%s cause="rounds have their own times"', key, metric)
        return
    try:
        conductor.demand(conductor.test_of(key, TESTS[metric]), str(payload.get("reason", "")))
    except AdonError as error:
        LOG.info('event=not_demanded key=%s metric=%s cause="%s"', key, metric, error)


def _bad(kind: str, payload: Mapping[str, Any]) -> None:
    LOG.error("event=bad_message kind=%s payload=%s", kind, shorten(str(payload)))

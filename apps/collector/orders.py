"""From the configuration to planned tests and measurement points; the only place that knows both."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from adon.config import Configuration, MeasurementPoint, MeasurementTest
from adon.errors import InvalidInput
from measurement.model import Metric, PathKey
from measurement.plan import PlannedTest
from measurement.poller import Point
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.transport import Verify

LOG = logging.getLogger(__name__)
_LATENCY = (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)


def planned_tests(configuration: Configuration) -> list[PlannedTest]:
    """Every periodic test that the configuration asks for."""
    return [
        planned
        for test in configuration.measurements.tests
        for planned in _of_direction(test, configuration.measurements.points)
    ]


def _of_direction(test: MeasurementTest, known: Mapping[str, MeasurementPoint]) -> Iterator[PlannedTest]:
    key = PathKey(test.path, test.from_, test.to)
    both = frozenset({test.from_, test.to})
    ends = specs.Ends(str(test.source), str(test.destination), node(known[test.from_]), node(known[test.to]))
    if test.throughput_period is not None:
        request = specs.throughput(ends, test.throughput_duration, test.streams)
        yield PlannedTest(key, request, (Metric.THROUGHPUT,), both, test.throughput_period)
    if test.rtt_period is not None:
        # The loss of a ping is that of both directions: kept only where nothing better is measured.
        metrics = (Metric.RTT,) if test.latency_period is not None else (Metric.RTT, Metric.LOSS)
        yield PlannedTest(key, specs.rtt(ends, test.rtt_count), metrics, both, test.rtt_period)
    if test.latency_period is not None:
        request = specs.latency(ends, test.latency_packets, test.latency_interval)
        yield PlannedTest(key, request, _LATENCY, both, test.latency_period)


def node(point: MeasurementPoint) -> str:
    """The name by which other points reach this one: as configured, else as in its URL."""
    return point.node if point.node is not None else urlsplit(point.url).netloc


def points(configuration: Configuration, folder: Path, pause: Callable[[float], None]) -> dict[str, Point]:
    """A client for each measurement point.

    :param folder: where the configuration file is; certificate files are named relative to it.
    :param pause: sleeps; raises at shutdown.
    :raises InvalidInput: for a URL or certificate file that cannot be used.
    """
    return {
        name: Point(_client(name, point, folder, pause), node(point))
        for name, point in configuration.measurements.points.items()
    }


def _client(
    name: str, point: MeasurementPoint, folder: Path, pause: Callable[[float], None]
) -> PSchedulerClient:
    verify = _verify(point, folder)
    if verify is False:
        LOG.warning("event=certificate_not_verified point=%s url=%s", name, point.url)
    try:
        return PSchedulerClient(point.url, verify, pause=pause)
    except ValueError as error:
        raise InvalidInput.of(f"measurements.points.{name}", str(error)) from None


def _verify(point: MeasurementPoint, folder: Path) -> Verify:
    if point.verify in ("system", "none"):
        return point.verify == "system"
    return str(folder / point.verify)

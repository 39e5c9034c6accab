"""From the configuration to planned tests and measurement points; the only place that knows both."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from adon.config import Configuration, MeasurementPoint, MeasurementTest
from adon.errors import InvalidInput
from measurement.model import Metric, PathKey, Series
from measurement.poller import PathTest, Point
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.specs import Kind
from measurement.pscheduler.transport import Credentials, Verify
from measurement.scheduling import (
    Agreement,
    HyperperiodTooLong,
    NoSchedule,
    Request,
    Schedule,
    Task,
    schedule,
)

LOG = logging.getLogger(__name__)
_LATENCY = (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and when.

    :param tests: per task of the schedule the test it stands for.
    :param loads: per task that fills a path, the path.
    """

    schedule: Schedule
    tests: Mapping[str, PathTest]
    loads: Mapping[str, str]

    def expected(self, quiet: Collection[str] = ()) -> dict[Series, float]:
        """Per series the seconds between its values; infinity for what is not measured on quiet paths."""
        return {
            Series(*test.key, metric.value): (
                math.inf if self.loads.get(name) in quiet else self.schedule.tasks[name].period
            )
            for name, test in self.tests.items()
            for metric in test.metrics
        }

    def request(self, test: PathTest, number: int, over_by: float) -> Request:
        """One run of a test beside the plan.

        :param number: makes its name unique.
        :param over_by: the wall time at which it must be over.
        """
        like = self.schedule.tasks[task_id(test)]
        return Request(
            id=f"{like.id}/on demand {number}",
            source=like.source,
            destination=like.destination,
            tool=like.tool,
            duration=like.duration,
            deadline=over_by,
            points=like.points,
            links=like.links,
            loads=like.loads,
            load=like.load,
        )


def task_id(test: PathTest) -> str:
    """The name of a test's task in the schedule: a directed path has at most one test of each kind."""
    return f"{test.key}/{test.request.kind}"


def plan(configuration: Configuration) -> Plan:
    """The conflict-free schedule (EDF-CE) of every periodic test that the configuration asks for.

    :raises InvalidInput: when there is none, naming the test, what it conflicts with, and what would fit.
    """
    wanted = list(_wanted(configuration))
    tasks = [task for task, _ in wanted]
    try:
        found = schedule(tasks, agreement(configuration))
    except (HyperperiodTooLong, ValueError) as error:
        raise InvalidInput.of("measurements.tests", str(error)) from None
    if isinstance(found, NoSchedule):
        raise InvalidInput.of("measurements.tests", found.text)
    loads = {task.id: test.key.path for task, test in wanted if task.loads}
    return Plan(found, {task.id: test for task, test in wanted}, loads)


def agreement(configuration: Configuration) -> Agreement:
    """What tests may offer at any instant: a path's capacity, unless the configuration says otherwise."""
    capacities = {name: path.capacity for name, path in configuration.paths.items()}
    return Agreement({**capacities, **configuration.measurements.agreement})


def _wanted(configuration: Configuration) -> Iterator[tuple[Task, PathTest]]:
    for number, test in enumerate(configuration.measurements.tests):
        for period, path_test in _of_direction(test, configuration.measurements.points):
            rate = test.throughput_rate
            yield task(configuration, path_test, period, rate, f"measurements.tests.{number}"), path_test


def task(configuration: Configuration, test: PathTest, period: float, rate: float | None, where: str) -> Task:
    """A periodic test as a task of the schedule, in whole seconds as the points' clocks have it.

    :param rate: what it offers to the path if it loads it; None for all the path carries.
    :raises InvalidInput: for a period that is no whole number of seconds.
    """
    if period != int(period):
        raise InvalidInput.of(where, f"a period of {period:g} s is no whole number of seconds")
    measurements, path = configuration.measurements, configuration.paths[test.key.path]
    loads = test.request.kind == Kind.THROUGHPUT
    around = measurements.around_throughput if loads else measurements.around_others
    links = frozenset({test.key.path, *path.links})
    # Whole bits/s, rounded down: a test that offers exactly what is allowed must fit.
    offered = math.floor(path.capacity if rate is None else rate)
    return Task(
        id=task_id(test),
        source=test.key.source,
        destination=test.key.destination,
        tool=str(test.request.kind),
        period=period,
        duration=math.ceil(test.request.lasts + around),
        deadline=None,
        points=frozenset({test.key.source, test.key.destination}),
        links=links,
        loads=loads,
        load=dict.fromkeys(links, offered) if loads else {},
    )


def _of_direction(
    test: MeasurementTest, known: Mapping[str, MeasurementPoint]
) -> Iterator[tuple[float, PathTest]]:
    key = PathKey(test.path, test.from_, test.to)
    ends = specs.Ends(str(test.source), str(test.destination), node(known[test.from_]), node(known[test.to]))
    if test.throughput_period is not None:
        request = specs.throughput(ends, test.throughput_duration, test.streams, rate=test.throughput_rate)
        yield test.throughput_period, PathTest(key, request, (Metric.THROUGHPUT,))
    if test.rtt_period is not None:
        # The loss of a ping is that of both directions: kept only where nothing better is measured.
        metrics = (Metric.RTT,) if test.latency_period is not None else (Metric.RTT, Metric.LOSS)
        yield test.rtt_period, PathTest(key, specs.rtt(ends, test.rtt_count), metrics)
    if test.latency_period is not None:
        request = specs.latency(ends, test.latency_packets, test.latency_interval)
        yield test.latency_period, PathTest(key, request, _LATENCY)


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
        return PSchedulerClient(point.url, verify, pause=pause, credentials=_credentials(name, point, folder))
    except ValueError as error:
        raise InvalidInput.of(f"measurements.points.{name}", str(error)) from None


def _verify(point: MeasurementPoint, folder: Path) -> Verify:
    if point.verify in ("system", "none"):
        return point.verify == "system"
    return str(folder / point.verify)


def _credentials(name: str, point: MeasurementPoint, folder: Path) -> Credentials:
    token = None
    if point.token_file is not None:
        token = secret(folder / point.token_file, f"measurements.points.{name}.token_file")
    certificate = None
    if point.client_certificate is not None and point.client_key is not None:
        certificate = (folder / point.client_certificate, folder / point.client_key)
    return Credentials(token, certificate)


def secret(file: Path, field: str) -> str:
    """What a file of one secret holds.

    :raises InvalidInput: naming the field, if it cannot be read or is empty.
    """
    try:
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "is not text"
        raise InvalidInput.of(field, f"{file.name}: {cause}") from None
    if not text:
        raise InvalidInput.of(field, f"{file.name}: is empty")
    return text

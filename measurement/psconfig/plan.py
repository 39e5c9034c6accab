"""From the tasks of a pSConfig template to tasks of our own conflict-free plan: pure.

A repeating task becomes one periodic task of the scheduler; its slip becomes its deadline.  How long a test
takes is reckoned from its specification as pScheduler's plug-ins do, with their defaults.  Tests in the
background (``latencybg``) run without end beside all others, and have no place in a plan; they are given back
apart, like tasks that run only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer
from measurement.pscheduler import validation
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import parse_duration
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.psconfig.expand import Expanded
from measurement.scheduling import Task

_OTHERS_LAST = 10.0


@dataclass(frozen=True, slots=True)
class Route:
    """What a test between two addresses uses.

    :param points: the measurement points at its ends.
    :param links: the links that its packets cross.
    :param capacity: per link or domain, bits/s: what a TCP throughput test offers there.
    """

    points: frozenset[str]
    links: frozenset[str]
    capacity: Mapping[str, float]


RouteOf = Callable[[str, str], Route | None]
"""From the addresses of both ends (the same twice for a test of one host) to what a test uses."""


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task of the template that the scheduler places."""

    task: Task
    request: TestRequest
    origin: Expanded


@dataclass(frozen=True, slots=True)
class Plan:
    """What a template asks for.

    :param periodic: for the scheduler.
    :param background: tests that run without end.
    :param once: tests that run once, to be asked for on demand.
    :param refused: one line for each task that cannot be planned.
    """

    periodic: tuple[PlannedTask, ...]
    background: tuple[tuple[TestRequest, Expanded], ...]
    once: tuple[tuple[TestRequest, Expanded], ...]
    refused: tuple[str, ...]


def plan(expanded: Iterable[Expanded], route_of: RouteOf) -> Plan:
    """Sort a template's tasks; nothing in it stops the others from being planned."""
    periodic: list[PlannedTask] = []
    background: list[tuple[TestRequest, Expanded]] = []
    once: list[tuple[TestRequest, Expanded]] = []
    refused: list[str] = []
    for each in expanded:
        try:
            request = request_of(each)
            period = _period(each)
            if request.kind == Kind.LATENCYBG:
                background.append((request, each))
            elif period is None:
                once.append((request, each))
            else:
                periodic.append(PlannedTask(_task(each, request, period, route_of), request, each))
        except ValueError as error:
            refused.append(f"{each.id}: {error}")
    return Plan(tuple(periodic), tuple(background), tuple(once), tuple(refused))


def request_of(expanded: Expanded) -> TestRequest:
    """The test to ask for.

    :raises ValueError: when its specification is not one.
    """
    try:
        lasts = lasting(expanded.test, expanded.spec)
    except BadAnswer as error:
        raise ValueError(error.cause) from None
    request = TestRequest(expanded.test, expanded.spec, lasts)
    problems = validation.problems(request)
    if problems:
        raise ValueError("; ".join(problems))
    return request


def lasting(test: str, spec: Mapping[str, object]) -> float:
    """Seconds that a test measures, with the defaults of pScheduler's plug-ins.

    :raises BadAnswer: naming the field that is wrong.
    """
    given = Document("template", "spec", spec)
    if test == Kind.RTT:
        return _number(given, "count", 5) * _seconds(given, "interval", 1.0)
    if test == Kind.LATENCY:
        packets = _number(given, "packet-count", 100) * _number(given, "packet-interval", 0.1)
        return packets + _number(given, "packet-timeout", 0)
    if test == Kind.LATENCYBG:
        return _seconds(given, "duration", 86_400.0)
    return _seconds(given, "duration", _OTHERS_LAST)


def _number(given: Document, field: str, default: float) -> float:
    return given.amount(field) if given.has(field) else default


def _seconds(given: Document, field: str, default: float) -> float:
    return given.seconds(field) if given.has(field) else default


def _period(expanded: Expanded) -> float | None:
    schedule = expanded.schedule
    return None if schedule is None or schedule.repeat is None else parse_duration(schedule.repeat)


def _task(expanded: Expanded, request: TestRequest, period: float, route_of: RouteOf) -> Task:
    first, last = expanded.places[0], expanded.places[-1]
    route = route_of(first.address, last.address)
    if route is None:
        raise ValueError(f"no known path leads from {first.address} to {last.address}")
    loads = request.kind == Kind.THROUGHPUT
    return Task(
        expanded.id,
        first.address,
        last.address,
        expanded.tools[0] if expanded.tools else request.kind,
        period,
        request.slot,
        _deadline(expanded, request, period),
        route.points,
        route.links,
        loads,
        load=_load(request, route) if loads else {},
    )


def _deadline(expanded: Expanded, request: TestRequest, period: float) -> float | None:
    """A run that may slip must be over that much later than one that starts on time."""
    if expanded.schedule is None or expanded.schedule.slip is None:
        return None
    return min(period, request.slot + parse_duration(expanded.schedule.slip))


def _load(request: TestRequest, route: Route) -> dict[str, float]:
    bandwidth = request.spec.get("bandwidth")
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, int | float):
        return dict(route.capacity)
    return {where: min(capacity, float(bandwidth)) for where, capacity in route.capacity.items()}

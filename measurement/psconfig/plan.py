"""From the tasks of a pSConfig template to tasks of our own conflict-free plan: pure.

A repeating task becomes one periodic task of the scheduler; its slip becomes its deadline.  How long a test
takes is reckoned from its specification as pScheduler's plug-ins do, with their defaults.  Tests in the
background (``latencybg``) run without end beside all others, and have no place in a plan, nor have tasks that
end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer
from measurement.pscheduler import validation
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import parse_duration
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.psconfig.errors import CannotPlan, SkippedTask, SkipReason, merge_skipped
from measurement.psconfig.expand import Expanded
from measurement.scheduling import Task

_OTHERS_LAST = 10.0
TOOLS: Mapping[str, frozenset[str]] = {
    Kind.THROUGHPUT: frozenset({"ethr", "iperf2", "iperf3", "nuttcp"}),
    Kind.RTT: frozenset({"ping", "tcpping", "twping"}),
    Kind.LATENCY: frozenset({"owping", "twping"}),
    Kind.LATENCYBG: frozenset({"powstream"}),
    Kind.TRACE: frozenset({"paris-traceroute", "tracepath", "traceroute"}),
}
"""Per test whose results are read, the pScheduler tools whose results are believed."""


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
    :param skipped: what cannot be planned, one record for each task and reason.
    """

    periodic: tuple[PlannedTask, ...]
    skipped: tuple[SkippedTask, ...]


def plan(expanded: Iterable[Expanded], route_of: RouteOf) -> Plan:
    """Sort a template's tasks; nothing in it stops the others from being planned."""
    periodic: list[PlannedTask] = []
    skipped: list[SkippedTask] = []
    for each in expanded:
        try:
            periodic.append(_plan_task(each, route_of))
        except CannotPlan as error:
            skipped.append(error.skip(each.name))
        except ValueError as error:
            skipped.append(SkippedTask(each.name, SkipReason.SPEC, str(error)))
    return Plan(tuple(periodic), merge_skipped(skipped))


def _plan_task(expanded: Expanded, route_of: RouteOf) -> PlannedTask:
    if expanded.test not in TOOLS:
        raise CannotPlan(SkipReason.TEST, f"the results of test {expanded.test} are not read")
    if expanded.tools and TOOLS[expanded.test].isdisjoint(expanded.tools):
        raise CannotPlan(SkipReason.TOOL, f"no known tool of {expanded.test}: {', '.join(expanded.tools)}")
    if expanded.test == Kind.LATENCYBG:
        raise CannotPlan(SkipReason.BACKGROUND, "runs without end, which this plan has no place for")
    period = _period(expanded)
    first, last = expanded.places[0].address, expanded.places[-1].address
    route = route_of(first, last)
    if route is None:
        raise CannotPlan(SkipReason.NO_PATH, f"no known path leads from {first} to {last}")
    request = request_of(expanded)
    return PlannedTask(_task(expanded, request, period, route), request, expanded)


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
    return _seconds(given, "duration", _OTHERS_LAST)


def _number(given: Document, field: str, default: float) -> float:
    return given.amount(field) if given.has(field) else default


def _seconds(given: Document, field: str, default: float) -> float:
    return given.seconds(field) if given.has(field) else default


def _period(expanded: Expanded) -> float:
    schedule = expanded.schedule
    if schedule is None or schedule.repeat is None or schedule.until or schedule.max_runs:
        raise CannotPlan(SkipReason.NOT_PERIODIC, "runs once or ends, which this plan has no place for")
    try:
        period = parse_duration(schedule.repeat)
        parse_duration(schedule.slip or "P0D")
    except ValueError as error:
        raise CannotPlan(SkipReason.SCHEDULE, f"schedule: {error}") from None
    if period == 0:
        raise CannotPlan(SkipReason.SCHEDULE, "schedule: a repeat interval of zero; expected PT1S or more")
    return period


def _task(expanded: Expanded, request: TestRequest, period: float, route: Route) -> Task:
    first, last = expanded.places[0], expanded.places[-1]
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

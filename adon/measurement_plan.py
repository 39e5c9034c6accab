"""Conflict-free plan of tests, from the configuration and the needs of templates.

Three things ask for tests: the configuration's own periods; a pSConfig template, where one is named; and,
where ``measurements.follow_templates`` is on, the registered application templates: each measured
direction is then tested often enough that no value is ever older than the most demanding template admits
(:mod:`measurement.psconfig.mesh`).  What the configuration says is done; what templates need in addition is
fitted around it, at periods that EDF-CE proves to fit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adon.config import Configuration
from adon.config.checks import SHORTEST_THROUGHPUT
from adon.config.measurements import MeasurementTest
from adon.errors import InvalidInput
from adon.units import format_duration
from measurement.model import Metric, PathKey, Series
from measurement.poller import PathTest
from measurement.pscheduler import specs
from measurement.pscheduler.specs import Kind
from measurement.psconfig import plan as psconfig_plan
from measurement.psconfig import write
from measurement.psconfig.errors import SkippedTask, SkipReason, merge_skipped
from measurement.psconfig.expand import Expansion
from measurement.psconfig.mesh import Need, longest_period
from measurement.scheduling import (
    Agreement,
    Flexible,
    HyperperiodTooLong,
    NoSchedule,
    Request,
    Schedule,
    Task,
    fit_periods,
    schedule,
)

METRICS: Mapping[str, tuple[Metric, ...]] = {
    Kind.THROUGHPUT: (Metric.THROUGHPUT,),
    Kind.RTT: (Metric.RTT,),
    Kind.LATENCY: (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS),
}
"""Stored metrics of each kind of test."""
SECOND = 1.0
NO_NEEDS: Mapping[Metric, Need] = {}
NO_PSCONFIG = Expansion()
Slots = Mapping[str, float]
"""Reported seconds that the points of a task reserve for it, by task."""
NO_SLOTS: Slots = {}


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """Schedule of all tests.

    :param tests: the test of each task of the schedule.
    :param loads: the path of each task that loads a path.
    :param notes: one line for each requested test that is not in the plan.
    """

    schedule: Schedule
    tests: Mapping[str, PathTest]
    loads: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def expected(self, quiet: Collection[str] = ()) -> dict[Series, float]:
        """Return the seconds between the values of each series; infinity for series of busy paths only."""
        return {
            Series(*test.key, metric.value): (
                math.inf if self.loads.get(name) in quiet else self.schedule.tasks[name].period
            )
            for name, test in self.tests.items()
            for metric in test.metrics
        }

    def request(self, test: PathTest, number: int, over_by: float) -> Request:
        """Return a run of a test in addition to the plan.

        :param number: unique number in its name.
        :param over_by: latest end in wall time.
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


@dataclass(frozen=True, slots=True)
class _Demand:
    """Requested test.

    :param task: task with the shortest useful period.
    :param longest: longest useful period.
    """

    test: PathTest
    task: Task
    longest: float


def task_id(test: PathTest) -> str:
    """Return the name of a test's task; a directed path has at most one test of each kind."""
    return f"{test.key}/{test.request.kind}"


def load_agreement(configuration: Configuration) -> Agreement:
    """Return the maximum load of tests: a path's capacity, unless the configuration limits it."""
    capacities = {name: path.capacity for name, path in configuration.paths.items()}
    return Agreement({**capacities, **configuration.measurements.agreement})


def plan_measurements(
    configuration: Configuration,
    needs: Mapping[Metric, Need] = NO_NEEDS,
    psconfig: Expansion = NO_PSCONFIG,
    slots: Slots = NO_SLOTS,
) -> MeasurementPlan:
    """Return the conflict-free schedule (EDF-CE) of all requested periodic tests.

    :param needs: needs of registered templates; used if the configuration follows templates.
    :param psconfig: tasks of a pSConfig template.
    :param slots: reports of points.
    :raises InvalidInput: when what the configuration itself asks for cannot be scheduled, naming the test,
        what it conflicts with, and what would fit.
    """
    wanted = {task_id(each.test): each for each in _list_configured(configuration, slots)}
    found = _schedule_demands(configuration, list(wanted.values()))
    extra, notes = _list_psconfig_tests(configuration, psconfig, wanted, slots)
    everything = wanted | {task_id(each.test): each for each in extra}
    try:
        if configuration.measurements.follow_templates:
            added = _list_needed(configuration, needs, everything, slots)
            everything |= {task_id(each.test): each for each in added}
        if everything != wanted:
            found, wanted = _schedule_demands(configuration, list(everything.values())), everything
    except InvalidInput as error:
        notes.append(f"the needs of templates do not fit: {error}")
    loads = {name: each.test.key.path for name, each in wanted.items() if each.task.loads}
    return MeasurementPlan(found, {name: each.test for name, each in wanted.items()}, loads, tuple(notes))


def _schedule_demands(configuration: Configuration, wanted: Sequence[_Demand]) -> Schedule:
    limits = load_agreement(configuration)
    try:
        if all(each.longest == each.task.period for each in wanted):
            found = schedule([each.task for each in wanted], limits)
        else:
            flexible = [Flexible(each.task, each.longest) for each in wanted]
            found = fit_periods(flexible, limits, grid=SECOND)
    except (HyperperiodTooLong, ValueError) as error:
        raise InvalidInput.of("measurements.tests", error) from None
    if isinstance(found, NoSchedule):
        raise InvalidInput.of("measurements.tests", found.text)
    return found


def _list_configured(configuration: Configuration, slots: Slots) -> Iterator[_Demand]:
    for number, test in enumerate(configuration.measurements.tests):
        for kind, period in _periods(test).items():
            if period is None:
                continue
            where = f"measurements.tests.{number}.{kind}_period"
            if period != int(period):
                cause = f"{period:g} s is no whole number of seconds"
                raise InvalidInput.of(where, f"{cause}; write for example {max(60, int(period))} s")
            path_test = _path_test(configuration, test, kind, _periods(test))
            slot = _test_slot(configuration, path_test, slots)
            if slot > period:
                cause = f"{period:g} s is too short: one test takes {slot} s, with its reserved time"
                cause = f"{cause}; write for example {format_duration(60 * slot)}"
                raise InvalidInput.of(where, cause, "out-of-range")
            rate = test.throughput_rate
            yield _Demand(path_test, _task(configuration, path_test, period, slot, rate), period)


def _periods(test: MeasurementTest) -> dict[Kind, float | None]:
    return {
        Kind.THROUGHPUT: test.throughput_period,
        Kind.RTT: test.rtt_period,
        Kind.LATENCY: test.latency_period,
    }


def _list_needed(
    configuration: Configuration, needs: Mapping[Metric, Need], known: Mapping[str, _Demand], slots: Slots
) -> list[_Demand]:
    """Yield the tests that templates need and that have no test, or a test with a longer period."""
    return [
        found
        for test in configuration.measurements.tests
        for kind, metrics in METRICS.items()
        for found in _needed_of(
            configuration, test, Kind(kind), [needs[m] for m in metrics if m in needs], known, slots
        )
    ]


def _needed_of(
    configuration: Configuration,
    test: MeasurementTest,
    kind: Kind,
    needs: Sequence[Need],
    known: Mapping[str, _Demand],
    slots: Slots,
) -> Iterator[_Demand]:
    if not needs:
        return
    path_test = _path_test(configuration, test, kind, dict.fromkeys(Kind, 0.0))
    longest = math.floor(longest_period(min(need.max_age for need in needs), path_test.request.lasts))
    held = known.get(task_id(path_test))
    if held is not None and held.longest <= longest:
        return
    slot = _test_slot(configuration, path_test, slots)
    shortest = max(slot, math.ceil(longest / 2))
    if longest < slot:
        raise InvalidInput.of(
            "templates", f"{task_id(path_test)}: needed every {longest} s, but one test takes {slot} s"
        )
    yield _Demand(path_test, _task(configuration, path_test, shortest, slot, test.throughput_rate), longest)


def _path_test(
    configuration: Configuration, test: MeasurementTest, kind: Kind, periods: Mapping[Kind, float | None]
) -> PathTest:
    known, one_way = configuration.measurements.points, configuration.measurements.one_way
    ends = specs.Ends(
        str(test.source), str(test.destination), known[test.from_].node_name, known[test.to].node_name
    )
    metrics = METRICS[kind]
    if kind is Kind.THROUGHPUT:
        request = specs.throughput(ends, test.throughput_duration, test.streams, rate=test.throughput_rate)
    elif kind is Kind.RTT:
        request = specs.rtt(ends, test.rtt_count)
        if periods.get(Kind.LATENCY) is None and test.key not in one_way:
            # A ping measures the loss of both directions; it counts only without a one-way test.
            metrics = (Metric.RTT, Metric.LOSS)
    else:
        request = specs.latency(ends, test.latency_packets, test.latency_interval)
    return PathTest(test.key, request, metrics)


def _test_slot(configuration: Configuration, test: PathTest, slots: Slots) -> int:
    """Return whole seconds, the resolution of the points' schedules."""
    measurements, request = configuration.measurements, test.request
    if (reported := slots.get(task_id(test))) is not None:
        return math.ceil(reported)
    loads = request.kind == Kind.THROUGHPUT
    length = request.lasts + (measurements.around_throughput if loads else measurements.around_others)
    theirs = request.kind == Kind.LATENCY and not _is_ours(configuration, test.key)
    return math.ceil(max(length, request.slot) if theirs else length)


def _is_ours(configuration: Configuration, key: PathKey) -> bool:
    points = configuration.measurements.points
    return points[key.source].is_ours and points[key.destination].is_ours


def _task(configuration: Configuration, test: PathTest, period: float, slot: int, rate: float | None) -> Task:
    """Return a periodic test as a task of the schedule.

    :param rate: offered load in bits/s of a test that loads the path; None for the path's capacity.
    """
    path = configuration.paths[test.key.path]
    links = frozenset({test.key.path, *path.links})
    loads = test.request.kind == Kind.THROUGHPUT
    # Whole bits/s, rounded down: a test with exactly the permitted load must fit.
    offered = math.floor(path.capacity if rate is None else rate)
    return Task(
        id=task_id(test),
        source=test.key.source,
        destination=test.key.destination,
        tool=str(test.request.kind),
        period=period,
        duration=slot,
        deadline=None,
        points=frozenset({test.key.source, test.key.destination}),
        links=links,
        loads=loads,
        load=dict.fromkeys(links, offered) if loads else {},
    )


def _list_psconfig_tests(
    configuration: Configuration, template: Expansion, known: Mapping[str, _Demand], slots: Slots
) -> tuple[list[_Demand], list[str]]:
    """Return a pSConfig template's tests between addresses pinned to a path, and notes on other tests."""
    pinned = {
        (str(test.source), str(test.destination)): test.key for test in configuration.measurements.tests
    }

    def route_of(source: str, destination: str) -> psconfig_plan.Route | None:
        key = pinned.get((source, destination))
        if key is None:
            return None
        path = configuration.paths[key.path]
        links = frozenset({key.path, *path.links})
        capacity = dict.fromkeys(links, float(math.floor(path.capacity)))
        return psconfig_plan.Route(frozenset({key.source, key.destination}), links, capacity)

    read = psconfig_plan.plan(template.tasks, route_of)
    skipped = [*template.skipped, *read.skipped]
    found: dict[str, _Demand] = {}
    for planned in read.periodic:
        first, last = planned.origin.places[0].address, planned.origin.places[-1].address
        metrics = METRICS.get(planned.request.kind, ())
        test = PathTest(pinned[first, last], planned.request, metrics)
        name = task_id(test)
        if name in known or name in found:
            text = f"{name} is in the plan already"
            skipped.append(SkippedTask(planned.origin.name, SkipReason.PLANNED, text))
            continue
        throughput, lasts = test.request.kind == Kind.THROUGHPUT, test.request.lasts
        if throughput and lasts <= SHORTEST_THROUGHPUT and not _is_ours(configuration, test.key):
            text = f"{name}: {lasts:g} s is too short for pScheduler; expected more than 3 s, such as PT10S"
            skipped.append(SkippedTask(planned.origin.name, SkipReason.SPEC, text))
            continue
        period = math.floor(planned.task.period)
        slot = math.ceil(slots.get(name, planned.task.duration))
        deadline = planned.task.deadline and max(planned.task.deadline, slot)
        task = replace(planned.task, id=name, period=period, duration=slot, deadline=deadline)
        found[name] = _Demand(test, task, period)
    return list(found.values()), list(map(str, merge_skipped(skipped)))


def as_psconfig(configuration: Configuration, found: MeasurementPlan) -> dict[str, Any]:
    """Return the plan as a pSConfig template (JSON), for the agents of an existing perfSONAR site."""
    nodes = {name: point.node_name for name, point in configuration.measurements.points.items()}
    addresses = {
        test.key: (str(test.source), str(test.destination)) for test in configuration.measurements.tests
    }
    planned = [
        write.Planned(
            write.End(test.key.source, addresses[test.key][0], nodes[test.key.source]),
            write.End(test.key.destination, addresses[test.key][1], nodes[test.key.destination]),
            str(test.request.kind),
            test.request.spec,
            found.schedule.tasks[name].period,
            found.schedule.tasks[name].period - found.schedule.tasks[name].duration,
        )
        for name, test in found.tests.items()
    ]
    return write.write(planned)

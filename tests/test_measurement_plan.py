from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adon.config import Configuration, load
from adon.errors import InvalidInput
from adon.measurement_plan import NO_PSCONFIG, MeasurementPlan, as_psconfig, plan_measurements
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.catalog import needs
from apps.collector.planner import Planner
from measurement.model import Metric, Series
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.states import RunState
from measurement.psconfig.expand import Expansion, expand
from measurement.psconfig.mesh import Need
from measurement.psconfig.template import read
from measurement.scheduling.ticks import seconds
from tests.measurement.standin import stand_in
from tests.support.network_factories import NETWORK
from tests.support.refusals import refused


def configuration(tmp_path: Path, old: str = "", new: str = "", *, follow: bool = True) -> Configuration:
    text = NETWORK.read_text().replace(old, new) if old else NETWORK.read_text()
    extra = "measurements:\n  around_throughput: 4 s\n  around_others: 1 s\n"
    extra += f"  follow_templates: {str(follow).lower()}\n"
    file = tmp_path / "network.yaml"
    file.write_text(text.replace("measurements:\n", extra))
    return load(file)


def test_what_templates_need_is_measured_as_often_as_they_need(tmp_path: Path) -> None:
    wanted = {Metric.RTT: Need(70.0), Metric.THROUGHPUT: Need(900.0)}
    found = plan_measurements(configuration(tmp_path), wanted)
    assert found.notes == ()
    periods = {test.request.kind: found.schedule.tasks[name].period for name, test in found.tests.items()}
    # RTT: (70 + 2 - 5) / 2, whole seconds; what the configuration does often enough stays as it is.
    assert 16 < periods["rtt"] <= 33
    assert periods["throughput"] == 240
    assert periods["latency"] == 60


def test_every_value_is_younger_than_needed_while_the_plan_is_kept(tmp_path: Path) -> None:
    wanted = needs(builtin_templates())
    found = plan_measurements(configuration(tmp_path), wanted)
    assert found.notes == ()
    for name, test in found.tests.items():
        task = found.schedule.tasks[name]
        need = min(wanted[metric].max_age for metric in test.metrics if metric in wanted)
        # Two starts are at most 2p - e apart; 5 s to fetch it.
        worst = 2 * task.period - test.request.lasts + 5
        assert (
            worst <= need or task.period <= {"throughput": 240, "rtt": 60, "latency": 60}[test.request.kind]
        )


def test_server_has_time_for_every_run_of_the_plan(tmp_path: Path) -> None:
    """A throughput test too soon after a latency test finds no time at a pScheduler server."""
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK.read_text())
    found = plan_measurements(load(file))
    states = set()
    with stand_in() as server:
        server.booked = []
        client = PSchedulerClient(server.url, pause=lambda _: None)
        for job in sorted(found.schedule.jobs, key=lambda job: job.start):
            at = 2e9 + seconds(job.start)
            task = client.post(found.tests[job.task].request, Schedule(start_at=at, slip=1))
            states.add(client.first_run(task).state)
    assert states == {RunState.FINISHED}


def test_slot_that_a_point_reports_is_planned_with(tmp_path: Path) -> None:
    settings = configuration(tmp_path)
    reported = {"al2s:mu>osu/latency": 20.0, "al2s:mu>osu/rtt": 3.2}
    tasks = plan_measurements(settings, slots=reported).schedule.tasks
    assert (tasks["al2s:mu>osu/latency"].duration, tasks["al2s:mu>osu/rtt"].duration) == (20, 4)
    assert tasks["al2s:osu>mu/latency"].duration == 14
    with refused(InvalidInput, "measurements.tests.0.latency_period"):
        plan_measurements(settings, slots={"al2s:mu>osu/latency": 61.0})


def test_reported_slots_and_needs_of_templates_are_planned_together(tmp_path: Path) -> None:
    published: list[MeasurementPlan] = []
    planner = Planner(configuration(tmp_path), NO_PSCONFIG, published.append)
    planner.replan(needs={Metric.RTT: Need(70.0)})
    planner.replan(slots={"al2s:mu>osu/latency": 20.0})
    planner.replan(slots={"al2s:mu>osu/latency": 61.0})  # does not fit its period
    planner.replan(needs={Metric.RTT: Need(60.0)})
    assert len(published) == 3
    tasks = published[-1].schedule.tasks
    assert tasks["al2s:mu>osu/latency"].duration == 20
    assert tasks["al2s:mu>osu/rtt"].period < 33


def test_a_test_that_only_a_template_needs_is_added(tmp_path: Path) -> None:
    without = configuration(tmp_path, "      latency_period: 60 s\n", "")
    assert {test.request.kind for test in plan_measurements(without).tests.values()} == {"throughput", "rtt"}
    found = plan_measurements(without, {Metric.JITTER: Need(300.0)})
    assert {test.request.kind for test in found.tests.values()} == {"throughput", "rtt", "latency"}


def test_needs_that_do_not_fit_leave_the_plan_as_it_was_and_are_told(tmp_path: Path) -> None:
    settings = configuration(tmp_path)
    for impossible in (Need(8.0), Need(20.0)):
        found = plan_measurements(settings, {Metric.THROUGHPUT: impossible})
        assert found.schedule == plan_measurements(settings).schedule
        assert len(found.notes) == 1


def test_unless_the_configuration_says_so_templates_change_nothing(tmp_path: Path) -> None:
    settings = configuration(tmp_path, follow=False)
    assert plan_measurements(settings, {Metric.RTT: Need(30.0)}) == plan_measurements(settings)


def template(**changes: Any) -> Expansion:
    document = {
        "addresses": {name: {"address": name} for name in ("10.1.0.11", "10.2.0.11", "192.0.2.1")},
        "groups": {
            "pair": {
                "type": "disjoint",
                "unidirectional": True,
                "a-addresses": [{"name": "10.1.0.11"}],
                "b-addresses": [{"name": "10.2.0.11"}, {"name": "192.0.2.1"}],
            }
        },
        "tests": {
            "t": {
                "type": "trace",
                "spec": {"source": "{% address[0] %}", "dest": "{% address[1] %}"},
                **changes,
            }
        },
        "schedules": {"s": {"repeat": "PT2M"}},
        "tasks": {"x": {"group": "pair", "test": "t", "schedule": "s"}},
    }
    return expand(read(json.dumps(document).encode()))


def test_a_psconfig_template_is_planned_with_ours_as_far_as_its_addresses_are_pinned(tmp_path: Path) -> None:
    found = plan_measurements(configuration(tmp_path), psconfig=template())
    assert "al2s:mu>osu/trace" in found.tests
    assert found.schedule.tasks["al2s:mu>osu/trace"].period == 120
    (note,) = found.notes
    assert {"10.1.0.11", "192.0.2.1"} <= {*note.split()}


@pytest.mark.parametrize(("duration", "planned"), [("PT3S", False), ("PT4S", True)])
def test_throughput_test_of_a_template_that_no_server_finishes_is_skipped(
    tmp_path: Path, duration: str, planned: bool
) -> None:
    without = configuration(tmp_path, "      throughput_period: 240 s\n", "")
    ends = {"source": "{% address[0] %}", "dest": "{% address[1] %}"}
    found = plan_measurements(
        without, psconfig=template(type="throughput", spec={**ends, "duration": duration})
    )
    assert ("al2s:mu>osu/throughput" in found.tests) is planned
    assert len(found.notes) == (1 if planned else 2)


def test_plan_with_a_test_that_does_not_name_its_source_is_written(tmp_path: Path) -> None:
    """pScheduler takes the host that starts the test for the source."""
    found = plan_measurements(configuration(tmp_path), psconfig=template(spec={"dest": "{% address[1] %}"}))
    document = as_psconfig(configuration(tmp_path), found)
    expanded = expand(read(json.dumps(document).encode())).tasks
    assert [dict(each.spec) for each in expanded if each.test == "trace"] == [{"dest": "10.2.0.11"}]


def test_what_is_in_the_plan_already_is_not_done_twice(tmp_path: Path) -> None:
    found = plan_measurements(configuration(tmp_path), psconfig=template(type="rtt"))
    assert any("already" in note for note in found.notes)
    assert found.schedule.tasks["al2s:mu>osu/rtt"].period == 60


def test_what_is_expected_when(tmp_path: Path) -> None:
    found = plan_measurements(configuration(tmp_path))
    usual, quiet = found.expected(), found.expected({"al2s"})
    rate, delay = (Series("al2s", "mu", "osu", metric) for metric in ("throughput", "one_way_delay"))
    assert (usual[rate], usual[delay]) == (240, 60)
    assert (quiet[rate], quiet[delay]) == (float("inf"), 60)


def test_one_run_on_demand_occupies_what_its_test_occupies(tmp_path: Path) -> None:
    found = plan_measurements(configuration(tmp_path))
    name, test = next((name, test) for name, test in found.tests.items() if name in found.loads)
    request = found.request(test, 3, 1000.0)
    task = found.schedule.tasks[name]
    assert request.id != found.request(test, 4, 1000.0).id
    assert (request.points, request.links, request.load) == (task.points, task.links, task.load)
    assert seconds(request.execution_time) == task.duration


@pytest.mark.parametrize("kind", ["rtt", "throughput", "latency"])
def test_slots_are_whole_seconds(tmp_path: Path, kind: str) -> None:
    found = plan_measurements(configuration(tmp_path))
    for name, test in found.tests.items():
        if test.request.kind == kind:
            assert found.schedule.tasks[name].duration == int(found.schedule.tasks[name].duration)
            assert found.schedule.tasks[name].duration > test.request.lasts

from __future__ import annotations

from typing import Any

import pytest

from measurement.psconfig.expand import expand
from measurement.psconfig.plan import Plan, Route, plan
from measurement.psconfig.template import read
from measurement.scheduling import Schedule, schedule
from tests.measurement.psconfig.templates import SMALL, changed, encoded

ENDS = {"source": "{% address[0] %}", "dest": "{% address[1] %}"}


def route_of(source: str, destination: str) -> Route | None:
    if "2001:db8::3" in (source, destination):
        return None
    return Route(frozenset({source, destination}), frozenset({"link"}), {"link": 1e9})


def planned(test: dict[str, Any] | None = None, timing: dict[str, Any] | None = None) -> Plan:
    sections = {
        "tests": SMALL["tests"] if test is None else {"rtt": test},
        "schedules": SMALL["schedules"] if timing is None else {"m5": timing},
    }
    return plan(expand(read(encoded(changed(**sections)))).tasks, route_of)


def test_a_repeating_task_becomes_one_of_the_schedulers() -> None:
    found = planned()
    task = next(each.task for each in found.periodic if each.task.source == "192.0.2.2")
    assert (task.period, task.deadline, task.loads) == (300.0, 300.0, False)
    assert task.duration == 16.0  # ten echo requests a second apart, and what pScheduler adds
    assert task.points == {"192.0.2.2", "ps-a.example.net"}
    assert isinstance(schedule([each.task for each in found.periodic]), Schedule)


def test_the_slip_is_the_deadline_and_without_one_it_is_the_period() -> None:
    slipping = planned(timing={"repeat": "PT10M", "slip": "PT1M"}).periodic[0].task
    assert slipping.deadline == 60.0 + slipping.duration
    assert planned(timing={"repeat": "PT10M"}).periodic[0].task.deadline is None


@pytest.mark.parametrize(
    ("spec", "load"),
    [({}, 1e9), ({"udp": True, "bandwidth": 50_000_000}, 5e7), ({"bandwidth": 2 * 10**9}, 1e9)],
)
def test_throughput_loads_what_it_may_send(spec: dict[str, Any], load: float) -> None:
    test = {"type": "throughput", "spec": {**ENDS, "duration": "PT20S", **spec}}
    task = planned(test).periodic[0].task
    assert task.loads
    assert task.load == {"link": load}
    assert task.duration > 20


@pytest.mark.parametrize(
    ("test", "lasts"),
    [
        ({"type": "rtt", "spec": ENDS}, 5.0),
        ({"type": "rtt", "spec": {**ENDS, "count": 4, "interval": "PT0.5S"}}, 2.0),
        ({"type": "throughput", "spec": ENDS}, 10.0),
        ({"type": "latency", "spec": {**ENDS, "packet-count": 50, "packet-timeout": 2}}, 7.0),
        ({"type": "trace", "spec": ENDS}, 10.0),
    ],
)
def test_how_long_a_test_takes(test: dict[str, Any], lasts: float) -> None:
    assert planned(test).periodic[0].request.lasts == pytest.approx(lasts)


@pytest.mark.parametrize(
    ("test", "timing", "reason"),
    [
        ({"type": "latencybg", "spec": ENDS}, None, "background"),
        ({"type": "idle", "spec": {"duration": "PT3S"}}, None, "unknown-test"),
        (None, {"start": "PT1M"}, "not-periodic"),
        (None, {"repeat": "PT5M", "until": "@P1D"}, "not-periodic"),
        (None, {"repeat": "PT5M", "max-runs": 3}, "not-periodic"),
        (None, {"repeat": "P0D"}, "bad-schedule"),
        (None, {"repeat": "PT5M", "slip": "PT"}, "bad-schedule"),
    ],
)
def test_task_without_a_place_in_a_plan_is_skipped(
    test: dict[str, Any] | None, timing: dict[str, Any] | None, reason: str
) -> None:
    found = planned(test, timing)
    assert found.periodic == ()
    assert [(each.task, each.reason, each.count) for each in found.skipped] == [("mesh-rtt", reason, 6)]


@pytest.mark.parametrize(("tools", "count"), [(["ping"], 2), (["mystery", "twping"], 2), (["mystery"], 0)])
def test_task_without_a_known_tool_is_skipped(tools: list[str], count: int) -> None:
    tasks = {"t": {"group": "all", "test": "rtt", "schedule": "m5", "tools": tools}}
    found = plan(expand(read(encoded(changed(tasks=tasks)))).tasks, route_of)
    assert len(found.periodic) == count
    assert {each.reason for each in found.skipped} == {"no-path" if count else "unknown-tool"}


@pytest.mark.parametrize(
    ("test", "reasons"),
    [
        ({"type": "rtt", "spec": ENDS}, set()),
        ({"type": "rtt", "spec": {**ENDS, "count": "ten"}}, {"bad-spec"}),
        ({"type": "rtt", "spec": {**ENDS, "interval": "P1Y"}}, {"bad-spec"}),
        ({"type": "latency", "spec": {**ENDS, "packet-count": -5}}, {"bad-spec"}),
    ],
)
def test_what_cannot_be_planned_stops_nothing_else(test: dict[str, Any], reasons: set[str]) -> None:
    found = planned(test)
    assert sum(each.count for each in found.skipped) + len(found.periodic) == 6
    assert {each.reason for each in found.skipped} == {"no-path", *reasons}


def test_a_test_longer_than_its_period_is_refused() -> None:
    found = planned({"type": "rtt", "spec": {**ENDS, "count": 1000}})
    assert found.periodic == ()
    assert "bad-spec" in {each.reason for each in found.skipped}

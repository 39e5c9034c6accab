"""The plan of tests that testpoints of perfSONAR subscribe to: GET /psconfig/{network}."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adon.config import Configuration
from adon.measurement_plan import MeasurementPlan, plan_measurements
from apps.rest.services import NAME
from measurement.psconfig.expand import expand
from measurement.psconfig.template import read
from tests.measurement.psconfig.schema import violations


def publish(world, *, value: bool) -> None:
    measurements = world.configuration.measurements.model_copy(update={"publish_psconfig": value})
    changed = world.configuration.model_copy(update={"measurements": measurements})
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], configuration=changed)


def without_periods(configuration: Configuration) -> Configuration:
    """The configuration with its addresses and without a test of its own."""
    periods = dict.fromkeys(("throughput_period", "rtt_period", "latency_period"))
    tests = tuple(test.model_copy(update=periods) for test in configuration.measurements.tests)
    measurements = configuration.measurements.model_copy(update={"tests": tests})
    return configuration.model_copy(update={"measurements": measurements})


def planned_in(found: MeasurementPlan) -> dict[str, tuple[object, float]]:
    return {
        name: (dict(test.request.spec), found.schedule.tasks[name].period)
        for name, test in found.tests.items()
    }


def test_published_plan_read_back_plans_the_same_tests(world):
    answer = world.ask("GET", "/psconfig/mu-osu", None)
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert violations(answer.json) == []
    found = plan_measurements(without_periods(world.configuration), psconfig=expand(read(answer.data)))
    assert found.notes == ()
    assert len(found.tests) == 12
    assert planned_in(found) == planned_in(plan_measurements(world.configuration))


def test_published_plan_has_no_credentials(world):
    points = world.configuration.measurements.points.values()
    secrets = {
        text for point in points for text in (point.verify, point.token_file) if text not in (None, "system")
    }
    text = world.ask("GET", "/psconfig/mu-osu", None).text
    assert [secret for secret in secrets if secret in text] == []
    assert json.loads(text)["archives"] == {}


@pytest.mark.parametrize(("network", "value"), [("mu-osu", False), ("elsewhere", True)])
def test_plan_is_not_there_unless_it_is_published_under_this_name(world, network, value):
    publish(world, value=value)
    for who in (None, "admin"):
        answer = world.ask("GET", f"/psconfig/{network}", who)
        assert (answer.status_code, answer.json["code"]) == (404, "not-found")
    assert "psconfig" not in {kind for kind, _ in world.collector.seen}


def test_plan_is_unavailable_without_the_collector(world):
    world.stop_collector()
    assert world.ask("GET", "/psconfig/mu-osu", None).status_code == 503

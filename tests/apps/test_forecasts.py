"""Forecasts, and how they held, through the API and the command line."""

from __future__ import annotations

import pytest


@pytest.fixture
def forecast(world):
    """Finished flows that took so long, in seconds after their admission."""
    for took, waited in ((40, 0), (50, 0), (300, 5)):
        world.stage.measure("al2s", 5.0 if waited else 58.0)
        flow = world.flow(world.submit(size="290 MB"))
        world.stage.pass_time(waited)
        world.stage.measure("al2s", 58.0)
        world.stage.report(flow, "started", 0)
        for _ in range(took // 10):
            world.stage.pass_time(10)
            world.stage.carry(flow, 1_000_000)
        world.stage.report(flow, "finished", 290_000_000)
    return world


def test_a_flow_tells_when_it_is_expected_to_be_over(forecast):
    flow = forecast.ask("GET", "/flows/f-1").json
    expected = flow["forecast"]["expected_seconds"]
    assert (expected, flow["forecast"]["coverage"]) == (pytest.approx(40, rel=0.02), 0.9)
    assert flow["forecast"]["terms"] == {"network": expected}
    assert flow["forecast_at"] == "2025-10-09T08:53:20.000Z"


def test_coverage_of_flows_that_ran_at_once_and_that_had_waited(forecast):
    items = {one["flows"]: one for one in forecast.ask("GET", "/forecasts/calibration").json["items"]}
    assert {name: (one["count"], one["covered"]) for name, one in items.items()} == {
        "all": (3, pytest.approx(2 / 3)),
        "at once": (2, 1.0),
        "after a wait": (1, 0.0),
    }
    assert items["at once"]["curve"][-1] == {"nominal": 0.99, "observed": 1.0}
    assert forecast.ask("GET", "/forecasts/calibration?template=soykb").json["items"]
    assert forecast.ask("GET", "/forecasts/calibration?template=soykb@1").json["items"]
    assert forecast.ask("GET", "/forecasts/calibration?template=rivvir").json["items"] == []
    assert forecast.ask("GET", "/forecasts/calibration?limit=0").status_code == 422


def test_without_a_forecast_it_says_so(world):
    assert world.ask("GET", "/forecasts/calibration").json["items"] == []

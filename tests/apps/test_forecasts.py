"""Forecasts, and how they held, through the API and the command line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.flow import FlowState
from adon.broker.outcomes import Forecast
from tests.store.values import an_outcome
from tests.support.fake_collector import NOW

FORTY = Forecast(40.0, 20.0, 80.0, 0.9, {"network": 40.0})


@pytest.fixture
def forecast(world):
    """Finished flows that took so long, in whole seconds after their admission."""
    for took, waited in ((30, 0), (50, 0), (100, 5)):
        store = world.controller.store
        flow = store.flow(int(world.submit()[2:]))
        diary = replace(flow.diary, admitted_at=NOW, forecast=FORTY)
        times = {"submitted_at": NOW - waited, "ended_at": NOW + took}
        store.save_flow(replace(flow, state=FlowState.FINISHED, diary=diary, **times), "end", NOW)
        store.save_outcome(an_outcome(flow.number, admitted_at=NOW, forecast=FORTY, **times))
    return world


def test_a_flow_tells_when_it_is_expected_to_be_over(forecast):
    flow = forecast.ask("GET", "/flows/f-1").json
    assert flow["forecast"] == {
        "expected_seconds": 40.0,
        "low_seconds": 20.0,
        "high_seconds": 80.0,
        "coverage": 0.9,
        "terms": {"network": 40.0},
    }
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

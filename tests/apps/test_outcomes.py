"""What flows leave behind, as programs and people at a terminal see it."""

from __future__ import annotations

import pytest

from tests.support.web_world import SOYKB, end_flow


def test_an_outcome_is_told_with_units_in_the_fields_names(world):
    name = end_flow(world)
    told = world.ask("GET", f"/flows/{name}/outcome").json
    assert (told["flow"], told["state"], told["template"]) == (name, "finished", "soykb@1")
    assert (told["waited_seconds"], told["duration_seconds"]) == (10, 90)
    assert (told["throughput_bps"], told["promised_bps"], told["error"]) == (8e7, 6.5e6, None)
    assert (told["kept"], told["quality_seconds"]) == (True, {"met": 0, "unknown": 90})
    assert [(stay["path"], stay["seconds"]) for stay in told["stays"]] == [("al2s", 60), ("internet", 30)]
    assert {"metric": "rtt", "value": 0.033, "unit": "s"} in told["conditions"]
    assert told["ended_at"].endswith("Z")


def test_a_forecast_is_told_with_whether_it_held(world):
    told = world.ask("GET", f"/flows/{end_flow(world)}/outcome").json
    assert (told["forecast"]["coverage"], told["foretold"]) == (0.9, True)
    assert told["forecast"]["low_seconds"] < told["duration_seconds"] < told["forecast"]["high_seconds"]
    assert told["forecast"]["terms"] == {"network": pytest.approx(told["forecast"]["expected_seconds"])}


def test_a_flow_that_has_not_ended_has_none(world):
    name = world.submit()
    for unknown in (name, "f-99", "f-x"):
        answer = world.ask("GET", f"/flows/{unknown}/outcome")
        assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")


def test_outcomes_are_filtered(world):
    world.ask("POST", "/templates", json={**SOYKB, "name": "rivvir"})
    second, first = end_flow(world, template="rivvir"), end_flow(world)

    def asked(query, as_="admin"):
        return [one["flow"] for one in world.ask("GET", f"/outcomes{query}", as_).json["items"]]

    assert asked("") == [first, second]
    assert asked("?template=rivvir") == asked("?template=rivvir@1") == [second]
    assert asked("?template=rivvir@2") == []
    assert asked("?limit=1") == [first]
    since = world.ask("GET", f"/flows/{first}/outcome").json["ended_at"]
    assert asked(f"?since={since}") == [first]


def test_a_researcher_sees_their_own_outcomes_only(world):
    mine, theirs = end_flow(world), end_flow(world, "rival")
    found = world.ask("GET", "/outcomes", "researcher").json["items"]
    assert [one["flow"] for one in found] == [mine]
    assert world.ask("GET", f"/flows/{theirs}/outcome", "researcher").status_code == 404


@pytest.mark.parametrize("query", ["?limit=0", "?since=yesterday", "?templates=soykb"])
def test_a_wrong_query_is_refused(world, query):
    assert world.ask("GET", f"/outcomes{query}").status_code == 422

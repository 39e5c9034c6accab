"""The map: how paths are, how fast flows go, where everything stands, what is drawn of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dashboard.network import health, map_facts, map_style, places, rates
from apps.dashboard.network.drawing import Colour, Scene, View, elements, first_view, path_of
from apps.dashboard.network.health import Health, Load
from apps.rest.models import PathView
from apps.rest.network_models import NetworkView
from tests.apps.web import snapshot
from tests.dashboard.networks import large
from tests.dashboard.reading import links, text


def way(**changes: Any) -> dict[str, Any]:
    usual = {
        "path": "al2s",
        "source": "mu",
        "destination": "osu",
        "usable": True,
        "reason": "",
        "alarms": [],
        "flows": [],
        "metrics": {"rtt": {"age_seconds": 12.0}},
        "capacity_bps": 1e9,
    }
    return {**usual, **changes}


def alarm(severity: str, *, bad: bool = True) -> dict[str, Any]:
    return {"severity": severity, "bad": bad, "text": f"{severity} on it"}


BACK = {"source": "osu", "destination": "mu"}


@pytest.mark.parametrize(
    ("ways", "state", "why"),
    [
        ([], Health.NO_DATA, "knows no way"),
        ([way(), way(**BACK)], Health.GOOD, ""),
        ([way(), way(**BACK, metrics={})], Health.GOOD, ""),
        ([way(metrics={}), way(**BACK, metrics={})], Health.NO_DATA, "nothing was measured"),
        ([way(metrics={"rtt": {"age_seconds": 4000.0}})], Health.NO_DATA, "nothing was measured"),
        ([way(alarms=[alarm("warning")])], Health.DEGRADED, "mu → osu: warning on it"),
        ([way(alarms=[alarm("warning"), alarm("critical")])], Health.BAD, "critical on it"),
        ([way(alarms=[alarm("critical", bad=False)])], Health.GOOD, ""),
        ([way(), way(**BACK, usable=False, reason="link l3 is down")], Health.DOWN, "osu → mu: link l3"),
        ([way(usable=False, alarms=[alarm("critical")])], Health.DOWN, "it cannot be used"),
    ],
)
def test_a_path_is_as_bad_as_its_worse_direction(ways: list[Any], state: Health, why: str) -> None:
    found, words = health.of_path(ways)
    assert found is state
    assert why in words


@pytest.mark.parametrize(
    ("rate", "capacity", "load"),
    [
        (None, 1e9, Load.UNKNOWN),
        (1e6, None, Load.UNKNOWN),
        (0.0, 1e9, Load.LIGHT),
        (4.9e8, 1e9, Load.LIGHT),
        (5e8, 1e9, Load.BUSY),
        (8e8, 1e9, Load.BUSY),
        (8.1e8, 1e9, Load.FULL),
    ],
)
def test_use_has_thresholds(rate: float | None, capacity: float | None, load: Load) -> None:
    assert health.of_load(rate, capacity) is load


def test_every_state_has_a_stroke_of_its_own_and_words() -> None:
    for states in (Health, Load):
        strokes = [map_style.STROKES[state] for state in states]
        assert len({(kind, dashes) for _, kind, dashes in strokes}) == len(strokes)
        assert all(health.MEANS[state] for state in states)


# -- rates ---------------------------------------------------------------------------------------------


def flow(moved: int) -> dict[str, Any]:
    return {"id": "f-1", "bytes_moved": moved}


def test_a_rate_is_the_difference_of_two_looks() -> None:
    known = rates.step({}, [flow(1000)], 10.0)
    assert rates.of(known, ["f-1"]) is None
    known = rates.step(known, [flow(3000)], 12.0)
    assert rates.of(known, ["f-1"]) == 8000.0
    # Nothing new was told: it may go on; after a while it does not.
    assert rates.of(rates.step(known, [flow(3000)], 20.0), ["f-1"]) == 8000.0
    assert rates.of(rates.step(known, [flow(3000)], 12.1 + rates.STILL_S), ["f-1"]) == 0.0
    assert rates.of(rates.step(known, [], 20.0), ["f-1"]) is None


def test_rates_of_a_path_are_added_as_far_as_they_are_known() -> None:
    assert (
        rates.of({"f-1": [0, 0, 5.0], "f-2": [0, 0, 2.0], "f-3": [0, 0, None]}, ["f-1", "f-2", "f-3"]) == 7.0
    )
    assert rates.of({}, []) is None


# -- places --------------------------------------------------------------------------------------------


def scene(found: dict[str, Any]) -> Scene:
    network = NetworkView.of(found).model_dump(mode="json")
    ways = [PathView.of(path).model_dump(mode="json") for path in found["paths"]]
    return Scene(network, ways, {"f-1": [0.0, 0, 9e9]})


@given(st.integers(1, 6), st.integers(1, 20))
def test_no_two_stand_in_one_place(sites: int, each: int) -> None:
    network = scene(large(sites, each)).network
    pairs = [(link["ends"][0]["switch"], link["ends"][1]["switch"]) for link in network["links"]]
    groups = places.by_site(network, pairs)
    assert set(groups) == {switch["name"] for switch in network["switches"]}
    for found in (
        places.of_switches(network, pairs),
        places.of_groups(groups, pairs),
        places.of_sites([site["name"] for site in network["sites"]]),
    ):
        assert len(set(found.values())) == len(found)
    assert places.of_groups(groups, pairs) == places.of_groups(groups, pairs)


def test_a_switch_belongs_to_the_nearest_edge() -> None:
    found = large(3, 7)
    network = scene(found).network
    pairs = [(link["ends"][0]["switch"], link["ends"][1]["switch"]) for link in network["links"]]
    groups = places.by_site(network, pairs)
    assert all(name.startswith(f"{site}-") for name, site in groups.items())


def test_the_blocks_of_sites_do_not_meet() -> None:
    network = scene(large(5, 20)).network
    pairs = [(link["ends"][0]["switch"], link["ends"][1]["switch"]) for link in network["links"]]
    groups = places.by_site(network, pairs)
    at = places.of_groups(groups, pairs)
    boxes = []
    for site in sorted(set(groups.values())):
        its = [at[name] for name in groups if groups[name] == site]
        boxes.append(
            (min(x for x, _ in its), min(y for _, y in its), max(x for x, _ in its), max(y for _, y in its))
        )
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


# -- what is drawn -------------------------------------------------------------------------------------


def of(drawn: list[Any], name: str) -> dict[str, Any]:
    return next(one for one in drawn if one["data"]["id"] == name)


def test_paths_through_networks_of_others_join_the_switches_that_are_ours() -> None:
    drawn = elements(scene(snapshot()), View.SWITCHES, Colour.HEALTH, "")
    line = of(drawn, "path:al2s")
    assert (line["data"]["source"], line["data"]["target"]) == ("switch:mu-edge", "switch:osu-edge")
    assert line["data"]["label"] == "al2s · L2 · 1 flow · 9 Gbps"
    assert "foreign" in line["classes"]
    assert "is-bad" in line["classes"]
    assert "away" in of(drawn, "switch:osu-edge")["classes"]


def test_colours_tell_use_when_asked() -> None:
    drawn = elements(scene(snapshot()), View.SITES, Colour.LOAD, "")
    assert "is-full" in of(drawn, "path:al2s")["classes"]
    assert "is-light" in of(drawn, "path:internet")["classes"]


@pytest.mark.parametrize("shown", ["path:core.1", "flow:f-1"])
def test_the_way_of_a_path_or_flow_is_marked(shown: str) -> None:
    found = scene(large(5, 4))
    assert path_of(found.network, shown) == "core.1"
    drawn = elements(found, View.SITES, Colour.HEALTH, shown)
    assert "marked" in of(drawn, "path:core.1")["classes"]
    assert "marked" in of(drawn, "site:site0")["classes"]
    assert "faded" in of(drawn, "path:core.2")["classes"]
    assert "faded" in of(drawn, "site:site1")["classes"]


def test_what_is_not_there_marks_nothing() -> None:
    for shown in ("flow:f-99", "path:nowhere", "", "none"):
        drawn = elements(scene(snapshot()), View.SWITCHES, Colour.HEALTH, shown)
        assert not any("faded" in one["classes"] for one in drawn)


def test_the_links_of_a_circuit_are_marked_and_carry_its_flows() -> None:
    found = scene(large(5, 4))
    drawn = elements(found, View.GROUPED, Colour.HEALTH, "path:core.0")
    link = next(one for one in drawn if one["data"]["id"].startswith("link:") and "marked" in one["classes"])
    assert link["data"]["source"] in ("switch:site0-s0", "switch:site1-s0")
    assert of(drawn, "link:l3")["classes"].startswith("ours is-down")
    assert of(drawn, "link:l5")["classes"].startswith("ours is-degraded")
    assert of(drawn, "switch:site0-s1")["data"]["parent"] == "group:site0"


def test_a_large_network_names_only_lines_on_which_something_is_to_be_seen() -> None:
    found = scene(large(5, 20))
    drawn = elements(found, View.SWITCHES, Colour.HEALTH, "")
    named = [one["data"]["id"] for one in drawn if "source" in one["data"] and one["data"]["label"]]
    assert "link:l3" in named
    assert "link:l10" not in named
    assert first_view(found.network) is View.SITES
    assert first_view(scene(snapshot()).network) is View.SWITCHES


def test_every_line_joins_what_is_drawn() -> None:
    for view in View:
        drawn = elements(scene(large(4, 6)), view, Colour.HEALTH, "")
        names = [one["data"]["id"] for one in drawn]
        assert len(set(names)) == len(names)
        for one in drawn:
            assert {one["data"].get("source"), one["data"].get("target")} - {None} <= set(names)
            assert one["data"].get("parent") in (None, *names)


# -- facts ---------------------------------------------------------------------------------------------


def test_facts_lead_on(visiting: Any) -> None:
    found, here = scene(snapshot()), visiting()
    path = map_facts.of(found, "path:al2s", here)
    assert "60.6 Mbps" in text(path)
    assert "58 Mbps" in text(path)
    assert {"/paths/al2s", "/flows/f-1"} <= set(links(path))
    assert any(to.startswith("/series?path=al2s") for to in links(path))
    assert any(to.startswith("/alarms/") for to in links(path))
    assert "is on" in text(map_facts.of(found, "flow:f-1", here))
    assert "on no path now" in text(map_facts.of(found, "flow:f-9", here))
    switch = map_facts.of(found, "switch:osu-edge", here)
    assert "not connected" in text(switch)
    assert "/rules?dpid=0000000000000a02" in links(switch)
    assert "mu-dtn" in text(map_facts.of(found, "site:mu", here))
    for nothing in ("", "switch:none", "path:none", "link:none", "site:none", "group:mu"):
        assert map_facts.HINT in text(map_facts.of(found, nothing, here))


def test_facts_of_a_link(visiting: Any) -> None:
    found = scene(large(2, 3))
    shown = text(map_facts.of(found, "link:l3", visiting()))
    assert "no carrier" in shown
    assert "10 Gbps" in shown


def test_the_summary_counts() -> None:
    said = map_facts.summary(scene(large(5, 20)))
    assert said.startswith("5 sites, 100 switches (1 not connected), 100 links, 10 paths: 7 good")
    assert all(one != other for one, other in pairwise(said.split()))

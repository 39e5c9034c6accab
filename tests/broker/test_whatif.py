"""Rehearsals: what they tell, that they change nothing, and that it then happens so."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.events import MaintenanceAsked, WhatIfAsked
from adon.broker.flow import FlowState
from adon.broker.maintenance import WindowRequest
from adon.broker.scenario import Failure, Scenario
from adon.broker.whatif import NO_PATH, Report
from adon.config import Configuration
from adon.errors import InvalidInput
from adon.values import FrozenMap
from tests.support.scenes import cut_al2s, make_wide_configuration, submit_on_al2s
from tests.support.stage import Stage, know, make_stage


def linked(mbps: float = 20.0) -> Configuration:
    """Both paths share a duct; each has a fibre of its own."""
    read = make_wide_configuration(mbps)
    paths = {n: p.model_copy(update={"links": (f"fibre-{n}", "duct")}) for n, p in read.paths.items()}
    return read.model_copy(update={"paths": FrozenMap(paths)})


def three_on_al2s() -> Stage:
    stage = make_stage(linked(), internet=0)
    submit_on_al2s(stage, 2, priority=100)
    submit_on_al2s(stage, 1, priority=900)
    know(stage, internet=20.0)
    return stage


def ask(stage: Stage, failure: str, name: str) -> Report:
    return stage.rehearse(Scenario(Failure(failure), name))


def told(report: Report) -> dict[str, tuple[str | None, str, str]]:
    return {one.flow: (one.to, one.outcome, one.quality) for one in report.flows}


ON_AL2S = {
    "f-3": ("internet", "moves", "met"),
    "f-1": ("internet", "moves", "met"),
    "f-2": (None, "stays", NO_PATH),
}
NOWHERE = {f"f-{n}": (None, "stays", NO_PATH) for n in (3, 1, 2)}


@pytest.mark.parametrize(
    ("failure", "name", "paths", "expected", "verdict"),
    [
        ("path-down", "al2s", ("al2s",), ON_AL2S, "broken"),
        ("link-down", "fibre-al2s", ("al2s",), ON_AL2S, "broken"),
        ("port-down", "mu-edge:mu-edge-al2s", ("al2s",), ON_AL2S, "broken"),
        ("link-down", "duct", ("al2s", "internet"), NOWHERE, "broken"),
        ("switch-down", "osu-edge", ("al2s", "internet"), NOWHERE, "broken"),
        ("port-down", "osu-edge:osu-edge-dtn", (), NOWHERE, "broken"),
        ("path-down", "internet", ("internet",), {}, "fine"),
    ],
)
def test_scenarios(failure: str, name: str, paths: tuple[str, ...], expected: Any, verdict: str) -> None:
    report = ask(three_on_al2s(), failure, name)
    assert (report.paths, told(report), report.verdict) == (paths, expected, verdict)


def test_the_load_of_a_refuge_stays_within_what_it_carries() -> None:
    report = ask(three_on_al2s(), "path-down", "al2s")
    left, taken = report.loads
    assert (left.key.path, left.before, left.after, left.down) == ("al2s", 21e6, 0.0, True)
    assert (taken.key.path, taken.capacity, taken.carries) == ("internet", 20e6, 20e6)
    assert (taken.before, taken.after, taken.down) == (0.0, 14e6, False)


def test_an_estimate_leaves_the_others_their_bounds() -> None:
    report = ask(three_on_al2s(), "path-down", "al2s")
    assert [one.estimate for one in report.flows] == [13e6, 13e6, None]


def test_what_is_not_known_is_not_called_fine_and_not_broken() -> None:
    stage = make_stage(linked(), internet=0)
    submit_on_al2s(stage, 1)
    report = ask(stage, "path-down", "al2s")
    assert told(report) == {"f-1": ("internet", "moves", "unknown")}
    assert (report.verdict, report.flows[0].q, report.flows[0].estimate) == ("unknown", None, None)


def test_maintenance_sends_to_the_queue_who_finds_no_refuge() -> None:
    stage = three_on_al2s()
    assert told(ask(stage, "maintenance", "path:al2s"))["f-2"] == (None, "queues", NO_PATH)
    times = {"begins": stage.now + 90_000, "ends": stage.now + 99_000}
    window = WindowRequest.model_validate({"scope": "link", "name": "fibre-al2s", **times})
    stage.command(MaintenanceAsked, window, "pat")
    assert told(ask(stage, "maintenance", "m-1")) == told(ask(stage, "maintenance", "path:al2s"))


@pytest.mark.parametrize(
    ("failure", "name"),
    [
        ("path-down", "nowhere"),
        ("link-down", "al2s"),
        ("switch-down", "mu"),
        ("port-down", "mu-edge"),
        ("port-down", "mu-edge:eth9"),
        ("maintenance", "m-1"),
        ("maintenance", "planet:earth"),
        ("maintenance", "path:"),
    ],
)
def test_a_name_that_is_not_configured_is_refused(failure: str, name: str) -> None:
    stage = make_stage(linked())
    with pytest.raises(InvalidInput, match="name"):
        stage.command(WhatIfAsked, Scenario(Failure(failure), name))


def every_single_failure(stage: Stage) -> list[Report]:
    """As the web side asks for them: one after the other, the most damage first."""
    scenarios = stage.command(WhatIfAsked, None)["scenarios"]
    found = [ask(stage, one["failure"], one["name"]) for one in scenarios]
    return sorted(found, key=lambda report: report.damage, reverse=True)


def test_every_single_failure_is_ranked_by_damage() -> None:
    stage = three_on_al2s()
    reports = every_single_failure(stage)
    assert len(reports) == 3 + 2 + 2 + 6
    assert [len(one.broken) for one in reports] == sorted((len(one.broken) for one in reports), reverse=True)
    assert {one.scenario.name for one in reports[:5]} == {
        "duct",
        "mu-edge",
        "osu-edge",
        "mu-edge:mu-edge-dtn",
        "osu-edge:osu-edge-dtn",
    }
    assert reports[-1].verdict == "fine"


def test_the_answer_is_plain_json_and_no_effect_comes_of_it() -> None:
    stage = three_on_al2s()
    before = (len(stage.saved.decisions), len(stage.batches), dict(stage.saved.flows), len(stage.announced))
    answer = stage.command(WhatIfAsked, Scenario(Failure.PATH_DOWN, "al2s"))
    (item,) = answer["items"]
    assert (item["failure"], item["name"], item["verdict"], item["broken"]) == (
        "path-down",
        "al2s",
        "broken",
        1,
    )
    assert item["flows"][0] == {
        "flow": "f-3",
        "requester": "ann",
        "priority": 900,
        "bound": 7e6,
        "path": "al2s",
        "to": "internet",
        "outcome": "moves",
        "q": pytest.approx(item["flows"][0]["q"]),
        "estimate": 13e6,
        "quality": "met",
        "why": item["flows"][0]["why"],
    }
    assert len(stage.command(WhatIfAsked, None)["scenarios"]) == 13
    assert (
        len(stage.saved.decisions),
        len(stage.batches),
        dict(stage.saved.flows),
        len(stage.announced),
    ) == before


@given(
    st.lists(st.tuples(st.integers(1, 12), st.sampled_from([100, 500, 900])), max_size=5),
    st.sampled_from([0.0, 6.5, 13.0, 20.0]),
)
def test_what_was_rehearsed_is_what_happens(wanted: list[tuple[int, int]], rate: float) -> None:
    """And asking changed nothing."""
    stage = make_stage(linked(max(rate, 6.8)), internet=0)
    for mbps, priority in wanted:
        stage.submit(priority=priority, qspec={"throughput": {"min": f"{mbps} Mbps"}})
    know(stage, internet=rate)
    held = copy.deepcopy({flow.number: flow for flow in stage.broker.flows})
    report = ask(stage, "port-down", "mu-edge:mu-edge-al2s")
    every_single_failure(stage)
    assert {flow.number: flow for flow in stage.broker.flows} == held
    on_it = {f.id for f in stage.saved.flows.values() if f.path == "al2s" and f.state is FlowState.ACTIVE}
    assert {one.flow for one in report.flows} == on_it
    cut_al2s(stage)
    for one in report.flows:
        assert stage.saved.flows[int(one.flow[2:])].path == (one.to or "al2s")


@pytest.mark.parametrize(("flows", "expected"), [(1, "met"), (2, "degraded")])
def test_two_flows_leave_each_other_less_than_they_aim_at(flows: int, expected: str) -> None:
    stage = make_stage(linked(58.0), internet=0)
    submit_on_al2s(stage, flows, qspec={"throughput": {"min": "7 Mbps", "target": "45 Mbps"}})
    know(stage, internet=50.0)
    assert {one.quality for one in ask(stage, "path-down", "al2s").flows} == {expected}

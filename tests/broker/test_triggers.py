"""Triggers of running flows: when they fire, what they do, and that no two can play ping-pong."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.triggers.evaluation import LONGEST_REST_S, Seen, step, turn_knob
from adon.broker.triggers.record import Fired, Knob, Triggered
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.trigger_rules import Trigger
from measurement.model import Metric, from_json, to_json
from tests.support.factories import make_catalog, make_template
from tests.support.stage import Stage, know

LOW = {
    "name": "low",
    "when": {"metric": "throughput", "below": "20 Mbps", "clear": "30 Mbps"},
    "hold": "5 min",
}
LOOK = {**LOW, "do": {"action": "reexamine"}}


def trigger(**changes: Any) -> Trigger:
    return Trigger.model_validate({**LOOK, **changes})


def staged(*triggers: dict[str, Any], **more: Any) -> Stage:
    """Both paths measured, and a template ``t`` with these triggers."""
    soykb = make_catalog().get("soykb").model_dump(mode="json", by_alias=True, exclude={"version", "match"})
    template = make_template(**{**soykb, "name": "t", "triggers": list(triggers), **more})
    stage = Stage(catalog=Catalog.of([*make_catalog().latest, template]))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    return stage


def fired(stage: Stage, flow: Flow) -> dict[str, Fired]:
    return {one.trigger: one for one in stage.flow(flow).triggered.fired}


# -- whether it fires ----------------------------------------------------------------------------------


def run(one: Trigger, values: list[tuple[float, float]], gap: float = 300.0) -> list[float]:
    """The times at which it fires, for pairs of time and value."""
    seen: Seen | None = None
    last: Fired | None = None
    times = []
    for at, value in values:
        found = step(one, seen, last, value, at, at, gap)
        seen = found.seen
        if found.over and last is not None:
            last = Fired(last.trigger, last.at, last.value, on=False)
        if found.fires:
            last = Fired(one.name, at, value)
            times.append(at)
    return times


@pytest.mark.parametrize(
    ("changes", "values", "times"),
    [
        ({}, [(0, 10e6)], [0]),
        ({}, [(0, 20e6)], []),
        ({"for": "30 s"}, [(0, 10e6), (29, 10e6)], []),
        ({"for": "30 s"}, [(0, 10e6), (20, 10e6), (31, 10e6)], [31]),
        ({"for": "30 s"}, [(0, 10e6), (20, 25e6), (31, 10e6)], []),
        # Nothing is known of the time between two values that are too far apart.
        ({"for": "30 s"}, [(0, 10e6), (400, 10e6)], []),
        # It is on until it is over, and 25 Mbps is not over: 30 Mbps is.
        ({}, [(0, 10e6), (400, 10e6), (500, 25e6), (600, 10e6)], [0]),
        ({}, [(0, 10e6), (400, 31e6), (500, 10e6)], [0, 500]),
        # Not within its hold, but as soon as that is over.
        ({}, [(0, 10e6), (10, 31e6), (20, 10e6), (299, 10e6), (300, 10e6)], [0, 300]),
        # An older value, or the same again, is no news.
        ({"for": "30 s"}, [(0, 10e6), (0, 10e6), (-50, 10e6), (30, 10e6)], [30]),
    ],
)
def test_when_it_fires(
    changes: dict[str, Any], values: list[tuple[float, float]], times: list[float]
) -> None:
    assert run(trigger(**changes), values) == times


SERIES = st.lists(
    st.tuples(st.floats(0.1, 400), st.sampled_from([0.0, 10e6, 19e6, 25e6, 29e6, 31e6, 90e6])), max_size=60
).map(lambda steps: [(sum(s for s, _ in steps[: n + 1]), value) for n, (_, value) in enumerate(steps)])


@given(SERIES, st.floats(0, 120), st.floats(10, 900))
def test_it_never_fires_twice_within_its_hold_nor_without_its_condition(
    values: list[tuple[float, float]], lasting: float, hold: float
) -> None:
    one = trigger(**{"for": f"{lasting!r} s", "hold": f"{hold!r} s"})
    times = run(one, values)
    assert all(after - before >= hold for before, after in pairwise(times))
    for at in times:
        recent = [value for when, value in values if at - lasting <= when <= at]
        assert all(one.when.met_by(value) for value in recent)


# -- no ping-pong --------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(0.1, 5000), st.sampled_from([1, -1])), max_size=200),
    st.floats(10, 600),
    st.floats(10, 600),
)
def test_two_triggers_cannot_turn_a_knob_to_and_fro(
    wishes: list[tuple[float, int]], up: float, down: float
) -> None:
    knob: Knob | None = None
    now, reversals, first = 0.0, 0, None
    for pause, way in wishes:
        now += pause
        after = turn_knob(knob, "priority", way, now, up if way > 0 else down)
        if after is None:
            continue
        first = now if first is None else first
        reversals += knob is not None and knob.way != after.way
        knob = after
    elapsed = now - (now if first is None else first)
    assert reversals <= math.log2(elapsed / min(up, down) + 1) + 1


def test_a_knob_that_was_turned_back_too_often_stays() -> None:
    knob = turn_knob(None, "priority", 1, 0.0, 600.0)
    now, way = 0.0, 1
    for _ in range(40):
        assert knob is not None
        now, way = now + knob.rest, -way
        knob = turn_knob(knob, "priority", way, now, 600.0)
    assert knob is not None
    assert knob.rest == LONGEST_REST_S


def test_turning_further_is_no_reversal() -> None:
    knob = turn_knob(Knob("priority", 1, 0.0, 100.0), "priority", 1, 50.0, 60.0)
    assert knob == Knob("priority", 1, 0.0, 100.0)


# -- what it does --------------------------------------------------------------------------------------


def test_a_look_at_the_paths_waives_patience_and_is_recorded_with_the_trigger() -> None:
    patient = {"patience": 99, "min_dwell": "0 s", "switch_margin": 100}
    low = {**LOOK, "when": {"metric": "throughput", "below": "10 Mbps"}}
    stage = staged(low, qspec={"throughput": {"min": "6 Mbps"}}, selection=patient)
    flow = stage.submit("t", priority=300)
    assert stage.flow(flow).path == "al2s"
    stage.now += 60
    know(stage, internet=6.5)
    stage.measure("al2s", 3.0)
    decision = stage.decision(flow)
    assert stage.flow(flow).path == "internet", "one miss is enough"
    assert str(decision.trigger).startswith("trigger low")
    assert decision.code == "patience-exhausted"
    assert ("trigger-fired", "info", flow.id) in stage.announcements()
    assert from_json(Decision, to_json(decision)) == decision


def test_a_look_that_moves_nothing_is_recorded_too() -> None:
    stage = staged({**LOOK, "when": {"metric": "throughput", "above": "50 Mbps"}})
    flow = stage.submit("t")
    stage.now += 10
    stage.measure("al2s", 58.0)
    decision = stage.decision(flow)
    assert (decision.outcome, str(decision.trigger)[:11]) == ("stay", "trigger low")


def test_priority_goes_up_and_its_rules_with_it() -> None:
    stage = staged(
        {**LOOK, "when": {"metric": "loss", "above": "0.5 %"}, "do": {"action": "priority", "by": 200}}
    )
    flow = stage.submit("t")
    before = {rule.priority for rule in stage.rules_of(flow)}
    stage.measure("al2s", loss=0.01)
    assert stage.broker.flows.priority(stage.flow(flow)) == 700
    assert {rule.priority for rule in stage.rules_of(flow)} != before
    assert "low" in fired(stage, flow)


@pytest.mark.parametrize(("by", "priority"), [(999, 999), (-999, 0)])
def test_priority_stays_within_its_range(by: int, priority: int) -> None:
    stage = staged(
        {**LOOK, "when": {"metric": "loss", "above": "0.5 %"}, "do": {"action": "priority", "by": by}}
    )
    flow = stage.submit("t")
    stage.measure("al2s", loss=0.01)
    assert stage.broker.flows.priority(stage.flow(flow)) == priority


UP = {
    "name": "up",
    "when": {"metric": "loss", "above": "0.5 %"},
    "hold": "10 s",
    "do": {"action": "priority", "by": 100},
}
DOWN = {
    "name": "down",
    "when": {"metric": "loss", "below": "0.1 %"},
    "hold": "10 s",
    "do": {"action": "priority", "by": -100},
}


def test_two_triggers_do_not_play_ping_pong_with_a_flow() -> None:
    stage = staged(UP, DOWN, qspec={"throughput": {"min": "7 Mbps"}})
    flow = stage.submit("t")
    turns, before = 0, 0
    for number in range(200):
        stage.now += 15
        stage.measure("al2s", loss=0.01 if number % 2 else 0.0)
        offset = stage.flow(flow).triggered.priority
        turns, before = turns + (offset != before), offset
    assert 3 <= turns <= math.log2(3000 / 10 + 1) + 2


def test_capacity_trigger_announces_the_wanted_capacity() -> None:
    burst = {
        "name": "burst",
        "when": {"metric": "flow.rate", "above": "40 Mbps", "clear": "30 Mbps"},
        "for": "6 s",
        "do": {"action": "capacity", "more": "20 %"},
    }
    stage = staged(burst)
    flow = stage.submit("t")
    for _ in range(4):
        stage.carry(flow, 30_000_000)  # 48 Mbps in 5 s
        stage.pass_time(5)
    seen = "trigger burst: flow.rate 48 Mbps above 40 Mbps for 6 s"
    text = f"{seen}: path al2s should have 72.72 Mbps; it has 60.6 Mbps"
    assert fired(stage, flow)["burst"].text == text
    assert ("trigger-fired", "warning", flow.id) in stage.announcements()


def test_a_test_is_asked_for_unless_the_path_is_quiet() -> None:
    ask = {**LOOK, "when": {"metric": "loss", "above": "0.5 %"}, "do": {"action": "measure", "metric": "rtt"}}
    stage = staged(ask)
    flow = stage.submit("t")
    stage.measure("al2s", loss=0.01)
    assert [(one.key.path, one.metric) for one in stage.requested] == [("al2s", Metric.RTT)]
    quiet = staged(
        {**ask, "do": {"action": "measure", "metric": "throughput"}}, qspec={"throughput": {"min": "40 Mbps"}}
    )
    flow = quiet.submit("t")
    assert "al2s" in quiet.quiet
    quiet.measure("al2s", loss=0.01)
    assert quiet.requested == []
    assert "low" in fired(quiet, flow)


def test_people_are_told() -> None:
    tell = {
        **LOOK,
        "when": {"metric": "loss", "above": "0.5 %"},
        "do": {"action": "notify", "text": "please look"},
    }
    stage = staged(tell)
    stage.submit("t")
    stage.measure("al2s", loss=0.01)
    assert len(stage.announcements("trigger-fired")) == 1


def test_only_the_path_and_direction_of_the_flow_count() -> None:
    stage = staged({**LOOK, "when": {"metric": "loss", "above": "0.5 %"}})
    flow = stage.submit("t")
    stage.measure("internet", loss=0.5)
    assert fired(stage, flow) == {}


def test_a_flow_that_waits_fires_nothing() -> None:
    stage = staged(
        {**LOOK, "when": {"metric": "loss", "above": "0.5 %"}}, qspec={"throughput": {"min": "59 Mbps"}}
    )
    flow = stage.submit("t")
    assert stage.flow(flow).state == "queued"
    stage.measure("al2s", loss=0.5)
    assert fired(stage, flow) == {}


# -- hosts ---------------------------------------------------------------------------------------------

MEMORY = {
    "name": "memory",
    "when": {"metric": "host.memory_available", "of": "source", "below": "2 GB"},
    "do": {"action": "monitor", "of": "source", "metrics": ["queue.length"], "period": "10 s"},
}


def test_what_is_watched_follows_the_flows() -> None:
    stage = staged(MEMORY, monitoring=[{"of": "destination", "metrics": ["host"], "period": "20 s"}])
    assert stage.monitoring is None
    flow = stage.submit("t")
    assert stage.monitoring is not None
    assert [(one.site, one.metric, one.period) for one in stage.monitoring.watches] == [("osu", "host", 20.0)]
    assert stage.monitoring.series == {("mu", "host.memory_available")}
    stage.observe("mu", "host.memory_available", 1e9)
    assert {(one.site, one.metric) for one in stage.monitoring.watches} == {
        ("osu", "host"),
        ("mu", "queue.length"),
    }
    stage.cancel(flow)
    assert stage.monitoring.watches == ()
    assert stage.monitoring.series == frozenset()


def test_a_host_s_value_counts_at_the_end_it_is_of() -> None:
    stage = staged(MEMORY)
    flow = stage.submit("t")
    stage.observe("osu", "host.memory_available", 1e9)
    assert fired(stage, flow) == {}
    stage.observe("mu", "host.memory_available", 1e9)
    assert fired(stage, flow)["memory"].value == 1e9


def test_a_part_of_a_host() -> None:
    when = {"metric": "pegasus.jobs_failed", "of": "destination", "part": "run0001", "above": 0}
    stage = staged({**MEMORY, "when": when, "do": {"action": "notify", "text": "a job has failed"}})
    flow = stage.submit("t")
    stage.observe("osu", "pegasus.jobs_failed", 3, part="run0002")
    assert fired(stage, flow) == {}
    stage.observe("osu", "pegasus.jobs_failed", 1, part="run0001")
    assert "memory" in fired(stage, flow)


# -- restart, clock ------------------------------------------------------------------------------------


def test_after_a_restart_nothing_fires_again_that_has_just_fired() -> None:
    stage = staged(
        {**LOOK, "when": {"metric": "loss", "above": "0.5 %"}, "do": {"action": "priority", "by": 200}}
    )
    flow = stage.submit("t")
    stage.measure("al2s", loss=0.01)
    stage.saved.flows = {n: from_json(Flow, to_json(one)) for n, one in stage.saved.flows.items()}
    stage.restart()
    assert stage.broker.flows.priority(stage.flow(flow)) == 700
    stage.now += 400
    stage.measure("al2s", loss=0.01)
    assert fired(stage, flow)["low"].count == 1, "it is still on"
    stage.now += 10
    stage.measure("al2s", loss=0.0)
    stage.now += 10
    stage.measure("al2s", loss=0.01)
    assert fired(stage, flow)["low"].count == 2


def test_what_was_done_is_kept_with_the_flow() -> None:
    kept = Triggered((Fired("a", 1.0, 2.0, 3, False, "x"),), (Knob("priority", -1, 4.0, 5.0),), -100)
    stage = staged()
    flow = stage.submit("t")
    one = replace(stage.flow(flow), triggered=kept)
    assert from_json(Flow, to_json(one)) == one
    old = to_json(stage.flow(flow))
    del old["triggered"]
    assert from_json(Flow, old) == stage.flow(flow), "a flow of an earlier version"


def test_values_are_forgotten_with_their_flow() -> None:
    stage = staged(LOOK)
    flow = stage.submit("t")
    know(stage, al2s=10.0)
    assert "trigger values" in stage.memory_of(flow)
    stage.pass_time(300)
    assert (stage.flow(flow).state.final, stage.memory_of(flow)) == (True, set())

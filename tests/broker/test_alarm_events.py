"""Transcripts: a path is in alarm, and what follows.  The hold-off itself is in test_alarms.py."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.alarms import HOLD_OFF_S
from adon.broker.decision import Decision, Outcome
from adon.broker.events import SnapshotAsked
from adon.broker.flow import Flow, FlowState, Quality
from measurement.model import Metric
from tests.support.factories import clear_alarm, make_alarm
from tests.support.stage import OSU_EDGE, Stage, know, make_stage, verdicts

SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}
MIN_DWELL = 30.0


def on_al2s(seconds: float = 0.0) -> tuple[Stage, Flow]:
    """A flow of at least 6 Mbit/s, for so long on the better of two paths that could carry it."""
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.pass_time(seconds)
    know(stage, internet=6.5)
    stage.pass_time(1)
    assert flow.path == "al2s"
    return stage, flow


def throughput(decision: Decision, path: str = "al2s") -> Any:
    (record,) = (candidate for candidate in decision.candidates if candidate.path == path)
    return next(metric for metric in record.metrics if metric.metric == "throughput")


# -- a running flow ------------------------------------------------------------------------------------


def test_a_collapse_moves_a_flow_at_once() -> None:
    """One bad value is no reason to move; with a critical alarm it is, even for a flow that has just come."""
    stage, flow = on_al2s()
    stage.measure("al2s", 1.0)
    assert stage.flow(flow).path == "al2s"
    (decision,) = stage.alarm(make_alarm(stage.now, since=stage.now - 5))
    assert (decision.outcome, decision.path, decision.alarm) == (Outcome.MOVE, "internet", "a-1")
    assert decision.code == "patience-exhausted"
    assert stage.output_of(flow) == 3


@pytest.mark.parametrize(("seconds", "path"), [(MIN_DWELL - 2, "al2s"), (MIN_DWELL - 1, "internet")])
def test_a_warning_waives_patience_and_not_dwell(seconds: float, path: str) -> None:
    stage, flow = on_al2s(seconds)
    stage.measure("al2s", 1.0)
    (decision,) = stage.alarm(make_alarm(stage.now, since=stage.now - 5, critical=False))
    assert stage.flow(flow).path == decision.path == path
    assert (decision.code == "min-dwell") == (path == "al2s")


def test_a_metric_without_a_bound_waives_no_dwell() -> None:
    """The loss is weighted and bounded for this flow, but it is kept: what misses is something else."""
    stage, flow = on_al2s()
    stage.measure("al2s", 1.0)
    (decision,) = stage.alarm(make_alarm(stage.now, metric=Metric.LOSS, since=stage.now))
    assert stage.flow(flow).path == decision.path == "al2s"


def test_an_alarm_says_changed_not_unusable() -> None:
    """From 58 to 30 Mbit/s is a change; Q and the bounds decide, with the value from after it."""
    stage, _ = on_al2s(MIN_DWELL)
    stage.measure("al2s", 30.0)
    (decision,) = stage.alarm(make_alarm(stage.now, since=stage.now - 5))
    assert (decision.outcome, decision.path) == (Outcome.STAY, "al2s")
    assert throughput(decision).value == 30e6
    assert verdicts(decision)["al2s"] == "qualified"
    assert stage.submit(**SIX).path == "al2s"


def test_values_from_before_the_change_are_superseded() -> None:
    stage, flow = on_al2s(MIN_DWELL)
    (decision,) = stage.alarm(make_alarm(stage.now))
    assert (decision.outcome, decision.code) == (Outcome.STAY, "path-unknown")
    assert throughput(decision).unknown.endswith("a-1")
    assert stage.flow(flow).quality is Quality.UNKNOWN
    assert stage.submit(**SIX).path == "internet", "a known path is better than one that is unknown"


def test_counters_are_no_substitute_while_a_path_carries_less_than_it_did() -> None:
    """They take the capacity for granted: 60.6 less what is in use would make a broken path look free."""
    stage, flow = on_al2s()
    for _ in range(4):
        stage.pass_time(5)
        stage.carry(flow, 600_000)
    stage.pass_time(5)
    stage.alarm(make_alarm(stage.now))
    refused = stage.submit(qspec={"throughput": {"min": "20 Mbps"}})
    assert (refused.state, throughput(stage.decision(refused)).value) == (FlowState.QUEUED, None)


def test_a_flow_s_own_rate_from_after_the_change_counts() -> None:
    stage, flow = on_al2s()
    for _ in range(4):
        stage.pass_time(5)
        stage.carry(flow, 2_500_000)
    stage.pass_time(1)
    (decision,) = stage.alarm(make_alarm(stage.now, since=stage.now - 8, critical=False))
    assert throughput(decision).value == pytest.approx(4e6)
    (decision,) = stage.alarm(make_alarm(stage.now, "a-2"))
    assert throughput(decision).unknown.endswith("a-2")


def test_a_new_value_ends_the_doubt() -> None:
    stage, _ = on_al2s()
    stage.alarm(make_alarm(stage.now))
    stage.pass_time(1)
    stage.measure("al2s", 40.0)
    assert stage.submit(**SIX).path == "al2s"


def test_every_flow_on_the_path_is_decided_on_and_nobody_else() -> None:
    stage = make_stage()
    first, second = stage.submit(**SIX), stage.submit(**SIX)
    stage.measure("al2s", 58.0, loss=0.0, back=True)
    back = stage.submit(source="osu-dtn", destination="mu-dtn")
    assert first.path == second.path == back.path == "al2s"
    stage.pass_time(1)
    stage.measure("al2s", 1.0)
    decisions = stage.alarm(make_alarm(stage.now, since=stage.now - 5))
    assert [decision.flow for decision in decisions] == [first.id, second.id]


@pytest.mark.parametrize(
    "fields",
    [
        {"metric": Metric.JITTER},  # the flow does not look at it
        {"ends": ("osu", "mu")},
        {"path": "internet"},
        {"path": "nowhere"},
        {"ends": ("mu", "mu")},
        {"metric": "estimate.throughput_error"},
        {"path": "", "metric": "host.memory_available"},
        {"bad": False},
    ],
)
def test_what_does_not_concern_a_flow(fields: dict[str, Any]) -> None:
    stage, flow = on_al2s(MIN_DWELL)
    stage.measure("al2s", 1.0)
    assert stage.alarm(make_alarm(stage.now, since=stage.now, **fields)) == []
    assert stage.flow(flow).path == "al2s"


def test_a_flow_whose_rules_are_being_changed_is_decided_on_when_that_is_done() -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit(**SIX)
    stage.pass_time(1)
    stage.measure("al2s", 1.0)
    assert stage.alarm(make_alarm(stage.now, since=stage.now - 5)) == []
    stage.end_faults()
    stage.answer_late()
    assert stage.flow(flow).path == "internet"
    assert "alarm a-1" in stage.decision(flow).reason


def test_an_alarm_that_is_over_by_then_hurries_nobody() -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit(**SIX)
    stage.pass_time(1)
    stage.measure("al2s", 1.0)
    found = make_alarm(stage.now, since=stage.now - 5)
    stage.alarm(found)
    stage.alarm(clear_alarm(found, stage.now))
    stage.end_faults()
    stage.answer_late()
    assert stage.flow(flow).path == "al2s"


# -- who waits, and what is measured ----------------------------------------------------------------------


def test_who_waits_is_tried_again_when_the_alarm_is_over() -> None:
    stage = make_stage(internet=0)
    stage.pass_time(1)
    found = make_alarm(stage.now)
    stage.alarm(found)
    waiting = stage.submit()
    stage.expect(waiting, state="queued", path=None, why={"al2s": "metric-unknown"})
    stage.pass_time(3)
    (decision,) = stage.alarm(clear_alarm(found, stage.now))
    assert (decision.outcome, decision.path, decision.alarm) == (Outcome.ADMIT, "al2s", "a-1")
    assert stage.flow(waiting).state is FlowState.ACTIVE


def test_the_end_of_an_alarm_that_nobody_heard_of_is_no_event() -> None:
    stage, _ = on_al2s()
    said = stage.announcements()
    assert stage.alarm(clear_alarm(make_alarm(stage.now), stage.now)) == []
    assert stage.announcements() == said


def test_the_path_is_measured_once() -> None:
    stage, _ = on_al2s()
    for number in range(5):
        stage.alarm(make_alarm(stage.now, f"a-{number}", metric=Metric.LOSS))
        stage.pass_time(1)
    (asked,) = stage.requested
    assert (str(asked.key), asked.metric, asked.reason) == ("al2s:mu>osu", Metric.LOSS, "alarm a-0")


def quiet() -> Stage:
    """A stage with a flow whose bound takes more than half of al2s, so that no test may load it."""
    stage = make_stage()
    stage.submit(qspec={"throughput": {"min": "40 Mbps"}})
    assert stage.quiet == {"al2s"}
    return stage


def test_a_quiet_path_is_not_loaded_because_of_an_alarm() -> None:
    stage = quiet()
    stage.alarm(make_alarm(stage.now, kind="threshold"))
    assert stage.requested == []
    stage.alarm(make_alarm(stage.now, "a-2", metric=Metric.LOSS))
    assert [asked.metric for asked in stage.requested] == [Metric.LOSS]


def test_silence_that_we_asked_for_is_no_news() -> None:
    stage = quiet()
    assert stage.alarm(make_alarm(stage.now, kind="absence")) == []
    assert stage.requested == []
    (decision,) = stage.alarm(make_alarm(stage.now, "c", metric=Metric.LOSS, kind="absence"))
    assert decision.alarm == "c"


def test_silence_ends_the_trust_in_the_last_value() -> None:
    stage = make_stage()
    stage.pass_time(100)
    stage.alarm(make_alarm(stage.now, kind="absence"))
    assert stage.submit(**SIX).path == "internet"


# -- no more than that --------------------------------------------------------------------------------------


def test_a_flow_that_was_decided_on_is_not_displaced_by_the_same_event() -> None:
    """Algorithm 2's P_min: as soon as nothing but throughput is missing, the place goes to who waits."""
    stage = make_stage(internet=1.0)
    low = stage.submit(priority=1, qspec={"throughput": {"min": "3 Mbps"}})
    stage.pass_time(1)
    stage.measure("al2s", 4.0)
    found = make_alarm(stage.now, metric=Metric.LOSS)
    stage.alarm(found)
    high = stage.submit(priority=900)
    assert (stage.flow(low).path, high.state) == ("al2s", FlowState.QUEUED)
    stage.pass_time(1)
    decisions = stage.alarm(clear_alarm(found, stage.now))
    assert [decision.outcome for decision in decisions if decision.flow == low.id] == [Outcome.STAY]
    stage.pass_time(1)
    stage.measure("al2s", 4.0)
    assert (stage.flow(low).state, stage.flow(high).path) == (FlowState.QUEUED, "al2s")


def test_alarms_in_force_are_in_the_read_out() -> None:
    stage, _ = on_al2s()
    first = make_alarm(stage.now, since=stage.now - 5)
    stage.alarm(first)
    stage.alarm(make_alarm(stage.now, "a-2", kind="threshold"))
    stage.alarm(make_alarm(stage.now, "a-3", metric=Metric.RTT, bad=False))
    stage.alarm(clear_alarm(first, stage.now))
    found: Any = json.loads(json.dumps(stage.command(SnapshotAsked), allow_nan=False))
    shown = {(p["path"], p["source"]): p["alarms"] for p in found["paths"]}
    assert [(a["id"], a["metric"], a["acted_on"]) for a in shown["al2s", "mu"]] == [
        ("a-2", "throughput", False),
        ("a-3", "rtt", False),
    ]
    assert shown["al2s", "osu"] == shown["internet", "mu"] == []


def test_dwell_is_waived_for_a_flow_once_per_dwell() -> None:
    """Back and forth at once, on one alarm each, would be a flow that flaps."""
    stage, flow = on_al2s()
    stage.measure("al2s", 1.0)
    stage.alarm(make_alarm(stage.now, since=stage.now))
    assert stage.flow(flow).path == "internet"
    stage.pass_time(5)
    know(stage, al2s=58.0, internet=1.0)
    (decision,) = stage.alarm(make_alarm(stage.now, "a-2", "internet", since=stage.now))
    assert (decision.outcome, stage.flow(flow).path) == (Outcome.STAY, "internet")
    assert decision.code == "min-dwell"


Step = tuple[float, str, float, float, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 4.0, 11.0, 25.0]),  # seconds before it
        st.sampled_from(["al2s", "internet"]),
        st.sampled_from([1.0, 6.5, 58.0]),  # what is measured there
        st.sampled_from([0.0, 0.5]),  # and how much is lost
        st.sampled_from(["none", "warning", "critical", "cleared", "no values"]),
    ),
    min_size=1,
    max_size=25,
)


def live(stage: Stage, steps: list[Step]) -> list[Decision]:
    """Let time pass with measurements and alarms; every event may lead to one decision per flow."""
    for number, (wait, path, rate, lost, news) in enumerate(steps):
        stage.pass_time(wait)
        if news != "no values":
            stage.measure(path, rate)
            stage.measure(path, loss=lost)
        if news != "none":
            metric = Metric.LOSS if lost else Metric.THROUGHPUT
            critical = news != "warning"
            found = make_alarm(stage.now, f"a-{number}", path, metric, since=stage.now, critical=critical)
            stage.alarm(clear_alarm(found, stage.now) if news == "cleared" else found)
    return stage.saved.decisions


@given(STEPS)
def test_alarms_do_not_make_a_flow_flap(steps: list[Step]) -> None:
    """Whatever is measured and raised: of three moves the third is a whole dwell after the first."""
    stage = make_stage()
    flow = stage.submit(**SIX)
    moves = [d.at for d in live(stage, steps) if d.outcome is Outcome.MOVE and d.flow == flow.id]
    assert all(third - first >= MIN_DWELL for first, third in zip(moves, moves[2:], strict=False))


@given(STEPS)
def test_one_decision_per_event_and_flow_which_names_its_alarm(
    steps: list[Step],
) -> None:
    stage = make_stage()
    for priority in (1, 5, 900):
        stage.submit(priority=priority, **SIX)
    decisions = live(stage, steps)
    assert max(Counter((d.cause, d.flow) for d in decisions).values()) == 1
    assert all(d.alarm is None or d.alarm.startswith("a-") for d in decisions)


@given(STEPS, st.lists(st.tuples(st.integers(1, 59), st.booleans()), min_size=1, max_size=8))
def test_alarms_within_the_hold_off_change_nothing(steps: list[Step], again: list[tuple[int, bool]]) -> None:
    """The same history with and without more alarms about what was a critical alarm a moment ago."""

    def history(noisy: bool) -> list[tuple[object, ...]]:
        stage = make_stage()
        stage.submit(**SIX)
        stage.measure("al2s", 1.0)
        stage.alarm(make_alarm(stage.now, "first", since=stage.now))
        for step, (wait, critical) in zip(steps, [*again, *[(1, True)] * len(steps)], strict=False):
            if noisy and stage.now - 1_000_000.0 < HOLD_OFF_S:
                stage.alarm(make_alarm(stage.now, f"n-{stage.now}", since=stage.now, critical=critical))
            path, rate = step[1], step[2]
            know(stage, **{path: rate})
            stage.pass_time(wait)
        return [(d.flow, d.at, d.outcome, d.path, d.reason) for d in stage.saved.decisions]

    assert history(noisy=True) == history(noisy=False)

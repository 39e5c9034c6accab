"""What was promised against what was achieved, and the summary of it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.estimates import ENOUGH, KEPT, METRIC, Estimates, Summary, summarise
from adon.broker.events import SnapshotAsked
from adon.broker.flow import Flow, FlowState
from measurement.model import PathKey
from tests.support.refusals import refused
from tests.support.scenes import SIX, transfer
from tests.support.stage import Stage, know, make_stage

AL2S = PathKey("al2s", "mu", "osu")


def finish(stage: Stage, flow: Flow, octets: int = 0) -> Flow:
    return stage.report(flow, "finished", octets)


def test_the_transfer_s_own_report_is_what_was_achieved() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.report(flow, "started", 0)
    stage.pass_time(20)
    finish(stage, flow, 100_000_000)  # 40 Mbit/s where 58 were promised
    (scored,) = stage.scores
    assert (scored.key, scored.metric, scored.observed_at) == (AL2S, METRIC, stage.now)
    assert scored.value == pytest.approx(58 / 40 - 1)
    assert scored.parameters["basis"] == "active test"
    assert scored.parameters["flow"] == flow.id
    assert scored.parameters["estimated"] == 58e6
    assert scored.parameters["achieved"] == pytest.approx(40e6)
    assert "report" in scored.parameters["achieved_by"]
    assert scored.source == f"decision:{stage.saved.decisions[0].id}"


def test_without_a_report_the_far_edge_s_counters_tell() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(7)
    transfer(stage, flow, 33, 29.0)
    stage.pass_time(70)
    assert stage.flow(flow).state is FlowState.FINISHED, "it idled out"
    (scored,) = stage.scores
    assert "counters" in scored.parameters["achieved_by"]
    assert scored.value == pytest.approx(1.0), "neither the wait before nor the silence after it counts"


@pytest.mark.parametrize("ended", ["cancelled", "failed"])
def test_who_did_not_finish_is_judged_by_counters(ended: str) -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.report(flow, "started", 0)
    transfer(stage, flow, 30, 29.0)
    stage.pass_time(5)
    if ended == "failed":
        stage.report(flow, "failed", 10**9)
    else:
        stage.cancel(flow)
    (scored,) = stage.scores
    assert scored.value == pytest.approx(1.0)


def test_an_estimate_for_one_stream_is_compared_with_one_of_the_streams() -> None:
    stage = make_stage()
    flow = stage.submit("soykb", streams=4)
    stage.report(flow, "started", 0)
    stage.pass_time(20)
    finish(stage, flow, 100_000_000)
    (scored,) = stage.scores
    assert scored.parameters["achieved"] == pytest.approx(10e6)
    assert scored.value == pytest.approx(4.8)


def test_after_a_move_the_promise_of_the_new_path_counts() -> None:
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.report(flow, "started", 0)
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
    assert stage.flow(flow).path == "internet"
    transfer(stage, flow, 30, 5.0)
    stage.pass_time(5)
    finish(stage, flow, 10**9)
    (scored,) = stage.scores
    assert scored.key.path == "internet"
    assert "counters" in scored.parameters["achieved_by"], "it began on another path"
    assert scored.value == pytest.approx(6.5 / 5 - 1)


def test_a_move_that_was_taken_back_promises_nothing() -> None:
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.refuse(0xA01, "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL")
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
    stage.end_faults()
    assert stage.flow(flow).path == "al2s"
    transfer(stage, flow, 30, 29.0)
    stage.pass_time(5)
    stage.cancel(flow)
    assert [(score.key, score.value) for score in stage.scores] == [(AL2S, pytest.approx(1.0))]


def too_short() -> tuple[Stage, Flow]:
    stage = make_stage()
    flow = stage.submit()
    stage.report(flow, "started", 0)
    stage.pass_time(0.5)
    return stage, flow


def silent() -> tuple[Stage, Flow]:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(30)
    return stage, flow


def never_admitted() -> tuple[Stage, Flow]:
    stage = make_stage(al2s=1.0, internet=1.0)
    return stage, stage.submit()


@pytest.mark.parametrize("history", [too_short, silent, never_admitted])
def test_what_cannot_be_compared_is_not(history: Any) -> None:
    stage, flow = history()
    if stage.flow(flow).state.holds_rules:
        finish(stage, flow, 1000)
    else:
        stage.cancel(flow)
    assert stage.scores == []


def test_the_read_out_sums_up_by_path_and_basis() -> None:
    stage = make_stage()
    for megabytes in (50, 100, 145):
        flow = stage.submit()
        stage.report(flow, "started", 0)
        stage.pass_time(20)
        finish(stage, flow, megabytes * 1_000_000)
        stage.pass_time(1)
        know(stage, al2s=58.0)
    found: Any = json.loads(json.dumps(stage.command(SnapshotAsked), allow_nan=False))
    (entry,) = found["estimates"]
    assert (entry["path"], entry["source"], entry["basis"], entry["count"]) == (
        "al2s",
        "mu",
        "active test",
        3,
    )
    assert entry["median"] == pytest.approx(58 / 40 - 1)
    assert entry["spread"] == pytest.approx(((58 / 20 + 58 / 40) - (58 / 40 + 1)) / 2)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([0.5], Summary(1, 0.5, 0.0)),
        ([0.0, 1.0], Summary(2, 0.5, 0.5)),
        ([3.0, 1.0, 2.0, 0.0, 4.0], Summary(5, 2.0, 2.0)),
        ([0.0] * 9 + [1e9], Summary(10, 0.0, 0.0)),  # one flow that was limited by its source
    ],
)
def test_summary(errors: list[float], expected: Summary) -> None:
    assert summarise(errors) == expected


def test_there_is_no_summary_of_nothing() -> None:
    with refused(ValueError):
        summarise([])


@given(st.lists(st.floats(-1.0, 1e6), min_size=1, max_size=KEPT))
def test_the_summary_lies_within_the_errors(errors: list[float]) -> None:
    found = summarise(errors)
    assert min(errors) <= found.median <= max(errors)
    assert 0 <= found.spread <= max(errors) - min(errors) or math.isclose(
        found.spread, max(errors) - min(errors)
    )


def test_how_long_transfers_lasted_is_kept_by_path_and_by_whether_they_had_waited() -> None:
    found = Estimates()
    for _ in range(ENOUGH - 1):
        found.took(AL2S, 10.0, 12.0, waited=True)
    found.took(PathKey("internet", "mu", "osu"), 10.0, 15.0, waited=True)
    assert found.duration_errors(AL2S, waited=True) == pytest.approx([0.2] * 4 + [0.5]), (
        "few: all paths that lead there"
    )
    found.took(AL2S, 10.0, 8.0, waited=True)
    assert found.duration_errors(AL2S, waited=True) == pytest.approx([0.2] * 4 + [-0.2])
    assert found.duration_errors(AL2S, waited=False) == ()
    assert found.duration_errors(PathKey("al2s", "osu", "mu"), waited=True) == ()


@pytest.mark.parametrize(("expected", "seconds"), [(0.0, 12.0), (10.0, 0.5)])
def test_what_says_nothing_about_how_long_transfers_last(expected: float, seconds: float) -> None:
    found = Estimates()
    found.took(AL2S, expected, seconds, waited=False)
    assert found.duration_errors(AL2S, waited=False) == ()

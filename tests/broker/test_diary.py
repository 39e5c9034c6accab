"""What a flow's steps write down about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.diary import MOST_STAYS, Diary
from adon.broker.flow import Flow, FlowState, Quality
from adon.broker.outcomes import Stay
from tests.store.values import a_flow


def admitted(at: float = 10.0, path: str = "al2s") -> Flow:
    flow = a_flow().step(FlowState.INSTALLING, at, "")
    return flow.onto(path, at, f"d-{at:g}")


def active(at: float = 10.0, path: str = "al2s") -> Flow:
    return admitted(at, path).step(FlowState.ACTIVE, at, "")


def test_the_first_path_is_the_admission() -> None:
    diary = active().onto("internet", 20.0, "d-20").diary
    assert (diary.admitted_at, diary.decision) == (10.0, "d-10")
    assert diary.stays == (Stay("al2s", 10.0, 20.0),)


def test_quality_counts_from_one_judgement_to_the_next() -> None:
    flow = active().judged(Quality.MET, 11.0).judged(Quality.MET, 12.0).judged(Quality.VIOLATED, 14.0)
    ended = flow.step(FlowState.FINISHED, 19.0, "")
    assert dict(ended.diary.quality) == {"unknown": 1.0, "met": 3.0, "violated": 5.0}
    assert ended.diary.since is None


def test_a_move_is_judged_anew() -> None:
    flow = active().judged(Quality.MET, 10.0).onto("internet", 20.0, "d-20").judged(Quality.MET, 23.0)
    assert dict(flow.step(FlowState.FINISHED, 30.0, "").diary.quality) == {"unknown": 3.0, "met": 17.0}


def test_nothing_counts_while_it_waits() -> None:
    waiting = active().step(FlowState.QUEUED, 20.0, "", path=None, path_since=None)
    again = waiting.step(FlowState.INSTALLING, 50.0, "").onto("al2s", 50.0, "d-50")
    ended = again.step(FlowState.ACTIVE, 50.0, "").step(FlowState.FINISHED, 60.0, "")
    assert ended.diary.stays == (Stay("al2s", 10.0, 20.0), Stay("al2s", 50.0, 60.0))
    assert sum(ended.diary.quality.values()) == 20.0
    assert ended.diary.admitted_at == 10.0


@pytest.mark.parametrize("to", [FlowState.QUEUED, FlowState.CANCELLED, FlowState.FAILED])
def test_a_path_that_no_switch_confirmed_never_was(to: FlowState) -> None:
    assert admitted().step(to, 12.0, "").diary == Diary()
    waiting = active().step(FlowState.QUEUED, 20.0, "", path=None, path_since=None)
    refused = waiting.step(FlowState.INSTALLING, 50.0, "").onto("al2s", 50.0, "d-50").step(to, 51.0, "")
    assert refused.diary.stays == (Stay("al2s", 10.0, 20.0),)
    assert refused.diary.admitted_at == 10.0


def test_a_transfer_that_was_over_before_its_rules_were_confirmed_had_a_path() -> None:
    assert admitted().step(FlowState.FINISHED, 12.0, "").diary.stays == (Stay("al2s", 10.0, 12.0),)


def test_conditions_are_those_of_the_admission_and_the_promise_is_the_last() -> None:
    flow = admitted()
    first = flow.diary.expects(58e6, {"throughput": 58e6, "loss": 0.0}, "d-10")
    moved = replace(flow, diary=first, state=FlowState.ACTIVE).onto("internet", 20.0, "d-20")
    assert moved.diary.promised is None
    second = moved.diary.expects(6e6, {"throughput": 6e6}, "d-20")
    assert (second.promised, dict(second.conditions)) == (6e6, {"throughput": 58e6, "loss": 0.0})


def test_an_event_that_comes_a_little_late_takes_nothing_away() -> None:
    flow = active(10.0).judged(Quality.MET, 8.0).judged(Quality.VIOLATED, 12.0)
    assert dict(flow.diary.quality) == {"unknown": 0.0, "met": 4.0}


def test_the_latest_stays_are_kept() -> None:
    flow = active()
    for number in range(MOST_STAYS + 5):
        flow = flow.onto(f"path-{number}", 11.0 + number, "d")
    assert len(flow.diary.stays) == MOST_STAYS
    assert flow.diary.stays[-1].path == f"path-{MOST_STAYS + 3}"


def test_a_flow_saved_by_an_older_version_has_a_diary_from_now_on() -> None:
    old = replace(a_flow(), state=FlowState.ACTIVE, path="al2s", path_since=5.0, quality=Quality.MET)
    ended = old.judged(Quality.VIOLATED, 10.0).step(FlowState.FINISHED, 12.0, "")
    assert dict(ended.diary.quality) == {"violated": 2.0}
    assert ended.diary.stays == (Stay("al2s", 5.0, 12.0),)


moments = st.lists(
    st.tuples(st.floats(-50, 50), st.sampled_from(Quality), st.sampled_from(["al2s", "internet", "third"])),
    max_size=12,
)


@given(moments)
def test_whatever_the_clock_does_spans_are_not_negative(steps: list[tuple[float, Quality, str]]) -> None:
    now, flow = 1000.0, active(1000.0)
    for by, quality, path in steps:
        now += by
        if by < 0:
            since = None if flow.path_since is None else min(flow.path_since, now)
            flow = replace(flow, path_since=since, diary=flow.diary.set_back(now))
        flow = flow.judged(quality, now)
        flow = flow if path == flow.path else flow.onto(path, now, "d")
    ended = flow.step(FlowState.FINISHED, now, "")
    assert all(span >= 0 for span in ended.diary.quality.values())
    assert all(stay.until >= stay.since for stay in ended.diary.stays)
    if all(by >= 0 for by, _, _ in steps):
        spent = sum(stay.until - stay.since for stay in ended.diary.stays)
        assert spent == pytest.approx(sum(ended.diary.quality.values()))

"""What alarms waive, and for how long they are not heard again.  What follows is in test_heeding.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.alarms import HOLD_OFF_S, SHOWN, Alarms, Waived, began_at, words
from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.selection.performance import PathChange
from measurement.model import Metric, PathKey
from tests.support.factories import clear_alarm, make_alarm

KEY = PathKey("al2s", "mu", "osu")
MISSED = CandidateRecord(
    "al2s", "l2", Verdict.UNQUALIFIED, "", "", None, (MetricRecord("throughput", 1e6, bound_met=False),)
)
MET = replace(MISSED, metrics=(MetricRecord("throughput", 9e6, bound_met=True),))
OTHER_MISSED = replace(MISSED, metrics=(MetricRecord("loss", 0.1, bound_met=False),))


def act(alarms: Alarms, *args: object, **fields: object) -> bool:
    found = make_alarm(*args, **fields)  # type: ignore[arg-type]
    alarms.note(found)
    return alarms.act_on(found, found.raised_at)


def test_the_change_begins_with_the_first_sample_that_showed_it() -> None:
    assert began_at(make_alarm(100.0, since=70.0)) == 70.0
    assert began_at(make_alarm(100.0, kind="absence")) == 100.0
    assert began_at(replace(make_alarm(100.0), after=None)) == 100.0


def test_a_long_text_does_not_fill_a_reason() -> None:
    long = replace(make_alarm(1.0), text="x" * 5000)
    assert words(long).count("x") == SHOWN


@pytest.mark.parametrize(
    ("later", "second", "heard"),
    [
        (1.0, {"name": "a-2"}, False),  # raised again under another name
        (HOLD_OFF_S - 1, {"name": "a-2"}, False),
        (HOLD_OFF_S, {"name": "a-2"}, True),
        (1.0, {"name": "a-2", "critical": False}, False),
        (1.0, {"name": "a-2", "kind": "threshold"}, False),  # another detector finds the same
        (1.0, {"name": "a-2", "metric": Metric.LOSS}, True),  # another metric is another matter
        (1.0, {"name": "a-2", "path": "internet"}, True),
        (1.0, {"name": "a-2", "ends": ("osu", "mu")}, True),
        (1.0, {"name": "a-1"}, False),  # news of the same alarm
        (2 * HOLD_OFF_S, {"name": "a-1"}, False),
    ],
)
def test_hold_off(later: float, second: dict[str, object], heard: bool) -> None:
    alarms = Alarms()
    assert act(alarms, 100.0)
    assert act(alarms, 100.0 + later, **second) is heard


@pytest.mark.parametrize("name", ["a-1", "a-2"])
def test_a_graver_alarm_is_heard_once_within_the_hold_off(name: str) -> None:
    alarms = Alarms()
    assert act(alarms, 100.0, critical=False)
    assert act(alarms, 101.0, name)
    assert not act(alarms, 102.0, name)
    assert not act(alarms, 103.0, "a-3", critical=False)
    assert not act(alarms, 104.0, "a-4")


def test_what_was_not_heard_within_the_hold_off_is_heard_with_the_next_news_of_it() -> None:
    alarms = Alarms()
    act(alarms, 100.0)
    assert not act(alarms, 110.0, "a-2")
    assert act(alarms, 100.0 + HOLD_OFF_S, "a-2")


@pytest.mark.parametrize("later", [0.5, HOLD_OFF_S + 1])
def test_good_news_is_never_acted_on(later: float) -> None:
    alarms = Alarms()
    assert not act(alarms, 100.0 + later, bad=False)
    assert [found.id for found in alarms.on(KEY)] == ["a-1"]
    assert alarms.find_change(make_alarm(1.0).series) is None


@given(
    st.lists(
        st.tuples(st.floats(0.0, 60.0), st.sampled_from("abc"), st.booleans(), st.booleans(), st.booleans()),
        max_size=60,
    )
)
def test_whatever_the_detectors_say_one_alarm_per_severity_and_hold_off(
    news: list[tuple[float, str, bool, bool, bool]],
) -> None:
    alarms, now, heard = Alarms(), 1000.0, list[tuple[float, bool]]()
    for wait, name, bad, critical, clears in news:
        now += wait
        found = make_alarm(now, name, bad=bad, critical=critical)
        if clears:
            alarms.clear(clear_alarm(found, now))
        elif act(alarms, now, name, bad=bad, critical=critical):
            heard.append((now, critical))
    for index, (at, critical) in enumerate(heard):
        before = [was for then, was in heard[:index] if at - then < HOLD_OFF_S]
        assert all(critical > was for was in before)
        assert len(before) <= 1


def test_one_alarm_per_series_and_kind_is_held() -> None:
    alarms = Alarms()
    for number in range(100):
        act(alarms, 100.0 + number, f"a-{number}")
    act(alarms, 300.0, "b", kind="absence")
    assert [found.id for found in alarms.on(KEY)] == ["a-99", "b"]
    assert not alarms.in_force(make_alarm(100.0, "a-0"))
    assert not alarms.clear(clear_alarm(make_alarm(100.0, "a-0"), 400.0)), "one that was replaced meanwhile"


def test_values_count_from_the_beginning_of_the_latest_change() -> None:
    alarms = Alarms()
    first, second = make_alarm(100.0, since=70.0), make_alarm(200.0, "b", kind="absence")
    for found in (first, second):
        alarms.note(found)
    assert alarms.find_change(first.series) is None, "nothing follows from what was not acted on"
    alarms.act_on(first, 100.0)
    assert alarms.find_change(first.series) == PathChange(70.0, "alarm a-1")
    alarms.act_on(second, 200.0 + HOLD_OFF_S)
    assert alarms.find_change(first.series) == PathChange(200.0, "alarm b")
    assert alarms.clear(clear_alarm(second, 600.0))
    assert alarms.find_change(first.series) == PathChange(70.0, "alarm a-1")
    assert alarms.clear(clear_alarm(first, 600.0))
    assert alarms.find_change(first.series) is None


def test_an_alarm_inherits_the_effect_of_the_one_before() -> None:
    """The end of the first was lost: what it superseded must not stay so when the second is over."""
    alarms, second = Alarms(), make_alarm(150.0, "a-2", since=140.0)
    act(alarms, 100.0, since=70.0)
    alarms.note(second)
    assert not alarms.act_on(second, 150.0)
    assert not alarms.acted_on(second)
    assert alarms.find_change(second.series) == PathChange(70.0, "alarm a-2")
    assert alarms.act_on(second, 100.0 + HOLD_OFF_S)
    assert alarms.find_change(second.series) == PathChange(140.0, "alarm a-2")
    assert alarms.clear(clear_alarm(second, 500.0))
    assert alarms.find_change(second.series) is None


def test_news_of_an_alarm_does_not_move_its_beginning() -> None:
    alarms = Alarms()
    act(alarms, 100.0, since=70.0, critical=False)
    assert act(alarms, 160.0, since=130.0)
    assert alarms.find_change(make_alarm(1.0).series) == PathChange(70.0, "alarm a-1")


def test_silence_does_not_say_that_a_path_carries_less() -> None:
    alarms = Alarms()
    act(alarms, 100.0, kind="absence")
    assert alarms.find_change(make_alarm(1.0).series) == PathChange(100.0, "alarm a-1", less=False)


def test_an_alarm_from_the_future_began_now_at_the_latest() -> None:
    alarms, early = Alarms(), make_alarm(500.0)
    alarms.note(early)
    alarms.act_on(early, 100.0)
    assert alarms.find_change(early.series) == PathChange(100.0, "alarm a-1")


# -- what is waived ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("critical", "present", "expected"),
    [
        (True, MISSED, Waived.PATIENCE_AND_DWELL),
        (True, MET, Waived.PATIENCE),
        (True, OTHER_MISSED, Waived.PATIENCE),
        (True, None, Waived.PATIENCE),
        (False, MISSED, Waived.PATIENCE),
    ],
)
def test_dwell_is_waived_by_a_critical_alarm_on_a_bound_that_is_missed(
    critical: bool, present: CandidateRecord | None, expected: Waived
) -> None:
    assert Alarms().waives(make_alarm(1.0, critical=critical), 7, present, 100.0, 30.0) is expected


def test_dwell_is_waived_once_per_dwell_and_flow() -> None:
    alarms = Alarms()
    alarms.record_early_move(7, 100.0)
    assert alarms.waives(make_alarm(1.0), 7, MISSED, 129.0, 30.0) is Waived.PATIENCE
    assert alarms.waives(make_alarm(1.0), 7, MISSED, 130.0, 30.0) is Waived.PATIENCE_AND_DWELL
    assert alarms.waives(make_alarm(1.0), 8, MISSED, 101.0, 30.0) is Waived.PATIENCE_AND_DWELL
    alarms.forget_flow(7)
    assert alarms.waives(make_alarm(1.0), 7, MISSED, 101.0, 30.0) is Waived.PATIENCE_AND_DWELL

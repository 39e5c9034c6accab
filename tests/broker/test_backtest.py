"""The past played again: what the model says, what a change of a template does, and no chance in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.diary import Diary
from adon.broker.flow import Flow, FlowState
from adon.broker.outcomes import Stay
from adon.errors import NotFound
from adon.explain.backtest.carriage import Carriage, Transfer
from adon.explain.backtest.comparison import Backtest, backtest, ways
from adon.explain.backtest.past import Beside, Past, stays_of
from adon.explain.backtest.replay import Replay
from adon.explain.backtest.run import Run
from adon.templates_catalog.model import Template
from measurement.model import Metric, PathKey
from tests.support.backtests import (
    BAD_FROM,
    EAGER,
    START,
    UNTIL,
    catalog,
    past,
    result,
    results,
    template,
    then,
)
from tests.support.factories import make_alarm
from tests.support.scenes import make_wide_configuration

AL2S = PathKey("al2s", "mu", "osu")


def play(found: Past, proposed: Template = EAGER) -> Backtest:
    return backtest(make_wide_configuration(40.0), catalog(), found, proposed)


def alone(found: Past) -> Run:
    (run,) = Replay(make_wide_configuration(40.0), catalog(), found, "bulk@1").run()
    return run


# -- the model ------------------------------------------------------------------------------------------


def carriage(*flows: Flow, capacity: float | None = 60e6) -> Carriage:
    beside = Beside(flows, UNTIL, lambda _: ("mu", "osu"), lambda flow: flow.request.streams or 1)
    built = Carriage(beside, lambda _: capacity)
    built.advance(START)
    return built


def moving(size: float, streams: int = 1) -> Transfer:
    return Transfer(size, streams, AL2S, START)


def test_before_a_test_a_path_carries_its_capacity() -> None:
    assert carriage().carries(AL2S) == 60e6


def test_a_test_says_what_the_path_carries_with_those_who_were_beside_it() -> None:
    flow = then(streams=3, diary=Diary(stays=(Stay("al2s", START + 1, START + 100),)))
    built = carriage(flow)
    built.test_begins(result("al2s", START + 50, 10.0))
    told = built.test_ended(result("al2s", START + 50, 10.0))
    assert built.carries(AL2S) == pytest.approx(40e6), "one stream of four had 10"
    assert told.value == pytest.approx(40e6), "in the replay nobody is beside it"
    built.test_ended(result("al2s", START + 150, 100.0))
    assert built.carries(AL2S) == 60e6, "at most its capacity"


def test_transfers_share_by_streams_also_with_a_test() -> None:
    built = carriage()
    built.transfers = {1: moving(10e6), 2: moving(10e6, streams=3)}
    assert [built.rate(one) for one in built.transfers.values()] == [15e6, 45e6]
    test = result("al2s", START + 10, 1.0, streams=2)
    built.test_begins(test)
    assert [built.rate(one) for one in built.transfers.values()] == [10e6, 30e6]
    told = built.test_ended(test)
    assert told.value == pytest.approx(1e6 * 2 / 6), "beside four streams"
    assert built.rate(built.transfers[1]) == pytest.approx(0.25e6)


def test_a_transfer_takes_as_long_as_its_bytes_do() -> None:
    built = carriage()
    built.transfers = {1: moving(60e6 / 8 * 10), 2: moving(60e6 / 8 * 10)}
    assert built.next_end() == (START + 20, 1)
    built.advance(START + 12)
    del built.transfers[2]
    assert built.next_end() == (START + 16, 1)
    built.advance(START + 16)
    assert built.done(1)


def test_one_without_a_path_stands_still() -> None:
    built = carriage()
    built.transfers = {1: Transfer(10.0, 1)}
    assert built.next_end() is None
    built.advance(START + 100)
    assert built.transfers[1].moved == 0


@given(
    sizes=st.lists(st.floats(1e3, 1e9), min_size=1, max_size=5),
    steps=st.lists(st.floats(0, 1000), max_size=6),
)
def test_no_more_moves_than_the_path_carries(sizes: list[float], steps: list[float]) -> None:
    built, now = carriage(), START
    built.transfers = {number: moving(size, 1 + number % 3) for number, size in enumerate(sizes)}
    for step in steps:
        before = sum(one.moved for one in built.transfers.values())
        now += step
        built.advance(now)
        after = sum(one.moved for one in built.transfers.values())
        assert before <= after <= before + 60e6 * (step + 1e-6) / 8  # clocks have no finer steps
        assert all(one.moved <= one.size for one in built.transfers.values())


def test_the_stays_of_a_flow_that_still_runs() -> None:
    flow = then(
        state=FlowState.ACTIVE,
        path="internet",
        path_since=START + 9,
        diary=Diary(stays=(Stay("al2s", START, START + 9),)),
    )
    now = Stay("internet", START + 9, START + 20)
    assert stays_of(flow, START + 20) == (*flow.diary.stays, now)


# -- one run --------------------------------------------------------------------------------------------


def test_a_transfer_alone_takes_what_the_archive_says() -> None:
    run = alone(past(then(size="300 MB")))
    assert (run.state, ways(run)) == ("finished", ("al2s",))
    # 2400 Mbit at 30 Mbps; the test at 60 s takes half of a second.
    assert run.took == pytest.approx(80.5, abs=0.1)


def test_two_share_the_path() -> None:
    runs = Replay(
        make_wide_configuration(40.0), catalog(), past(then(size="150 MB"), then(2, size="150 MB")), "bulk@1"
    ).run()
    spread = {ways(run) for run in runs}
    both = [run.took for run in runs]
    if spread == {("al2s",)}:
        assert both == pytest.approx([80.5, 80.5], abs=0.5)
    else:
        assert spread == {("al2s",), ("internet",)}, "the second finds the other path better"


def test_who_cannot_be_admitted_waits_and_starts_when_a_result_allows_it() -> None:
    weak = tuple(replace(one, value=1e6) if one.observed_at < START + 90 else one for one in results())
    run = alone(past(then(size="30 MB"), measurements=weak))
    assert run.moments[0].state == "queued"
    assert run.stays[0].since >= START + 90
    assert run.took is not None


def test_nothing_moves_while_a_flow_waits() -> None:
    """A more urgent request takes its place on the only path that is good enough."""
    narrow = tuple(one for one in results() if one.key.path == "al2s")
    first = then(1, size="30 MB", priority=100, streams=1)
    second = then(2, 4.0, size="30 MB", priority=900, qspec={"throughput": {"min": "25 Mbps"}})
    found = past(first, second, measurements=narrow)
    low, high = Replay(make_wide_configuration(40.0), catalog(), found, "bulk@1").run()
    assert "queued" in {moment.state for moment in low.moments}
    assert low.outcome is not None
    assert high.outcome is not None
    assert low.outcome.ended_at > high.outcome.ended_at
    carried = sum(stay.until - stay.since for stay in low.stays if stay.until < UNTIL) * 30e6 / 8
    assert carried == pytest.approx(30e6, rel=0.02), "its bytes have moved while it had a path, and only then"


def test_a_request_that_is_refused_says_why() -> None:
    run = alone(past(then(qspec={"throughput": {"min": "1 Gbps"}})))
    assert (run.state, run.stays, run.took) == ("refused", (), None)
    assert run.refused


def test_one_that_was_cancelled_is_cancelled_again() -> None:
    run = alone(past(then(state=FlowState.CANCELLED, ended_at=START + 30)))
    assert run.state == "cancelled"
    assert run.outcome is not None
    assert run.outcome.ended_at == START + 30


def test_one_that_is_not_over_at_the_end_has_no_time() -> None:
    run = alone(past(then(size="30 GB")))
    assert (run.state, run.took, run.outcome) == ("active", None, None)


def test_requests_of_another_time_are_left_out() -> None:
    found = past(then(1, -5.0), then(2, 5.0), then(3, 1000.0), replace(then(4), unannounced=True))
    assert [flow.number for flow in found.requests] == [2]


def test_an_alarm_of_then_is_heard() -> None:
    assert ways(alone(past())) == ("al2s",)
    alarm = make_alarm(START + 190, "a-1", "al2s", Metric.THROUGHPUT, since=BAD_FROM)
    run = alone(past(alarms=(alarm,)))
    assert ways(run) == ("al2s", "internet"), "it waives patience"


def test_a_host_that_is_not_configured_any_more_is_no_obstacle() -> None:
    gone = then(2, source="nowhere", diary=Diary(stays=(Stay("al2s", START, UNTIL),)))
    runs = Replay(make_wide_configuration(40.0), catalog(), past(then(), gone), "bulk@1").run()
    assert [run.state for run in runs] == ["finished", "refused"]


# -- two runs -------------------------------------------------------------------------------------------


def test_a_template_that_is_quicker_to_move_moves_the_flow_and_saves_time() -> None:
    found = play(past())
    (one,) = found.flows
    assert (found.present, found.proposed, found.moved) == ("bulk@1", "bulk@2", 1)
    assert ways(one.present) == ("al2s",)
    assert ways(one.proposed) == ("al2s", "internet")
    assert (one.present.moves, one.proposed.moves) == (0, 1)
    # What is left at 180 s is carried by 20 instead of 5 Mbps.
    left = 600e6 * 8 - 30e6 * 117 - 5e6 * 60
    assert one.present.took == pytest.approx(178 + left / 5e6, rel=0.02)
    assert one.proposed.took == pytest.approx(178 + left / 20e6, rel=0.02)
    assert one.saved is not None
    assert one.saved == pytest.approx(left / 5e6 - left / 20e6, rel=0.03)
    before, after = ([one.present], [one.proposed])
    assert found.violations(before)[1] > found.violations(after)[1]


def test_the_same_template_changes_nothing() -> None:
    found = play(past(then(), then(2, 60.0)), template(max_age="200 s"))
    assert found.moved == 0
    assert found.saved == 0
    assert [one.saved for one in found.flows] == [0, 0]


def test_the_same_past_gives_the_same_runs() -> None:
    flows = [then(number, 10.0 * number, size="80 MB") for number in range(1, 8)]
    assert play(past(*flows)) == play(past(*flows))
    assert play(past(*flows)) == play(past(*reversed(flows)))


def test_flows_of_other_templates_are_served_as_they_were() -> None:
    other = catalog().add(template().model_copy(update={"name": "other"}))[0]
    mixed = past(then(), replace(then(2, 60.0), template="other@1"))
    found = backtest(make_wide_configuration(40.0), other, mixed, EAGER)
    assert [one.present.template for one in found.flows] == ["bulk@1", "other@1"]
    assert [one.proposed.template for one in found.flows] == ["bulk@2", "other@1"]


def test_how_far_the_model_is_off_what_happened() -> None:
    real = then(size="300 MB", ended_at=START + 2 + 100.0)
    found = play(past(real))
    assert found.off == pytest.approx(0.195, abs=0.01)
    assert play(past(then(state=FlowState.FAILED))).off is None


def test_a_template_that_is_not_in_the_catalog_cannot_be_compared() -> None:
    unknown = EAGER.model_copy(update={"name": "unknown"})
    with pytest.raises(NotFound, match="unknown"):
        play(past(), unknown)


def test_no_request_no_flow() -> None:
    found = play(Past(START, UNTIL, (), results()))
    assert (found.flows, found.moved, found.saved, found.off) == ((), 0, 0, None)

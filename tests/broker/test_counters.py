from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.counters import Evidence, FlowCounters, by_flows
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import ReportedRule, Rule
from tests.support.counters import DESTINATION, SOURCE, make_reported_rule

AFTER = 15.0


class Reports:
    """A flow whose counters are read at both edges, as the broker does."""

    def __init__(self) -> None:
        self.counters = FlowCounters()

    def near(self, at: float, octets: int) -> None:
        rules = [
            make_reported_rule(1, Kind.FLOW_INGRESS, octets),
            make_reported_rule(1, Kind.FLOW_DELIVERY, 99, back=True),
        ]
        self.counters.report(at, 1, rules, SOURCE, DESTINATION)

    def far(self, at: float, octets: int) -> Evidence:
        rules = [
            make_reported_rule(2, Kind.FLOW_DELIVERY, octets),
            make_reported_rule(2, Kind.FLOW_INGRESS, 99, back=True),
        ]
        self.counters.report(at, 2, rules, SOURCE, DESTINATION)
        return self.counters.evidence(at, 0.0, AFTER)


def test_only_the_forward_direction_counts() -> None:
    flow = Reports()
    flow.near(0.0, 5000)
    flow.far(0.0, 4000)
    assert (flow.counters.sent, flow.counters.delivered) == (5000, 4000)


@given(st.lists(st.tuples(st.integers(0, 10**9), st.booleans()), max_size=20))
def test_growth_is_added_up_over_replaced_rules(steps: list[tuple[int, bool]]) -> None:
    """A replaced rule counts from zero; what it has counted by the next report is less than before."""
    flow, shown, total = Reports(), 0, 0
    for at, (grown, replaced) in enumerate(steps):
        if replaced and grown < shown:
            shown = 0
        shown += grown
        total += grown
        flow.near(float(at), shown)
    assert flow.counters.sent == total


@given(st.floats(1e3, 1e9), st.floats(0, 50), st.floats(0.1, 30))
def test_the_rate_of_a_steady_flow_is_found_between_any_two_times(
    rate: float, start: float, span: float
) -> None:
    flow = Reports()
    for at in range(0, 95, 5):
        flow.near(float(at), int(rate * at / 8))
    found = flow.counters.rate(start, start + span)
    assert found == pytest.approx(rate, rel=0.1, abs=200)


@pytest.mark.parametrize(("start", "end"), [(-1.0, 4.0), (1.0, 11.0), (5.0, 5.0), (6.0, 2.0)])
def test_no_rate_where_no_samples_surround_the_times(start: float, end: float) -> None:
    flow = Reports()
    flow.near(0.0, 0)
    flow.near(10.0, 1000)
    assert flow.counters.rate(start, end) is None


def test_the_latest_rate_needs_two_samples_in_the_order_of_time() -> None:
    flow = Reports()
    assert flow.counters.latest() is None
    flow.near(10.0, 0)
    assert flow.counters.latest() is None
    flow.near(12.0, 1000)
    assert flow.counters.latest() == (4000.0, 12.0)
    flow.near(11.0, 2000)
    assert flow.counters.latest() is None


def test_a_move_begins_the_rates_anew() -> None:
    flow = Reports()
    flow.near(0.0, 0)
    flow.near(5.0, 1000)
    flow.counters.begin_anew()
    assert flow.counters.latest() is None
    assert flow.counters.sent == 1000


def test_the_busy_rate_leaves_out_how_a_flow_began_and_ended() -> None:
    flow = Reports()
    assert flow.counters.busy_rate() is None
    for at, arrived in (
        (0, 0),
        (5, 0),
        (10, 200),
        (15, 1200),
        (20, 2200),
        (25, 2300),
        (30, 2300),
        (90, 2300),
    ):
        flow.far(float(at), arrived)
        assert (flow.counters.busy_rate() is None) == (at < 20)
    assert flow.counters.busy_rate() == 1600.0


def test_a_pause_in_the_middle_counts() -> None:
    flow = Reports()
    for at, arrived in ((0, 1000), (5, 2000), (10, 2000), (15, 3000), (20, 4000)):
        flow.far(float(at), arrived)
    assert flow.counters.busy_rate() == pytest.approx(2000 * 8 / 15)


def test_a_move_begins_the_busy_rate_anew() -> None:
    flow = Reports()
    for at in range(4):
        flow.far(float(at), 1000 * (at + 1))
    flow.counters.begin_anew()
    assert flow.counters.busy_rate() is None


def test_packets_that_leave_for_long_and_never_arrive_are_swallowed() -> None:
    flow = Reports()
    found = []
    for at in range(0, 30, 5):
        flow.near(float(at), 1000 * (at + 1))
        found.append(flow.far(float(at), 0))
    assert found == [Evidence.LEAVING] * 3 + [Evidence.SWALLOWED] * 3


def test_a_flow_that_pauses_and_goes_on_is_no_alarm() -> None:
    """The near edge is read first: what it has just seen leave cannot be counted as arrived yet."""
    flow = Reports()
    flow.near(0.0, 1000)
    assert flow.far(0.0, 1000) is Evidence.ARRIVING
    for at in (10.0, 20.0, 100.0):
        flow.near(at, 1000)
        flow.far(at, 1000)
    assert flow.far(101.0, 1000) is Evidence.PAUSED
    flow.near(200.0, 2000)
    assert flow.counters.evidence(200.0, 0.0, AFTER) is not Evidence.SWALLOWED
    assert flow.far(200.0, 2000) is Evidence.ARRIVING


def test_one_lost_packet_is_no_alarm() -> None:
    flow = Reports()
    flow.near(0.0, 100)
    for at in (5.0, 50.0):
        flow.near(at, 100)
        assert flow.far(at, 0) is not Evidence.SWALLOWED


@pytest.mark.parametrize(("now", "word"), [(10.0, Evidence.WAITING), (16.0, Evidence.SILENT)])
def test_installed_but_no_packets_is_a_state(now: float, word: Evidence) -> None:
    assert FlowCounters().evidence(now, 0.0, AFTER) is word


def test_idle_means_every_rule_within_one_time_out() -> None:
    counters = FlowCounters()
    there, back = (make_reported_rule(1, Kind.FLOW_INGRESS, 0, back=way).rule for way in (False, True))
    assert not counters.idle([], 0.0)
    counters.idled_out(there, 100.0)
    assert not counters.idle([there, back], 100.0)
    counters.idled_out(back, 130.0)
    assert counters.idle([there, back], 130.0)
    assert not counters.idle([there, back], 161.0)


def test_a_rule_that_came_back_and_counts_is_not_idle() -> None:
    counters = FlowCounters()
    there = make_reported_rule(1, Kind.FLOW_INGRESS, 5000)
    counters.idled_out(there.rule, 100.0)
    counters.report(105.0, 1, [there], SOURCE, DESTINATION)
    assert not counters.idle([there.rule], 110.0)


def test_counters_come_in_parts_each_flow_s_in_one() -> None:
    reported = [
        ReportedRule(Rule(1, 30_500, Match(in_port=port), (), cookie(Kind.FLOW_INGRESS, flow)), 1, 1, 1.0)
        for port in (1, 2)
        for flow in (1, 2, 3)
    ]
    parts = list(by_flows(reported, 2))
    assert [sorted({owner_of(item.rule) for item in part}) for part in parts] == [["f-1", "f-2"], ["f-3"]]
    assert sorted(map(repr, (item for part in parts for item in part))) == sorted(map(repr, reported))

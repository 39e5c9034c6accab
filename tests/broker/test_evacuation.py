"""Displaced flows, as transcripts: one event, all places at once, no measurement waited for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.decision import Outcome
from adon.broker.flow import FlowState, Quality
from tests.support.scenes import SEVEN, current_paths, cut_al2s, make_wide_configuration, submit_on_al2s
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know, make_stage


def cut_with(stage: Stage, internet: float) -> None:
    """The standby path is measured, then the other's port goes down."""
    know(stage, internet=internet)
    cut_al2s(stage)


def test_the_refuge_is_filled_and_not_over_subscribed() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    flows = submit_on_al2s(stage, 4)
    cut_with(stage, 20.0)
    assert current_paths(stage, flows) == ["internet", "internet", "al2s", "al2s"]
    stage.expect(flows[3], code="no-refuge")
    assert stage.decision(flows[3]).outcome is Outcome.STAY
    assert stage.flow(flows[3]).quality is not Quality.MET


def test_the_higher_priority_goes_first_whenever_it_came() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    flows = submit_on_al2s(stage, 2, priority=100) + submit_on_al2s(stage, 2, priority=900)
    cut_with(stage, 20.0)
    assert current_paths(stage, flows) == ["al2s", "al2s", "internet", "internet"]


def test_flows_that_stay_on_the_refuge_keep_their_share() -> None:
    stage = make_stage(make_wide_configuration(), al2s=1.0, internet=20.0)
    there = stage.submit(**SEVEN)
    assert there.path == "internet"
    stage.pass_time(1)
    know(stage, al2s=58.0)
    flows = submit_on_al2s(stage, 2)
    cut_al2s(stage)
    assert current_paths(stage, [there, *flows]) == ["internet", "internet", "al2s"]


def test_who_found_no_refuge_goes_on_when_the_port_is_back() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    flows = submit_on_al2s(stage, 3)
    cut_with(stage, 20.0)
    cut_al2s(stage)
    before = len(stage.saved.decisions)
    cut_al2s(stage)
    assert len(stage.saved.decisions) == before, "nothing has changed, nothing is recorded"
    cut_al2s(stage, live=True)
    left = stage.flow(flows[2])
    assert (left.state, left.path, left.quality) == (FlowState.ACTIVE, "al2s", Quality.MET)


def test_a_refuge_that_gets_room_is_taken_at_the_next_event() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    flows = submit_on_al2s(stage, 3)
    cut_with(stage, 20.0)
    stage.report(stage.flow(flows[0]))
    stage.pass_time(1)
    know(stage, internet=20.0)
    assert current_paths(stage, flows[1:]) == ["internet", "internet"]


def test_room_is_kept_for_a_flow_whose_rules_are_being_changed() -> None:
    """The highest priority is being installed when the port goes down: it will need the refuge."""
    stage = make_stage(make_wide_configuration(10.0), internet=0)
    low = submit_on_al2s(stage, 1, priority=100)
    stage.silence(OSU_EDGE)
    (high,) = submit_on_al2s(stage, 1, priority=900)
    cut_with(stage, 10.0)
    assert current_paths(stage, low) == ["al2s"]
    stage.end_faults()
    stage.answer_late()
    assert current_paths(stage, [*low, high]) == ["al2s", "internet"]


# -- at once, from what was known last ------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["avoid", "default_path"])
def test_a_path_never_measured_is_better_than_one_that_is_down(policy: str) -> None:
    stage = make_stage(make_wide_configuration(unknown_paths=policy), internet=0)
    (flow,) = submit_on_al2s(stage, 1)
    cut_al2s(stage)
    assert stage.flow(flow).path == "internet"
    reason = stage.decision(flow).reason
    assert reason == (
        "al2s: port mu-edge-al2s (2) of switch mu-edge is down; internet (unknown), its best path"
    )


def test_old_values_do_not_hold_a_flow_on_a_dead_path() -> None:
    stage = make_stage(make_wide_configuration(), internet=20.0)
    (flow,) = submit_on_al2s(stage, 1)
    for _ in range(8):
        stage.carry(flow, 100_000)
        stage.pass_time(50)
    cut_al2s(stage)
    stage.expect(flow, path="internet", code="path-down")


def test_a_path_known_to_miss_the_bound_is_no_refuge() -> None:
    stage = make_stage(internet=6.5)
    (flow,) = submit_on_al2s(stage, 1)
    cut_al2s(stage)
    stage.expect(flow, path="al2s", code="no-refuge")


def test_an_unknown_path_is_no_reason_to_leave_one_that_only_lost_its_controller() -> None:
    stage = make_stage(make_wide_configuration(), internet=0)
    (flow,) = submit_on_al2s(stage, 1)
    stage.disconnect(MU_EDGE)
    assert stage.flow(flow).path == "al2s"
    stage.connect(MU_EDGE)
    assert (stage.flow(flow).path, stage.flow(flow).moves) == ("al2s", 0)


def test_the_move_is_in_the_switches_by_the_same_event() -> None:
    stage = make_stage(make_wide_configuration(), internet=20.0)
    (flow,) = submit_on_al2s(stage, 1)
    cut_al2s(stage)
    assert stage.output_of(flow) == 3


# -- what it is planned with ----------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(1, 12), st.sampled_from([100, 500, 900])), max_size=6),
    st.sampled_from([5.0, 13.0, 20.0, 40.0]),
    st.booleans(),
)
def test_whatever_runs_a_cut_over_subscribes_nothing(
    wanted: list[tuple[int, int]], rate: float, measured: bool
) -> None:
    stage = make_stage(make_wide_configuration(rate), internet=rate if measured else 0)
    for mbps, priority in wanted:
        stage.submit(priority=priority, qspec={"throughput": {"min": f"{mbps} Mbps"}})

    def standby() -> int:
        """Return the sum of the bounds on the other path, in Mbit/s."""
        return sum(
            wanted[number - 1][0] for number, flow in stage.saved.flows.items() if flow.path == "internet"
        )

    before = standby()
    cut_al2s(stage)
    after = standby()
    assert after <= max(before, rate)
    stage.disconnect(OSU_EDGE)
    assert standby() == after

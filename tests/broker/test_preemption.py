"""Who gives way on a full layer-2 path (algorithm 2, P_min; spec section 3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.decision import Outcome
from adon.broker.flow import FlowState
from adon.broker.preemption import Holder, gives_way, preemption_candidate, summed_up
from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict
from tests.support.scenes import make_crowded_stage
from tests.support.stage import know


def record(
    verdict: Verdict = Verdict.UNQUALIFIED, *, loss_met: bool = True, unknown: str = ""
) -> CandidateRecord:
    metrics = (
        MetricRecord("throughput", 4e6, bound=7e6, bound_met=False, unknown=unknown),
        MetricRecord("loss", 0.0, bound=0.05, bound_met=loss_met),
    )
    return CandidateRecord("al2s", "l2", verdict, "", "", None, metrics)


LOW, MIDDLE = Holder(1, 100, "al2s", 6e6), Holder(2, 500, "al2s", 20e6)


@pytest.mark.parametrize(
    ("priority", "bound", "found", "best", "expected"),
    [
        (900, 7e6, record(), {"al2s": 58e6}, LOW),
        (100, 7e6, record(), {"al2s": 58e6}, None),  # equal is not lower
        (900, 40e6, record(), {"al2s": 58e6}, None),  # 58 less the 20 that stay is 38
        (900, 38e6, record(), {"al2s": 58e6}, LOW),
        (900, 7e6, record(loss_met=False), {"al2s": 58e6}, None),  # it is not only full
        (900, 7e6, record(unknown="never measured"), {"al2s": 58e6}, None),
        (900, 7e6, record(Verdict.EXCLUDED), {"al2s": 58e6}, None),
        (900, 7e6, record(), {}, None),  # what it could carry was never seen
    ],
)
def test_the_lowest_gives_way_if_that_makes_room(
    priority: int, bound: float, found: CandidateRecord, best: dict[str, float], expected: Holder | None
) -> None:
    assert gives_way(priority, bound, [MIDDLE, LOW], [found], best) == expected


def test_nobody_there_nobody_gives_way() -> None:
    assert gives_way(900, 7e6, [], [record()], {"al2s": 58e6}) is None


def test_the_flow_that_gives_way_is_decided_again_first() -> None:
    stage, low = make_crowded_stage()
    high = stage.submit(priority=900)
    stage.expect(high, state="active", path="al2s", code="preempts")
    assert (stage.flow(low).path, stage.flow(low).state) == ("internet", FlowState.ACTIVE)
    kinds = [
        (decision.flow, decision.outcome)
        for decision in stage.saved.decisions
        if decision.outcome is not Outcome.STAY
    ]
    assert kinds[-2:] == [("f-1", Outcome.MOVE), ("f-2", Outcome.ADMIT)]
    assert stage.decision(low).code == "preempted"


def test_without_another_path_it_waits_and_comes_back() -> None:
    stage, low = make_crowded_stage()
    stage.pass_time(5)
    know(stage, internet=2.0)
    high = stage.submit(priority=900)
    assert stage.flow(low).state is FlowState.QUEUED
    assert "gives way" in stage.flow(low).reason
    stage.pass_time(1)  # the drain before deliveries go
    assert not stage.rules_of(stage.flow(low))
    stage.report(high)
    stage.pass_time(5)
    know(stage, al2s=58.0)
    assert (stage.flow(low).state, stage.flow(low).path) == (FlowState.ACTIVE, "al2s")


def test_equal_priority_waits_its_turn() -> None:
    stage, low = make_crowded_stage()
    later = stage.submit(priority=100)
    assert stage.flow(later).state is FlowState.QUEUED
    assert stage.flow(low).path == "al2s"


def test_the_policy_can_forbid_it() -> None:
    stage, low = make_crowded_stage(preemption=False)
    high = stage.submit(priority=900)
    assert stage.flow(high).state is FlowState.QUEUED
    assert stage.flow(low).path == "al2s"


def test_nobody_is_moved_for_a_flow_that_no_site_can_take() -> None:
    stage, low = make_crowded_stage()
    stage.reserve_nodes()
    high = stage.submit(priority=900)
    assert stage.flow(high).state is FlowState.QUEUED
    assert stage.flow(low).path == "al2s"


holders = st.lists(
    st.builds(
        Holder,
        number=st.integers(1, 99),
        priority=st.integers(0, 999),
        path=st.sampled_from(["al2s", "internet"]),
        bound=st.floats(0, 1e8),
        may_go=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda one: one.number,
)


@given(holders, st.integers(0, 999), st.floats(0, 1e8), st.floats(0, 3e8))
def test_summed_up_they_are_the_same_to_a_newcomer(
    present: list[Holder], priority: int, bound: float, best: float
) -> None:
    about = ([record()], {"al2s": best, "internet": best})
    assert gives_way(priority, bound, summed_up(present), *about) == gives_way(
        priority, bound, present, *about
    )
    assert len(summed_up(present)) <= 2


@pytest.mark.parametrize(
    ("priority", "running", "candidate"),
    [
        (500, [], None),
        (500, [(1, 500)], None),
        (500, [(1, 499)], 1),
        (500, [(1, 600), (2, 700)], None),
        (900, [(1, 300), (2, 100), (3, 200)], 2),
        (900, [(1, 100), (3, 100), (2, 100)], 3),
    ],
)
def test_only_the_lowest_and_only_if_lower(
    priority: int, running: list[tuple[int, int]], candidate: int | None
) -> None:
    assert preemption_candidate(priority, running) == candidate

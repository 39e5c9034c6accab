"""What flows leave behind, by what happened to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.flow import Flow, FlowState
from adon.broker.flow_end import WHOLE, outcome_of
from adon.broker.outcomes import Stay
from adon.templates_catalog.catalog import Catalog
from tests.support.factories import make_catalog, make_flow
from tests.support.scenes import SIX, transfer
from tests.support.stage import Stage, know, make_stage


def move(stage: Stage) -> None:
    """The first path is no good any more, the second one is."""
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)


def test_a_finished_flow_tells_what_it_was_promised_and_what_it_got() -> None:
    stage = make_stage()
    begun = stage.now
    flow = stage.submit(streams=2, priority=700)
    stage.pass_time(1)
    stage.report(flow, "started", 0)
    stage.pass_time(20)
    stage.report(flow, "finished", 100_000_000)
    left = stage.saved.outcomes[flow.number]
    assert (left.state, left.flow, left.template) == ("finished", flow.number, flow.template)
    assert (left.source, left.destination) == ("mu-dtn", "osu-dtn")
    assert (left.submitted_at, left.admitted_at, left.ended_at) == (begun, begun, begun + 21)
    assert (left.requested_bytes, left.transferred_bytes) == (100_000_000, 100_000_000)
    assert (left.streams, left.priority, left.moves) == (2, 700, 0)
    assert left.throughput == pytest.approx(40e6)
    assert "report" in str(left.measured_by)
    assert left.promised == pytest.approx(2 * 58e6), "of both its streams"
    assert left.error == pytest.approx(116 / 40 - 1)
    assert left.error == pytest.approx(stage.scores[0].value), "the estimate's score says the same"
    assert left.stays == (Stay("al2s", begun, begun + 21),)
    assert dict(left.conditions) == {"throughput": 58e6, "loss": 0.0}
    admitting = next(one for one in stage.saved.decisions if one.flow == flow.id)
    assert (left.decision, left.compute_site) == (admitting.id, admitting.compute_site)
    assert left.forecast == admitting.forecast
    assert left.waited == 0
    assert left.duration == 20


def test_after_a_move_the_promise_and_the_rate_are_those_of_the_last_path() -> None:
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.report(flow, "started", 0)
    move(stage)
    transfer(stage, flow, 30, 5.0)
    stage.pass_time(5)
    stage.report(flow, "finished", 10**9)
    left = stage.saved.outcomes[flow.number]
    assert [stay.path for stay in left.stays] == ["al2s", "internet"]
    assert left.moves == 1
    assert left.stays[0].until == left.stays[1].since
    assert left.promised == pytest.approx(6.5e6)
    assert "counters" in str(left.measured_by)
    assert left.error == pytest.approx(6.5 / 5 - 1)
    assert left.conditions["throughput"] == 58e6, "what its admission saw"
    assert not left.kept, "two misses before it moved"
    assert left.quality["violated"] > 0
    stayed = sum(stay.until - stay.since for stay in left.stays)
    assert sum(left.quality.values()) == pytest.approx(stayed)


def test_a_transfer_that_moved_and_was_not_counted_is_told_as_a_whole_and_not_compared() -> None:
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.report(flow, "started", 0)
    began = stage.now
    move(stage)
    stage.report(flow, "finished", 100_000_000)
    left = stage.saved.outcomes[flow.number]
    assert left.measured_by == WHOLE
    assert left.throughput == pytest.approx(8e8 / (stage.now - began))
    assert left.error is None


def test_a_move_that_was_taken_back_leaves_no_trace() -> None:
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.refuse(0xA01, "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL")
    move(stage)
    stage.end_faults()
    assert stage.flow(flow).path == "al2s"
    stage.cancel(flow)
    left = stage.saved.outcomes[flow.number]
    assert [stay.path for stay in left.stays] == ["al2s"]
    assert left.promised == pytest.approx(58e6)
    assert left.moves == 0


def waiting() -> tuple[Stage, Flow]:
    stage = make_stage(al2s=1.0, internet=1.0)
    return stage, stage.submit(queue_patience="30 s")


def test_who_never_had_a_path_leaves_an_outcome_too() -> None:
    stage, flow = waiting()
    stage.pass_time(31)
    left = stage.saved.outcomes[flow.number]
    assert (left.state, left.admitted_at, left.stays) == ("expired", None, ())
    assert left.waited == pytest.approx(30, abs=1)
    assert left.duration is None
    assert not left.kept


@pytest.mark.parametrize("ended", ["cancelled", "failed"])
def test_whoever_ends_leaves_one(ended: str) -> None:
    stage = make_stage()
    flow = stage.submit()
    if ended == "failed":
        stage.report(flow, "failed", 10)
    else:
        stage.cancel(flow)
    assert stage.saved.outcomes[flow.number].state == ended


def test_a_restart_of_the_controller_loses_nothing_of_it() -> None:
    outcomes = []
    for restarts in (False, True):
        stage = make_stage()
        flow = stage.submit(**SIX)
        stage.report(flow, "started", 0)
        move(stage)
        if restarts:
            stage.restart()
        stage.pass_time(20)
        stage.report(flow, "finished", 10**8)
        # What was measured is unknown after a restart, and so is the quality until the next result.
        outcomes.append(replace(stage.saved.outcomes[flow.number], quality={}))
    assert outcomes[0] == outcomes[1]


def test_a_flow_that_a_restart_cannot_serve_leaves_one() -> None:
    stage = make_stage()
    flow = stage.submit(streams=3)
    stage.catalog = Catalog.of(t for t in make_catalog().latest if t.name != "soykb")
    stage.restart()
    stage.pass_time(1)
    left = stage.saved.outcomes[flow.number]
    assert (left.state, left.streams, [stay.path for stay in left.stays]) == ("failed", 3, ["al2s"])


def test_an_admission_before_diaries_were_kept_is_taken_from_its_stay() -> None:
    old = make_flow(state=FlowState.ACTIVE, path="al2s", path_since=1200.0)
    left = outcome_of(old.step(FlowState.FINISHED, 1300.0, "", ended_at=1300.0), streams=1, priority=1)
    assert left.admitted_at == 1200.0

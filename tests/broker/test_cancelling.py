"""A flow may be cancelled in every state of its life; whatever it held is given back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from adon.broker.flow import Flow, FlowState
from adon.errors import Conflict
from tests.broker.queueing.scenes import HOUR, full
from tests.support.factories import make_flow, make_request
from tests.support.refusals import refused
from tests.support.scenes import make_crowded_stage
from tests.support.stage import OSU_EDGE, Stage, know, make_stage

Scene = Callable[[], tuple[Stage, Flow]]
"""A stage, and a flow in the state that is asked for."""


def waiting_for_room() -> tuple[Stage, Flow]:
    stage, _, waiting = full()
    return stage, waiting


def waiting_with_a_claim() -> tuple[Stage, Flow]:
    """It has waited so long that the path is kept for it."""
    stage, _, waiting = full()
    stage.pass_time(900)
    know(stage, al2s=5.0, internet=6.5)
    return stage, waiting


def waiting_for_nodes() -> tuple[Stage, Flow]:
    stage = make_stage()
    stage.reserve_nodes()
    return stage, stage.submit()


def asleep() -> tuple[Stage, Flow]:
    """It has reserved 20 Mbit/s from an hour on."""
    stage = make_stage()
    bound = {"throughput": {"min": "20 Mbps"}}
    return stage, stage.submit(size="9 GB", qspec=bound, not_before="1 h", deadline="3 h")


def displaced() -> tuple[Stage, Flow]:
    """It ran, gave its place to a higher priority, and waits again with what is left."""
    stage, low = make_crowded_stage()
    stage.pass_time(10)
    know(stage, al2s=4.5, internet=1.0)
    stage.submit(priority=900)
    return stage, low


def installing() -> tuple[Stage, Flow]:
    """One edge has not answered; another flow waits."""
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    stage.end_faults()
    return stage, flow


def running() -> tuple[Stage, Flow]:
    stage = make_stage()
    return stage, stage.submit()


def running_on_what_it_reserved() -> tuple[Stage, Flow]:
    stage, flow = asleep()
    for _ in range(int(HOUR // 120)):
        stage.pass_time(120)
        know(stage, al2s=58.0, internet=6.5)
    assert stage.flow(flow).booking is not None
    return stage, flow


def moving() -> tuple[Stage, Flow]:
    """The rules of its new path are under way."""
    stage = make_stage()
    flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for turn in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.silence(*(stage.ports if turn == 2 else ()))
        stage.measure("al2s", 1.0)
        stage.measure("al2s", loss=0.0)
    stage.end_faults()
    assert (stage.flow(flow).path, stage.output_of(flow)) == ("internet", 2), "the switch has not done it"
    return stage, flow


CANCELLED: Mapping[str, tuple[Scene, FlowState]] = {
    "waits for room": (waiting_for_room, FlowState.QUEUED),
    "waits, and a path is kept for it": (waiting_with_a_claim, FlowState.QUEUED),
    "waits for worker nodes": (waiting_for_nodes, FlowState.QUEUED),
    "has bandwidth reserved": (asleep, FlowState.QUEUED),
    "was displaced": (displaced, FlowState.QUEUED),
    "its rules are under way": (installing, FlowState.INSTALLING),
    "runs": (running, FlowState.ACTIVE),
    "runs on what it reserved": (running_on_what_it_reserved, FlowState.ACTIVE),
    "moves": (moving, FlowState.ACTIVE),
}


def finished() -> tuple[Stage, Flow]:
    stage, flow = running()
    return stage, stage.report(flow)


def failed() -> tuple[Stage, Flow]:
    stage, flow = running()
    return stage, stage.report(flow, "failed")


def cancelled() -> tuple[Stage, Flow]:
    stage, flow = running()
    return stage, stage.cancel(flow)


def expired() -> tuple[Stage, Flow]:
    stage = make_stage(al2s=1.0, internet=1.0)
    flow = stage.submit(queue_patience="10 s")
    stage.pass_time(11)
    return stage, flow


OVER: Mapping[FlowState, Scene] = {
    FlowState.FINISHED: finished,
    FlowState.FAILED: failed,
    FlowState.CANCELLED: cancelled,
    FlowState.EXPIRED: expired,
}


def held(stage: Stage, flow: Flow) -> dict[str, Any]:
    """Everything that the broker and the switches keep of a flow."""
    return {
        "rules": stage.rules_of(flow),
        "desired": {entry for entry in stage.desired() if stage.owner(entry) == flow.id},
        "memory": stage.memory_of(flow),
    }


@pytest.mark.parametrize("case", CANCELLED)
def test_whatever_it_held_is_given_back(case: str) -> None:
    scene, state = CANCELLED[case]
    stage, flow = scene()
    assert stage.flow(flow).state is state, case
    ended = stage.cancel(flow)
    assert (ended.state, ended.ended_at) == (FlowState.CANCELLED, stage.now)
    stage.pass_time(70)
    assert not {name: found for name, found in held(stage, flow).items() if found}
    assert stage.saved.outcomes[flow.number].flow == flow.number
    again = len(stage.batches)
    stage.restart()
    assert not stage.rules_of(flow)
    assert len(stage.batches) == again, "the switches are right as they are"


@pytest.mark.parametrize("state", OVER)
def test_what_is_over_is_not_cancelled_and_says_so(state: FlowState) -> None:
    stage, flow = OVER[state]()
    assert stage.flow(flow).state is state
    for _ in range(2):
        with refused(Conflict, field="state"):
            stage.cancel(flow)
        stage.pass_time(70)
    assert stage.flow(flow).state is state
    assert list(stage.saved.outcomes) == [flow.number]


def test_a_request_is_never_left_as_a_request() -> None:
    """It is placed in the event that brings it; one that is there after all can be cancelled."""
    stage = Stage()
    reference = stage.catalog.get("soykb").reference
    stage.saved.flows[1] = make_flow(
        request=make_request(ports=[5001]), template=reference, submitted_at=stage.now
    )
    stage.restart()
    assert stage.cancel(stage.saved.flows[1]).state is FlowState.CANCELLED
    assert not any(held(stage, stage.saved.flows[1]).values())


def test_every_state_is_in_a_table() -> None:
    seen = {state for _, state in CANCELLED.values()} | set(OVER) | {FlowState.REQUESTED}
    assert seen == set(FlowState)


def test_who_waited_gets_what_was_cancelled() -> None:
    stage, running_flow, waiting = full()
    stage.cancel(running_flow)
    stage.pass_time(15)
    know(stage, al2s=58.0)
    assert stage.flow(waiting).state is FlowState.ACTIVE

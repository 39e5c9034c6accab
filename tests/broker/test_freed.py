"""Who runs is looked at again when a flow beside it ends; hysteresis says whether it moves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adon.broker.decision import Decision, Outcome
from adon.broker.effects import Effect, SaveDecision
from adon.broker.events import FlowCancelled, TransferReported
from adon.broker.flow import Flow, FlowState
from measurement.model import Metric
from tests.support.histories import Scene

GOOD, FAIR = "path-00", "path-01"


def crowded(last: str) -> Scene:
    """Five flows share the good path; so the sixth found the fair one better: 40/6 Gbps against 15/2."""
    scene = Scene()
    scene.know({GOOD: 40e9, FAIR: 15e9})
    for name in ("nimble",) * 5 + (last,):
        scene.ask(name)
        scene.settle()
    scene.wait(1)
    scene.result(GOOD, Metric.LOSS, 0.0)  # all are looked at once: what their quality is, is known
    assert [flow.path for flow in scene.flows()] == [GOOD] * 5 + [FAIR]
    return scene


def cancel(scene: Scene, number: int) -> list[Decision]:
    stamp = scene.stamp()
    return decisions(scene.feed(FlowCancelled(*stamp, f"c-{stamp[0]}", number, "ann")))


def finish(scene: Scene, number: int) -> list[Decision]:
    stamp = scene.stamp()
    return decisions(scene.feed(TransferReported(*stamp, f"c-{stamp[0]}", number, "finished", 10**9)))


def decisions(effects: Sequence[Effect]) -> list[Decision]:
    return [effect.decision for effect in effects if isinstance(effect, SaveDecision)]


def the(scene: Scene, number: int) -> Flow:
    found = scene.broker.flows.get(number)
    assert isinstance(found, Flow)
    return found


@pytest.mark.parametrize("ends", [cancel, finish])
def test_one_that_ends_makes_room_for_one_on_a_worse_path(ends: object) -> None:
    scene = crowded("nimble")
    found = ends(scene, 1)  # type: ignore[operator]
    moved = [one for one in found if one.outcome is Outcome.MOVE]
    assert [(one.flow, one.previous_path, one.path) for one in moved] == [("f-6", FAIR, GOOD)]
    assert the(scene, 6).path == GOOD
    assert len({one.flow for one in found}) == len(found), "one decision about a flow per event"


def test_hysteresis_keeps_one_to_whom_the_difference_means_little() -> None:
    scene = crowded("careful")
    assert cancel(scene, 1) == []
    assert the(scene, 6).path == FAIR


def test_one_that_waited_gives_nothing_back() -> None:
    scene = crowded("nimble")
    scene.ask("far")
    assert the(scene, 7).state is FlowState.QUEUED
    assert cancel(scene, 7) == []


def test_who_waits_has_the_first_turn() -> None:
    """A flow that needs more than the sixth has, and waits for it, takes what is given back."""
    scene = crowded("nimble")
    scene.ask("nimble", qspec={"throughput": {"min": "7.9 Gbps"}})
    assert the(scene, 7).state is FlowState.QUEUED
    found = cancel(scene, 1)
    assert (found[0].flow, found[0].outcome, found[0].path) == ("f-7", Outcome.ADMIT, GOOD)
    assert the(scene, 6).path == FAIR

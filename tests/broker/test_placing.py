"""What happens to flows as a whole is told in the transcripts of test_broker.py and test_trouble.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.broker import placing
from adon.broker.broker import Broker
from adon.broker.effects import Effect, SaveDecision, SaveFlow, SendBatch, WakeAt
from adon.broker.events import FlowSubmitted, PortChanged, Tick
from adon.broker.flow import Flow, FlowRequest
from adon.broker.intake import new_flow
from adon.broker.placing import Placing
from adon.broker.world import World
from adon.flowvisor.port import PortState
from tests.broker.many import EDGES, ports
from tests.broker.scene import NAMES, PATHS, Scene
from tests.broker.stage import Stage, ready


def requested(world: World, number: int = 1) -> Flow:
    request = FlowRequest.model_validate(
        {"source": "mu-dtn", "destination": "osu-dtn", "size": "100 MB", "template": "soykb"}
    )
    event = FlowSubmitted("e1", 1_000_000.0, "c1", request, "ann")
    return world.flows.put(new_flow(number, event, world.catalog, world.network.topology, ()))


def tick(stage: Stage) -> Tick:
    return Tick("e9", stage.now)


def test_decision_and_flow_are_saved_before_a_switch_is_told() -> None:
    """R3."""
    stage = ready()
    world = stage.broker.world
    kinds = [type(effect) for effect in Placing(world).place(requested(world), tick(stage))]
    assert kinds.index(SaveDecision) < kinds.index(SaveFlow) < kinds.index(SendBatch)


def test_who_has_lost_the_path_goes_before_the_others_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "AT_ONCE", 4)
    scene = Scene(tmp_path, Broker)
    scene.know(dict.fromkeys(NAMES, 4e9))
    for _ in range(12):
        scene.submit("nimble")
        scene.settle()
    scene.wait(1.0)
    before = {flow.number: flow.path for flow in scene.flows()}
    lost = {number for number, path in before.items() if path == "path-00"}
    assert len(lost) == 3

    def concerned(effects: list[Effect]) -> set[int]:
        return {effect.flow.number for effect in effects if isinstance(effect, SaveFlow)}

    down = PortChanged(*scene.stamp(), EDGES["mu"], ports("mu", PATHS)[1], PortState(2, False))
    effects = scene.happen(down)
    assert concerned(effects) == lost
    assert WakeAt(down.id, scene.now) in effects, "the others wait for nothing"
    looked_at: set[int] = set()
    turns = 0
    while WakeAt(effects[-1].cause, scene.now) in effects:
        effects = scene.happen(Tick(*scene.stamp()))
        assert len(concerned(effects)) <= 4
        looked_at |= concerned(effects)
        turns += 1
    assert turns == 3
    assert looked_at == before.keys() - lost, "all of them stand differently since the others came"

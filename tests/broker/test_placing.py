"""What happens to flows as a whole is told in the transcripts of test_broker.py and test_trouble.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.broker import placing
from adon.broker.broker import Broker
from adon.broker.effects import Announce, Effect, SaveDecision, SaveFlow, SendBatch, WakeAt
from adon.broker.events import FlowSubmitted, PortChanged, Tick
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.intake import new_flow
from adon.broker.network import Outcome
from adon.broker.placing import Placing
from adon.broker.world import World
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.port import PortState
from tests.broker.many import EDGES, ports
from tests.broker.scene import NAMES, PATHS, Scene
from tests.broker.stage import Stage, ready

AGAIN = FiveTuple(6, 20_001, 40_000)


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


def test_the_decisions_of_one_event_are_numbered_and_each_event_begins_anew() -> None:
    stage = ready(al2s=1.0, internet=1.0)
    world = stage.broker.world
    placing = Placing(world)

    def numbers() -> list[str]:
        effects = [
            *placing.place(requested(world, 1), tick(stage)),
            *placing.place(requested(world, 2), tick(stage)),
        ]
        return [effect.decision.id for effect in effects if isinstance(effect, SaveDecision)]

    for _ in range(2):
        placing.begin()
        assert numbers() == ["d-e9.1", "d-e9.2"]


def test_a_failure_that_concerns_no_flow_is_said_and_changes_nothing() -> None:
    stage = ready()
    failed = Outcome(failed=[("path-0", "table full"), ("f-99", "gone")])
    effects = Placing(stage.broker.world).act(failed, tick(stage))
    assert [effect.text for effect in effects if isinstance(effect, Announce)] == [
        "path-0: table full",
        "f-99: gone",
    ]
    assert len(effects) == 2


def test_a_waiting_flow_that_ends_is_forgotten_at_once() -> None:
    stage = ready(al2s=1.0, internet=1.0)
    waiting = stage.submit()
    ended, _ = Placing(stage.broker.world).end(waiting, FlowState.CANCELLED, "enough", tick(stage))
    assert (ended.state, ended.reason, ended.ended_at) == (FlowState.CANCELLED, "enough", stage.now)
    assert stage.broker.flows.get(waiting.number) is None


def test_a_connection_is_learnt_once() -> None:
    stage = ready()
    flow, placing = stage.submit(ports=[]), Placing(stage.broker.world)
    assert placing.learn(flow, AGAIN, tick(stage)) != []
    (now,) = stage.broker.flows
    assert now.tuples == (AGAIN,)
    assert placing.learn(now, AGAIN, tick(stage)) == []


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

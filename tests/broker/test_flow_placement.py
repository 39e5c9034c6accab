"""What happens to flows as a whole is told in the transcripts of test_broker.py and test_trouble.py."""

from __future__ import annotations

import pytest

from adon.broker import flow_placement
from adon.broker.broker import Broker
from adon.broker.effects import Effect, SaveFlow, WakeAt
from adon.broker.events import PortChanged, Tick
from adon.flowvisor.topology.network_graph import PortState
from tests.support.histories import NAMES, PATHS, Scene
from tests.support.network_factories import EDGES, port_names


def test_who_has_lost_the_path_goes_before_the_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_placement, "AT_ONCE", 4)
    scene = Scene(Broker)
    scene.know(dict.fromkeys(NAMES, 4e9))
    for _ in range(12):
        scene.ask("nimble")
        scene.settle()
    scene.wait(1.0)
    before = {flow.number: flow.path for flow in scene.flows()}
    lost = {number for number, path in before.items() if path == "path-00"}
    assert len(lost) == 3

    def concerned(effects: list[Effect]) -> set[int]:
        return {effect.flow.number for effect in effects if isinstance(effect, SaveFlow)}

    down = PortChanged(*scene.stamp(), EDGES["mu"], port_names("mu", PATHS)[1], PortState(2, False))
    effects = scene.feed(down)
    assert concerned(effects) == lost
    assert WakeAt(down.id, scene.now) in effects, "the others wait for nothing"
    looked_at: set[int] = set()
    turns = 0
    while WakeAt(effects[-1].cause, scene.now) in effects:
        effects = scene.feed(Tick(*scene.stamp()))
        assert len(concerned(effects)) <= 4
        looked_at |= concerned(effects)
        turns += 1
    assert turns == 3
    assert looked_at == before.keys() - lost, "all of them stand differently since the others came"

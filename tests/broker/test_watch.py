"""The shortcuts name every flow that a full look would change: the broker beside one that has none."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from adon.broker.broker import Broker
from adon.broker.events import (
    FlowCancelled,
    PortChanged,
    RuleRemoved,
)
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.port import PortState
from measurement.model import Metric
from tests.broker import test_histories
from tests.broker.many import EDGES, ports
from tests.broker.scene import NAMES, PATHS, TEMPLATES, Scene
from tests.broker.stage import Stage, know
from tests.broker.twins import Twins
from tests.depth import DEPTH

RATES = (1e9, 4e9, 8e9, 15e9, 25e9, 40e9, 90e9)


def measure(scene: Scene, chance: random.Random) -> None:
    metric, values = chance.choice(
        [
            (Metric.THROUGHPUT, RATES),
            (Metric.THROUGHPUT, RATES),
            (Metric.LOSS, (0.0, 0.005, 0.02)),
            (Metric.RTT, (0.005, 0.02, 0.04, 0.07)),
        ]
    )
    scene.measure(chance.choice(NAMES), metric, chance.choice(values), chance.choice([0, 0, 0, 2, 30, -4]))


def submit(scene: Scene, chance: random.Random) -> None:
    name = chance.choice(TEMPLATES).name
    scene.submit(name, streams=chance.choice([1, 1, 4]), priority=chance.choice([100, 900]))


def cancel(scene: Scene, chance: random.Random) -> None:
    alive = [flow for flow in scene.flows() if not flow.state.final]
    if len(alive) > 4:
        stamp = scene.stamp()
        scene.happen(FlowCancelled(*stamp, f"c-{stamp[0]}", chance.choice(alive).number, "ann"))


def wait(scene: Scene, chance: random.Random) -> None:
    scene.wait(chance.choice([0.01, 1, 1, 5, 16, 41]))


def report(scene: Scene, chance: random.Random) -> None:
    for dpid in EDGES.values():
        scene.report(dpid, chance.choice([0, 10**9, 10**10]))


def refuse(scene: Scene, chance: random.Random) -> None:
    if scene.unanswered:
        scene.answer(refuse=True)


def idle(scene: Scene, chance: random.Random) -> None:
    """One of a flow's two ingress rules sees no packets: it is put back, and nothing else has changed."""
    ingress = [
        r for r in scene.tables[EDGES["mu"]].values() if cookie_owner(r.cookie)[0] is Kind.FLOW_INGRESS
    ]
    if ingress:
        gone = scene.tables[EDGES["mu"]].pop(chance.choice(ingress).slot)
        scene.happen(RuleRemoved(*scene.stamp(), gone.dpid, gone, "idle", 0, 0))


def port(scene: Scene, chance: random.Random) -> None:
    index = chance.randrange(PATHS + 1)
    name, state = ports("mu", PATHS)[index], PortState(index + 1, chance.random() < 0.7)
    scene.happen(PortChanged(*scene.stamp(), EDGES["mu"], name, state))


def shun(scene: Scene, chance: random.Random) -> None:
    """As a failure does, without its other consequences."""
    path = chance.choice(NAMES)
    for broker in (scene.broker.one, scene.broker.other):
        broker.world.shun(path, "it failed", scene.now)


def clock_set_back(scene: Scene, chance: random.Random) -> None:
    scene.now -= chance.choice([20.0, 20.0, 600.0])


STEPS = {measure: 40, submit: 8, cancel: 4, wait: 20, report: 6, refuse: 1, idle: 6, port: 2, shun: 1}
STEPS |= {clock_set_back: 1}


@settings(max_examples=8 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), haste=st.sampled_from([0.3, 0.8, 1.0]))
@example(seed=18269, haste=0.3)  # a clock set back by a little: what was too old is not any more
@example(seed=2040, haste=0.3)  # a clock set back: what switches had counted comes true later
def test_a_result_changes_the_same_with_and_without_shortcuts(
    seed: int, haste: float, tmp_path: Path
) -> None:
    """Random histories: results, flows, counters, refusals, ports; switches that answer at once or later."""
    chance = random.Random(seed)
    scene = Scene(tmp_path)
    scene.know({name: chance.choice(RATES) for name in NAMES})
    for kind in TEMPLATES * 2:
        scene.submit(kind.name)
        scene.settle()
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=100):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()


class TwinStage(Stage):
    def _start(self) -> Broker:
        unfinished = [flow for flow in self.flows.values() if not flow.state.final]
        wanted = [kept for kept, state in self.rules.values() if state.value != "removed"]
        last = max(self.flows, default=0)
        twins: Any = Twins(
            self.configuration, self.templates, flows=unfinished, rules=wanted, last_number=last
        )
        return twins  # type: ignore[no-any-return]


class TwinHistories(test_histories.Histories):
    @initialize(rate=test_histories.RATES)
    def begin(self, rate: float) -> None:
        self.stage = TwinStage()
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)


TestTwinHistories = TwinHistories.TestCase
TestTwinHistories.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)

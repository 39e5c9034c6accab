"""The shortcuts name every flow that a full look would change: the broker beside one that has none."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.depth import DEPTH
from tests.support import history_machine
from tests.support.histories import NAMES, RATES, STEPS, TEMPLATES, Scene
from tests.support.stage import Stage, know
from tests.support.twins import Twins


@settings(max_examples=8 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), haste=st.sampled_from([0.3, 0.8, 1.0]))
def test_a_result_changes_the_same_with_and_without_shortcuts(seed: int, haste: float) -> None:
    """Random histories: results, flows, counters, refusals, ports; switches that answer at once or later."""
    chance = random.Random(seed)
    scene = Scene()
    scene.know({name: chance.choice(RATES) for name in NAMES})
    for kind in TEMPLATES * 2:
        scene.ask(kind.name)
        scene.settle()
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=100):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()


class TwinStage(Stage):
    make_broker = Twins


class TwinHistories(history_machine.Histories):
    @initialize(rate=history_machine.RATES)
    def begin(self, rate: float) -> None:
        self.stage = TwinStage()
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)


TestTwinHistories = TwinHistories.TestCase
TestTwinHistories.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)

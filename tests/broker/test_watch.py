"""The shortcuts name every flow that a full look would change: the broker beside one that has none."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from adon.broker.broker import Broker
from adon.broker.effects import Effect, SendBatch
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    Event,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchUp,
    Tick,
)
from adon.broker.flow import Flow, FlowRequest
from adon.config import load
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.rule import Op, ReportedRule, Rule, Slot
from adon.flowvisor.topology import PortState
from adon.templates_catalog.catalog import Catalog
from measurement.model import Measurement, Metric, PathKey
from tests.broker import test_histories
from tests.broker.many import EDGES, network, ports, template
from tests.broker.stage import Stage, know
from tests.broker.twins import Twins

PATHS = 4
NAMES = [f"path-{index:02}" for index in range(PATHS)]
BOTH = {"throughput": {"min": "5 Gbps", "target": "20 Gbps"}, "loss": {"max": "1 %"}}
TEMPLATES = (
    template("nimble", {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "max_age": "40 s"}),
    template(
        "careful", {"patience": 3, "min_dwell": "15 s", "switch_margin": 1, "max_age": "60 s"}, qspec=BOTH
    ),
    template(
        "slow",
        {"patience": 2, "min_dwell": "5 s", "switch_margin": 0.2},
        qspec={"rtt": {"max": "50 ms", "target": "10 ms"}},
        weights={"rtt": 2, "loss": 1},
        tables={},
    ),
    template("far", {"patience": 1, "min_dwell": "0 s"}, qspec={"throughput": {"min": "30 Gbps"}}, tables={}),
)


class Scene:
    """Some flows, on four paths; a test says what happens to whom."""

    def __init__(self, folder: Path, broker: Any = Twins) -> None:
        document = network(PATHS, counters_period="1 h", failed_path_holdoff="10 s")
        path = folder / "network.yaml"
        path.write_text(yaml.safe_dump(document))
        self.broker = broker(load(path), Catalog.of(TEMPLATES))
        self.now, self.count, self.octets = 1_000_000.0, 0, 0
        self.tables: dict[int, dict[Slot, Rule]] = {dpid: {} for dpid in EDGES.values()}
        self.unanswered: list[SendBatch] = []
        for site, dpid in EDGES.items():
            found = {name: PortState(number, True) for number, name in enumerate(ports(site, PATHS), 1)}
            self.happen(SwitchUp(*self.stamp(), dpid, found))
            self.happen(RulesReported(*self.stamp(), dpid, ()))

    def stamp(self) -> tuple[str, float]:
        self.count += 1
        return f"e{self.count}", self.now

    def happen(self, event: Event) -> list[Effect]:
        effects: list[Effect] = self.broker.handle(event)
        self.unanswered += [effect for effect in effects if isinstance(effect, SendBatch)]
        return effects

    def answer(self, *, refuse: bool = False) -> None:
        batch = self.unanswered.pop(0)
        if refuse:
            self.happen(BatchFailed(*self.stamp(), batch.dpid, batch.batch, "table full"))
            return
        for change in batch.changes:
            self.tables[batch.dpid].pop(change.rule.slot, None)
            if change.op is not Op.DELETE:
                self.tables[batch.dpid][change.rule.slot] = change.rule
        self.happen(BatchConfirmed(*self.stamp(), batch.dpid, batch.batch))

    def settle(self) -> None:
        while self.unanswered:
            self.answer()

    def submit(self, name: str, **fields: Any) -> None:
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 TB", "template": name}
        stamp = self.stamp()
        request = FlowRequest.model_validate({**wish, "ports": [5000 + self.count], **fields})
        self.happen(FlowSubmitted(*stamp, f"c-{stamp[0]}", request, "ann"))

    def measure(self, path: str, metric: Metric, value: float, age: float = 0.0) -> None:
        key, end = PathKey(path, "mu", "osu"), self.now - age
        found = Measurement(key, metric, value, end - 3, end, f"t{self.count}", "tool", {"streams": 2})
        self.happen(MeasurementArrived(*self.stamp(), found))

    def know(self, rates: Mapping[str, float]) -> None:
        for path, rate in rates.items():
            self.measure(path, Metric.LOSS, 0.0)
            self.measure(path, Metric.RTT, 0.02)
            self.measure(path, Metric.THROUGHPUT, rate)

    def report(self, dpid: int, octets: int) -> None:
        self.octets += octets
        rules = self.tables[dpid].values()
        seen = [ReportedRule(r, 1, self.octets * (1 + r.cookie % 3), 1.0) for r in rules]
        self.happen(RulesReported(*self.stamp(), dpid, tuple(seen)))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.happen(Tick(*self.stamp()))

    def flows(self) -> list[Flow]:
        return list(self.broker.flows)


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


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), haste=st.sampled_from([0.3, 0.8, 1.0]))
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
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

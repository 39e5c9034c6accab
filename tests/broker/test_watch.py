"""The shortcuts name every flow that a full look would change: the broker beside one that has none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

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
    RulesReported,
    SwitchUp,
    Tick,
)
from adon.broker.flow import Flow, FlowRequest
from adon.config import load
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

    def __init__(self, folder: Path | None = None, broker: Any = Twins) -> None:
        document = network(PATHS, counters_period="1 h", failed_path_holdoff="10 s")
        path = (folder or FOLDER) / "network.yaml"
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


FOLDER = Path()
RATES = st.sampled_from([1e9, 4e9, 8e9, 15e9, 25e9, 40e9, 90e9])
PATH = st.sampled_from(NAMES)


class Together(RuleBasedStateMachine):
    @initialize(rates=st.lists(RATES, min_size=PATHS, max_size=PATHS))
    def begin(self, rates: list[float]) -> None:
        self.scene = Scene()
        self.scene.know(dict(zip(NAMES, rates, strict=True)))
        for kind in TEMPLATES:
            self.scene.submit(kind.name)

    @rule(
        name=st.sampled_from([kind.name for kind in TEMPLATES]),
        streams=st.sampled_from([1, 4]),
        priority=st.sampled_from([100, 900]),
    )
    def submit(self, name: str, streams: int, priority: int) -> None:
        self.scene.submit(name, streams=streams, priority=priority)

    @rule(number=st.integers(0, 20))
    def cancel(self, number: int) -> None:
        alive = [flow for flow in self.scene.flows() if not flow.state.final]
        if alive:
            stamp = self.scene.stamp()
            chosen = alive[number % len(alive)].number
            self.scene.happen(FlowCancelled(*stamp, f"c-{stamp[0]}", chosen, "ann"))

    @rule(path=PATH, rate=RATES, age=st.sampled_from([0.0, 2.0, 30.0, -4.0]))
    def throughput(self, path: str, rate: float, age: float) -> None:
        self.scene.measure(path, Metric.THROUGHPUT, rate, age)

    @rule(path=PATH, loss=st.sampled_from([0.0, 0.005, 0.02]))
    def loss(self, path: str, loss: float) -> None:
        self.scene.measure(path, Metric.LOSS, loss)

    @rule(path=PATH, rtt=st.sampled_from([0.005, 0.02, 0.04, 0.07]))
    def rtt(self, path: str, rtt: float) -> None:
        self.scene.measure(path, Metric.RTT, rtt)

    @rule(site=st.sampled_from(list(EDGES)), octets=st.sampled_from([0, 10**9, 10**10]))
    def report(self, site: str, octets: int) -> None:
        self.scene.report(EDGES[site], octets)

    @rule(seconds=st.sampled_from([0.01, 1, 5, 16, 41]))
    def wait(self, seconds: float) -> None:
        self.scene.wait(seconds)

    @rule(refuse=st.sampled_from([False, False, False, True]))
    def answer(self, refuse: bool) -> None:
        if self.scene.unanswered:
            self.scene.answer(refuse=refuse)

    @rule()
    def settle(self) -> None:
        self.scene.settle()

    @rule(index=st.integers(0, PATHS), live=st.booleans())
    def port(self, index: int, live: bool) -> None:
        name = ports("mu", PATHS)[index]
        self.scene.happen(PortChanged(*self.scene.stamp(), EDGES["mu"], name, PortState(index + 1, live)))

    @rule(by=st.sampled_from([20.0, 600.0]))
    def clock_set_back(self, by: float) -> None:
        self.scene.now -= by


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    global FOLDER
    FOLDER = tmp_path


SETTINGS = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


class TwinStage(Stage):
    def _start(self) -> Broker:
        unfinished = [flow for flow in self.flows.values() if not flow.state.final]
        wanted = [kept for kept, state in self.rules.values() if state.value != "removed"]
        last = max(self.flows, default=0)
        twins: Any = Twins(self.configuration, self.templates, flows=unfinished, rules=wanted, last_number=last)
        return twins  # type: ignore[no-any-return]


class TwinHistories(test_histories.Histories):
    @initialize(rate=test_histories.RATES)
    def begin(self, rate: float) -> None:
        self.stage = TwinStage()
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)


def test_a_result_changes_the_same_with_and_without_shortcuts() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(Together, settings=SETTINGS)


def test_so_does_everything_else_that_can_happen() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(TwinHistories, settings=settings(SETTINGS, max_examples=15, stateful_step_count=25))

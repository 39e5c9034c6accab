"""Random histories: some flows on four paths between two sites, and the steps that can happen to them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adon import yamlfile
from adon.broker.broker import Broker
from adon.broker.effects import SendBatch
from adon.broker.events import (
    BatchFailed,
    Event,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    RuleRemoved,
    Tick,
)
from adon.broker.flow import Flow
from adon.config import Configuration
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.rule import Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.templates_catalog.catalog import Catalog
from measurement.model import Metric, PathKey
from tests.support.factories import make_measurement, make_request, make_template
from tests.support.network_factories import EDGES, NETWORK, make_many_paths, port_names
from tests.support.stage import Stage
from tests.support.twins import Twins

PATHS = 4
NAMES = [f"path-{index:02}" for index in range(PATHS)]
BOTH = {"throughput": {"min": "5 Gbps", "target": "20 Gbps"}, "loss": {"max": "1 %"}}
TABLES = {"throughput": {"points": [["1 bps", 1], ["100 Gbps", 10]]}}
TEMPLATES = (
    make_template(
        name="nimble",
        qspec={"throughput": {"min": "1 bps"}},
        tables=TABLES,
        selection={"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "max_age": "40 s"},
    ),
    make_template(
        name="careful",
        qspec=BOTH,
        tables=TABLES,
        selection={"patience": 3, "min_dwell": "15 s", "switch_margin": 1, "max_age": "60 s"},
    ),
    make_template(
        name="slow",
        qspec={"rtt": {"max": "50 ms", "target": "10 ms"}},
        weights={"rtt": 2, "loss": 1},
        selection={"patience": 2, "min_dwell": "5 s", "switch_margin": 0.2},
    ),
    make_template(
        name="far",
        qspec={"throughput": {"min": "30 Gbps"}},
        selection={"patience": 1, "min_dwell": "0 s"},
    ),
)


class Scene(Stage):
    """Some flows on four paths; switches answer when a test says so.

    :param make_broker: makes the broker of a configuration and a catalog.
    :ivar held: the batches that the switches have not answered, in order.
    """

    def __init__(self, make_broker: Callable[..., Any] = Twins, **policy: object) -> None:
        self.make_broker = make_broker
        self.held: list[SendBatch] = []
        self.octets = 0
        usual = {"counters_period": "1 h", "failed_path_holdoff": "10 s"}
        document = make_many_paths(PATHS, **{**usual, **policy})
        super().__init__(yamlfile.check_model(document, Configuration, NETWORK.name), Catalog.of(TEMPLATES))
        self.connect()

    def send(self, batch: SendBatch) -> Iterable[Event]:
        """Hold a batch until it is answered."""
        self.batches.append(batch)
        self.view.note_sent(batch, self.now)
        self.held.append(batch)
        return ()

    def answer(self, *, refuse: bool = False) -> None:
        """Let a switch answer the first batch that is held."""
        batch = self.held.pop(0)
        if refuse:
            self.feed(BatchFailed(*self.stamp(), batch.dpid, batch.batch, "table full"))
        else:
            self.feed(self.apply(batch))

    def settle(self) -> None:
        """Let the switches answer everything."""
        while self.held:
            self.answer()

    def ask(self, name: str, **fields: Any) -> None:
        """Ask for a transfer, which may be refused."""
        event_id, at = self.stamp()
        body = {"size": "1 TB", "template": name, "ports": [5000 + int(event_id[1:])]}
        request = make_request(**{**body, **fields})
        self.feed(FlowSubmitted(event_id, at, f"c-{event_id}", request, "ann"))

    def result(self, path: str, metric: Metric, value: float, age: float = 0.0) -> None:
        """Report a result, from mu to osu, of a test that ended ``age`` seconds ago."""
        key, (event_id, at) = PathKey(path, "mu", "osu"), self.stamp()
        found = make_measurement(
            key=key,
            metric=metric,
            value=value,
            observed_at=at - age,
            lasted=3.0,
            source=f"t-{event_id}",
            tool="tool",
            parameters={"streams": 2},
        )
        self.feed(MeasurementArrived(event_id, at, found))

    def know(self, rates: Mapping[str, float]) -> None:
        """Measure loss, round trip and throughput of these paths."""
        for path, rate in rates.items():
            self.result(path, Metric.LOSS, 0.0)
            self.result(path, Metric.RTT, 0.02)
            self.result(path, Metric.THROUGHPUT, rate)

    def count(self, dpid: int, octets: int) -> None:
        """Let every rule of a switch count bytes, and the switch report them."""
        self.octets += octets
        for held in self.switches[dpid].table.values():
            if isinstance(held.rule, Rule):
                held.packets, held.bytes = 1, self.octets * (1 + held.rule.cookie % 3)
        for report in self.read_rules(dpid):
            self.feed(report)

    def wait(self, seconds: float) -> None:
        """Let time pass, then a tick come."""
        self.now += seconds
        self.feed(Tick(*self.stamp()))

    def flows(self) -> list[Flow]:
        """Return the flows that the broker holds."""
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
    scene.result(chance.choice(NAMES), metric, chance.choice(values), chance.choice([0, 0, 0, 2, 30, -4]))


def submit(scene: Scene, chance: random.Random) -> None:
    name = chance.choice(TEMPLATES).name
    scene.ask(name, streams=chance.choice([1, 1, 4]), priority=chance.choice([100, 900]))


def cancel(scene: Scene, chance: random.Random) -> None:
    alive = [flow for flow in scene.flows() if not flow.state.final]
    if len(alive) > 4:
        stamp = scene.stamp()
        scene.feed(FlowCancelled(*stamp, f"c-{stamp[0]}", chance.choice(alive).number, "ann"))


def wait(scene: Scene, chance: random.Random) -> None:
    scene.wait(chance.choice([0.01, 1, 1, 5, 16, 41]))


def report(scene: Scene, chance: random.Random) -> None:
    for dpid in EDGES.values():
        scene.count(dpid, chance.choice([0, 10**9, 10**10]))


def refuse(scene: Scene, chance: random.Random) -> None:
    if scene.held:
        scene.answer(refuse=True)


def idle(scene: Scene, chance: random.Random) -> None:
    """One of a flow's two ingress rules sees no packets: it is put back, and nothing else has changed."""
    switch = scene.switches[EDGES["mu"]]
    rules = [held.rule for held in switch.table.values() if isinstance(held.rule, Rule)]
    ingress = [rule for rule in rules if cookie_owner(rule.cookie)[0] is Kind.FLOW_INGRESS]
    if ingress:
        gone = chance.choice(ingress)
        switch.remove(gone)
        scene.feed(RuleRemoved(*scene.stamp(), gone.dpid, gone, "idle", 0, 0))


def port(scene: Scene, chance: random.Random) -> None:
    index = chance.randrange(PATHS + 1)
    state = PortState(index + 1, chance.random() < 0.7)
    scene.change_port(EDGES["mu"], port_names("mu", PATHS)[index], state)


def shun(scene: Scene, chance: random.Random) -> None:
    """As a failure does, without its other consequences."""
    path = chance.choice(NAMES)
    brokers: tuple[Broker, ...] = getattr(scene.broker, "both", (scene.broker,))
    for broker in brokers:
        broker.world.shun(path, "it failed", scene.now)


STEPS = {measure: 40, submit: 8, cancel: 4, wait: 20, report: 6, refuse: 1, idle: 6, port: 2, shun: 1}

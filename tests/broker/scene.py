"""Some flows on four paths between two sites; a test says what happens to whom, and when switches answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from adon.broker.effects import Effect, SendBatch
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    Event,
    FlowSubmitted,
    MeasurementArrived,
    RulesReported,
    SwitchUp,
    Tick,
)
from adon.broker.flow import Flow, FlowRequest
from adon.config import load
from adon.flowvisor.port import PortState
from adon.flowvisor.rule import Op, ReportedRule, Rule, Slot
from adon.templates_catalog.catalog import Catalog
from measurement.model import Measurement, Metric, PathKey
from tests.broker.many import EDGES, network, ports, template
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

    def __init__(self, folder: Path, broker: Any = Twins, **policy: object) -> None:
        document = network(PATHS, **{"counters_period": "1 h", "failed_path_holdoff": "10 s", **policy})
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

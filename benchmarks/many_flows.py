"""One result among many flows: 100, 1 000 and 10 000 active flows over 16 candidate paths.

The broker alone, events in, effects out; every batch is answered at once by its barrier, as a switch would.
All flows go between the same two sites, the hardest case: every result concerns a path that each of them
could take.  Four templates are hard to move; one flow, of a fifth, moves as soon as another path is better.

- *moves*: a result on another path makes that one flow move; until its batches are on their way;
- *no change*: a result that changes nothing for anybody;
- *switch report*: the counters of all rules of one edge, at the poll;
- *submit*: one flow request, from the event to its answer, while the flows are being admitted;
- *yardstick*: choosing a path for one flow from nothing, which grows with the paths only.

The sizes are taken in turns within a round.  The exponent is the slope of log p99 over log flows, by
least squares: 1 is linear, and the issue asks for less.
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from adon.broker.broker import Broker
from adon.broker.choice import Situation, choose
from adon.broker.effects import Answer, Effect, SendBatch
from adon.broker.events import (
    BatchConfirmed,
    Event,
    FlowSubmitted,
    MeasurementArrived,
    RulesReported,
    SwitchUp,
    Tick,
)
from adon.broker.flow import Flow, FlowRequest
from adon.config import Configuration, load
from adon.flowvisor.rules.rule import Op, ReportedRule, Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from benchmarks.edges import NETWORK
from benchmarks.summary import Summary, table
from measurement.model import Measurement, Metric, PathKey

ROUNDS = 5
SAMPLES = 20
SIZES = (100, 1_000, 10_000)
PATHS = 16
EDGES = {"mu": 0xA01, "osu": 0xA02}
BASE_BPS, BETTER_BPS = 40e9, 60e9
STEADY = {"patience": 100, "min_dwell": "1 h", "switch_margin": 9, "max_age": "1 h"}
NIMBLE = {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "max_age": "1 h"}


def network() -> dict[str, Any]:
    """The configuration of a network with :data:`PATHS` layer-2 paths between its two sites."""
    document: dict[str, Any] = yaml.safe_load(NETWORK.read_text())
    document["paths"] = {
        f"path-{index:02}": {
            "layer": 2,
            "vlan": 1000 + index,
            "capacity": "100 Gbps",
            "ends": {site: {"port": f"{site}-edge-{index}"} for site in EDGES},
        }
        for index in range(PATHS)
    }
    return document


def template(name: str, selection: Mapping[str, Any], **fields: Any) -> Template:
    """A bulk transfer; ``selection`` says how eager it is to move."""
    body = {
        "name": name,
        "title": name,
        "qspec": {"throughput": {"min": "1 bps"}},
        "weights": {"throughput": 1.0},
        "tables": {"throughput": {"points": [["1 bps", 1], ["100 Gbps", 10]]}},
        "selection": selection,
    }
    return Template.model_validate({**body, **fields})


def catalog() -> Catalog:
    """Four templates that stay, one that moves."""
    steady = [template(f"steady-{number}", STEADY) for number in range(4)]
    return Catalog.of([*steady, template("nimble", NIMBLE)])


class Stage:
    """A broker with so many active flows, and two switches that answer at once.

    :param flows: how many.
    """

    def __init__(self, configuration: Configuration, flows: int, chance: random.Random) -> None:
        self.broker = Broker(configuration, catalog())
        self.paths = tuple(configuration.paths)
        self.chance, self.now = chance, 1_000_000.0
        self._count = 0
        self._tables: dict[int, dict[object, Rule]] = {dpid: {} for dpid in EDGES.values()}
        self._connect()
        for path in self.paths:
            self.happen(self.result(path, BASE_BPS))
        names = [f"steady-{number % 4}" for number in range(flows - 1)]
        self.submits = [self._submit(name, 1024 + port) for port, name in enumerate([*names, "nimble"])]
        self.nimble = flows
        self.now += 600.0
        for path in self.paths:
            self.happen(self.result(path, BASE_BPS))
        assert len(self.broker.flows) == flows

    def stamp(self) -> tuple[str, float]:
        """The next event's id and time."""
        self._count += 1
        self.now += 0.01
        return f"e{self._count}", self.now

    def result(self, path: str, rate: float) -> Event:
        """A throughput test that has just ended."""
        stamp = self.stamp()
        key = PathKey(path, "mu", "osu")
        value = Measurement(
            key, Metric.THROUGHPUT, rate, self.now - 0.001, self.now, f"run-{stamp[0]}", "iperf3"
        )
        return MeasurementArrived(*stamp, value)

    def happen(self, event: Event) -> list[Effect]:
        """Handle an event, and all that follows from it."""
        effects = self.broker.handle(event)
        waiting = list(effects)
        while waiting:
            effect = waiting.pop()
            if isinstance(effect, SendBatch):
                self._apply(effect)
                waiting += self.broker.handle(BatchConfirmed(*self.stamp(), effect.dpid, effect.batch))
        return effects

    def timed(self, event: Event) -> tuple[float, list[Effect]]:
        """How long the broker takes over one event, in ms; what follows is carried out untimed."""
        begun = time.perf_counter()
        effects = self.broker.handle(event)
        took = (time.perf_counter() - begun) * 1e3
        waiting = [effect for effect in effects if isinstance(effect, SendBatch)]
        while waiting:
            batch = waiting.pop()
            self._apply(batch)
            answer = self.broker.handle(BatchConfirmed(*self.stamp(), batch.dpid, batch.batch))
            waiting += [effect for effect in answer if isinstance(effect, SendBatch)]
        return took, effects

    def move(self) -> float:
        """The one flow that moves is made to, in ms."""
        path = self._path()
        self.happen(self.result(path, BASE_BPS))
        self.settle()
        assert self._path() == path
        other = self.chance.choice([name for name in self.paths if name != path])
        took, effects = self.timed(self.result(other, BETTER_BPS))
        assert any(isinstance(effect, SendBatch) for effect in effects), "nothing was sent"
        assert self._path() == other
        self.settle()
        self.happen(self.result(other, BASE_BPS))
        return took

    def no_change(self) -> float:
        """A result that changes nothing, in ms."""
        took, effects = self.timed(self.result(self.chance.choice(self.paths), BASE_BPS))
        assert not any(isinstance(effect, SendBatch) for effect in effects)
        return took

    def report(self) -> float:
        """One edge reports all its rules, every flow has sent something since; in ms."""
        dpid = EDGES["mu"]
        counted = 1_000_000 * self._count
        stamp = self.stamp()
        rules = tuple(ReportedRule(rule, counted, counted, 1.0) for rule in self._tables[dpid].values())
        return self.timed(RulesReported(*stamp, dpid, rules))[0]

    def choose(self) -> float:
        """The yardstick: one flow's candidates scored and compared without any other flow, in ms."""
        world = self.broker.world
        flow = self._flow()
        need = world.flows.need(flow)
        policy, window = world.configuration.policy, world.configuration.measurements.window
        nobody = Situation(self.now, world.network.topology, world.performance, policy, window, {}, {})
        begun = time.perf_counter()
        choose(flow, need, nobody)
        return (time.perf_counter() - begun) * 1e3

    def settle(self) -> None:
        """Let drains pass."""
        self.now += 5.0
        self.happen(Tick(*self.stamp()))

    def _flow(self) -> Flow:
        flow = self.broker.flows.get(self.nimble)
        assert flow is not None
        return flow

    def _path(self) -> str:
        return str(self._flow().path)

    def _connect(self) -> None:
        for site, dpid in EDGES.items():
            names = [f"{site}-edge-dtn", *(f"{site}-edge-{index}" for index in range(len(self.paths)))]
            found = {name: PortState(number, True) for number, name in enumerate(names, 1)}
            self.happen(SwitchUp(*self.stamp(), dpid, found))
            self.happen(RulesReported(*self.stamp(), dpid, ()))

    def _submit(self, name: str, port: int) -> float:
        stamp = self.stamp()
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 TB", "template": name}
        request = FlowRequest.model_validate({**wish, "ports": [port]})
        took, effects = self.timed(FlowSubmitted(*stamp, f"c-{port}", request, "benchmark"))
        (answer,) = (effect.value for effect in effects if isinstance(effect, Answer))
        assert isinstance(answer, Flow), answer
        assert answer.path is not None, answer.reason
        return took

    def _apply(self, batch: SendBatch) -> None:
        for change in batch.changes:
            if change.op is Op.DELETE:
                self._tables[batch.dpid].pop(change.rule.slot, None)
            else:
                self._tables[batch.dpid][change.rule.slot] = change.rule


KINDS: Mapping[str, Callable[[Stage], float]] = {
    "moves": Stage.move,
    "no change": Stage.no_change,
    "yardstick": Stage.choose,
}


def run(folder: Path, seed: int, sizes: Iterable[int] = SIZES) -> dict[str, Any]:
    """The benchmark: milliseconds, by what happens and how many flows there are."""
    path = folder / "network.yaml"
    path.write_text(yaml.safe_dump(network()))
    chance = random.Random(seed)
    stages = {size: Stage(load(path), size, chance) for size in sizes}
    found: dict[str, dict[int, list[list[float]]]] = {}
    for _ in range(ROUNDS):
        for size, stage in stages.items():
            gc.collect()
            for kind, measure in KINDS.items():
                samples = [measure(stage) for _ in range(SAMPLES)]
                found.setdefault(kind, {}).setdefault(size, []).append(samples)
            found.setdefault("switch report", {}).setdefault(size, []).append([stage.report()])
    found["submit"] = {size: [stage.submits] for size, stage in stages.items()}
    return {kind: _summed_up(by_size) for kind, by_size in found.items()}


def _summed_up(by_size: Mapping[int, list[list[float]]]) -> dict[str, Any]:
    sizes = {size: asdict(Summary.of(rounds)) for size, rounds in by_size.items()}
    exponent = slope([(size, numbers["p99"]) for size, numbers in sizes.items()]) if len(sizes) > 1 else None
    return {"sizes": {str(size): numbers for size, numbers in sizes.items()}, "exponent": exponent}


def slope(points: Iterable[tuple[float, float]]) -> float:
    """The slope of log y over log x, by least squares."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    middle_x, middle_y = (sum(part) / len(logs) for part in zip(*logs, strict=True))
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in logs) / math.fsum(
        (x - middle_x) ** 2 for x, _ in logs
    )


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the time to a move grows less than the number of flows."""
    exponent = results["moves"]["exponent"]
    return exponent is None or bool(exponent < 1)


def report(results: Mapping[str, Any]) -> str:
    """The table for people."""
    rows = [["ms", "flows", "median", "p99", "max", "medians of rounds", "exponent of p99"]]
    for kind, found in results.items():
        exponent = "" if found["exponent"] is None else f"{found['exponent']:.2f}"
        for size, numbers in found["sizes"].items():
            figures = [f"{numbers[key]:.2f}" for key in ("median", "p99", "largest")]
            medians = " ".join(f"{median:.2f}" for median in numbers["rounds"])
            rows.append([kind, size, *figures, medians, exponent])
    return table(rows)

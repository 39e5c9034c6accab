"""The simulator beside the real testbed: completion times as predicted and as measured.

The scenarios of :mod:`benchmarks.fluid_scenarios` run on the Mininet testbed (Open vSwitch's userspace data
path, HTB links, real TCP by the Linux kernel; see docs/testbed.md) and in :mod:`adon.simulation`.  The
simulator is told the links' configured goodput, the sizes and streams, and when each transfer's first stream
was accepted; never a rate that was measured.  What is compared is the time from there until the receiver has
read the last byte.

Needs root.  Bound: a median absolute error of at most 10 % in every scenario.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adon.simulation.engine import simulate
from adon.simulation.measuring import Plan
from adon.simulation.network import Link, Network
from adon.simulation.network import Path as SimulatedPath
from adon.simulation.policy import Finished, Happening, Order, Submitted, Take, View, Woken
from adon.simulation.steps import Steps
from adon.simulation.workload import Transfer, Workload
from adon.templates_catalog.model import Template
from benchmarks.fluid_scenarios import L2, L3, NETWORK, SCALE, SCENARIOS, Carry, Scenario
from benchmarks.summary import table
from mininet_topos import networks
from mininet_topos.isolation import default_folder, run_folder, run_isolated

ROUNDS = 3
BOUND = 0.10
LONGEST_S = 1000.0


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - nothing is drawn
    """All scenarios, each round one after the other, and what the simulator says of them."""
    found = tried(folder, ROUNDS)
    return {
        "emulation": found["emulation"],
        "scenarios": {one.name: compared(one, found["scenarios"][one.name]) for one in SCENARIOS},
    }


def tried(folder: Path, rounds: int) -> dict[str, Any]:
    """What was measured on the testbed: how it is emulated, and per scenario its rounds.

    :raises RuntimeError: if the testbed failed.
    """
    answer, log = folder / "measured.json", folder / "testbed.log"
    with run_folder(default_folder("fluid")) as place, log.open("wb") as said:
        argv = [sys.executable, "-m", "benchmarks.fluid_inside", str(place.path), str(answer), str(rounds)]
        with run_isolated(argv, place, stdout=said, stderr=said) as process:
            if process.wait() != 0 or not answer.exists():
                raise RuntimeError(f"the testbed failed: {log.read_text()[-3000:]}")
    told: dict[str, Any] = json.loads(answer.read_text())
    return told


def compared(scenario: Scenario, rounds: Sequence[Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Per transfer and round: started, measured and predicted seconds, and the relative error."""
    told = [
        [
            {
                "started": one["started"],
                "seconds": one["seconds"],
                "predicted": seconds,
                "error": seconds / one["seconds"] - 1,
            }
            for one, seconds in zip(each, predicted(scenario, [one["started"] for one in each]), strict=True)
        ]
        for each in rounds
    ]
    errors = [one["error"] for each in told for one in each]
    absolute = sorted(abs(error) for error in errors)
    return {
        "story": scenario.story,
        "rounds": told,
        "median_error": statistics.median(absolute),
        "largest_error": absolute[-1],
        "bias": statistics.median(errors),
    }


@dataclass
class Scripted:
    """A policy that puts transfers where a scenario says."""

    carries: Mapping[int, Carry]
    name: str = "script"
    quiet: frozenset[str] = frozenset()
    running: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        moves = [(at, n, path) for n, carry in self.carries.items() for at, path in carry.moves]
        self._moves = sorted(moves, reverse=True)

    @property
    def wake(self) -> float | None:
        """As :attr:`Policy.wake`."""
        return self._moves[-1][0] if self._moves else None

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        match what:
            case Submitted(transfer):
                return (Take(transfer.number, self.carries[transfer.number].path),)
            case Woken():
                due = []
                while self._moves and self._moves[-1][0] <= view.now:
                    _, number, path = self._moves.pop()
                    due.append(Take(number, path))
                return due
            case Finished():
                pass
        return ()


def predicted(scenario: Scenario, started: Sequence[float]) -> list[float]:
    """Seconds that each transfer takes by the simulator, begun at these times."""
    asked = [
        Transfer(n, at, "mu", "osu", carry.size, "any", carry.streams, 500, None, carry.rate or math.inf)
        for n, (carry, at) in enumerate(zip(scenario.carries, started, strict=True), 1)
    ]
    in_order = tuple(sorted(asked, key=lambda one: one.at))
    templates = {"any": Template.model_validate({"name": "any", "weights": {"throughput": 1}})}
    world = Workload(scenario.name, scenario.story, network(scenario), templates, in_order, Plan(), LONGEST_S)
    policy = Scripted(dict(enumerate(scenario.carries, 1)))
    ends = {one.transfer.number: one.ended for one in simulate(world, policy, measured=False)}
    return [(ends[one.number] or math.inf) - one.at for one in asked]


def goodput() -> dict[str, float]:
    """Bits/s of TCP goodput that the testbed's paths are configured for."""
    described = networks.named(NETWORK, SCALE)
    return {path: described.path(path).goodput for path in (L2, L3)}


def network(scenario: Scenario) -> Network:
    """The testbed as it is described, with the scenario's changes."""
    rates = goodput()
    links = {name: _link(scenario, name, rate) for name, rate in rates.items()}
    paths = tuple(
        SimulatedPath(name, layer, ("mu", "osu"), (name,), rates[name]) for name, layer in ((L2, 2), (L3, 3))
    )
    return Network(links, paths)


def _link(scenario: Scenario, name: str, rate: float) -> Link:
    changes = [(at, rate * part) for at, path, part in scenario.rates if path == name]
    others = [
        change
        for one in scenario.others
        if one.path == name
        for change in ((one.begins, float(one.streams)), (one.ends, 0.0))
    ]
    return Link(Steps.of((0.0, rate), *changes), background=Steps.of((0.0, 0.0), *others))


def passed(results: Mapping[str, Any]) -> bool:
    """Whether every scenario's median error is within the bound."""
    return all(one["median_error"] <= BOUND for one in results["scenarios"].values())


def report(results: Mapping[str, Any]) -> str:
    """The table, and whether the bound holds."""
    rows = [["scenario", "measured s", "predicted s", "median error", "largest", "bias"]]
    for name, one in results["scenarios"].items():
        by_transfer = list(zip(*one["rounds"], strict=True))
        columns = [
            " ".join(f"{statistics.median(each[what] for each in transfer):.1f}" for transfer in by_transfer)
            for what in ("seconds", "predicted")
        ]
        figures = [f"{one[what]:.1%}" for what in ("median_error", "largest_error")]
        rows.append([name, *columns, *figures, f"{one['bias']:+.1%}"])
    every = [abs(one["error"]) for s in results["scenarios"].values() for each in s["rounds"] for one in each]
    verdict = "kept" if passed(results) else "MISSED"
    return (
        f"{table(rows)}\n\nAll {len(every)} transfers: median absolute error {statistics.median(every):.1%}; "
        f"bound {BOUND:.0%} per scenario: {verdict}. Per transfer the medians of the rounds; "
        f"{results['emulation']}"
    )

"""What :mod:`benchmarks.trains` runs in namespaces of its own: packet trains and iperf3 on the same paths."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.probes.calibration import LONGEST, SHAPES, Compared, Trial, chosen
from measurement.probes.client import Agent
from measurement.probes.findings import Failed, TrainFound
from measurement.probes.key import read_key
from measurement.probes.orders import Order, Train
from measurement.probes.train import Shape
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import Running, built
from mininet_topos.cloud.description import Cloud, Guest, Router
from mininet_topos.cloud.description import Path as Limited

RATES = (50e6, 100e6, 200e6, 400e6, 700e6, 1000e6)
"""Bits/s on the wire of the paths."""
PAPER = Shape(1472, 200, 10, 1e-3)
IPERF_S = 3
CALIBRATED_WITH = 2
"""Trains of each shape on each path."""


def main() -> None:
    """Build, measure, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--delay", type=float, default=0.0, help="one way, seconds")
    parser.add_argument("--trains", type=int, default=10, help="of each shape on each path")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="adon-trains-") as folder:
        print(json.dumps(measured(Path(folder), arguments.seed, arguments.delay, arguments.trains)))


def star(delay: float) -> Cloud:
    """A guest with a path of each rate to another."""
    guests = (Guest("source", "core"), *(Guest(f"to{rate / 1e6:.0f}", "core") for rate in RATES))
    paths = {
        Pair("source", guest.name): Limited(rate, delay)
        for guest, rate in zip(guests[1:], RATES, strict=True)
    }
    paths |= {pair.back: Limited(delay=delay) for pair in paths}
    return Cloud("star", (Router("core"),), guests, paths)


def measured(folder: Path, seed: int, delay: float, trains: int) -> dict[str, Any]:
    """Calibrate on the paths; then compare trains of the chosen shape, and of the paper's, with iperf3."""
    with ExitStack() as stack:
        running = stack.enter_context(built(star(delay), folder, seed))
        key = folder / "key"
        stack.enter_context(agents(running, key))
        return asyncio.run(_compared(running, read_key(key), random.Random(seed), trains))


async def _compared(running: Running, key: bytes, chance: random.Random, trains: int) -> dict[str, Any]:
    source, *targets = running.instances
    truths = {target.name: carried(running, target) for target in targets}
    async with await Agent.connect(source, key) as agent:
        trials = [
            Trial(shape, tuple([await _tried(agent, target, truths, shape) for target in targets]))
            for shape in SHAPES
        ]
        found = chosen(trials)
        paths = []
        for target, rate in zip(targets, RATES, strict=True):
            before = carried(running, target)
            by_shape: dict[str, list[tuple[float | None, float]]] = {"chosen": [], "paper": []}
            turns = [*by_shape] * trains
            chance.shuffle(turns)
            for name in turns:
                shape = found.best.shape if name == "chosen" else PAPER
                by_shape[name].append(await train(agent, target, shape))
            after = carried(running, target)
            paths.append({"wire": rate, "iperf3": [before, after], **by_shape})
    return {
        "emulation": running.emulation,
        "shape": asdict(found.best.shape),
        "within": found.within,
        "trials": [
            {"shape": asdict(trial.shape), "error": trial.error, "took": trial.took} for trial in trials
        ],
        "longest": LONGEST,
        "paths": paths,
    }


async def _tried(agent: Agent, target: Instance, truths: dict[str, float], shape: Shape) -> Compared:
    its = [await train(agent, target, shape) for _ in range(CALIBRATED_WITH)]
    return Compared(truths[target.name], tuple(rate for rate, _ in its), max(took for _, took in its))


async def train(agent: Agent, target: Instance, shape: Shape) -> tuple[float | None, float]:
    """The rate that one train tells, bits/s, and the seconds from its first packet to its last."""
    (finding,) = (await agent.probe(Order(target, (Train(shape),)))).findings
    match finding:
        case TrainFound(rate=rate, took=took):
            return rate, took
        case Failed():
            return None, 0.0
    raise TypeError(f"{finding.kind} is no answer to a train")


def carried(running: Running, target: Instance) -> float:
    """Bits/s that iperf3's server gets from one connection, its first second left out."""
    server = running.popen(
        target.name, "iperf3", "-s", "-1", "--forceflush", stdout=subprocess.PIPE, text=True
    )
    for line in server.stdout or ():
        if "listening" in line:
            break
    said = running.run(
        "source", "iperf3", "-J", "-O", "1", "-t", str(IPERF_S), "-c", target.address, timeout=IPERF_S + 30
    )
    server.communicate()
    return float(json.loads(said)["end"]["sum_received"]["bits_per_second"])


if __name__ == "__main__":
    main()

"""What :mod:`benchmarks.choreo` runs in namespaces of its own: applications that really transfer."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from adon.placement.baselines import minimum_machines, random_placement, round_robin
from adon.placement.exact import exact
from adon.placement.fluid import Arrival
from adon.placement.model import Impossible, Machine, Placement, Problem
from adon.placement.sequences import Running as Placed
from adon.placement.sequences import beside
from adon.placement.workloads import CORES, at_once, in_sequence
from benchmarks.transfer_control import Ends, Flows, ends
from measurement.probes.client import Agent
from measurement.probes.key import read_key
from measurement.probes.train import Shape
from measurement.snapshot.model import Snapshot
from measurement.snapshot.taking import take
from measurement.snapshot.wanted import Taken, Taking
from mininet_topos.cloud import seeded
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import Running, built

SEARCH_S = 0.3
"""How long choreo looks for a placement; it counts as running time."""
KINDS = {"ec2": seeded.ec2, "rackspace": seeded.rackspace}
Placing = Callable[[Problem], Placement]


def main() -> None:
    """Build, measure, place, transfer, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--kind", choices=KINDS, default="ec2")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--workloads", type=int, default=4)
    parser.add_argument("--scale", type=float, default=0.5)
    parser.add_argument("--train", default="10x40")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="adon-choreo-") as folder:
        print(json.dumps(measured(Path(folder), asked)))


def measured(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """A snapshot, then each workload with each way of placing, in an order of its own."""
    cloud = KINDS[asked.kind](asked.seed, asked.instances)
    with built(cloud, folder) as running:
        began = time.monotonic()
        with agents(running, folder / "key") as _:
            taken = _snapshot(running, folder / "key", asked.train)
        took = time.monotonic() - began
        machines = tuple(Machine(guest.name, CORES) for guest in cloud.guests)
        chance = random.Random(asked.seed)
        whole, sequences = [], []
        with ends(running) as transfers:
            trial = _Trial(transfers, machines, taken.snapshot)
            for _ in range(asked.workloads):
                ways = _ways(chance.randrange(2**31))
                one = at_once(asked.instances, chance, asked.scale)
                whole.append(_each(chance, ways, partial(trial.all_at_once, Arrival(0.0, one))))
                arrivals = in_sequence(asked.instances, chance, asked.scale)
                sequences.append(_each(chance, ways, partial(trial.in_sequence, arrivals)))
        return {
            "emulation": running.emulation,
            "instances": len(machines),
            "snapshot_s": took,
            "snapshot": _told(taken, running),
            "at_once": whole,
            "in_sequence": sequences,
        }


def _snapshot(running: Running, key: Path, train: str) -> Taken:
    secret = read_key(key)
    bursts, burst = train.split("x")
    how = Taking(Shape(bursts=int(bursts), burst=int(burst)), trains_at_once=4, transfers_at_once=2)
    return asyncio.run(take(running.instances, lambda one: Agent.connect(one, secret), how))


def _told(taken: Taken, running: Running) -> dict[str, Any]:
    """What was found, beside what was described."""
    found = taken.snapshot
    hoses = {
        guest.name: found.hoses[guest.name] / (guest.egress.rate * 1448 / 1514) - 1
        for guest in running.cloud.guests
        if guest.name in found.hoses and guest.egress is not None
    }
    return {
        "rates": len(found.rates),
        "missing": sorted({*found.missing.values()})[:5],
        "hoses": len(found.hoses),
        "hose_model": len(taken.constant),
        "hose_error": statistics.fmean(map(abs, hoses.values())) if hoses else None,
        "bottlenecks": len(found.bottlenecks),
        "faults": len(taken.faults),
        "trials": taken.trials,
        "failed": taken.failed,
    }


def _ways(seed: int) -> dict[str, Placing]:
    def choreo(problem: Problem) -> Placement:
        until = time.monotonic() + SEARCH_S
        return exact(problem, lambda: time.monotonic() >= until)

    return {
        "choreo": choreo,
        "random": partial(random_placement, seed=seed),
        "round-robin": round_robin,
        "minimum machines": minimum_machines,
    }


def _each(
    chance: random.Random, ways: Mapping[str, Placing], trial: Callable[[Placing], float]
) -> dict[str, float]:
    """Seconds by way of placing, tried in random order so that none always comes first."""
    return {name: trial(ways[name]) for name in chance.sample([*ways], len(ways))}


@dataclass
class _Trial:
    transfers: Ends
    machines: tuple[Machine, ...]
    snapshot: Snapshot

    def all_at_once(self, arrival: Arrival, place: Placing) -> float:
        """Completion time of one application ([CHOREO] 6.2); placing it is not counted, as in the paper."""
        placement = place(Problem(arrival.application, self.machines, self.snapshot))
        began = time.monotonic()
        flows = self.transfers.start(arrival.application.sent, placement.machines)
        self.transfers.ended({"": flows})
        return time.monotonic() - began

    def in_sequence(self, arrivals: tuple[Arrival, ...], place: Placing) -> float:
        """The sum of running times ([CHOREO] 6.3); waiting for room and placing are counted."""
        began, total = time.monotonic(), 0.0
        came: dict[str, float] = {}
        under_way: dict[str, tuple[Placed, Flows]] = {}
        coming = [*arrivals]
        while coming or under_way:
            now = time.monotonic() - began
            if coming and coming[0].at <= now and self._placed(coming[0], under_way, place):
                arrival = coming.pop(0)
                came[arrival.application.name] = arrival.at
                continue
            waits = coming[0].at - now if coming and coming[0].at > now else None
            flows = {name: its for name, (_, its) in under_way.items()}
            name = self.transfers.ended(flows, waits)
            if name is not None:
                del under_way[name]
                total += time.monotonic() - began - came[name]
        return total

    def _placed(self, arrival: Arrival, under_way: dict[str, tuple[Placed, Flows]], place: Placing) -> bool:
        """Start an application, if there is room for it."""
        flows = {name: its for name, (_, its) in under_way.items()}
        there = [replace(placed, left=self.transfers.left(its, flows)) for placed, its in under_way.values()]
        try:
            placement = place(beside(arrival.application, self.machines, self.snapshot, there))
        except Impossible:
            if not under_way:
                raise
            return False
        started = self.transfers.start(arrival.application.sent, placement.machines)
        one = Placed(arrival.application, placement.machines, {})
        under_way[arrival.application.name] = one, started
        return True


if __name__ == "__main__":
    main()

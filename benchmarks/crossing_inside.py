"""What :mod:`benchmarks.crossing` runs in namespaces of its own: ON-OFF senders, and who notices them."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.probes.client import Agent
from measurement.probes.crossing import beside
from measurement.probes.findings import Carried, Load
from measurement.probes.key import read_key
from measurement.probes.orders import CrossTraffic, Order, Throughput
from measurement.snapshot.bottlenecks import DROP
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import Running, built
from mininet_topos.cloud.choreo import dumbbell, racks_under_one
from mininet_topos.cloud.seeded import ec2

MEAN_S = 5.0
"""Of both the times on and the times off."""
PAYLOAD = 1448 / 1514
"""Of a full frame, what TCP carries."""
CONTROL = "reno"
"""Of TCP: the paper's second assumption is that connections share evenly, which those of BBR do not."""
SAMPLE_S = 0.01
SMOOTH_S = 0.5
FIGURES = {
    "3a": (lambda: dumbbell(10, 100e6), 100e6 * PAYLOAD, 10, 0),
    "3b": (lambda: racks_under_one(20, 20e6, 200e6), 200e6 * PAYLOAD, 20, 9),
}
"""The network, c1, pairs of senders and receivers, and how many others nobody notices.

A tenth of the paper's rates; in 3b its smallest estimate is 10, too, for fewer do not fill the link.
"""


def main() -> None:
    """Build, send, listen, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("what", choices=(*FIGURES, "interference"))
    parser.add_argument("--duration", type=float, default=15.0)
    parser.add_argument("--pairs", type=int, default=20)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="adon-crossing-") as folder:
        if asked.what == "interference":
            print(json.dumps(interference(Path(folder), asked.seed, asked.pairs)))
        else:
            print(json.dumps(crossing(Path(folder), asked.seed, asked.what, asked.duration)))


def crossing(folder: Path, seed: int, figure: str, duration: float) -> dict[str, Any]:
    """C as found from one bulk connection, beside how many senders were on."""
    make, link, pairs, unnoticed = FIGURES[figure]
    chance = random.Random(seed)
    schedules = {n: schedule(chance, duration + 4) for n in range(2, pairs + 1)}
    with built(make(), folder) as running, agents(running, folder / "key"):
        for guest in running.cloud.guests:
            running.run(guest.name, "sysctl", "-q", "-w", f"net.ipv4.tcp_congestion_control={CONTROL}")
        begin = time.time() + 4.0
        with senders(running, schedules, begin):
            time.sleep(max(0.0, begin - time.time()))
            load, began = asyncio.run(_load(running, read_key(folder / "key"), duration, link))
            offset = began - begin
    samples = [
        (max(unnoticed, sum(is_on(its, offset + (n + 0.5) * SAMPLE_S) for its in schedules.values())), found)
        for n, found in enumerate(load.others)
    ]
    return {
        "emulation": running.emulation,
        "samples": len(samples),
        "silent": sum(found is None for _, found in samples),
        "each": _errors(samples),
        "smoothed": _errors(_smoothed([truth for truth, _ in samples], load.rates, link)),
        "truth": statistics.fmean(truth for truth, _ in samples),
        "mean": load.mean,
    }


def schedule(chance: random.Random, duration: float) -> list[tuple[float, float]]:
    """When a sender is on: exponential times, on and off with equal chance at the beginning."""
    at, on, found = 0.0, chance.random() < 0.5, []
    while at < duration:
        until = at + chance.expovariate(1 / MEAN_S)
        if on:
            found.append((at, until))
        at, on = until, not on
    return found


def is_on(its: Sequence[tuple[float, float]], at: float) -> bool:
    """Whether a sender of this schedule is on at a time."""
    return any(on <= at < off for on, off in its)


def _smoothed(truth: Sequence[int], rates: Sequence[float], link: float) -> list[tuple[float, float | None]]:
    """The same by the mean rate of half a second, in which round trips and queues even out."""
    width = round(SMOOTH_S / SAMPLE_S)
    found: list[tuple[float, float | None]] = []
    for start in range(0, len(rates) - width + 1, width):
        rate = statistics.fmean(rates[start : start + width])
        others = beside(link, rate) if rate else None
        found.append((statistics.fmean(truth[start : start + width]), others))
    return found


def _errors(samples: Sequence[tuple[float, float | None]]) -> dict[str, float]:
    off = sorted(abs(found - truth) for truth, found in samples if found is not None)
    return {
        "mean": statistics.fmean(off),
        "median": statistics.median(off),
        "within_one": sum(each <= 1 for each in off) / len(off),
    }


@contextmanager
def senders(running: Running, schedules: dict[int, Any], begin: float) -> Iterator[None]:
    """A process in each sender and receiver; schedules are in seconds after ``begin``."""
    with ExitStack() as stack:
        for number, its in schedules.items():
            for guest, argv in (
                (f"r{number}", ["benchmarks.transfer_ends"]),
                (f"s{number}", ["benchmarks.on_off", str(running.cloud.address(f"r{number}")), str(begin)]),
            ):
                words = [*argv, json.dumps(its)] if guest.startswith("s") else argv
                pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
                process = running.popen(guest, sys.executable, "-m", *words, **pipes)
                stack.callback(process.wait)
                stack.callback(process.kill)
        yield


async def _load(running: Running, key: bytes, duration: float, link: float) -> tuple[Load, float]:
    """What s1's bulk connection to r1 has, and when the report says that it began."""
    named = {one.name: one for one in running.instances}
    async with await Agent.connect(named["s1"], key) as agent:
        report = await agent.probe(Order(named["r1"], (CrossTraffic(duration, SAMPLE_S, link),)))
    (found,) = report.findings
    if not isinstance(found, Load):
        raise RuntimeError(f"no load was found: {found}")
    return found, report.ended - len(found.rates) * SAMPLE_S


def interference(folder: Path, seed: int, count: int) -> dict[str, Any]:
    """Pairs of connections of four instances, and of one source, at once ([CHOREO] 4.3)."""
    chance = random.Random(seed)
    cloud = ec2(seed)
    ways = [
        Pair(one.name, other.name)
        for one, other in permutations(cloud.guests, 2)
        if not cloud.neighbours(Pair(one.name, other.name))
    ]
    apart: list[tuple[Pair, Pair]] = []
    same: list[tuple[Pair, Pair]] = []
    while len(apart) < count or len(same) < count:
        one, other = chance.sample(ways, 2)
        if len({*one, *other}) == 4 and len(apart) < count:
            apart.append((one, other))
        elif one.source == other.source and len(same) < count:
            same.append((one, other))
    with built(cloud, folder) as running, agents(running, folder / "key"):
        found = asyncio.run(_interfering(running, read_key(folder / "key"), [*apart, *same]))
    return {
        "emulation": running.emulation,
        "pairs": count,
        "four_instances": sum(found[:count]),
        "one_source": sum(found[count:]),
    }


async def _interfering(running: Running, key: bytes, trials: Sequence[tuple[Pair, Pair]]) -> list[bool]:
    named: dict[str, Instance] = {one.name: one for one in running.instances}
    connected = {name: await Agent.connect(one, key) for name, one in named.items()}

    async def rate(pair: Pair) -> float:
        order = Order(named[pair.destination], (Throughput(4, 0.25),))
        (found,) = (await connected[pair.source].probe(order)).findings
        if not isinstance(found, Carried):
            raise RuntimeError(f"{pair}: {found}")
        return statistics.median(found.rates[1:])

    alone = {pair: await rate(pair) for pair in dict.fromkeys(pair for trial in trials for pair in trial)}
    found = []
    for one, other in trials:
        together = await asyncio.gather(rate(one), rate(other))
        found.append(any(now < (1 - DROP) * alone[p] for now, p in zip(together, (one, other), strict=True)))
    await asyncio.gather(*(agent.close() for agent in connected.values()))
    return found


if __name__ == "__main__":
    main()

"""What :mod:`benchmarks.rounds` runs in namespaces of its own: rounds of probes in an emulated cloud."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from benchmarks.zones import Zones
from measurement.health.model import Pair
from measurement.health.orders import Probing
from measurement.health.pair_scores import Part, Score, scores
from measurement.health.record import RoundRecord
from measurement.health.round_runner import Running as How
from measurement.health.round_runner import run
from measurement.health.round_schedule import Plan, plan
from measurement.health.train_verification import verified_pairs
from measurement.instances import Instance
from measurement.probes.agent_client import AgentClient
from measurement.probes.probe_types import TrainShape
from measurement.probes.secure_channel import read_key
from mininet_topos.measurement_points import instances_of, start_agents
from mininet_topos.testbed import build_testbed
from mininet_topos.topologies.cloud_topo import CloudTopo

TICKS = os.sysconf("SC_CLK_TCK")
SILENT = 2.0
"""Seconds after which the quick round takes a probe for unanswered."""


def main() -> None:
    """Build, measure, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--verified", type=int, default=40)
    parser.add_argument("--compared", type=int, default=0, help="pairs of the slow rounds; 0 for all")
    parser.add_argument("--slow-rounds", type=int, default=2)
    parser.add_argument("--intervals", type=int, default=10)
    parser.add_argument("--interval", type=float, default=0.1)
    parser.add_argument(
        "--verifying", type=float, default=0.3, help="s: ten of these are a verifying transfer"
    )
    parser.add_argument("--count", type=int, default=2, help="requests of each kind and size, quick round")
    parser.add_argument("--burst", type=int, default=64, help="packets of a train")
    parser.add_argument("--at-once", type=int, default=10, help="orders under way, of all instances together")
    parser.add_argument("--apart", action="store_true", help="quick round: each direction in its own order")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with tempfile.TemporaryDirectory(prefix="adon-rounds-") as folder:
        print(json.dumps(measured(Path(folder), arguments)))


def measured(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """One quick round over all pairs, and slow ones over all or a sample of them."""
    cloud = Zones(asked.seed, asked.instances)
    chance = random.Random(asked.seed)
    pairs = [Pair(one.name, other.name) for one, other in permutations(cloud.instances.values(), 2)]
    compared = sorted(chance.sample(pairs, min(asked.compared or len(pairs), len(pairs))))
    sample = sorted(chance.sample(compared, min(asked.verified, len(compared))))
    train = TrainShape(burst=asked.burst, bursts=1)
    light = Probing(
        count=asked.count, interval=0.0, silent=SILENT, shape=train, interval_length=asked.verifying
    )
    slow = Probing(interval=0.0, intervals=asked.intervals, interval_length=asked.interval)
    began = time.monotonic()
    with build_testbed(cloud, folder) as running:
        there = time.monotonic()
        key = folder / "key"
        with start_agents(running, cloud.instances, key) as processes:
            answering = time.monotonic()
            memory = [private_bytes(pid) for pid in processes.values()]
            timed = partial(_timed, cloud, key, processes, asked.at_once)
            quick = timed(plan(pairs, sample), light, both_ways=not asked.apart)
            exhaustive = [timed(plan(compared, exhaustive=True), slow) for _ in range(asked.slow_rounds)]
            return {
                "emulation": running.emulation,
                "instances": len(cloud.instances),
                "pairs": len(pairs),
                "compared": len(compared),
                "verifying_transfer_s": light.intervals * light.interval_length,
                "slow_transfer": {"intervals": asked.intervals, "interval": asked.interval},
                "quick_shape": _in_words(light, asked.at_once, both_ways=not asked.apart),
                "built_s": there - began,
                "agents_s": answering - there,
                "agent_bytes": sorted(memory)[len(memory) // 2],
                "quick": _told(quick, cloud),
                "slow": [_told(each, cloud) for each in exhaustive],
                "train_errors": train_errors(quick.record),
                "spearman": _agreement(compared, [quick.record, *(each.record for each in exhaustive)]),
            }


@dataclass(frozen=True, slots=True)
class Timed:
    """A round, and what it took.

    :param seconds: from the plan to the record.
    :param agents: processor seconds of all agents; :param machine: of everything on the machine.
    """

    record: RoundRecord
    seconds: float
    agents: float
    machine: float


def _timed(
    cloud: CloudTopo,
    key: Path,
    processes: Mapping[str, int],
    at_once: int,
    what: Plan,
    how: Probing,
    *,
    both_ways: bool = False,
) -> Timed:
    """Run a round.

    :param at_once: orders of all instances together: more would wait for the cores, and be late.
    :param both_ways: whether one order is about both directions.
    """
    secret = read_key(key)

    async def do() -> RoundRecord:
        asked = How(
            how,
            light_at_once=2,
            together=True,
            both_ways=both_ways,
            lights_at_once=at_once,
            trains_at_once=at_once,
            transfers_at_once=at_once,
        )
        return await run(what, instances_of(cloud), partial(_connected, secret), asked)

    agents_before = sum(map(processor_seconds, processes.values()))
    machine_before, began = machine_seconds(), time.monotonic()
    record = asyncio.run(do())
    seconds = time.monotonic() - began
    used = sum(map(processor_seconds, processes.values())) - agents_before
    return Timed(record, seconds, used, machine_seconds() - machine_before)


async def _connected(key: bytes, instance: Instance) -> AgentClient:
    return await AgentClient.connect(instance, key)


def _told(round_: Timed, cloud: CloudTopo) -> dict[str, Any]:
    record = round_.record
    errors = [
        sum(its.throughput) / len(its.throughput) / rate - 1
        for pair, its in record.found.items()
        if its.throughput and (rate := described(cloud, pair)) is not None
    ]
    return {
        "seconds": round_.seconds,
        "agents_processor_s": round_.agents,
        "machine_processor_s": round_.machine,
        "pairs": len(record.found),
        "failures": len(record.failures),
        "first_failures": [f"{one.pair} {one.kind}: {one.why}" for one in record.failures[:3]],
        "against_description": quartiles(errors),
    }


def described(cloud: CloudTopo, pair: Pair) -> float | None:
    """What TCP could carry by the description: 1448 bytes of every 1514."""
    limits = (cloud.instances[pair.source].egress, cloud.instances[pair.destination].ingress)
    known = [limit for limit in limits if limit is not None]
    return min(known) * 1448 / 1514 if known else None


def train_errors(record: RoundRecord) -> list[float]:
    """How far trains are from the transfers of the sample, relative to these."""
    return [one.off for one in verified_pairs(record)]


def _in_words(how: Probing, at_once: int, *, both_ways: bool) -> str:
    shape = how.shape
    train = f"trains of {shape.bursts} x {shape.burst} packets of {shape.packet} bytes"
    of = "both directions" if both_ways else "one direction"
    return f"{how.count} requests of each kind, {train}, {at_once} orders at a time, each of {of}"


def _agreement(pairs: Sequence[Pair], records: Sequence[RoundRecord]) -> dict[str, Any]:
    """Spearman's rank correlation of scores over the pairs that all rounds have; the first is the quick."""
    common = [pair for pair in pairs if all(pair in record.found for record in records)]
    scored = [scores({pair: record.found[pair] for pair in common}) for record in records]
    quick, *slow = scored
    if not slow:
        return {}
    found: dict[str, Any] = {"pairs": len(common)}
    for name in ("all", *Part):
        with_slow = [_spearman(common, quick, each, name) for each in slow]
        retest = [_spearman(common, slow[0], each, name) for each in slow[1:]]
        found[str(name)] = {"quick": with_slow, "retest": retest}
    return found


def _spearman(
    pairs: Sequence[Pair], one: Mapping[Pair, Score], other: Mapping[Pair, Score], part: str
) -> float:
    both = [(_of(one[pair], part), _of(other[pair], part)) for pair in pairs]
    known = [(a, b) for a, b in both if a is not None and b is not None]
    return float(spearmanr(*zip(*known, strict=True)).statistic) if len(known) > 2 else float("nan")


def _of(score: Score, part: str) -> float | None:
    return score.total if part == "all" else score.parts.get(Part(part))


def quartiles(values: Sequence[float]) -> list[float]:
    """Least, quartiles, largest; empty for none."""
    ordered = sorted(values)
    shares = (0, 0.25, 0.5, 0.75, 1) if ordered else ()
    return [ordered[round(share * (len(ordered) - 1))] for share in shares]


def processor_seconds(pid: int) -> float:
    """What a process has had of processors (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def machine_seconds() -> float:
    """What everything has, interrupts too; other work on the machine counts (proc_stat(5))."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / TICKS


def private_bytes(pid: int) -> int:
    """Memory that only this process has (proc_pid_smaps(5))."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


if __name__ == "__main__":
    main()

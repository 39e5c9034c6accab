"""What :mod:`benchmarks.crossing_snapshot` runs in a namespace of its own: trials of what a snapshot asks.

Each trial is one order as ``adon place snapshot --crossing`` gives it: one connection, and then two, from
which c and c1 are told (:func:`measurement.probes.crossing.from_two`).  Beside senders that stay on it tells
what is the method's; beside ON-OFF senders, what comes of others who came and went between the two transfers.
"""

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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.crossing_inside import CONTROL, FIGURES, is_on, schedule, senders
from measurement.instances import Instance
from measurement.probes.client import Agent
from measurement.probes.crossing import beside
from measurement.probes.findings import Load
from measurement.probes.key import read_key
from measurement.probes.orders import CrossTraffic, Order
from measurement.snapshot.taking import SAMPLE_S
from measurement.snapshot.wanted import USUAL
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import built

USUAL_S = 2 * USUAL.intervals * USUAL.interval
"""Of one transfer, as a snapshot has it if nothing else is said; there are two of them."""
LONG_S = 3 * USUAL_S
BETWEEN_S = 3.0
"""From the end of one trial to the beginning of the next, about."""
SETTLED_S = 1.5
"""In which the senders fill the link."""
STEADY = (1, 3, 5)
"""Of the trials beside senders that stay on, how many they are."""
STEP_S = 0.01

Schedules = Mapping[int, Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What was there, and what was found; c in connections, c1 as a share of the link's rate.

    :param truth: how many senders were on, on average over both transfers; :param first: over the first.
    :param others, link: c and c1; None where a second connection took nothing from the first.
    :param known: c by the first transfer alone, if c1 is known.
    """

    truth: float
    first: float
    others: float | None
    link: float | None
    known: float | None


def main() -> None:
    """Build, send, look, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("what", choices=("on_off", "steady"))
    parser.add_argument("bulk", type=float)
    parser.add_argument("--trials", type=int, default=4)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pairs, every = range(2, FIGURES["3a"][2] + 1), 2 * asked.bulk + BETWEEN_S
    if asked.what == "on_off":
        chance = random.Random(asked.seed)
        schedules = {n: schedule(chance, asked.trials * every) for n in pairs}
    else:
        times = [(trial * every, (trial + 1) * every - 0.5) for trial in range(len(STEADY))]
        schedules = {n: [one for one, on in zip(times, STEADY, strict=True) if n - 2 < on] for n in pairs}
    count = asked.trials if asked.what == "on_off" else len(STEADY)
    with tempfile.TemporaryDirectory(prefix="adon-crossing-") as folder:
        print(json.dumps(looked(Path(folder), schedules, count, asked.bulk)))


def looked(folder: Path, schedules: Schedules, count: int, bulk: float) -> dict[str, Any]:
    """Trials one after the other, and how far off they are."""
    make, link, _, _ = FIGURES["3a"]
    with built(make(), folder) as running, agents(running, folder / "key"):
        for guest in running.cloud.guests:
            running.run(guest.name, "sysctl", "-q", "-w", f"net.ipv4.tcp_congestion_control={CONTROL}")
        named = {one.name: one for one in running.instances}
        begin, key, trials = time.time() + 4.0, read_key(folder / "key"), []
        with senders(running, dict(schedules), begin):
            for number in range(count):
                at = begin + number * (2 * bulk + BETWEEN_S) + SETTLED_S
                time.sleep(max(0.0, at - time.time()))
                load, ended = asyncio.run(_asked(named, key, bulk))
                trials.append(_trial(load, ended - begin, bulk, schedules, link))
    found = {"emulation": running.emulation, "bulk_s": bulk, "trials": [asdict(one) for one in trials]}
    return found | errors(trials)


async def _asked(named: Mapping[str, Instance], key: bytes, bulk: float) -> tuple[Load, float]:
    async with await Agent.connect(named["s1"], key) as agent:
        report = await agent.probe(Order(named["r1"], (CrossTraffic(bulk, SAMPLE_S),)))
    (load,) = report.findings
    if not isinstance(load, Load):
        raise RuntimeError(f"no load was found: {load}")
    return load, report.ended


def _trial(load: Load, ended: float, bulk: float, schedules: Schedules, link: float) -> Trial:
    alone = statistics.fmean(load.rates)
    return Trial(
        on_average(schedules, ended - 2 * bulk, ended),
        on_average(schedules, ended - 2 * bulk, ended - bulk),
        load.mean,
        None if load.link is None else load.link / link,
        beside(link, alone) if alone > 0 else None,
    )


def on_average(schedules: Schedules, start: float, end: float) -> float:
    """How many senders were on between two times."""
    steps = max(1, round((end - start) / STEP_S))
    times = [start + (n + 0.5) * STEP_S for n in range(steps)]
    return statistics.fmean(sum(is_on(its, at) for its in schedules.values()) for at in times)


def errors(trials: Sequence[Trial]) -> dict[str, Any]:
    """How far off c and c1 are, and c by one transfer with c1 known; medians and means of what was found."""
    off = [abs(one.others - one.truth) for one in trials if one.others is not None]
    known = [abs(one.known - one.first) for one in trials if one.known is not None]
    links = [abs(one.link - 1) for one in trials if one.link is not None]
    return {
        "truth": statistics.fmean(one.truth for one in trials),
        "unknown": sum(one.others is None for one in trials),
        "c": _summary(off),
        "c_if_link_known": _summary(known),
        "link": _summary(links),
    }


def _summary(off: Sequence[float]) -> dict[str, float] | None:
    return {"mean": statistics.fmean(off), "median": statistics.median(off)} if off else None


if __name__ == "__main__":
    main()

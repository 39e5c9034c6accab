"""What :mod:`benchmarks.crossing` runs in namespaces of its own: cross traffic as a snapshot looks for it.

``adon place snapshot --crossing`` does not know the rate of the link: each path is asked with one connection
and then with two, and c and c1 are told of both (:func:`measurement.probes.crossing.from_two`).  Here the
same order is given, in the network of figure 3(a), beside the same senders; and beside some that stay on,
which tells what is the method's and what is because others came and went between the two transfers.
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
from measurement.probes.client import Agent
from measurement.probes.crossing import beside
from measurement.probes.findings import Load
from measurement.probes.key import read_key
from measurement.probes.orders import CrossTraffic, Order
from measurement.snapshot.taking import SAMPLE_S
from measurement.snapshot.wanted import USUAL
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import built

BULK_S = 2 * USUAL.intervals * USUAL.interval
"""Of one transfer, as a snapshot has it; there are two of them."""
EVERY_S = 2 * BULK_S + 3.0
"""From one trial to the next; the first second and a half the senders have to fill the link."""
SETTLED_S = 1.5
STEADY = (0, 1, 3, 5, 9)
"""Of the trials beside senders that stay on, how many they are."""
STEP_S = 0.01
SETTINGS = ("on_off", "steady")

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
    parser.add_argument("what", choices=SETTINGS)
    parser.add_argument("--trials", type=int, default=6)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chance, pairs = random.Random(asked.seed), range(2, FIGURES["3a"][2] + 1)
    if asked.what == "on_off":
        schedules = {n: schedule(chance, asked.trials * EVERY_S) for n in pairs}
    else:
        schedules = {n: [_trial(t) for t, on in enumerate(STEADY) if n - 2 < on] for n in pairs}
    count = asked.trials if asked.what == "on_off" else len(STEADY)
    with tempfile.TemporaryDirectory(prefix="adon-crossing-") as folder:
        print(json.dumps(looked(Path(folder), schedules, count)))


def _trial(number: int) -> tuple[float, float]:
    """From when to when those of one trial are on."""
    return number * EVERY_S, (number + 1) * EVERY_S - 1.0


def looked(folder: Path, schedules: Schedules, count: int) -> dict[str, Any]:
    """Trials one after the other, and how far off they are."""
    make, link, _, _ = FIGURES["3a"]
    with built(make(), folder) as running, agents(running, folder / "key"):
        for guest in running.cloud.guests:
            running.run(guest.name, "sysctl", "-q", "-w", f"net.ipv4.tcp_congestion_control={CONTROL}")
        named = {one.name: one for one in running.instances}
        begin = time.time() + 4.0
        with senders(running, dict(schedules), begin):
            trials = asyncio.run(_trials(named, read_key(folder / "key"), schedules, link, begin, count))
    return {"bulk_s": BULK_S, "trials": [asdict(one) for one in trials], **errors(trials)}


async def _trials(
    named: Mapping[str, Any], key: bytes, schedules: Schedules, link: float, begin: float, count: int
) -> list[Trial]:
    order = Order(named["r1"], (CrossTraffic(BULK_S, SAMPLE_S),))
    found = []
    for number in range(count):
        await asyncio.sleep(max(0.0, begin + number * EVERY_S + SETTLED_S - time.time()))
        async with await Agent.connect(named["s1"], key) as agent:
            report = await agent.probe(order)
        (load,) = report.findings
        if not isinstance(load, Load):
            raise RuntimeError(f"no load was found: {load}")
        ended = report.ended - begin
        alone = statistics.fmean(load.rates)
        found.append(
            Trial(
                on_average(schedules, ended - 2 * BULK_S, ended),
                on_average(schedules, ended - 2 * BULK_S, ended - BULK_S),
                load.mean,
                None if load.link is None else load.link / link,
                beside(link, alone) if alone > 0 else None,
            )
        )
    return found


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
        "unknown": sum(one.others is None for one in trials),
        "c": _summary(off),
        "c_if_link_known": _summary(known),
        "link": _summary(links),
    }


def _summary(off: Sequence[float]) -> dict[str, float] | None:
    return {"mean": statistics.fmean(off), "median": statistics.median(off)} if off else None


if __name__ == "__main__":
    main()

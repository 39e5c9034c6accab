"""Completion times of placed applications against three ways that know nothing of the network, as fluids.

The workload of [CHOREO] 6.1 to 6.3 on ten machines: one to three applications placed at once, and two to four
that come one after the other and overlap, on networks like the paper's three.  What becomes of them is
simulated (:mod:`adon.placement.fluid`: every connection has its max-min fair share); transfers over real
sockets are another benchmark's.  The relative speed-up is the paper's: (theirs - ours) / theirs, of the
completion time at once, of the sum of running times in sequence.

No clock decides here: the exact search has so many steps.  Its yardsticks are the baselines in the same run,
and the paper's means: 8 to 14 % at once, 22 to 43 % in sequence.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adon.placement import workloads
from adon.placement.abstaining import advice
from adon.placement.baselines import minimum_machines, random_placement, round_robin
from adon.placement.exact import exact
from adon.placement.fluid import Again, Arrival
from adon.placement.fluid import run as fluid
from adon.placement.greedy import greedy
from adon.placement.methods import BASELINES, Method
from adon.placement.model import Impossible, Placement, Problem
from adon.placement.sequences import MigrationCost, Placing
from adon.placement.workloads import Cloud
from benchmarks.summary import quantile, table

MACHINES = 10
RUNS = 40
STEPS = 250
SCALE = 1000.0
"""Heavy-tailed transfers of a gigabyte and more: applications of minutes to hours."""
PAPER = {"at once": (0.08, 0.14), "in sequence": (0.22, 0.43)}
OURS = "exact"
EVERY_S, PAUSE_S = 30.0, 5.0
"""How often placements are looked at again, and how long an application that moves stands still."""


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Per scene and network, the speed-ups of each way of ours against each baseline."""
    return {
        "runs": RUNS,
        "scenes": [
            {"scene": scene, "cloud": cloud.value, "runs": [_one(scene, cloud, seed, n) for n in range(RUNS)]}
            for scene in PAPER
            for cloud in Cloud
        ],
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the mean against each baseline, over all networks, is at or above the paper's least mean."""
    return all(
        statistics.fmean(_gains(results["scenes"], scene, OURS, base.value)) >= PAPER[scene][0]
        for scene in PAPER
        for base in BASELINES
    )


def _bounded(problem: Problem) -> Placement:
    left = iter(range(STEPS))
    return exact(problem, lambda: next(left, None) is None)


def _ways(seed: int) -> dict[str, Placing]:
    return {
        OURS: _bounded,
        Method.GREEDY.value: greedy,
        Method.RANDOM.value: lambda problem: random_placement(problem, seed),
        Method.ROUND_ROBIN.value: round_robin,
        Method.MINIMUM_MACHINES.value: minimum_machines,
    }


def _one(scene: str, cloud: Cloud, seed: int, number: int) -> dict[str, Any]:
    """Seconds of each way, and what was advised."""
    chance = random.Random(f"{scene}-{cloud}-{seed}-{number}")
    machines = workloads.machines(MACHINES)
    snapshot = workloads.snapshot(cloud, [machine.name for machine in machines], chance)
    at_once = scene == "at once"
    arrivals: Sequence[Arrival] = (
        [Arrival(0.0, workloads.at_once(MACHINES, chance, SCALE))]
        if at_once
        else workloads.in_sequence(MACHINES, chance, SCALE)
    )
    seconds = {}
    for name, place in _ways(number).items():
        seconds[name] = _sum(lambda place=place: fluid(snapshot, machines, arrivals, place))  # type: ignore[misc]
    told: dict[str, Any] = {"seconds": seconds}
    if at_once:
        problem = Problem(arrivals[0].application, machines, snapshot)
        others = [placed for base in BASELINES if (placed := _placed(_ways(number)[base.value], problem))]
        told["pays"] = advice(problem.application, _bounded(problem), others).pays
    else:
        again = Again(EVERY_S, MigrationCost(PAUSE_S))
        seconds["exact, moved"] = _sum(lambda: fluid(snapshot, machines, arrivals, _bounded, again))
    return told


def _placed(place: Placing, problem: Problem) -> Placement | None:
    try:
        return place(problem)
    except Impossible:
        return None


def _sum(ran: Callable[[], Sequence[Any]]) -> float | None:
    """The sum of running times; None if something was not placed."""
    try:
        return float(sum(one.seconds for one in ran()))
    except Impossible:
        return None


def _gains(
    scenes: Sequence[Mapping[str, Any]],
    scene: str,
    way: str,
    base: str,
    cloud: str = "",
    advised: bool = False,
) -> list[float]:
    found = []
    for one in scenes:
        if one["scene"] != scene or cloud not in ("", one["cloud"]):
            continue
        for each in one["runs"]:
            ours, theirs = each["seconds"].get(way), each["seconds"][base]
            if advised and not each.get("pays", True):
                ours = theirs  # not measured, not placed by it
            if ours is not None and theirs:
                found.append((theirs - ours) / theirs)
    return found


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    rows = [
        [
            "scene",
            "network",
            "ours",
            "against",
            "runs",
            "mean",
            "median",
            "IQR",
            "faster",
            "best",
            "median loss",
        ]
    ]
    scenes = results["scenes"]
    for scene in PAPER:
        ways = [
            OURS,
            Method.GREEDY.value,
            *(["exact, moved"] if scene != "at once" else ["exact, as advised"]),
        ]
        for cloud in ("", *Cloud):
            for way in ways if not cloud else [OURS]:
                for base in BASELINES:
                    advised = way == "exact, as advised"
                    gains = _gains(scenes, scene, OURS if advised else way, base.value, str(cloud), advised)
                    rows.append([scene, str(cloud) or "all", way, base.value, *_told(gains)])
    bounds = ", ".join(f"{scene} {least:.0%} to {most:.0%}" for scene, (least, most) in PAPER.items())
    return f"{table(rows)}\n\nThe paper's means: {bounds}; simulated, {results['runs']} runs each."


def _told(gains: Sequence[float]) -> list[str]:
    ordered = sorted(gains)
    losses = [gain for gain in ordered if gain < -1e-9]
    spread = quantile(ordered, 0.75) - quantile(ordered, 0.25)
    return [
        str(len(ordered)),
        f"{statistics.fmean(ordered):.1%}",
        f"{statistics.median(ordered):.1%}",
        f"{spread:.1%}",
        f"{sum(gain > 1e-9 for gain in ordered) / len(ordered):.0%}",
        f"{ordered[-1]:.0%}",
        f"{statistics.median(losses):.1%} of {len(losses)}" if losses else "-",
    ]

"""Placing tasks: proofs, bounds and what a second is worth, beside CP-SAT and the program as printed.

Instances are drawn by a seed: tasks of 0.5 to 4 cores on machines of 4, paths of 100 Mbit/s to 1 Gbit/s;
*heavy-tailed* transfers between 30 % of the pairs (Pareto, shape 1.1), or *uniform* ones between all (1 to
100 MB).  Greedy is Algorithm 1 of [CHOREO]; CP-SAT (OR-Tools) solves a direct model, with both cores, from
the same greedy placement; the printed linear program of the paper's appendix is solved by HiGHS (as scipy
brings it) in a process of its own, which is ended after a minute.

Bounds: heavy-tailed 20 x 20 and uniform 10 x 10 proven in under a second in the median; after a second at
most half of greedy's completion time in the median on uniform instances, and never more than greedy's.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from adon.placement import workloads
from adon.placement.exact import exact
from adon.placement.greedy import greedy
from adon.placement.model import Impossible, Placement, Problem
from adon.placement.workloads import CORES, Cloud, Transfers
from benchmarks.placement_cpsat import cpsat
from benchmarks.summary import quantile, table

SEEDS = 20
YARDSTICK_SEEDS = 5
PRINTED_S = 60.0
PROOF_S = 1.0
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Size:
    """What is tried; ``limit`` is in seconds."""

    transfers: Transfers
    tasks: int
    machines: int
    limit: float


PROVEN = (
    Size(Transfers.HEAVY_TAILED, 20, 20, 10.0),
    Size(Transfers.UNIFORM, 10, 10, 10.0),
    Size(Transfers.UNIFORM, 15, 10, 10.0),
)
SECOND = (Size(Transfers.UNIFORM, 15, 10, 1.0), Size(Transfers.UNIFORM, 20, 20, 1.0))


def drawn(size: Size, seed: int) -> Problem:
    """One instance; its tasks fit."""
    chance = random.Random(f"{size.transfers}-{size.tasks}-{size.machines}-{seed}")
    machines = workloads.machines(size.machines)
    (application,) = workloads.fitting(
        lambda: [workloads.application("app", size.tasks, size.transfers, chance)],
        CORES * size.machines,
        size.machines,
    )
    snapshot = workloads.snapshot(Cloud.VARIED, [machine.name for machine in machines], chance)
    return Problem(application, machines, snapshot)


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """All of it; times in seconds."""
    return {
        "versions": {name: version(name) for name in ("numpy", "ortools", "scipy")},
        "printed": _printed(seed),
        "sizes": [_tried(size, seed, YARDSTICK_SEEDS) for size in PROVEN],
        "second": [_tried(size, seed, 0) for size in SECOND],
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bounds hold."""
    quick = [_median(one, "seconds") < PROOF_S and _proven(one) > SEEDS // 2 for one in results["sizes"][:2]]
    half = [_ratio(one) <= HALF for one in results["second"]]
    every = [one for size in (*results["sizes"], *results["second"]) for one in size["instances"]]
    return all(quick) and all(half) and all((one["of_greedy"] or 0.0) <= 1 + 1e-9 for one in every)


def _tried(size: Size, seed: int, yardsticks: int) -> dict[str, Any]:
    instances = [
        _one(drawn(size, seed * 1000 + number), size, number < yardsticks) for number in range(SEEDS)
    ]
    return {
        "transfers": size.transfers.value,
        "tasks": size.tasks,
        "machines": size.machines,
        "limit": size.limit,
        "instances": instances,
    }


def _one(problem: Problem, size: Size, yardstick: bool) -> dict[str, Any]:
    first = _greedy(problem)
    began = time.monotonic()
    found = exact(problem, lambda: time.monotonic() - began >= size.limit)
    told: dict[str, Any] = {
        "seconds": time.monotonic() - began,
        "proven": found.proven,
        "completion": found.seconds,
        "bound": found.bound,
        "of_greedy": None if first is None else found.seconds / first.seconds,
    }
    if yardstick:
        began = time.monotonic()
        told["cpsat"] = {**cpsat(problem, first, size.limit), "seconds": time.monotonic() - began}
    return told


def _greedy(problem: Problem) -> Placement | None:
    try:
        return greedy(problem)
    except Impossible:
        return None


def _printed(seed: int) -> list[dict[str, Any]]:
    """The printed program at 8 tasks x 8 machines, both kinds at a time: one per core; and ours alone."""
    sizes = [Size(transfers, 8, 8, PRINTED_S) for transfers in Transfers]
    began = time.monotonic()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.placement_printed", size.transfers.value, str(seed)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for size in sizes
    ]
    told: list[dict[str, Any]] = []
    for size, process in zip(sizes, running, strict=True):
        try:
            out, _ = process.communicate(timeout=max(0.1, PRINTED_S - (time.monotonic() - began)))
            took: float | None = time.monotonic() - began
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            out, took = "", None
        told.append(
            {"transfers": size.transfers.value, "seconds": took, "objective": float(out) if out else None}
        )
    for one, size in zip(told, sizes, strict=True):
        ours = _one(drawn(size, seed), size, yardstick=False)
        one["ours"] = {name: ours[name] for name in ("seconds", "proven", "completion")}
    return told


def _median(size: Mapping[str, Any], what: str) -> float:
    return float(statistics.median(one[what] for one in size["instances"]))


def _proven(size: Mapping[str, Any]) -> int:
    return sum(one["proven"] for one in size["instances"])


def _ratio(size: Mapping[str, Any]) -> float:
    ratios = [one["of_greedy"] for one in size["instances"] if one["of_greedy"] is not None]
    return float(statistics.median(ratios))


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    rows = [
        ["transfers", "tasks x machines", "limit", "proven", "median", "IQR", "largest", "of greedy's time"]
    ]
    rows[0] += ["gap where not proven", "CP-SAT: proven, median", "CP-SAT / ours"]
    for size in (*results["sizes"], *results["second"]):
        rows.append(_row(size))
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return "\n".join([table(rows), "", *_printed_lines(results["printed"]), "", versions])


def _row(size: Mapping[str, Any]) -> list[str]:
    instances: Sequence[Mapping[str, Any]] = size["instances"]
    times = sorted(one["seconds"] for one in instances)
    ratios = sorted(one["of_greedy"] for one in instances if one["of_greedy"] is not None)
    gaps = [one["completion"] / one["bound"] for one in instances if not one["proven"] and one["bound"]]
    known = [one for one in instances if "cpsat" in one]
    proven = sum(one["cpsat"]["proven"] for one in known)
    slower = [one["cpsat"]["seconds"] / one["seconds"] for one in known]
    took = statistics.median(one["cpsat"]["seconds"] for one in known) if known else 0.0
    return [
        size["transfers"],
        f"{size['tasks']} x {size['machines']}",
        f"{size['limit']:g} s",
        f"{_proven(size)} of {len(instances)}",
        f"{statistics.median(times):.3f} s",
        f"{quantile(times, 0.75) - quantile(times, 0.25):.3f} s",
        f"{times[-1]:.2f} s",
        f"{_ratio(size):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, {len(ratios)} placed by greedy)",
        f"{statistics.median(gaps):.2f} (largest {max(gaps):.2f})" if gaps else "-",
        f"{proven} of {len(known)}, {took:.2f} s" if known else "-",
        f"{statistics.median(slower):.1f}" if known else "-",
    ]


def _printed_lines(printed: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for one in printed:
        took = f"not done in {PRINTED_S:g} s" if one["seconds"] is None else f"{one['seconds']:.1f} s"
        ours = one["ours"]
        said = "proven" if ours["proven"] else "not proven"
        lines.append(
            f"The printed program, {one['transfers']} 8 x 8: {took}; ours: {ours['seconds']:.3f} s, {said}."
        )
    return lines

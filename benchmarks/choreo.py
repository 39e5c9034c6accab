"""Applications with real transfers, placed by choreo and by what the paper compares with ([CHOREO] 6).

A cloud is emulated (ten instances, hoses as the paper measured them, a tenth of the rates), a snapshot of it
is *measured* by probe agents, seeded applications are placed on that snapshot, and their bytes are sent by
TCP.  The relative speed-up is the paper's: (other - choreo) / other, of completion times (all at once) or of
the sum of running times (in sequence).  Each workload is run with every way of placing in the same run, in
random order.

``python -m benchmarks choreo`` is the short form; ``python -m benchmarks.choreo --seeds 1 2 3 --workloads 9``
is as long as one likes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import quantile, table

OTHERS = ("random", "round-robin", "minimum machines")
PAPER = {"at_once": "mean 8 to 14 %, median 7 to 15 %", "in_sequence": "mean 22 to 43 %, median 19 to 51 %"}
LEAST = {"at_once": 0.08, "in_sequence": 0.22}
"""The lower end of the paper's means, over its three baselines."""
TITLES = {"at_once": "all at once", "in_sequence": "in sequence"}


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """One cloud, few workloads."""
    return measured([seed])


def measured(
    seeds: Sequence[int], kind: str = "ec2", workloads: int = 3, scale: float = 2.0
) -> dict[str, Any]:
    """A cloud per seed."""
    options = ("--kind", kind, "--workloads", str(workloads), "--scale", str(scale))
    clouds = [json.loads(isolated("benchmarks.choreo_inside", str(seed), *options)) for seed in seeds]
    return {"seeds": list(seeds), "kind": kind, "scale": scale, "clouds": clouds}


def speed_ups(results: Mapping[str, Any], when: str, other: str) -> list[float]:
    """One per workload, sorted."""
    trials = [trial for cloud in results["clouds"] for trial in cloud[when]]
    return sorted(1 - trial["choreo"] / trial[other] for trial in trials if trial[other] > 0)


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the means are at or above the lower end of the paper's, against each other way."""
    return all(
        statistics.fmean(speed_ups(results, when, other)) >= least
        for when, least in LEAST.items()
        for other in OTHERS
    )


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [
        ["", "beside", "workloads", "mean", "median", "quartiles", "least", "most", "faster", "if slower"]
    ]
    for when, title in TITLES.items():
        for other in OTHERS:
            found = speed_ups(results, when, other)
            lost = [-each for each in found if each < 0]
            spread = f"{quantile(found, 0.25):.0%} to {quantile(found, 0.75):.0%}"
            ends = [f"{found[0]:.0%}", f"{found[-1]:.0%}"]
            figures = [f"{statistics.fmean(found):.0%}", f"{statistics.median(found):.0%}", spread, *ends]
            faster = f"{sum(each > 0 for each in found) / len(found):.0%}"
            slower = f"{statistics.median(lost):.0%}" if lost else "-"
            told.append([title, other, str(len(found)), *figures, faster, slower])
    notes = [f"the paper: {TITLES[when]} {figures}" for when, figures in PAPER.items()]
    for seed, cloud in zip(results["seeds"], results["clouds"], strict=True):
        its = cloud["snapshot"]
        error = "-" if its["hose_error"] is None else f"{its['hose_error']:.1%}"
        notes.append(
            f"seed {seed}: {cloud['instances']} instances ({results['kind']}), snapshot in "
            f"{cloud['snapshot_s']:.0f} s: {its['rates']} rates, {its['hoses']} hoses (mean error {error}), "
            f"{its['bottlenecks']} shared links, {its['failed']} of {its['trials']} trials failed; "
            f"{cloud['emulation']}"
        )
    return "\n".join([table(told), "", *notes])


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choreo", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--kind", choices=("ec2", "rackspace"), default="ec2")
    parser.add_argument("--workloads", type=int, default=3)
    parser.add_argument("--scale", type=float, default=2.0)
    asked = parser.parse_args()
    results = measured(asked.seeds, asked.kind, asked.workloads, asked.scale)
    print(report(results))
    return 0 if passed(results) else 1


if __name__ == "__main__":
    sys.exit(main())

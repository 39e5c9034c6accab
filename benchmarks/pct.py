"""A pCT-like job's data distribution, to the healthiest, random and unhealthiest 8 of 15 ([HEALTH] 7).

Fifteen instances in two zones and a file server are emulated; health towards the server is scored from real
probes of its pairs alone (the application profile of section 8), and the same bytes are sent to each of eight
instances at once.  The paper: with the healthiest, data distribution takes "on average less than half as
long" as with the unhealthiest (figure 11).

``python -m benchmarks pct`` is the short form; ``python -m benchmarks.pct --seeds 1 2 3`` is longer.
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
from benchmarks.summary import table

SETS = ("healthiest", "random", "unhealthiest")
BOUND = 0.5


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Two clouds."""
    return measured([seed, seed + 1])


def measured(seeds: Sequence[int]) -> dict[str, Any]:
    """A cloud per seed."""
    return {
        "seeds": list(seeds),
        "clouds": [json.loads(isolated("benchmarks.pct_inside", str(s))) for s in seeds],
    }


def ratios(results: Mapping[str, Any]) -> list[float]:
    """The healthiest's median time as a part of the unhealthiest's, per cloud."""
    return [
        statistics.median(each["seconds"]["healthiest"]) / statistics.median(each["seconds"]["unhealthiest"])
        for each in results["clouds"]
    ]


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the healthiest take less than half as long, on average as in the paper."""
    return statistics.fmean(ratios(results)) < BOUND


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [
        ["seed", "server in", "instances", "in zones", "median s", "least s", "most s", "of unhealthiest"]
    ]
    for seed, cloud in zip(results["seeds"], results["clouds"], strict=True):
        worst = statistics.median(cloud["seconds"]["unhealthiest"])
        for name in SETS:
            times = cloud["seconds"][name]
            figures = [f"{value:.2f}" for value in (statistics.median(times), min(times), max(times))]
            part = f"{statistics.median(times) / worst:.0%}"
            told.append([str(seed), cloud["server_zone"], name, cloud["zones"][name], *figures, part])
    one = results["clouds"][0]
    notes = (
        f"{one['bytes'] / 1e6:.0f} MB to each of 8 of {one['instances']} instances at once; scores by real "
        f"probes, in {one['probing_s']:.0f} s; {one['emulation']}; the paper: less than half; here "
        f"{statistics.fmean(ratios(results)):.0%} (mean)"
    )
    return f"{table(told)}\n\n{notes}"


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pct", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    results = measured(parser.parse_args().seeds)
    print(report(results))
    return 0 if passed(results) else 1


if __name__ == "__main__":
    sys.exit(main())

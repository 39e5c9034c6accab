"""Bursts fitted from a ten-second profile, and what transfers really take ([HEALTH] 4.1, figure 4).

Instances behind token buckets, a tenth of the paper's rates: 20 Mbit/s for four seconds, then 8, and 100 for
one second, then 20.  The yardsticks are the two estimates without a fit: by the burst rate, as a train of
less than a second sees it, and by the sustained rate.  And an iperf3 test of ten seconds, read as ADON reads
it: by the token bucket that its intervals show, where they clearly do, and by its mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import table


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both kinds of instance; there is nothing to draw."""
    found: dict[str, Any] = json.loads(isolated("benchmarks.bursts_inside"))
    return found


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [["path", "what", "described", "fitted"]]
    times = [
        ["path", "MB", "took s", "expected", "by the burst", "by the sustained", "by a test", "by its mean"]
    ]
    for each in results["paths"]:
        path = " > ".join(each["path"])
        names = ("burst Mbit/s", "sustained Mbit/s", "bucket Mbit")
        for name, described, fitted in zip(names, each["described"], each["fitted"], strict=True):
            told.append([path, name, f"{described / 1e6:.1f}", f"{fitted / 1e6:.1f}"])
        for number, size in enumerate(each["sizes"]):
            took = each["took_s"][number]
            estimates = [each[key][number] for key in ("expected_s", "burst_s", "sustained_s")]
            estimates += [each["tested_s"] and each["tested_s"][number], 8 * size / each["test"]]
            errors = ["-" if one is None else f"{one:.2f} ({one / took - 1:+.0%})" for one in estimates]
            times.append([path, f"{size / 1e6:.0f}", f"{took:.2f}", *errors])
    return f"{table(told)}\n\n{table(times)}\n\n{results['emulation']}"

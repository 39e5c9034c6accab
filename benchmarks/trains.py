"""Packet trains beside iperf3, on paths limited to 50 Mbit/s ... 1 Gbit/s ([CHOREO] 3.1 and 4.1).

An emulated cloud of one sender and a path of each rate (HTB; docs/cloud-testbed.md); real probe agents.  The
shape of the trains is chosen by ``calibrate`` on the same paths.  Then trains of that shape, and of the
paper's (10 bursts of 200 packets), come in random turns, with iperf3 for three seconds (the paper: netperf,
for ten) before and after: the yardstick of the same run.  An error is |train - iperf3| / iperf3, of each
train by itself; the paper's mean was 9 % on EC2 and 4 % on Rackspace.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import table

BOUND = 0.09
"""Mean error, over all paths."""
LONGEST = 1.0
"""Seconds of a train."""
PAPER = {"EC2": 0.09, "Rackspace": 0.04}
_SHAPES = {"chosen": "chosen by calibrate", "paper": "10 x 200, the paper's"}


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Rates in bits/s, times in seconds."""
    found: dict[str, Any] = json.loads(isolated("benchmarks.trains_inside", str(seed)))
    return {"seed": seed, "versions": {"numpy": version("numpy")}, **found}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the mean error and every train's time are within the bounds."""
    return mean_error(results, "chosen") <= BOUND and longest(results, "chosen") < LONGEST


def errors(path: Mapping[str, Any], name: str) -> list[float]:
    """Of each train: how far from what iperf3 found before and after, relative to it.

    A train that says nothing is wrong by all of it.
    """
    truth = statistics.fmean(path["iperf3"])
    return [-1.0 if rate is None else rate / truth - 1 for rate, _ in path[name]]


def mean_error(results: Mapping[str, Any], name: str) -> float:
    """The mean of all trains' absolute errors."""
    return statistics.fmean(abs(error) for path in results["paths"] for error in errors(path, name))


def longest(results: Mapping[str, Any], name: str) -> float:
    """Seconds of the longest train."""
    return max(took for path in results["paths"] for _, took in path[name])


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    rows = [
        ["Mbit/s on the wire", "iperf3 before, after", "trains", "median error", "mean |error|", "seconds"]
    ]
    for path in results["paths"]:
        for name, words in _SHAPES.items():
            rows.append([f"{path['wire'] / 1e6:.0f}", _megabits(path["iperf3"]), words, *_told(path, name)])
    shape = results["shape"]
    means = "; ".join(f"{words}: {mean_error(results, name):.1%}" for name, words in _SHAPES.items())
    paper = ", ".join(f"{error:.0%} on {where}" for where, error in PAPER.items())
    note = (
        f"calibrate chose {shape['bursts']} bursts of {shape['burst']} packets of {shape['packet']} bytes "
        f"({'within' if results['within'] else 'NOT within'} its bound on {len(results['trials'])} shapes).\n"
        f"Mean errors over all trains: {means}; the paper: {paper}; promised: {BOUND:.0%}.\n"
        f"Longest train {longest(results, 'chosen'):.2f} s; promised: under {LONGEST:g} s.\n"
        f"Seed {results['seed']}; {results['emulation']}."
    )
    return f"{table(rows)}\n\n{note}"


def _told(path: Mapping[str, Any], name: str) -> list[str]:
    its = errors(path, name)
    took = statistics.median(seconds for _, seconds in path[name])
    return [f"{statistics.median(its):+.1%}", f"{statistics.fmean(map(abs, its)):.1%}", f"{took:.2f}"]


def _megabits(rates: Sequence[float]) -> str:
    return ", ".join(f"{rate / 1e6:.1f}" for rate in rates)

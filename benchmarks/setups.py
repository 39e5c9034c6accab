"""Set-ups of unannounced connections: ours beside Open vSwitch's own controller in C, and os-ken's.

Each frame begins a UDP connection that the switch has no rule for.  All controllers add a rule for just this
connection and send the frame on; ours asks its entry, slice and budgets, and logs what it sent.  *Ours* is
the whole process, once alone and once as ``adon serve`` while 200 clients read ``/api/v1/paths``, each once
a second.  Measured in namespaces of their own (:mod:`benchmarks.setups_inside`); each round takes the
controllers in an order of chance.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.pollers import EVERY_S
from benchmarks.setups_inside import OURS, POLLED, POLLERS, WINDOW
from benchmarks.summary import table

ROUNDS = 5
YARDSTICK = "ovs-testcontroller"
AT_LEAST = 0.9
"""What ours must reach of the yardstick's rate, and with pollers of ours without."""


def run(folder: Path, seed: int) -> dict[str, Any]:
    """All rounds; set-ups per second, microseconds to the first packet, processor time per set-up."""
    told = isolated("benchmarks.setups_inside", str(folder), str(ROUNDS), str(seed))
    version = subprocess.run(["ovs-testcontroller", "--version"], capture_output=True, text=True, check=True)
    return {**json.loads(told), "seed": seed, "versions": {YARDSTICK: version.stdout.splitlines()[0]}}


def rate(results: Mapping[str, Any], way: str) -> float:
    """The median of the rounds' set-ups per second."""
    return float(statistics.median(each["per_second"] for each in results["ways"][way]))


def first(results: Mapping[str, Any], way: str) -> float:
    """The median of the rounds' medians, in microseconds."""
    return float(statistics.median(statistics.median(each["first_us"]) for each in results["ways"][way]))


def passed(results: Mapping[str, Any]) -> bool:
    """Whether ours is as fast as it must be, first packets no later, and nothing was lost."""
    ours = rate(results, OURS)
    lost = sum(each["lost"] for way in (OURS, POLLED) for each in results["ways"][way])
    asked = polls(results) >= AT_LEAST * POLLERS / EVERY_S
    early = first(results, OURS) <= first(results, YARDSTICK)
    fast = ours >= AT_LEAST * rate(results, YARDSTICK) and rate(results, POLLED) >= AT_LEAST * ours
    return fast and early and asked and not lost


def polls(results: Mapping[str, Any]) -> float:
    """Answers per second that the pollers got, over all rounds."""
    told = results["pollers"]
    return float(sum(each["answers"] for each in told) / sum(each["seconds"] for each in told))


def report(results: Mapping[str, Any]) -> str:
    """The table, and the ratios that were asked for."""
    head = ["", "set-ups/s (rounds)", "lost", "rules left", "first packet ms (rounds)"]
    head += ["CPU µs per set-up: controller", "Open vSwitch", "generator"]
    rows = [head, *(_row(results, way) for way in results["ways"])]
    speed = rate(results, OURS) / rate(results, YARDSTICK)
    delay = first(results, OURS) / first(results, YARDSTICK)
    busy = rate(results, POLLED) / rate(results, OURS)
    lines = [
        f"{WINDOW} at once; rounds: {ROUNDS}; seed: {results['seed']}; {results['versions'][YARDSTICK]}",
        "",
        table(rows),
        "",
        f"ours / {YARDSTICK}: rate {speed:.2f} (at least {AT_LEAST}), first packet {delay:.2f} (at most 1)",
        f"with pollers / without: rate {busy:.2f} (at least {AT_LEAST})",
        f"pollers: {polls(results):.0f} answers/s, {sum(e['failures'] for e in results['pollers'])} failures",
    ]
    return "\n".join(lines)


def _row(results: Mapping[str, Any], way: str) -> list[str]:
    rounds = results["ways"][way]
    rates = " ".join(f"{each['per_second']:.0f}" for each in rounds)
    firsts = " ".join(f"{statistics.median(each['first_us']) / 1000:.2f}" for each in rounds)
    spent = [
        f"{statistics.median(each['cpu_us'][who] for each in rounds):.0f}"
        for who in ("controller", "open vswitch", "generator")
    ]
    return [
        way,
        f"{rate(results, way):.0f} ({rates})",
        str(sum(each["lost"] for each in rounds)),
        f"{sum(each['rules'] for each in rounds)} of {sum(each['done'] for each in rounds)}",
        f"{first(results, way) / 1000:.2f} ({firsts})",
        *spent,
    ]

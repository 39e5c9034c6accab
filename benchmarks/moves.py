"""Moves of live flows between real paths: what is lost, and how long until packets take the new path.

The whole controller process moves a flow between a layer-3 path and two layer-2 paths of
:mod:`benchmarks.lab`, because measurements say so, while packets flow.  The clock (CLOCK_REALTIME) starts
when the broker has returned the desired rules and stops when the kernel has stamped the first packet that
leaves the near edge on the new path: the commit (R3), packing and sending are in it.

- *standby*: the new path's delivery rules are installed (R16); *fresh*: they are not, and are removed again.
- *still*: as long a stretch without a move: what the machine itself loses.
- yardsticks by hand, of a flow of their own, over the same connections with os-ken's objects: *shift* changes
  one ingress rule where delivery stands by; *replace* deletes the old path's rules, waits for the barriers,
  then adds those of the new one.
- *drain*: fresh, with other pauses between the shift and the removal of the old path's rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import Summary, table

ROUNDS = 5
TOTAL = "desired to packet"
BOUNDS_MS = {"standby": {"median": 3.0, "p90": 5.0}, "fresh": {"median": 10.0}}
LOSSLESS = ("standby", "fresh")
LOSSY, CONTROL = "replace", "still"
SUMS = ("sent", "lost", "duplicated", "reordered")


def run(folder: Path, seed: int) -> dict[str, Any]:
    """All rounds, summed up."""
    return summed(json.loads(isolated("benchmarks.moves_inside", str(folder), str(seed), str(ROUNDS))))


def summed(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the rounds come to."""
    return {name: _summed(rounds) for name, rounds in found.items()}


def _summed(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    parts = list(dict.fromkeys(name for each in rounds for move in each["moves"] for name in move))
    return {
        **{name: sum(each[name] for each in rounds) for name in SUMS},
        "largest_gap_ms": max(each["largest_gap_ms"] for each in rounds),
        "moves": sum(len(each["moves"]) for each in rounds),
        "load": [each["load"] for each in rounds],
        "times": {
            name: asdict(Summary.of([[move[name] for move in each["moves"]] for each in rounds]))
            for name in parts
        },
    }


def report(results: Mapping[str, Any]) -> str:
    """The tables for people, and which bounds hold."""
    missed = misses(results)
    verdict = "all bounds hold" if not missed else "MISSED: " + "; ".join(missed)
    return "\n\n".join([_losses(results), _times(results), verdict])


def _losses(results: Mapping[str, Any]) -> str:
    rows = [["packets (kind, per second)", "moves", *SUMS, "longest silence ms", "load"]]
    for name, numbers in results.items():
        load = " ".join(f"{value:.1f}" for value in numbers["load"])
        figures = [str(numbers[key]) for key in ("moves", *SUMS)]
        rows.append([name, *figures, f"{numbers['largest_gap_ms']:.1f}", load])
    return table(rows)


def _times(results: Mapping[str, Any]) -> str:
    rows = [["ms", "median", "p90", "p99", "max", "medians of rounds", "x shift"]]
    for name, numbers in results.items():
        yardstick = results[f"shift {name.rsplit(' ', 1)[1]}"]["times"][TOTAL]["median"]
        for part, time in numbers["times"].items():
            if part != TOTAL and name.startswith("drain"):
                continue
            figures = [f"{time[key]:.2f}" for key in ("median", "p90", "p99", "largest")]
            medians = " ".join(f"{median:.2f}" for median in time["rounds"])
            ratio = f"{time['median'] / yardstick:.1f}" if part == TOTAL else ""
            rows.append([f"{name}: {part}", *figures, medians, ratio])
    return table(rows)


def passed(results: Mapping[str, Any]) -> bool:
    """Whether every bound holds."""
    return not misses(results)


def misses(results: Mapping[str, Any]) -> list[str]:
    """The bounds that do not hold, in words."""
    found = []
    for name, numbers in results.items():
        kind = name.split()[0]
        if kind in LOSSLESS and (numbers["lost"] or numbers["duplicated"]):
            found.append(f"{name}: {numbers['lost']} lost, {numbers['duplicated']} duplicated")
        if kind == CONTROL and numbers["lost"]:
            found.append(f"{name}: {numbers['lost']} lost without a move: the machine is too busy")
        if kind == LOSSY and not numbers["lost"]:
            found.append(f"{name}: lost nothing, so this run shows nothing")
        for what, bound in BOUNDS_MS.get(kind, {}).items():
            value = numbers["times"][TOTAL][what]
            if value >= bound:
                found.append(f"{name}: {what} {value:.2f} ms, not below {bound:g}")
    return found

"""What ADON tells about transfers at their admission, beside what came of them, on the testbed.

A real controller, collector and measurement points decide about real transfers (TCP, Open vSwitch) of the
requests of :mod:`benchmarks.foretold_requests`; about half of them have to wait in the queue first.  Compared
per flow:

- *told*: the forecast of the decision that admitted it, as its user sees it, in seconds from then on;
- *as decided*: its size over the throughput that this decision expected;
- *took*: from its admission until its receiver had the last byte; and the transfer alone, from its first
  stream's connection on (what lies between is the start of the sender).

Flows that began at once and those that had waited are told apart; *undisturbed* are those on whose path
nobody began while they ran, and that were not moved.  An interval is right if it holds the truth; it claims
to in nine of ten cases.

Needs root, and a machine that does nothing else; each round takes eight minutes.  Bound: a median absolute
error of what is told below 15 %, of those that began at once and of those that had waited.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.foretold_requests import requests, two_campuses
from benchmarks.foretold_run import played
from benchmarks.summary import table

ROUNDS = 2
BOUND = 0.15
WAITED_S = 1.0
"""Who is admitted sooner than this has not waited: it is decided by the event that brought it."""

Row = Mapping[str, Any]
WAYS = {"as decided": "decided", "told": "told", "told, of the transfer alone": "alone"}


def run(folder: Path, seed: int) -> dict[str, Any]:
    """Some rounds, each with requests and a controller of its own."""
    network, rounds = two_campuses(), []
    for number in range(ROUNDS):
        seeded, load = seed + number, os.getloadavg()
        found = played(network, requests(network, seeded), folder / f"round-{number + 1}")
        rounds.append({"seed": seeded, "load": load, **found})
    return {
        "rounds": rounds,
        "flows": [{"round": n, **row} for n, one in enumerate(rounds, 1) for row in rows(one)],
    }


# -- what is compared -------------------------------------------------------------------------------------


def rows(played: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per flow of a round that went its way to the end: what was told, and what came of it."""
    whole = [one for one in played["flows"] if _complete(one)]
    return [_row(one, whole) for one in whole]


def _complete(flow: Mapping[str, Any]) -> bool:
    """Whether it was admitted once, told something, and carried to its end."""
    there = flow["outcome"] is not None and flow["received"] is not None
    return there and len(flow["admitted"]) == 1 and flow["admitted"][0]["forecast"] is not None


def _row(flow: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    outcome, decision, received = flow["outcome"], flow["admitted"][0], flow["received"]
    admitted, told = seconds_of(decision["at"]), decision["forecast"]
    ended = received["started_at"] + received["seconds"]
    took, waited = ended - admitted, admitted - seconds_of(outcome["submitted_at"])
    expected = told["expected_seconds"]
    return {
        "number": flow["number"],
        "kind": flow["kind"],
        "path": decision["path"],
        "queued": waited >= WAITED_S,
        "undisturbed": outcome["moves"] == 0 and not _joined(flow, others, admitted, ended),
        "took": took,
        "transfer": received["seconds"],
        "expected": expected,
        "within": told["low_seconds"] <= took <= told["high_seconds"],
        "width": (told["high_seconds"] - told["low_seconds"]) / expected,
        "told": expected / took - 1,
        "alone": expected / received["seconds"] - 1,
        "decided": _decided(flow, decision, took),
        "load": flow["load"],
    }


def _decided(flow: Mapping[str, Any], decision: Mapping[str, Any], took: float) -> float | None:
    """The error of its size over the throughput that the decision expected."""
    expected = decision["throughput"]
    if expected is None or not expected["value"]:
        return None
    seconds: float = flow["size"] * 8 / expected["value"]
    return seconds / took - 1


def _joined(flow: Mapping[str, Any], others: Sequence[Mapping[str, Any]], since: float, until: float) -> bool:
    """Whether somebody came to one of a flow's paths while it ran."""
    paths = {stay["path"] for stay in flow["outcome"]["stays"]}
    return any(
        since < seconds_of(stay["since"]) < until and stay["path"] in paths
        for other in others
        if other["number"] != flow["number"]
        for stay in other["outcome"]["stays"]
    )


def seconds_of(text: str) -> float:
    """A time of the API, seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


# -- what is told about it --------------------------------------------------------------------------------

GROUPS: Mapping[str, Callable[[Row], bool]] = {
    "at once": lambda row: not row["queued"],
    "at once, undisturbed": lambda row: not row["queued"] and row["undisturbed"],
    "queued first": lambda row: row["queued"],
    "queued first, undisturbed": lambda row: row["queued"] and row["undisturbed"],
}
BOUNDED = ("at once", "queued first")


def median_error(some: Sequence[Row], way: str) -> float | None:
    """The median absolute error of one way of telling; None of nobody."""
    errors = [abs(row[way]) for row in some if row[way] is not None]
    return statistics.median(errors) if errors else None


def grouped(results: Mapping[str, Any]) -> dict[str, list[Row]]:
    """The flows by the groups they are in."""
    return {name: [row for row in results["flows"] if there(row)] for name, there in GROUPS.items()}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether both groups have flows, and the bound holds in both."""
    groups = grouped(results)
    errors = [median_error(groups[name], "told") for name in BOUNDED]
    return all(error is not None and error < BOUND for error in errors)


def report(results: Mapping[str, Any]) -> str:
    """The tables, and whether the bound holds."""
    asked = sum(len(one["flows"]) for one in results["rounds"])
    problems = [one["problem"] for each in results["rounds"] for one in each["flows"] if one["problem"]]
    missing = f"{asked} asked, {len(results['flows'])} compared" + (f"; {problems}" if problems else "")
    loads = [row["load"] for row in results["flows"]]
    load = f"load average {min(loads):.1f} to {max(loads):.1f}" if loads else "nobody was admitted"
    verdict = "kept" if passed(results) else "MISSED"
    emulation = results["rounds"][0]["emulation"]
    return (
        f"{_times(results)}\n\n{missing}; {load}; {emulation}\n"
        f"Bound {BOUND:.0%} (told; at once, and queued first): {verdict}"
    )


def _times(results: Mapping[str, Any]) -> str:
    head = ["transfer times", "flows", "took s", *WAYS, "bias", "within", "width"]
    return table([head, *(_line(name, some) for name, some in grouped(results).items())])


def _line(name: str, some: Sequence[Row]) -> list[str]:
    if not some:
        return [name, "0", *["-"] * (len(WAYS) + 4)]
    errors = [median_error(some, way) for way in WAYS.values()]
    return [
        name,
        str(len(some)),
        f"{statistics.median(row['took'] for row in some):.1f}",
        *("-" if error is None else f"{error:.1%}" for error in errors),
        f"{statistics.median(row['told'] for row in some):+.1%}",
        f"{sum(row['within'] for row in some)} of {len(some)}",
        f"{statistics.median(row['width'] for row in some):.0%}",
    ]

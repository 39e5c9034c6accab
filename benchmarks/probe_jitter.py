"""What Python adds to the round-trip times that probe agents measure, beside programs in C on the same path.

Two namespaces and a veth pair: there is no shorter path between two hosts, so what is added shows most.  In
turn, in rounds: ``ping`` beside our ICMP probe; a UDP echo in C (probe_echo.c) beside our UDP probe as it is,
and as it would be without the kernel's time stamps and the answerer's own account of its delay.

The question (issue: a native path if Python's own jitter exceeds 20 % of what is measured) is about the
spread: a delay that is always the same cancels out where paths are compared.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import Summary, table

BOUND = 0.20
ROUNDS = 5
COUNT = 200
NAMES = {
    "ping": "ping (C)",
    "icmp": "our ICMP probe",
    "c": "UDP echo in C",
    "udp": "our UDP probe",
    "bare": "our UDP probe without kernel stamps",
}
YARDSTICKS = {"icmp": "ping", "udp": "c", "bare": "c"}


def run(folder: Path, seed: int) -> dict[str, Any]:
    """All kinds; times in microseconds."""
    found = json.loads(isolated("benchmarks.probe_jitter_inside", str(folder), str(ROUNDS), str(COUNT)))
    return {
        "seed": seed,
        "rounds": ROUNDS,
        "count": COUNT,
        "times": {name: asdict(Summary.of(found[name])) for name in NAMES},
        "added": {name: _added(found[name], found[beside]) for name, beside in YARDSTICKS.items()},
    }


def _added(ours: list[list[float]], theirs: list[list[float]]) -> dict[str, float]:
    """Per round, then the median of rounds: what ours has more, as a share of what the yardstick measured."""
    pairs = [(Summary.of([one]), Summary.of([other])) for one, other in zip(ours, theirs, strict=True)]
    return {
        "median": statistics.median((one.median - other.median) / other.median for one, other in pairs),
        "spread": statistics.median((one.spread - other.spread) / other.median for one, other in pairs),
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the spread that Python adds is within the bound, for the probes as they are."""
    return all(results["added"][name]["spread"] <= BOUND for name in ("icmp", "udp"))


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    rows = [["what", "median µs", "IQR", "p90", "p99", "median above C", "spread above C", "of rounds"]]
    for name, title in NAMES.items():
        times, added = results["times"][name], results["added"].get(name)
        shares = (
            ["", ""] if added is None else [f"{100 * added[each]:.0f} %" for each in ("median", "spread")]
        )
        figures = [f"{times[each]:.1f}" for each in ("median", "spread", "p90", "p99")]
        rows.append([title, *figures, *shares, " ".join(f"{each:.1f}" for each in times["rounds"])])
    return (
        f"{table(rows)}\n\n{results['rounds']} rounds of {results['count']} requests of 64 bytes, in turn, "
        f"on a veth pair between two namespaces; shares are of the yardstick's median; promised: the spread "
        f"that Python adds is at most {100 * BOUND:.0f} % of it"
    )

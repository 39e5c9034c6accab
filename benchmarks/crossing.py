"""How well others' traffic, and shared ways out, are noticed ([CHOREO] 3.2, 4.3; figures 3 and 4).

The paper simulated the first in ns-2; here it is real TCP in an emulated network, at a tenth of the rates:
senders that are ON and OFF for exponential times of 5 s, one bulk connection beside them, and c = c1/c2 - 1
from what that has in each 10 ms.  Then pairs of connections, of four instances and of one source, on a cloud
of hoses: the paper saw the first never interfere, and the second always.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.crossing_inside import CONTROL, FIGURES, SMOOTH_S
from benchmarks.lab import isolated
from benchmarks.summary import table


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both figures' networks, then the pairs."""
    inside = "benchmarks.crossing_inside"
    return {name: json.loads(isolated(inside, str(seed), name)) for name in (*FIGURES, "interference")}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether pairs interfere as the paper found: never of four instances, always of one source."""
    found = results["interference"]
    return found["four_instances"] == 0 and found["one_source"] == found["pairs"]


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [["figure", "c, truth (mean)", "c, found (mean)", "over", "mean error", "median", "within 1"]]
    for name in FIGURES:
        its = results[name]
        for key, over in (("each", "10 ms"), ("smoothed", f"{SMOOTH_S:g} s")):
            off = its[key]
            figures = [f"{off['mean']:.1f}", f"{off['median']:.1f}", f"{off['within_one']:.0%}"]
            told.append([name, f"{its['truth']:.1f}", f"{its['mean']:.1f}", over, *figures])
    pairs = results["interference"]
    notes = (
        f"of {pairs['pairs']} pairs interfered {pairs['four_instances']} of four instances (paper: 0 of 20), "
        f"{pairs['one_source']} of one source (paper: 20 of 20); TCP {CONTROL} for c; {pairs['emulation']}"
    )
    return f"{table(told)}\n\n{notes}"

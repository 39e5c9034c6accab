"""Cross traffic as ``adon place snapshot --crossing`` looks for it ([CHOREO] 3.2): c and c1 are both unknown.

:mod:`benchmarks.crossing` tells the probe the rate of the link, as figures 3 and 4 of the paper do.  A
snapshot does not know it: it takes one connection, and then two.  Found is how far off c (in connections) and
c1 are, in the network of figure 3(a), beside ON-OFF senders and beside some that stay on, for transfers as
long as a snapshot's usual ones, and three times as long (``--transfer '6 s'``).  The yardstick is c by the
first of the two transfers alone, if the link's rate were known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.crossing_snapshot_inside import LONG_S, USUAL_S
from benchmarks.lab import isolated
from benchmarks.summary import table

SETTINGS = (("on_off", USUAL_S), ("steady", USUAL_S), ("steady", LONG_S))


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Each setting in a network of its own."""
    inside = "benchmarks.crossing_snapshot_inside"
    found = [json.loads(isolated(inside, str(seed), what, str(bulk))) for what, bulk in SETTINGS]
    return {"settings": [{"what": what, **its} for (what, _), its in zip(SETTINGS, found, strict=True)]}


def report(results: Mapping[str, Any]) -> str:
    """The figures for people; means, and medians in brackets."""
    head = ["senders", "a transfer", "trials", "c, truth", "c not told", "off", "if c1 is known", "c1 off"]
    told = [head]
    for its in results["settings"]:
        forms = (("c", ".1f"), ("c_if_link_known", ".1f"), ("link", ".0%"))
        words = [_off(its[key], form) for key, form in forms]
        counts = [str(len(its["trials"])), f"{its['truth']:.1f}", str(its["unknown"])]
        told.append([its["what"], f"{its['bulk_s']:g} s", *counts, *words])
    return f"{table(told)}\n\n{results['settings'][0]['emulation']}"


def _off(its: Mapping[str, float] | None, form: str) -> str:
    return "-" if its is None else f"{its['mean']:{form}} ({its['median']:{form}})"

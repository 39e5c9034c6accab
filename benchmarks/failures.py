"""A link fails under a hundred flows: how long until all of them have their packets on another path.

A private Open vSwitch (userspace data path), two edges, real packets, the real controller process; everything
in namespaces of its own (:mod:`benchmarks.lab`).  Needs root.  Three forms
(:mod:`benchmarks.failures_links`): standby paths, fast-failover groups and, as yardstick, neither.

Bound: with standby paths all hundred flows have left the dead link within a second (Kytos' own).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import quantile, table

ROUNDS = 5
MOVED_WITHIN_MS = 1000.0
BOUND_FORMS = ("standby", "groups")


def run(folder: Path, seed: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """All rounds, by form."""
    inside = folder / "failures"
    inside.mkdir()
    told = isolated("benchmarks.failures_links", str(inside), str(seed), str(rounds))
    answer: dict[str, Any] = json.loads(told)
    return answer


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bound holds."""
    moved = [flow["moved ms"] for form in BOUND_FORMS for one in results[form] for flow in one["flows"]]
    return max(moved) < MOVED_WITHIN_MS


def report(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The table for people."""
    head = [
        "link down, 100 flows",
        "moved ms p50",
        "p95",
        "max",
        "max of rounds",
        "lost per flow (median, max)",
    ]
    rows = [[*head, "port-status to last barrier ms", "of it decide", "commit", "pack", "flow-mods", "load"]]
    for form, rounds in results.items():
        moved = sorted(flow["moved ms"] for one in rounds for flow in one["flows"])
        lost = [flow["lost"] for one in rounds for flow in one["flows"]]
        largest = " ".join(f"{max(flow['moved ms'] for flow in one['flows']):.0f}" for one in rounds)
        control = {name: _median([one["control"] for one in rounds], name) for name in rounds[0]["control"]}
        spans = [f"{quantile(moved, share):.0f}" for share in (0.5, 0.95, 1.0)]
        parts = ("of it: decide", "of it: commit", "of it: pack and queue", "flow-mods")
        rows.append(
            [
                form,
                *spans,
                largest,
                f"{statistics.median(lost):g}, {max(lost):g}",
                *(f"{control[part]:.0f}" for part in ("port-status to last barrier", *parts)),
                f"{_median(rounds, 'load'):.1f}",
            ]
        )
    return table(rows)


def _median(rounds: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(statistics.median(one[name] for one in rounds))

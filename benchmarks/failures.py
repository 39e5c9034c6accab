"""What happens to packets when something fails, and how long until all is right again.

A private Open vSwitch (userspace data path), two edges, real packets, the real controller process; everything
in namespaces of its own (:mod:`benchmarks.lab`).  Needs root.

- *link failure*: a hundred flows on one link that goes down (:mod:`benchmarks.failures_links`), with standby
  paths, with fast-failover groups and, as yardstick, with neither;
- *scenes*: a controller or a switch is killed, the control network is cut, a standby takes over, somebody
  removes our rules (:mod:`benchmarks.failures_scenes`), beside the scene in which nothing happens.

Bounds: with standby paths all hundred flows have left the dead link within a second (Kytos' own); where the
switches keep their rules the median of the packets lost is not above that of the quiet scene.
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
QUIET = "nothing happens"
RULES_STAY = (
    "controller killed, restarted",
    "control network cut for 30 s",
    "active killed, standby takes over",
)


def run(folder: Path, seed: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """All rounds, by form of link failure and by scene."""
    inside = folder / "failures"
    inside.mkdir()
    told = isolated("benchmarks.failures_inside", str(inside), str(seed), str(rounds))
    answer: dict[str, Any] = json.loads(told)
    return answer


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bounds hold."""
    links = results["links"]
    moved = [flow["moved ms"] for form in BOUND_FORMS for one in links[form] for flow in one["flows"]]
    quiet = _median(results["scenes"][QUIET], "lost")
    kept = all(_median(results["scenes"][name], "lost") <= quiet for name in RULES_STAY)
    return max(moved) < MOVED_WITHIN_MS and kept


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    return f"{_links(results['links'])}\n\n{_scenes(results['scenes'])}"


def _links(forms: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    head = [
        "link down, 100 flows",
        "moved ms p50",
        "p95",
        "max",
        "max of rounds",
        "lost per flow (median, max)",
    ]
    rows = [[*head, "port-status to last barrier ms", "of it decide", "commit", "pack", "flow-mods", "load"]]
    for form, rounds in forms.items():
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
                f"{statistics.median(lost):g}, {max(lost)}",
                *(f"{control[part]:.0f}" for part in ("port-status to last barrier", *parts)),
                f"{_median(rounds, 'load'):.1f}",
            ]
        )
    return table(rows)


def _scenes(scenes: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    head = ["what fails", "UDP lost (rounds)", "longest gap ms", "TCP retransmits", "TCP stall s"]
    rows = [[*head, "rules away s", "until right s", "flow-mods", "load"]]
    for name, rounds in scenes.items():
        away = [one["rules_away_s"] for one in rounds if one["rules_away_s"] is not None]
        rows.append(
            [
                name,
                f"{_median(rounds, 'lost'):g} ({' '.join(str(one['lost']) for one in rounds)})",
                f"{_median(rounds, 'gap_ms'):.0f}",
                f"{_median(rounds, 'tcp_retransmits'):g}",
                f"{_median(rounds, 'tcp_stall_s'):.1f}",
                f"{statistics.median(away):.2f}" if away else "-",
                f"{_median(rounds, 'right_after_s'):.2f}",
                f"{_median(rounds, 'flow_mods'):g}",
                f"{_median(rounds, 'load'):.1f}",
            ]
        )
    return table(rows)


def _median(rounds: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(statistics.median(one[name] for one in rounds))

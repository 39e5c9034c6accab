"""The workload suite: ours beside the simple ways of choosing a path, and beside who knows the future.

Every workload of :mod:`benchmarks.workloads_suite` is drawn from the seed and run under every policy in the
flow-level simulator (:mod:`adon.simulation`); *ours* is the real decision core.  *Best offline* is the best
schedule that a search with all knowledge found (deliberate queueing, pauses and moves at no cost), among them
those of the policies; *bound* is a number that no schedule is below (a linear program).

Four measures per workload and policy: mean and 95th percentile of the completion time (from the request; who
is refused or never ends counts as over at twice the simulation's end), the share of deadlines met, and the
share of time in which a running transfer missed its QSpec.

*Present only* (in the last table) serves the smallest remainder first, pauses and moves at no cost, and
knows all capacities as they are now, but nothing of the future; *no pauses* is the best schedule found in
which nobody who has begun is paused.

Promised: ours has a mean of at most 1.5 of the best offline in the median workload; no other policy is as
good on all four measures and better on one, in the medians over the workloads; and in the median workload
ours is better than each of them on mean and deadlines.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from adon.code_version import code_version
from adon.simulation import bound, offline
from adon.simulation.brokered import Brokered
from adon.simulation.engine import Record, simulate
from adon.simulation.measures import MISSED, Measures, measured
from adon.simulation.policy import Policy, simple_policies
from adon.simulation.workload import Workload
from benchmarks import workloads_suite
from benchmarks.summary import table
from benchmarks.workloads_hedera import Hedera

OURS = "ours"
NEAR = 1.5
TRIES = 150
"""Of the local search, for either aim, beyond the classical orders."""

PRESENT_WORTH = 0.35


def run(folder: Path, seed: int, only: str | None = None) -> dict[str, Any]:  # noqa: ARG001 - alike for all
    """All workloads, or one; those of different names in processes of their own."""
    names = [one.name for one in workloads_suite.descriptions()]
    if only is not None and only not in names:
        raise SystemExit(f"there is no workload {only!r}; known are {', '.join(names)}")
    chosen = names if only is None else [only]
    began = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(measure, chosen, [seed] * len(chosen)))
    return {
        "versions": {"adon": code_version(), **{name: version(name) for name in ("numpy", "scipy")}},
        "tries": TRIES,
        "seconds": time.monotonic() - began,
        "workloads": dict(zip(chosen, found, strict=True)),
    }


def policies(workload: Workload, seed: int) -> tuple[Policy, ...]:
    """One of each, new: for one run."""
    return (Brokered(workload, OURS), *simple_policies(seed), Hedera("Hedera", seed=seed))


def measure(name: str, seed: int) -> dict[str, Any]:
    """Everything about one workload."""
    workload = workloads_suite.workload(name, seed)
    runs = {policy.name: simulate(workload, policy, seed) for policy in policies(workload, seed)}
    found = {policy: measured(workload, records) for policy, records in runs.items()}
    best = foreseen(workload, seed, list(found.values()))
    until = max(_last(records) for records in (*runs.values(), best["records"]))
    return {
        "story": workload.story,
        "transfers": len(workload.transfers),
        "terabytes": sum(one.size for one in workload.transfers) / 1e12,
        "policies": {policy: asdict(one) for policy, one in found.items()},
        "dominated_by": [one for one in others(found) if found[one].dominates(found[OURS])],
        "offline": {
            key: best[key] for key in ("mean", "p95", "deadlines", "found_by", "present_only", "no_pauses")
        },
        "bound": {
            "mean": bound.least_mean(workload, until),
            "deadlines": bound.most_in_time(workload, until),
        },
    }


def _last(records: Sequence[Record]) -> float:
    return max((one.ended for one in records if one.ended is not None), default=0.0)


def foreseen(workload: Workload, seed: int, others: Sequence[Measures]) -> dict[str, Any]:
    """The best that was found with all knowledge, each measure by the search that aims at it."""
    chance = random.Random(f"{seed}/{workload.name}/offline")
    soon = offline.search(workload, chance, TRIES, offline.by_mean)
    in_time = offline.search(workload, chance, TRIES // 2, offline.by_deadlines)
    steady = offline.search(workload, chance, TRIES // 2, offline.by_mean, pauses=(False,))
    now_only = offline.Planned(workload, offline.Schedule(None, PRESENT_WORTH))
    every = [soon.measures, in_time.measures, *others]
    met = [one.deadlines for one in every if one.deadlines is not None]
    best = min(one.mean for one in every)
    return {
        "mean": best,
        "p95": soon.measures.p95,
        "deadlines": max(met) if met else None,
        "found_by": "search" if soon.measures.mean <= best else "a policy",
        "present_only": measured(workload, simulate(workload, now_only, measured=False)).mean,
        "no_pauses": steady.measures.mean,
        "records": soon.records,
    }


# -- what it comes to -----------------------------------------------------------------------------------


def ratios(results: Mapping[str, Any], policy: str, what: str) -> list[float]:
    """One policy's mean or p95, per workload, in multiples of the best offline's."""
    every = results["workloads"].values()
    return [one["policies"][policy][what] / one["offline"][what] for one in every]


def shares(results: Mapping[str, Any], policy: str, what: str) -> list[float]:
    """One policy's share of deadlines met or of time in violation, per workload that has any."""
    found = [one["policies"][policy][what] for one in results["workloads"].values()]
    return [share for share in found if share is not None]


def medians(results: Mapping[str, Any], policy: str) -> Measures:
    """One policy's measures in the median workload: times in multiples of the best offline's."""
    deadlines = shares(results, policy, "deadlines")
    return Measures(
        mean=statistics.median(ratios(results, policy, "mean")),
        p95=statistics.median(ratios(results, policy, "p95")),
        deadlines=statistics.median(deadlines) if deadlines else None,
        violations=statistics.median(shares(results, policy, "violations")),
        unserved=sum(one["policies"][policy]["unserved"] for one in results["workloads"].values()),
        moves=sum(one["policies"][policy]["moves"] for one in results["workloads"].values()),
    )


def others(policies: Mapping[str, Any]) -> list[str]:
    """Those that are not ours."""
    return [policy for policy in policies if policy != OURS]


def names(results: Mapping[str, Any]) -> list[str]:
    """The policies, ours first."""
    return list(next(iter(results["workloads"].values()))["policies"])


def misses(results: Mapping[str, Any]) -> list[str]:
    """The promises that do not hold, in words."""
    ours = medians(results, OURS)
    found = [] if ours.mean <= NEAR else [f"{OURS}: mean {ours.mean:.2f} of the best offline, not {NEAR}"]
    for policy in others(names(results)):
        other = medians(results, policy)
        if other.dominates(ours):
            found.append(f"{policy} is as good on all four measures and better on one")
        if not _better(results, policy, "mean", lambda mine, theirs: theirs - mine):
            found.append(f"{policy}: its mean is as short in the median workload")
        if not _better(results, policy, "deadlines", lambda mine, theirs: mine - theirs):
            found.append(f"{policy}: it meets as many deadlines in the median workload")
    return found


def _better(
    results: Mapping[str, Any], policy: str, what: str, gain: Callable[[float, float], float]
) -> bool:
    """Whether ours is better in the median workload."""
    every = (one["policies"] for one in results["workloads"].values())
    pairs = [(one[OURS][what], one[policy][what]) for one in every]
    gains = [gain(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    return not gains or statistics.median(gains) > 0


def passed(results: Mapping[str, Any]) -> bool:
    """Whether every promise holds."""
    return not misses(results)


def report(results: Mapping[str, Any]) -> str:
    """The tables for people, and which promises hold."""
    missed = misses(results)
    verdict = "all promises hold" if not missed else "MISSED: " + "; ".join(missed)
    lines = [_summary(results), _times(results), _qualities(results), verdict]
    return "\n\n".join([*lines, f"{len(results['workloads'])} workloads in {results['seconds']:.0f} s"])


def _summary(results: Mapping[str, Any]) -> str:
    head = [
        "policy",
        "mean",
        "worst",
        "p95",
        "worst",
        "deadlines",
        "worst",
        "violated",
        "worst",
        "unserved",
        "moves",
    ]
    rows = [head]
    for policy in names(results):
        middle = medians(results, policy)
        cells = [
            f"{of(ratios(results, policy, what)):.2f}" for what in ("mean", "p95") for of in (_median, max)
        ]
        for what, worst in (("deadlines", min), ("violations", max)):
            found = shares(results, policy, what)
            cells += [f"{of(found):.0%}" for of in (_median, worst)] if found else ["-", "-"]
        rows.append([policy, *cells, str(middle.unserved), str(middle.moves)])
    note = (
        "mean, p95: multiples of the best offline's, median over the workloads and worst; deadlines: met; "
        "violated: share of time on a path with the QSpec missed; unserved count as over at "
        f"{MISSED:g} x the end"
    )
    return f"{table(rows)}\n\n{note}"


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _times(results: Mapping[str, Any]) -> str:
    """Per workload, mean completion times in multiples of the best offline's."""
    head = [
        "mean / best offline",
        "transfers",
        "TB",
        "offline s",
        "ours",
        "best other",
        "which",
    ]
    rows = [[*head, "present only", "no pauses", "bound"]]
    for name, one in results["workloads"].items():
        policies, best = one["policies"], one["offline"]
        nearest = min(others(policies), key=lambda policy: policies[policy]["mean"], default=OURS)
        means = [policies[policy]["mean"] for policy in (OURS, nearest)]
        bounds = [best["present_only"], best["no_pauses"], one["bound"]["mean"]]
        cells = [f"{mean / best['mean']:.2f}" for mean in (*means, *bounds)]
        sizes = [str(one["transfers"]), f"{one['terabytes']:.2f}", f"{best['mean']:.0f}"]
        rows.append([name, *sizes, *cells[:-3], nearest, *cells[-3:]])
    return table(rows)


def _qualities(results: Mapping[str, Any]) -> str:
    """Per workload, deadlines met and time in violation."""
    rows = [
        [
            "deadlines met",
            "ours",
            "best other",
            "offline",
            "bound",
            "violated",
            "dominated by",
        ]
    ]
    for name, one in results["workloads"].items():
        policies = one["policies"]
        rivals = [policies[rival]["deadlines"] for rival in others(policies)]
        best = max((share for share in rivals if share is not None), default=None)
        shares = [policies[OURS]["deadlines"], best, one["offline"]["deadlines"], one["bound"]["deadlines"]]
        violated = policies[OURS]["violations"]
        rows.append([name, *map(_share, (*shares, violated)), ", ".join(one["dominated_by"]) or "-"])
    return table(rows)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"

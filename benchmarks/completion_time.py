"""Completion times under ADON, simple policies and a scheduler that knows the future.

Every workload of :mod:`benchmarks.workload_suite` is drawn from several seeds and simulated
(:mod:`adon.simulation`) under every policy; *ADON* is the real decision core.  The completion time of a
transfer runs from the request to the last byte.  References (:mod:`benchmarks.clairvoyant`): the *clairvoyant
bound* is below the mean of every schedule, the *best schedule* is the best one that a search with all
knowledge found, or a policy if that is better; *shortest remaining first* pauses and moves transfers at no
cost and knows the true state of the network, but not the future.

Bounds: in the median workload, ADON's mean is at most 1.5 times that of the best schedule, and shorter than
that of every other policy.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adon.fluid import Demand, max_min_rates
from adon.simulation import policies
from adon.simulation.broker_policy import BrokerPolicy
from adon.simulation.engine import simulate
from adon.simulation.measures import summarize
from adon.simulation.simulated_network import SimulatedPath
from adon.simulation.workload import Transfer, Workload
from benchmarks import clairvoyant, workload_suite
from benchmarks.summary import table
from measurement.model import Metric

ADON = "ADON"
BOUND, BEST, SHORTEST = "clairvoyant bound", "best schedule", "shortest remaining first"
NEAR = 1.5
SEEDS = 5
TRIES = 150
"""Schedules of the local search, in addition to the classical ones."""


@dataclass
class FirstFit(policies.Ecmp):
    """Hedera's global first fit (Al-Fares et al., NSDI 2010, sections 3.2, 4.1 and 4.2).

    A new flow is hashed.  Every five seconds the natural demand of each flow is estimated, its max-min fair
    rate if only the interfaces of the end hosts limited it.  A flow with a demand of at least a tenth of its
    interface moves to the first path whose configured capacity holds it in addition to the flows before it.

    :param interface: bits/s of the interface of every host.
    """

    interface: float = 10e9

    def decide(self, event: policies.PolicyEvent, view: policies.PolicyView) -> Sequence[policies.Order]:
        """As :meth:`Policy.decide`."""
        orders = list(super().decide(event, view))
        if isinstance(event, policies.WakeUp) and self.wake_at is not None and view.now >= self.wake_at:
            self.wake_at = None
            orders += self._fit(view)
        if not self.placed:
            self.wake_at = None
        elif self.wake_at is None:
            self.wake_at = view.now + 5.0
        return orders

    def _fit(self, view: policies.PolicyView) -> list[policies.Order]:
        reserved: dict[tuple[str, str], float] = {}
        orders: list[policies.Order] = []
        flows = [transfer for transfer, _ in self.placed.values()]
        for number, demand in natural_demands(flows, self.interface).items():
            transfer, present = self.placed[number]
            for path in view.between(transfer.source, transfer.destination):
                place = (path.name, transfer.source)
                if demand >= 0.1 * self.interface and self._fits(path, reserved.get(place, 0.0) + demand):
                    reserved[place] = reserved.get(place, 0.0) + demand
                    if path.name != present:
                        self.placed[number] = (transfer, path.name)
                        orders.append(policies.UsePath(number, path.name))
                    break
        return orders

    def _fits(self, path: SimulatedPath, rate: float) -> bool:
        return path.name not in self.down and rate <= path.advertised * (1 + 1e-9)


def natural_demands(transfers: Sequence[Transfer], interface: float) -> dict[int, float]:
    """Return the bits/s of each flow if only the interfaces of its hosts limited it (section 4.1)."""
    demands = [
        Demand(((one.source, "out"), (one.destination, "in")), 1, min(interface, one.ceiling))
        for one in transfers
    ]
    ends = {end for demand in demands for end in demand.links}
    rates = max_min_rates(dict.fromkeys(ends, interface), demands)
    return {one.number: rate for one, rate in zip(transfers, rates, strict=True)}


# -- runs -----------------------------------------------------------------------------------------------


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - alike for all
    """Simulate all workloads from :data:`SEEDS` seeds."""
    names = [one.name for one in workload_suite.descriptions()]
    began, seeds = time.monotonic(), range(seed, seed + SEEDS)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(measure, names * SEEDS, [each for each in seeds for _ in names]))
    workloads = {name: runs[place :: len(names)] for place, name in enumerate(names)}
    return {"seeds": list(seeds), "seconds": time.monotonic() - began, "workloads": workloads}


def make_policies(workload: Workload, seed: int) -> tuple[policies.Policy, ...]:
    """Return one new policy of each kind, ADON first."""
    return (
        BrokerPolicy(workload, ADON),
        policies.AlwaysLayer("always L2", layer=2),
        policies.AlwaysLayer("always L3", layer=3),
        policies.Ecmp("ECMP", seed=seed),
        policies.BestTest("lowest RTT", metric=Metric.RTT),
        policies.BestTest("best last test", metric=Metric.THROUGHPUT),
        FirstFit("Hedera first fit", seed=seed),
    )


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return the measures of every policy and the means of the references for one workload and seed."""
    workload = workload_suite.workload(name, seed)
    records = {policy.name: simulate(workload, policy, seed) for policy in make_policies(workload, seed)}
    measures = {policy: asdict(summarize(workload, of)) for policy, of in records.items()}
    rng = random.Random(f"{seed}/{name}/offline")
    best = clairvoyant.search_schedule(workload, rng, TRIES)
    shortest = clairvoyant.run_schedule(workload, clairvoyant.Schedule(None, worth=0.35))
    ends = [one.ended for of in (*records.values(), best.records) for one in of if one.ended is not None]
    references = {
        BOUND: clairvoyant.mean_completion_bound(workload, max(ends)),
        BEST: min(best.mean, *(one["mean"] for one in measures.values())),
        SHORTEST: shortest.mean,
    }
    return {"measures": measures, "references": references}


# -- tables ---------------------------------------------------------------------------------------------


def ratios(results: Mapping[str, Any], reference: str) -> dict[str, list[float]]:
    """Return ADON's mean over that of a reference or policy, by workload and in the order of the seeds."""
    return {
        name: [
            one["measures"][ADON]["mean"]
            / (one["references"].get(reference) or one["measures"][reference]["mean"])
            for one in runs
        ]
        for name, runs in results["workloads"].items()
    }


def of_seeds(results: Mapping[str, Any], reference: str) -> list[float]:
    """Return the ratio in the median workload, for each seed."""
    return [statistics.median(seed) for seed in zip(*ratios(results, reference).values(), strict=True)]


def names(results: Mapping[str, Any]) -> list[str]:
    """Return references and policies without ADON, in the order of the tables."""
    first = next(iter(results["workloads"].values()))[0]
    return [*first["references"], *(name for name in first["measures"] if name != ADON)]


def misses(results: Mapping[str, Any]) -> list[str]:
    """Return the bounds that do not hold, in words."""
    found = []
    for name in names(results):
        ratio = statistics.median(of_seeds(results, name))
        if name == BEST and ratio > NEAR:
            found.append(f"mean {ratio:.2f} times the best schedule's; expected at most {NEAR}")
        if name not in (BOUND, BEST, SHORTEST) and ratio >= 1:
            found.append(f"mean {ratio:.2f} times that of {name}; expected less than 1")
    return found


def passed(results: Mapping[str, Any]) -> bool:
    """Return whether all bounds hold."""
    return not misses(results)


def report(results: Mapping[str, Any]) -> str:
    """Return the tables and the bounds that do not hold."""
    missed = misses(results)
    verdict = f"MISSED: {'; '.join(missed)}" if missed else "all bounds hold"
    runs = f"{len(results['workloads'])} workloads, seeds {results['seeds']}, {results['seconds']:.0f} s"
    return "\n\n".join([_summary(results), _workloads(results), _qualities(results), verdict, runs])


def _summary(results: Mapping[str, Any]) -> str:
    rows = [["ADON's mean over that of", "median workload", "seeds", "best workload", "worst workload"]]
    for name in names(results):
        seeds = of_seeds(results, name)
        each = {statistics.median(found): workload for workload, found in ratios(results, name).items()}
        ends = [f"{ratio:.2f} {each[ratio]}" for ratio in (min(each), max(each))]
        rows.append([name, f"{statistics.median(seeds):.2f}", f"{min(seeds):.2f} to {max(seeds):.2f}", *ends])
    return table(rows)


def _workloads(results: Mapping[str, Any]) -> str:
    """Return ADON's mean over each reference and policy per workload: median of the seeds."""
    every = {name: ratios(results, name) for name in names(results)}
    rows = [["median of the seeds", "ADON s", *every]]
    for workload, runs in results["workloads"].items():
        mean = statistics.median(one["measures"][ADON]["mean"] for one in runs)
        rows.append(
            [workload, f"{mean:.0f}", *(f"{statistics.median(one[workload]):.2f}" for one in every.values())]
        )
    return table(rows)


def _qualities(results: Mapping[str, Any]) -> str:
    """Return what the policies do for it: medians over workloads and seeds."""
    rows = [["policy", "deadlines met", "worst", "QSpec missed", "worst", "unserved", "moves"]]
    runs = [one["measures"] for of in results["workloads"].values() for one in of]
    for policy in runs[0]:
        met = [one[policy]["deadlines"] for one in runs if one[policy]["deadlines"] is not None]
        missed = [one[policy]["violations"] for one in runs]
        shares = (statistics.median(met), min(met), statistics.median(missed), max(missed))
        counts = [sum(one[policy][what] for one in runs) for what in ("unserved", "moves")]
        rows.append([policy, *(f"{share:.0%}" for share in shares), *map(str, counts)])
    return table(rows)

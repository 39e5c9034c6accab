"""A full round of 100 instances, 9 900 directed pairs, beside slow rounds of the same ([HEALTH] 4.2).

An emulated cloud of three zones in namespaces (docs/testbed.md), a probe agent of its own in each
instance.  The *quick* round has every indicator of every pair, throughput by one packet train each, and by a
transfer on a stated sample.  *Slow* rounds have five requests of each kind and a transfer for every pair
compared; two of them say how well a slow round foretells the next (test-retest).  Scores are those of H-ALL,
recomputed over the pairs that all rounds have, and compared by Spearman's rank correlation.

What a slow round can be on two cores is stated in the report: the paper's, with ten seconds for each pair,
would take hours.  ``rounds`` compares a sample of pairs, ``rounds_exhaustive`` all of them (an hour).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.lab import isolated
from benchmarks.summary import table

LONGEST_S = 120.0
PAPER_S = 20 * 60.0
"""Of one instance's probes of the 99 others; the paper's instances all probe at the same time."""
AGREEMENT = 0.95
"""Of the slow rounds' own agreement."""
COMPARED = 400


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Times in seconds, memory in bytes; the slow rounds on a sample of the pairs."""
    return _run(seed, "--compared", str(COMPARED))


def run_exhaustive(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """The slow rounds on all pairs, transfers of a second."""
    return _run(seed, "--compared", "0", "--interval", "0.1", "--verified", "100")


def _run(seed: int, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(isolated("benchmarks.rounds_inside", str(seed), *options))
    return {"seed": seed, "versions": {"scipy": version("scipy")}, **found}


def passed(results: Mapping[str, Any]) -> bool:
    """Whether all pairs were probed in time, and the scores agree as well as slow rounds' do."""
    quick = results["quick"]
    in_time = quick["seconds"] < LONGEST_S and quick["pairs"] == results["pairs"]
    own, retest = agreement(results["spearman"]["all"])
    return in_time and own >= AGREEMENT * retest


def agreement(found: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Of the quick round with the slow ones, their mean; and of the slow rounds with each other."""
    return statistics.fmean(found["quick"]), statistics.fmean(found["retest"])


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    rows = [["round", "pairs", "seconds", "failures", "processor s of agents", "of the machine"]]
    for name, its in (("quick", results["quick"]), *(("slow", each) for each in results["slow"])):
        rows.append(
            [
                name,
                str(its["pairs"]),
                f"{its['seconds']:.0f}",
                str(its["failures"]),
                f"{its['agents_processor_s']:.0f}",
                f"{its['machine_processor_s']:.0f}",
            ]
        )
    ranks = [["scores", "quick with slow", "slow with slow", "ratio"]]
    for name, found in results["spearman"].items():
        if name != "pairs":
            own, retest = agreement(found)
            ranks.append([name, f"{own:.3f}", f"{retest:.3f}", f"{own / retest:.3f}"])
    return f"{table(rows)}\n\n{table(ranks)}\n\n{_note(results)}"


def _note(results: Mapping[str, Any]) -> str:
    errors = [abs(error) for error in results["train_errors"]]
    trains = (
        f"trains beside transfers of {results['verifying_transfer_s']:.0f} s on a sample of {len(errors)} "
        f"pairs: median error {statistics.median(errors):.1%}, mean {statistics.fmean(errors):.1%}"
        if errors
        else "no transfers beside the trains"
    )
    slow, size, took = results["slow_transfer"], results["agent_bytes"] / 1e6, results["quick"]["seconds"]
    return (
        f"{results['instances']} instances, {results['pairs']} directed pairs: quick round {took:.0f} s, "
        f"promised under {LONGEST_S:.0f} s; the paper: {PAPER_S:.0f} s for each instance.\n"
        f"A slow round: transfers of {slow['intervals']} intervals of {slow['interval']:g} s and five "
        f"requests of each kind, on {results['compared']} pairs.\n"
        f"Quick: {results['quick_shape']}; {trains}.\n"
        f"Built in {results['built_s']:.1f} s, agents in {results['agents_s']:.1f} s, {size:.1f} MB each.\n"
        f"Seed {results['seed']}; {results['emulation']}.\n"
        f"Promised: agreement of at least {AGREEMENT:g} of that of slow rounds with each other."
    )

"""``python -m benchmarks [NAME...] [--seed N]``: run benchmarks, print tables, keep JSON.

Exit status 1 if a bound that ADON promises is missed; each benchmark's report names its bounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import (
    archive,
    completion_time,
    dashboards,
    durable_write,
    failures,
    health,
    install,
    k_paths,
    many_flows,
    moves,
    placement,
    queueing,
    reaction,
    rounds,
    setups,
    web,
)

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*BENCHMARKS, []], help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    passed = True
    with tempfile.TemporaryDirectory(prefix="adon-bench-") as folder:
        print(json.dumps(machine(Path(folder)), indent=2))
        for name in arguments.which or BENCHMARKS:
            inside = Path(folder) / name
            inside.mkdir()
            passed &= measured(name, inside, arguments.seed)
    return 0 if passed else 1


def machine(folder: Path) -> dict[str, object]:
    """What the figures are true of."""
    ovs = subprocess.run(["ovs-vswitchd", "--version"], capture_output=True, text=True, check=True)
    disk = subprocess.run(["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True, check=True)
    processor = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "open vswitch": ovs.stdout.splitlines()[0].split()[-1],
        "os-ken": version("os-ken"),
        "sqlalchemy": version("sqlalchemy"),
        "file system": disk.stdout.strip(),
        "fdatasync_ms": asdict(durable_write.run(folder)),
    }


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.

    :param passed: whether the bounds that ADON promises hold; always true where none is promised.
    """

    title: str
    run: Callable[[Path, int], dict[str, Any]]
    report: Callable[[Mapping[str, Any]], str]
    passed: Callable[[Mapping[str, Any]], bool] = lambda _: True


BENCHMARKS: dict[str, Benchmark] = {
    "reaction": Benchmark("Measurement result to barrier reply", reaction.run, reaction.report),
    "many_flows": Benchmark(
        "A result among many flows", many_flows.run, many_flows.report, many_flows.passed
    ),
    "queueing": Benchmark(
        "A decision over many waiting flows", queueing.run, queueing.report, queueing.passed
    ),
    "install": Benchmark("10 000 rules to the barrier reply", install.run, install.report, install.passed),
    "moves": Benchmark("Moves of live flows", moves.run, moves.report, moves.passed),
    "setups": Benchmark(
        "Unannounced connections, to their first packet", setups.run, setups.report, setups.passed
    ),
    "archive": Benchmark("The measurement archive", archive.run, archive.report, archive.passed),
    "health": Benchmark("A round of health, beside its probes", health.run, health.report, health.passed),
    "k_paths": Benchmark("Candidate paths", k_paths.run, k_paths.report, k_paths.passed),
    "placement": Benchmark("Placing tasks", placement.run, placement.report, placement.passed),
    "failures": Benchmark("When something fails", failures.run, failures.report, failures.passed),
    "completion_time": Benchmark(
        "Completion times", completion_time.run, completion_time.report, completion_time.passed
    ),
    "web": Benchmark("The web side under load, beside decisions", web.run, web.report, web.passed),
    "dashboards": Benchmark("Two hundred dashboards", dashboards.run, dashboards.report, dashboards.passed),
    "rounds": Benchmark("A round of 100 instances", rounds.run, rounds.report, rounds.passed),
    "rounds_exhaustive": Benchmark(
        "A round of 100 instances, beside slow ones of all pairs",
        rounds.run_exhaustive,
        rounds.report,
        rounds.passed,
    ),
}


def measured(name: str, folder: Path, seed: int) -> bool:
    """Run one, print and keep its figures; whether its bounds hold."""
    known = BENCHMARKS[name]
    began = time.monotonic()
    results = known.run(folder, seed)
    print(f"\n## {known.title}\n\n{known.report(results)}\n\n({time.monotonic() - began:.0f} s)", flush=True)
    keep(name, {"seed": seed, "results": results, "machine": machine(folder)})
    return known.passed(results)


def keep(name: str, document: dict[str, Any]) -> None:
    """Write one result beside the earlier ones."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())

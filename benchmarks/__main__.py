"""``python -m benchmarks [reaction] [footprint] [--seed N]``: run benchmarks, print tables, keep JSON.

Exit status 1 if a bound that ADON promises is missed: idle below 150 MiB, first switch within 3 s.
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
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import durable_write, footprint, reaction

RESULTS = Path(__file__).parent / "results"
IDLE_BOUND_MIB = 150
START_BOUND_S = 3.0


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
            passed &= BENCHMARKS[name](inside, arguments.seed)
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


def _reaction(folder: Path, seed: int) -> bool:
    results = reaction.run(folder, seed)
    print("\nMeasurement result to barrier reply\n\n" + reaction.report(results))
    keep("reaction", {"seed": seed, "results": results, "machine": machine(folder)})
    return True


def _footprint(folder: Path, _seed: int) -> bool:
    results = footprint.run(folder)
    memory, start = results["idle_mib"], results["start_s"]
    print(
        f"\nIdle after {footprint.IDLE_S:g} s: {memory['resident']:.1f} MiB resident "
        f"(peak {memory['peak']:.1f}, {memory['threads']} threads); bound {IDLE_BOUND_MIB}"
        f"\nHeavy packages imported: {', '.join(results['heavy_imports']) or 'none'}"
        f"\nStart to first switch: median {start['median']:.2f} s, longest {start['largest']:.2f} s of "
        f"{start['count']}; bound {START_BOUND_S:g}"
    )
    keep("footprint", {"results": results, "machine": machine(folder)})
    light = memory["resident"] < IDLE_BOUND_MIB and not results["heavy_imports"]
    return light and start["largest"] < START_BOUND_S


def keep(name: str, document: dict[str, Any]) -> None:
    """Write one result beside the earlier ones."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(document, indent=2) + "\n")


BENCHMARKS: dict[str, Callable[[Path, int], bool]] = {"reaction": _reaction, "footprint": _footprint}

if __name__ == "__main__":
    sys.exit(main())

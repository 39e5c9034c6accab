"""Programs that tests run isolated, and what is left of them on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from pathlib import Path
from mininet_topos.isolation import run_isolated
from mininet_topos.isolation import Platform
sys.exit(run_isolated(sys.argv[3:], Platform(sys.argv[1]), shared=Path(sys.argv[2])))
"""
BUILD = """
import subprocess
from mininet_topos.isolation import folder_inside
from mininet_topos.testbed import build_testbed
from mininet_topos.topologies.mu_osu import MuOsu
with build_testbed(MuOsu(), folder_inside()) as testbed:
    testbed.popen("mu-dtn", ["ping", "-i", "0.2", "10.2.0.10"], stdout=subprocess.DEVNULL)
    print("built", flush=True)
    testbed.popen("osu-dtn", ["sleep", "infinity"]).wait()
"""


def start(
    platform: str,
    runtime: Path,
    argv: Sequence[str],
    stdin: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start the outermost process of an isolated program.

    :param runtime: an own runtime folder (``XDG_RUNTIME_DIR``), which names the processes of this testbed.
    """
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN, platform, str(runtime / "shared"), *argv]
    (runtime / "shared").mkdir(exist_ok=True)
    return subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def processes(runtime: Path) -> list[str]:
    """Return the processes of this machine that belong to a testbed with this runtime folder."""
    return list(find_processes(runtime).values())


def find_processes(runtime: Path) -> dict[int, str]:
    """Return the same by PID."""
    wanted, found = str(runtime).encode(), {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes() or wanted in (process / "cmdline").read_bytes():
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(process.name)] = command
        except OSError:  # it has just ended
            continue
    return found


def interfaces_left() -> list[str]:
    """Return interfaces of this machine that belong to the network ``mu_osu``."""
    listed = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.startswith(("mu-", "osu-", "line-", "t1-"))]

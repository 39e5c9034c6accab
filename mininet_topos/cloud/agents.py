"""A probe agent in every guest of a cloud that is there: one process per instance."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from adon.errors import Unavailable
from measurement.probes.key import write_key
from mininet_topos.cloud.build import Running

STOP_TIMEOUT = 5.0
AT_ONCE = 8
"""Started before the first of them is waited for: an interpreter that begins keeps a processor busy."""


@contextmanager
def agents(running: Running, key: Path, options: Sequence[str] = ()) -> Iterator[Mapping[str, int]]:
    """Start one in each guest; process ids by guest, when all of them answer.

    :param key: a file that is made for them.
    :param options: of ``adon-probe-agent``.
    :raises Unavailable: if one does not start; what it says is on standard error.
    """
    write_key(key)
    names = [guest.name for guest in running.cloud.guests]
    processes: list[subprocess.Popen[str]] = []
    argv = (sys.executable, "-m", "measurement.probes.main", "--key", str(key), *options)
    try:
        for number, name in enumerate(names):
            if number >= AT_ONCE:
                _ready(names[number - AT_ONCE], processes[number - AT_ONCE])
            processes.append(running.popen(name, *argv, stdout=subprocess.PIPE, text=True))
        for name, process in list(zip(names, processes, strict=True))[-AT_ONCE:]:
            _ready(name, process)
        yield {name: process.pid for name, process in zip(names, processes, strict=True)}
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            _ended(process)
        key.unlink(missing_ok=True)


def _ready(name: str, process: subprocess.Popen[str]) -> None:
    said = "" if process.stdout is None else process.stdout.readline()
    if not said.startswith("event=ready"):
        raise Unavailable(f"the agent of {name} does not start")


def _ended(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()

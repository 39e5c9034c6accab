"""A probe agent in every instance of a cloud that runs: one process each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adon.errors import Unavailable
from measurement.instances import Instance
from measurement.probes.key import write_key
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.cloud_topo import CloudTopo

STOP_TIMEOUT = 5.0
AT_ONCE = 8
"""Agents that start at a time: an interpreter that starts keeps a processor busy."""


def instances_of(topo: CloudTopo) -> list[Instance]:
    """Return the instances as the user of probe agents names them."""
    return [
        Instance(one.name, one.address, zone=one.zone, cores=one.cores) for one in topo.instances.values()
    ]


@contextmanager
def start_agents(testbed: Testbed, topo: CloudTopo, key: Path) -> Iterator[Mapping[str, int]]:
    """Start an agent in each instance; yield their PIDs when all of them answer.

    :param key: a file that is made for them.
    :raises Unavailable: if one does not start; its messages are on standard error.
    """
    write_key(key)
    processes: dict[str, subprocess.Popen[str]] = {}
    argv = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    waiting: list[str] = []
    try:
        for name in topo.instances:
            if len(waiting) == AT_ONCE:
                _await_ready(waiting[0], processes[waiting.pop(0)])
            processes[name] = testbed.popen(name, argv, stdout=subprocess.PIPE, text=True)
            waiting.append(name)
        for name in waiting:
            _await_ready(name, processes[name])
        yield {name: process.pid for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            _end(process)


def _await_ready(name: str, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    if not process.stdout.readline().startswith("event=ready"):
        raise Unavailable(f"{name}: its probe agent does not start")


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()

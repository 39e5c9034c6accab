"""Probe agents in hosts of a testbed, one process each."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from adon.errors import Unavailable
from measurement.instances import Instance
from measurement.probes.key import write_key
from mininet_topos.commands import stop_process
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.cloud_topo import CloudTopo

STOP_TIMEOUT = 5.0
AT_ONCE = 8
"""Agents that start at a time: an interpreter that starts keeps a processor busy."""


def instances_of(topo: CloudTopo) -> list[Instance]:
    """Return the instances as the user of probe agents names them."""
    return [Instance(one.name, one.address, zone=one.zone) for one in topo.instances.values()]


@contextmanager
def start_agents(
    testbed: Testbed, hosts: Iterable[str], key: Path, outside: str | None = None
) -> Iterator[Mapping[str, int]]:
    """Start an agent in each host; yield their PIDs when all of them answer.

    :param key: file that is made for them.
    :param outside: name of one more agent, in no host but beside the network as ADON is.
    :raises Unavailable: if one does not start; its messages are on standard error.
    """
    write_key(key)
    argv = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    start = {host: partial(testbed.popen, host, argv) for host in hosts}
    if outside is not None:
        start[outside] = partial(subprocess.Popen, argv, start_new_session=True)
    running: dict[str, subprocess.Popen[str]] = {}
    waiting: deque[str] = deque()
    with ExitStack() as stack:
        for name, popen in start.items():
            if len(waiting) == AT_ONCE:
                _await_ready(waiting[0], running[waiting.popleft()])
            running[name] = stack.enter_context(popen(stdout=subprocess.PIPE, text=True))
            stack.callback(stop_process, running[name], STOP_TIMEOUT)
            waiting.append(name)
        for name in waiting:
            _await_ready(name, running[name])
        yield {name: process.pid for name, process in running.items()}


def _await_ready(name: str, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    if not process.stdout.readline().startswith("event=ready"):
        raise Unavailable(f"{name}: its probe agent does not start")

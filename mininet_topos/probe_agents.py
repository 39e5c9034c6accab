"""Probe agents in hosts of a testbed, one process each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from measurement.instances import Instance
from measurement.probes.key import write_key
from mininet_topos.commands import Popen, start_servers
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.cloud_topo import CloudTopo


def instances_of(topo: CloudTopo) -> list[Instance]:
    """Return the instances as users of probe agents need them."""
    return [Instance(one.name, one.address, zone=one.zone) for one in topo.instances.values()]


def start_agents(
    testbed: Testbed, hosts: Iterable[str], key: Path, outside: str | None = None
) -> AbstractContextManager[Mapping[str, int]]:
    """Start an agent in each host; yield their PIDs when all of them answer.

    :param key: file that is made for them.
    :param outside: name of one more agent, in no host but beside the network as ADON is.
    :raises Unavailable: if one does not start, with the end of its log.
    """
    write_key(key)
    argv = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    agents: dict[str, Popen] = {host: partial(testbed.popen, host, argv) for host in hosts}
    if outside is not None:
        agents[outside] = partial(subprocess.Popen, argv, start_new_session=True)
    return start_servers(agents, key.parent / "agents")

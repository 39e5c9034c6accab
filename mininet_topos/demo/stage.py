"""The demo's world: testbed, measurement points and ``adon serve``, up and gone again.

The testbed and ADON run in namespaces of their own; only ADON's web side listens outside, on a loopback port
of the machine, so that the dashboard can be looked at while the demo runs.  Its socket is opened here and
handed down (a socket belongs to the network namespace it was opened in).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from adon.client import Client
from adon.errors import Conflict, Unavailable
from measurement.scheduling import Task
from mininet_topos import old_platforms as platforms
from mininet_topos.carrying import Load, carrying, deliver, meanwhile
from mininet_topos.demo.scenario import CONTENDING_STREAMS, DESTINATION, L2, SOURCE
from mininet_topos.demo.telling import Delivered
from mininet_topos.networks import Network
from mininet_topos.networks.configuration import DEFAULT_SCHEDULE, Schedule
from mininet_topos.old_isolation import RunFolder, default_folder, require_isolation, run_folder
from mininet_topos.old_platforms.bed import Bed
from mininet_topos.old_platforms.choosing import HOST
from mininet_topos.old_platforms.controlled import configuration_of
from mininet_topos.serving import prepared

PREFIX = "demo"
"""What the names of the demo's run folders begin with."""
PROGRAMS = ("ovs-vswitchd", "ovsdb-server", "mnexec", "nsenter", "tc", "ethtool", "iperf3", "ping", "ss")

EXTRA: dict[str, Any] = {
    "compute": {
        "mu-hpc": {"site": "mu", "worker_nodes": 4, "throughput_per_node": "8 Mbps", "queue_wait": "20 s"},
        "osu-hpc": {"site": "osu", "worker_nodes": 16, "throughput_per_node": "16 Mbps", "queue_wait": "5 s"},
    },
    # Faithful to the thesis: the periodic tests go on whatever is admitted (spec section 2).
    "policy": {"no_test_above_reserved": None},
}


ROUND_TRIPS = Schedule(
    throughput_period=None, rtt_period=4.0, latency_period=None, both_ways=False, around_others=1.0
)
"""The plan of the scene with the alarm: a round trip every 4 s.  A throughput test, whose slot is 7 s, fits
between no two of them, so there is none."""
CONTENTION_PORT = 6001
CONTENTION_S = 600.0


@dataclass(frozen=True, slots=True)
class World:
    """A running testbed with ADON on it.

    :param folder: where this ADON's files are.
    :param tasks: the tests that it plans, by name.
    """

    bed: Bed
    client: Client
    url: str
    folder: Path
    tasks: Mapping[str, Task]


def require_machine() -> None:
    """Refuse early, in one line, what would fail half-way.

    :raises Unavailable: if this process is not root, or programs are missing.
    """
    require_isolation()
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise Unavailable(f"the testbed needs {', '.join(missing)}: run 'make setup'")


def remove_remains(prefix: str = PREFIX) -> None:
    """Remove the run folders of demos that were killed; those of living ones are locked, and stay.

    :param prefix: what the names of the folders begin with.
    """
    for left in default_folder(prefix).parent.glob(f"{prefix}-*"):
        with suppress(Conflict), run_folder(left):
            pass


@contextmanager
def testbed_up(folder: RunFolder, network: Network) -> Iterator[Bed]:
    """The testbed alone, on this machine's kernel.

    :raises Unavailable: if it does not come up, with the end of its log.
    """
    with platforms.up(platforms.choose(HOST).platform, network, folder) as bed:
        yield bed


@contextmanager
def adon_on(bed: Bed, schedule: Schedule = DEFAULT_SCHEDULE, name: str = "adon") -> Iterator[World]:
    """``adon serve`` in the testbed's network, its web side outside.

    :param name: of its folder; one that was there before goes on with what it stored.
    :raises Unavailable: if it does not come up, with the end of its log.
    """
    text = configuration_of(bed, schedule=schedule, extra=EXTRA)
    with prepared(bed, text, bed.folder / name) as served:
        yield World(bed, served.start(), served.url, served.folder, served.tasks)


def carry(bed: Bed, size: int, streams: int, port: int, *, rate: float | None = None) -> Delivered:
    """Move real bytes from the MU DTN to the OSU DTN; what the receiver counted.

    :param rate: bits/s that the sender does not exceed.
    :raises Unavailable: if nothing arrives, with the reason.
    """
    source, sink = ((host, str(bed.network.dtn(host).address)) for host in (SOURCE, DESTINATION))
    load = Load(source, sink, port, size=size, streams=streams, rate=rate)
    with carrying(bed, load) as carriage:
        done = deliver(bed, load, carriage, lambda: None)
    if not done.received:
        raise Unavailable(f"transfer: {done.trouble}")
    return Delivered(done.received, list(done.per_second))


@contextmanager
def contention(bed: Bed) -> Iterator[None]:
    """TCP streams between the addresses measured on layer 2: they go there, and nobody admitted them.

    :raises Unavailable: if they do not begin.
    """
    source, sink = ((host, str(bed.network.dtn(host).measured[L2])) for host in (SOURCE, DESTINATION))
    load = Load(source, sink, CONTENTION_PORT, seconds=CONTENTION_S, streams=CONTENDING_STREAMS)
    with meanwhile(bed, load):
        yield


def environment(bed: Bed) -> dict[str, str]:
    """Versions and circumstances for the report."""
    import adon

    def first_line(*argv: str) -> str:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()[0]

    return {
        "ADON": adon.__version__,
        "scale": f"1:{bed.network.scale:g} of the thesis's rates (58 and 6.5 Mbit/s of TCP goodput at 1:100)",
        "follows": "the thesis (QSpecs 700/600/700 Mbps), loss bound widened to 5 % at this scale",
        "emulation": bed.emulation,
        "Open vSwitch": first_line("ovs-vswitchd", "--version"),
        "os-ken": version("os-ken"),
        "iperf3": first_line("iperf3", "--version"),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "Python": sys.version.split()[0],
        "cores": str(os.cpu_count()),
    }


def unique_name() -> str:
    """A name for a run folder that no other run has."""
    return f"{PREFIX}-{int(time.time()) % 100_000}-{secrets.token_hex(2)}"

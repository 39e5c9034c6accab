"""The demo's world: testbed, measurement points and ``adon serve``, up and gone again.

The testbed and ADON run in namespaces of their own; only ADON's web side listens outside, on a loopback port
of the machine, so that the dashboard can be looked at while the demo runs.  Its socket is opened here and
handed down (a socket belongs to the network namespace it was opened in).
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import adon.config
from adon.client import Client
from adon.errors import Conflict, Unavailable
from apps.collector import orders
from measurement.scheduling import Task
from mininet_topos.cross_traffic import CrossTraffic
from mininet_topos.demo.telling import Delivered
from mininet_topos.isolation import (
    RunFolder,
    default_folder,
    require_isolation,
    run_folder,
    run_isolated,
)
from mininet_topos.mu_osu import CAMPUSES, CONTENDING_STREAMS, L3_GOODPUT, MU, OSU, MuOsu, dtn_addresses
from mininet_topos.network_config import DEFAULT_SCHEDULE, Schedule, network_config
from mininet_topos.transfer import Transfer, arguments
from mininet_topos.up import READY_TIMEOUT, Bed
from mininet_topos.waiting import wait_until

SERVE_S = 30.0
TRANSFER_TIMEOUT_S = 60.0
RECEIVER_S = 10.0
PR_SET_PDEATHSIG = 1
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
def testbed_up(  # it is no test
    folder: RunFolder,
    scale: float,
    layer3: float = L3_GOODPUT,  # noqa: PT028
) -> Iterator[Bed]:
    """The testbed alone.

    :param layer3: bits/s of its layer-3 path at full scale.
    :raises Unavailable: if it does not come up, with the end of its log.
    """
    log = folder.path / "testbed.log"
    rates = ["--scale", f"{scale:g}", "--layer3", f"{layer3:g}"]
    argv = [sys.executable, "-m", "mininet_topos.up", "--folder", str(folder.path), *rates]
    with log.open("wb") as output, run_isolated(argv, folder, stdout=output, stderr=output) as process:
        wait_until(lambda: Bed.is_up(folder.path) or process.poll() is not None, READY_TIMEOUT)
        if not Bed.is_up(folder.path):
            raise Unavailable(f"the testbed does not come up: {_last_lines(log)}")
        yield Bed.read(folder.path)


@contextmanager
def adon_on(
    bed: Bed,
    scale: float,
    schedule: Schedule = DEFAULT_SCHEDULE,
    name: str = "adon",
    layer3: float = L3_GOODPUT,
) -> Iterator[World]:
    """``adon serve`` in the testbed's network, its web side outside.

    :param name: of its folder; one that was there before goes on with what it stored.
    :param layer3: as in :func:`testbed_up`.
    :raises Unavailable: if it does not come up, with the end of its log.
    """
    web = socket.create_server(("127.0.0.1", 0), backlog=128)
    certificates = {campus.name: bed.certificates[campus.dtn] for campus in CAMPUSES}
    folder = bed.folder / name
    folder.mkdir(exist_ok=True)
    config, data, token = folder / "network.yaml", folder / "data", folder / "admin.token"
    config.write_text(
        network_config(MuOsu(scale, layer3), certificates, bed.controller, schedule=schedule, extra=EXTRA)
    )
    tasks = orders.plan(adon.config.load(config)).schedule.tasks
    url = f"http://127.0.0.1:{web.getsockname()[1]}"
    serve = [sys.executable, "-m", "apps.cli.main", "serve", "--config", str(config), "--data", str(data)]
    # systemd's protocol (sd_listen_fds(3)): the listening socket is descriptor 3.
    handed = ["bash", "-c", f'exec "$@" 3<&{web.fileno()}', "bash"]
    argv = [*handed, *bed.inside([*serve, "--admin-token-file", str(token)])]
    log = folder / "adon.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL, pass_fds=(web.fileno(),),
            env={**os.environ, "LISTEN_FDS": "1"},
            preexec_fn=_die_with_parent,
        )  # fmt: skip
    try:
        wait_until(lambda: token.exists() or process.poll() is not None, SERVE_S)
        if not token.exists():
            raise Unavailable(f"adon serve does not come up: {_last_lines(log)}")
        client = Client.at(url, token.read_text().strip())
        wait_until(lambda: client.ready() or process.poll() is not None, SERVE_S)
        if process.poll() is not None or not client.ready():
            raise Unavailable(f"adon serve is not ready: {_last_lines(log)}")
        yield World(bed, client, url, folder, tasks)
    finally:
        _end(process)
        web.close()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_lines(log: Path) -> str:
    return " | ".join(log.read_text(errors="replace").splitlines()[-3:])


def carry(bed: Bed, size: int, streams: int, port: int, *, rate: float | None = None) -> Delivered:
    """Move real bytes from the MU DTN to the OSU DTN; what the receiver counted.

    :param rate: bits/s that the sender does not exceed.
    :raises Unavailable: if either side fails, with its reason.
    """
    source, sink = str(dtn_addresses(MU)["data"]), str(dtn_addresses(OSU)["data"])
    receive = arguments("receive", Transfer(sink, (port,), streams, TRANSFER_TIMEOUT_S))
    sending = Transfer(source, (port,), streams, TRANSFER_TIMEOUT_S, rate)
    send = arguments("send", sending, to=sink, size=size)
    with _program(bed, OSU.dtn, receive) as receiver, _program(bed, MU.dtn, send) as sender:
        report = _final(receiver, "received")
        _final(sender, "sent")
    return Delivered(report["bytes"], list(report["per_second"]))


@contextmanager
def contention(bed: Bed) -> Iterator[None]:
    """TCP streams between the addresses measured on layer 2: they go there, and nobody admitted them.

    :raises Unavailable: if the receiver does not come up.
    """
    source, sink = dtn_addresses(MU)["al2s"], dtn_addresses(OSU)["al2s"]
    load = CrossTraffic(
        (MU.dtn, source), (OSU.dtn, sink), CONTENTION_PORT, CONTENTION_S, streams=CONTENDING_STREAMS
    )
    listening = bed.inside(["ss", "-Hltn", f"sport = :{load.port}"], OSU.dtn)
    with _program(bed, OSU.dtn, load.receiver(), quiet=True):
        if not wait_until(lambda: subprocess.check_output(listening) != b"", RECEIVER_S):
            raise Unavailable(f"contention: nothing listens on port {load.port} of {OSU.dtn}")
        with _program(bed, MU.dtn, load.sender(), quiet=True):
            yield


@contextmanager
def _program(bed: Bed, host: str, argv: list[str], *, quiet: bool = False) -> Iterator[subprocess.Popen[str]]:
    # A session of its own: a Ctrl-C is ours to handle.  What we start is nsenter, whose child it is: it ends
    # with nsenter, or with its testbed.
    mortal = ["setpriv", "--pdeathsig", "TERM", *argv]
    output, errors = (subprocess.DEVNULL, subprocess.DEVNULL) if quiet else (subprocess.PIPE, None)
    process = subprocess.Popen(
        bed.inside(mortal, host), stdout=output, stderr=errors, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(10)


def _final(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    last: dict[str, Any] = {}
    for line in process.stdout:
        last = json.loads(line)
    if last.get("event") != event:
        raise Unavailable(f"transfer: {last.get('reason', 'ended without a report')}")
    return last


def environment(bed: Bed, scale: float) -> dict[str, str]:
    """Versions and circumstances for the report."""
    import os_ken

    import adon

    def first_line(*argv: str) -> str:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()[0]

    return {
        "ADON": adon.__version__,
        "scale": f"1:{scale:g} of the thesis's rates (58 and 6.5 Mbit/s of TCP goodput at 1:100)",
        "follows": "the thesis (QSpecs 700/600/700 Mbps), loss bound widened to 5 % at this scale",
        "emulation": bed.emulation,
        "Open vSwitch": first_line("ovs-vswitchd", "--version"),
        "os-ken": os_ken.__version__,
        "iperf3": first_line("iperf3", "--version"),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "Python": sys.version.split()[0],
        "cores": str(os.cpu_count()),
    }


def unique_name() -> str:
    """A name for a run folder that no other run has."""
    return f"{PREFIX}-{int(time.time()) % 100_000}-{secrets.token_hex(2)}"

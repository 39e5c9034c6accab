"""The demo's world: testbed, measurement points and ``adon serve``, up and gone again.

The testbed and ADON run in namespaces of their own; only ADON's web side listens outside, on a loopback port
of the machine, so that the page can be looked at while the demo runs.  Its socket is opened here and handed
down (a socket belongs to the network namespace it was opened in).
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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.errors import Conflict, Unavailable
from apps.cli.client import Client
from mininet_topos.demo.play import Delivered
from mininet_topos.isolation import (
    RunFolder,
    default_folder,
    require_isolation,
    run_folder,
    run_isolated,
)
from mininet_topos.mu_osu import CAMPUSES, MU, OSU, MuOsu, dtn_addresses
from mininet_topos.network_config import network_config
from mininet_topos.transfer import Transfer, arguments
from mininet_topos.up import READY_TIMEOUT, Bed
from mininet_topos.waiting import wait_until

SERVE_S = 30.0
TRANSFER_TIMEOUT_S = 60.0
PR_SET_PDEATHSIG = 1
PREFIX = "demo"
"""What the names of the demo's run folders begin with."""
PROGRAMS = ("ovs-vswitchd", "ovsdb-server", "mnexec", "nsenter", "tc", "ethtool", "iperf3", "ping")

EXTRA: dict[str, Any] = {
    "compute": {
        "mu-hpc": {"site": "mu", "worker_nodes": 4, "throughput_per_node": "8 Mbps", "queue_wait": "20 s"},
        "osu-hpc": {"site": "osu", "worker_nodes": 16, "throughput_per_node": "16 Mbps", "queue_wait": "5 s"},
    },
    # Faithful to the thesis: the periodic tests go on whatever is admitted (spec section 2).
    "policy": {"no_test_above_reserved": None},
}


@dataclass(frozen=True, slots=True)
class World:
    """A running testbed with ADON on it."""

    bed: Bed
    client: Client
    url: str


def require_machine() -> None:
    """Refuse early, in one line, what would fail half-way.

    :raises Unavailable: if this process is not root, or programs are missing.
    """
    require_isolation()
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise Unavailable(f"the testbed needs {', '.join(missing)}: run 'make setup'")


def remove_remains() -> None:
    """Remove the run folders of demos that were killed; those of living ones are locked, and stay."""
    for left in default_folder(PREFIX).parent.glob(f"{PREFIX}-*"):
        with suppress(Conflict), run_folder(left):
            pass


@contextmanager
def testbed_up(folder: RunFolder, scale: float) -> Iterator[Bed]:
    """The testbed alone.

    :raises Unavailable: if it does not come up, with the end of its log.
    """
    log = folder.path / "testbed.log"
    argv = [sys.executable, "-m", "mininet_topos.up", "--folder", str(folder.path), "--scale", f"{scale:g}"]
    with log.open("wb") as output, run_isolated(argv, folder, stdout=output, stderr=output) as process:
        wait_until(lambda: Bed.is_up(folder.path) or process.poll() is not None, READY_TIMEOUT)
        if not Bed.is_up(folder.path):
            raise Unavailable(f"the testbed does not come up: {_last_lines(log)}")
        yield Bed.read(folder.path)


@contextmanager
def adon_on(bed: Bed, scale: float) -> Iterator[World]:
    """``adon serve`` in the testbed's network, its web side outside.

    :raises Unavailable: if it does not come up, with the end of its log.
    """
    web = socket.create_server(("127.0.0.1", 0), backlog=128)
    certificates = {campus.name: bed.certificates[campus.dtn] for campus in CAMPUSES}
    config, data = bed.folder / "network.yaml", bed.folder / "data"
    config.write_text(network_config(MuOsu(scale), certificates, bed.controller, extra=EXTRA))
    token = bed.folder / "admin.token"
    url = f"http://127.0.0.1:{web.getsockname()[1]}"
    serve = [sys.executable, "-m", "apps.cli.main", "serve", "--config", str(config), "--data", str(data)]
    # systemd's protocol (sd_listen_fds(3)): the listening socket is descriptor 3.
    handed = ["bash", "-c", f'exec "$@" 3<&{web.fileno()}', "bash"]
    argv = [*handed, *bed.inside([*serve, "--admin-token-file", str(token)])]
    log = bed.folder / "adon.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL, pass_fds=(web.fileno(),),
            env={**os.environ, "LISTEN_FDS": "1"},
            preexec_fn=_die_with_parent,
        )  # fmt: skip
    try:
        wait_until(lambda: token.exists() or process.poll() is not None, SERVE_S)
        if not token.exists():
            raise Unavailable(f"adon serve does not come up: {_last_lines(log)}")
        client = Client(url, token.read_text().strip())
        wait_until(lambda: client.ready() or process.poll() is not None, SERVE_S)
        if process.poll() is not None or not client.ready():
            raise Unavailable(f"adon serve is not ready: {_last_lines(log)}")
        yield World(bed, client, url)
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


def carry(bed: Bed, size: int, streams: int, port: int) -> Delivered:
    """Move real bytes from the MU DTN to the OSU DTN; what the receiver counted.

    :raises Unavailable: if either side fails, with its reason.
    """
    source, sink = str(dtn_addresses(MU)["data"]), str(dtn_addresses(OSU)["data"])
    receive = arguments("receive", Transfer(sink, (port,), streams, TRANSFER_TIMEOUT_S))
    send = arguments("send", Transfer(source, (port,), streams, TRANSFER_TIMEOUT_S), to=sink, size=size)
    with _program(bed, OSU.dtn, receive) as receiver, _program(bed, MU.dtn, send) as sender:
        report = _final(receiver, "received")
        _final(sender, "sent")
    return Delivered(report["bytes"], list(report["per_second"]))


@contextmanager
def _program(bed: Bed, host: str, argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    # A session of its own: a Ctrl-C is ours to handle, and this program ends with its testbed.
    process = subprocess.Popen(
        bed.inside(argv, host), stdout=subprocess.PIPE, text=True, start_new_session=True
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

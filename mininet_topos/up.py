"""``python -m mininet_topos.up``: a running mu_osu testbed with its measurement points, until SIGTERM.

Run it through :mod:`mininet_topos.isolation`.  When everything answers it writes ``testbed.json`` into the
run folder (what the machine emulates with, the hosts' PIDs, the certificates of the points and of their
controller) and goes on until it is told to stop.  From outside, :class:`Bed` reads that file and runs
programs in the hosts.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.errors import AdonError, NotFound, Unavailable
from mininet_topos.mu_osu import DEFAULT_SCALE, L3_GOODPUT, MuOsu
from mininet_topos.openvswitch import OpenVSwitch
from mininet_topos.points import measurement_points
from mininet_topos.testbed import testbed

STATE = "testbed.json"
DEFAULT_OPENFLOW_PORT = 6653
READY_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Bed:
    """A running testbed, seen from outside its namespaces.

    :param pid: of its first process, as seen from here.
    :param hosts: per host the PID of its shell, as seen inside.
    :param certificates: per host the PEM file that its measurement point is known by.
    :param controller: PEM files of the certificate and key that the points know their controller by.
    :param emulation: how delays and switches are emulated, in words.
    """

    folder: Path
    pid: int
    hosts: dict[str, int]
    certificates: dict[str, Path]
    controller: tuple[Path, Path]
    emulation: str

    @staticmethod
    def is_up(folder: Path) -> bool:
        """Whether the testbed in this folder has come up."""
        return (folder / STATE).exists()

    @classmethod
    def read(cls, folder: Path) -> Bed:
        """The testbed that runs in this folder.

        :raises Unavailable: if it has not come up.
        """
        try:
            state = json.loads((folder / STATE).read_text())
            pid = int((folder / "pid").read_text())
        except (OSError, ValueError) as error:
            raise Unavailable(f"no testbed is running in {folder}: {error}") from error
        certificates = {host: Path(path) for host, path in state["certificates"].items()}
        controller = (Path(state["controller"]["certificate"]), Path(state["controller"]["key"]))
        return cls(folder, pid, state["hosts"], certificates, controller, state["emulation"])

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """The command that runs a program in the testbed's network, or in one host of it.

        :raises NotFound: if there is no such host.
        """
        enter = ["nsenter", "--target", str(self.pid), "--net"]
        if host is None:
            return [*enter, "--", *argv]
        if host not in self.hosts:
            raise NotFound("host", host)
        # mnexec reads /proc/PID/ns of the PIDs that Mininet knows: those of the testbed's PID namespace.
        return [*enter, "--pid", "--mount", "--", "mnexec", "-a", str(self.hosts[host]), *argv]

    def dump_flows(self, switch: str) -> str:
        """A switch's rules; works from outside because Open vSwitch is asked through a Unix socket."""
        return OpenVSwitch(self.folder / "ovs").ofctl("dump-flows", switch)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, announce, wait, remove."""
    parser = argparse.ArgumentParser(prog="python -m mininet_topos.up", description="the mu_osu testbed")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--openflow-port", type=int, default=DEFAULT_OPENFLOW_PORT)
    parser.add_argument("--scale", type=float, default=DEFAULT_SCALE)
    parser.add_argument("--layer3", type=float, default=L3_GOODPUT, help="bits/s at full scale")
    options = parser.parse_args(arguments)
    # Ctrl-C in a terminal reaches every process of the group; our owner decides when we end.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        _run(options)
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    ended = threading.Event()
    network = MuOsu(options.scale, options.layer3)
    with (
        testbed(network.topology(), options.folder, options.openflow_port) as built,
        measurement_points(built) as points,
    ):
        state: dict[str, Any] = {
            "hosts": {host.name: built.host(host.name).pid for host in built.topology.hosts},
            "certificates": {host: str(path) for host, path in points.certificates.items()},
            "controller": {"certificate": str(points.controller[0]), "key": str(points.controller[1])},
            "emulation": str(built.emulated_by),
        }
        # Not earlier: whoever does not handle SIGTERM yet is killed at once, with all that it has built (see
        # isolation.stop), where a half-built network would first have to be built to its end.
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        whole = options.folder / f"{STATE}.part"
        whole.write_text(json.dumps(state) + "\n")
        whole.rename(options.folder / STATE)
        ended.wait()


if __name__ == "__main__":
    sys.exit(main())

"""Test networks in namespaces of this machine's kernel (:mod:`mininet_topos.old_isolation`); needs root."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos.listening import listens
from mininet_topos.networks import Network
from mininet_topos.old_isolation import RunFolder, run_isolated
from mininet_topos.old_platforms import state
from mininet_topos.old_platforms.bed import Underway
from mininet_topos.old_platforms.in_folder import BedInFolder, known, reconnecting
from mininet_topos.old_platforms.names import Platform
from mininet_topos.openvswitch import OpenVSwitch
from mininet_topos.points import FOLDER as POINTS
from mininet_topos.points import addresses_of, introduce
from mininet_topos.waiting import wait_until

OPENFLOW_PORT = 6653
READY_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class HostBed(BedInFolder):
    """A network in namespaces of this machine (:class:`~mininet_topos.old_platforms.bed.Bed`)."""

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.inside`."""
        enter = ["nsenter", "--target", str(self.pid), "--net"]
        if host is None:
            return [*enter, "--", *argv]
        known(self.network, host)
        # mnexec reads /proc/PID/ns of the PIDs that Mininet knows: those of the testbed's PID namespace.  To
        # be in it nsenter forks, and hands on no signal: the program is to end when that is ended.
        shell = state.read_built(self.folder).hosts[host]
        mortal = ["setpriv", "--pdeathsig", "TERM", "mnexec", "-a", str(shell), *argv]
        return [*enter, "--pid", "--mount", "--", *mortal]

    def terminal(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.terminal`: what runs inside inherits ours."""
        return self.inside(argv, host)

    def serving(self, argv: Sequence[str]) -> list[str]:
        """As :meth:`Bed.serving`."""
        return self.inside(argv)

    def ofctl(self, *words: str) -> str:
        """As :meth:`Bed.ofctl`; from outside, because Open vSwitch is asked through a Unix socket."""
        return OpenVSwitch(self.folder / "ovs").ofctl(*words)

    def controlled(self) -> bool:
        """As :meth:`Bed.controlled`."""
        return listens(self.openflow_port, self.pid)

    def reconnect(self) -> None:
        """As :meth:`Bed.reconnect`."""
        switches = OpenVSwitch(self.folder / "ovs")
        for words in reconnecting(self.network, self.openflow_port):
            switches.vsctl(*words)


@contextmanager
def host_begun(platform: Platform, network: Network, folder: RunFolder) -> Iterator[Underway]:
    """As :func:`mininet_topos.old_platforms.begun`."""
    state.write_network(folder.path, network)
    state.write_begun(folder.path, state.Begun(platform, OPENFLOW_PORT, {}))
    introduce(folder.path / POINTS, addresses_of(network.topology))
    log = folder.path / "testbed.log"
    argv = [sys.executable, "-m", "mininet_topos.old_platforms.built", "--folder", str(folder.path)]
    with log.open("wb") as output, run_isolated(argv, folder, stdout=output, stderr=output) as process:

        def await_built() -> None:
            wait_until(lambda: state.is_built(folder.path) or process.poll() is not None, READY_TIMEOUT)
            if not state.is_built(folder.path):
                raise Unavailable(f"the testbed does not come up: {last_lines(log)}")

        yield Underway(HostBed(folder.path, network, platform, OPENFLOW_PORT, {}), await_built, sealed=False)


def last_lines(log: Path, count: int = 3) -> str:
    """The end of a log, in one line."""
    return " | ".join(log.read_text(errors="replace").splitlines()[-count:])

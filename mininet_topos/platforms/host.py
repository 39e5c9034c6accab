"""Test networks in namespaces of this machine's kernel (:mod:`mininet_topos.isolation`); needs root."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import InvalidInput, NotFound, Unavailable
from mininet_topos.isolation import RunFolder, run_isolated
from mininet_topos.listening import listens
from mininet_topos.networks import Network
from mininet_topos.openvswitch import OpenVSwitch
from mininet_topos.platforms import link_changes, state
from mininet_topos.platforms.bed import PointContact, Underway
from mininet_topos.platforms.names import Platform
from mininet_topos.points import FOLDER as POINTS
from mininet_topos.points import LOOPBACK, addresses_of, introduce, introduced
from mininet_topos.shaping import Change
from mininet_topos.topology import MEASUREMENT_POINT_PORT
from mininet_topos.waiting import wait_until

OPENFLOW_PORT = 6653
READY_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class HostBed:
    """A network in namespaces of this machine (:class:`~mininet_topos.platforms.bed.Bed`).

    What is known only when it is built is read from its folder.
    """

    folder: Path
    network: Network
    platform: Platform
    openflow_port: int = OPENFLOW_PORT

    @property
    def pid(self) -> int:
        """As :attr:`Bed.pid`."""
        return state.read_pid(self.folder)

    @property
    def emulation(self) -> str:
        """As :attr:`Bed.emulation`."""
        return str(state.read_built(self.folder).emulation)

    @property
    def controller(self) -> tuple[Path, Path]:
        """As :attr:`Bed.controller`."""
        return introduced(self.folder / POINTS, ()).controller

    def point(self, host: str) -> PointContact:
        """As :meth:`Bed.point`."""
        addresses = addresses_of(self.network.topology)
        if host not in addresses:
            raise NotFound("measurement point in host", host)
        node = f"{addresses[host]}:{MEASUREMENT_POINT_PORT}"
        certificate = introduced(self.folder / POINTS, (host,)).certificates[host]
        return PointContact(f"https://{node}/pscheduler", node, certificate)

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.inside`."""
        enter = ["nsenter", "--target", str(self.pid), "--net"]
        if host is None:
            return [*enter, "--", *argv]
        known(self.network, host)
        # mnexec reads /proc/PID/ns of the PIDs that Mininet knows: those of the testbed's PID namespace.
        shell = state.read_built(self.folder).hosts[host]
        return [*enter, "--pid", "--mount", "--", "mnexec", "-a", str(shell), *argv]

    def terminal(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.terminal`: what runs inside inherits ours."""
        return self.inside(argv, host)

    def serving(self, argv: Sequence[str]) -> list[str]:
        """As :meth:`Bed.serving`."""
        return self.inside(argv)

    def dump_flows(self, switch: str) -> str:
        """As :meth:`Bed.dump_flows`; from outside, because Open vSwitch is asked through a Unix socket."""
        return self.ofctl("dump-flows", switch)

    def ofctl(self, *words: str) -> str:
        """As :meth:`Bed.ofctl`."""
        return OpenVSwitch(self.folder / "ovs").ofctl(*words)

    def controlled(self) -> bool:
        """As :meth:`Bed.controlled`."""
        return listens(self.openflow_port, self.pid)

    def reconnect(self) -> None:
        """As :meth:`Bed.reconnect`."""
        switches = OpenVSwitch(self.folder / "ovs")
        for words in reconnecting(self.network, self.openflow_port):
            switches.vsctl(*words)

    def set_link(
        self,
        name: str,
        *,
        up: bool | None = None,
        rate: float | None = None,
        delay: float | None = None,
        loss: float | None = None,
    ) -> None:
        """As :meth:`Bed.set_link`."""
        link_changes.set_link(self, name, Change(up, rate, delay, loss))


def known(network: Network, host: str) -> None:
    """Refuse a host that is not there.

    :raises InvalidInput: naming those that are, but for the lines, which only who knows them looks into.
    """
    if all(one.name != host for one in network.topology.hosts):
        names = [one.name for one in network.topology.machines]
        raise InvalidInput.of("host", f"there is no {host!r} in {network.name}; there are {', '.join(names)}")


def reconnecting(network: Network, port: int) -> tuple[tuple[str, ...], ...]:
    """What ``ovs-vsctl`` is told, one after the other, so that switches try their controllers at once.

    Open vSwitch 3.1 waits up to 8 s between two attempts, whatever ``max_backoff`` says; a controller that is
    written differently is another to it, and is tried immediately.
    """
    controlled = [switch.name for switch in network.topology.switches if switch.controlled]
    return tuple(
        tuple(word for name in controlled for word in ("--", "set", "controller", name, f'target="{target}"'))
        for target in (f"tcp:[{LOOPBACK}]:{port}", f"tcp:{LOOPBACK}:{port}")
    )


def read(folder: Path) -> HostBed:
    """The network that runs in a folder.

    :raises Unavailable: if none does.
    """
    state.read_built(folder)
    begun = state.read_begun(folder)
    return HostBed(folder, state.read_network(folder), begun.platform, begun.openflow_port)


@contextmanager
def host_begun(platform: Platform, network: Network, folder: RunFolder) -> Iterator[Underway]:
    """As :func:`mininet_topos.platforms.begun`."""
    state.write_network(folder.path, network)
    state.write_begun(folder.path, state.Begun(platform, OPENFLOW_PORT, {}))
    introduce(folder.path / POINTS, addresses_of(network.topology))
    log = folder.path / "testbed.log"
    argv = [sys.executable, "-m", "mininet_topos.platforms.built", "--folder", str(folder.path)]
    with log.open("wb") as output, run_isolated(argv, folder, stdout=output, stderr=output) as process:

        def await_built() -> None:
            wait_until(lambda: state.is_built(folder.path) or process.poll() is not None, READY_TIMEOUT)
            if not state.is_built(folder.path):
                raise Unavailable(f"the testbed does not come up: {last_lines(log)}")

        yield Underway(HostBed(folder.path, network, platform), await_built, sealed=False)


def last_lines(log: Path, count: int = 3) -> str:
    """The end of a log, in one line."""
    return " | ".join(log.read_text(errors="replace").splitlines()[-count:])

"""Test networks in a User-Mode-Linux guest (:mod:`mininet_topos.old_guest`); needs no root.

Switches, hosts and measurement points are in the guest; the controller is here.  The guest's switches reach
it, and the collector the points, by TCP connections over the guest's serial line: certificates are checked
from end to end, because the line carries what TLS says and knows nothing of it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos import commands
from mininet_topos.listening import listens
from mininet_topos.networks import Network
from mininet_topos.old_guest import client, clock, kernel, machine
from mininet_topos.old_guest.channel import Channel
from mininet_topos.old_guest.inside import OPENFLOW, OPENFLOW_PORT, OWN, POINT, PROGRAMS
from mininet_topos.old_isolation import RunFolder
from mininet_topos.old_platforms import state
from mininet_topos.old_platforms.bed import Underway
from mininet_topos.old_platforms.in_folder import BedInFolder, known, reconnecting
from mininet_topos.old_platforms.names import Platform
from mininet_topos.openvswitch import COMMAND_TIMEOUT
from mininet_topos.points import FOLDER as POINTS
from mininet_topos.points import LOOPBACK, addresses_of, introduce
from mininet_topos.waiting import wait_until

READY_TIMEOUT = 180.0


@dataclass(frozen=True, slots=True)
class GuestBed(BedInFolder):
    """A network in a guest (:class:`~mininet_topos.old_platforms.bed.Bed`)."""

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.inside`."""
        if host is not None:
            known(self.network, host)
        where = [] if host is None else [host]
        return [sys.executable, "-m", client.__name__, "--folder", str(self.folder), *where, "--", *argv]

    def terminal(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.terminal`."""
        command = self.inside(argv, host)
        return [*command[:3], "--terminal", *command[3:]]

    def serving(self, argv: Sequence[str]) -> list[str]:
        """As :meth:`Bed.serving`."""
        return list(argv)

    def ofctl(self, *words: str) -> str:
        """As :meth:`Bed.ofctl`."""
        return self._switches("ovs-ofctl", "-O", "OpenFlow13", *words)

    def controlled(self) -> bool:
        """As :meth:`Bed.controlled`."""
        return listens(self.openflow_port)

    def reconnect(self) -> None:
        """As :meth:`Bed.reconnect`."""
        for words in reconnecting(self.network, OPENFLOW_PORT):
            self._switches("ovs-vsctl", f"--timeout={int(COMMAND_TIMEOUT)}", *words)

    def _switches(self, *words: str) -> str:
        """Run one of Open vSwitch's programs on the guest's instance."""
        argv = self.inside(["env", f"OVS_RUNDIR={OWN / 'ovs'}", *words])
        return commands.output(argv, told=commands.beginning(words), timeout=COMMAND_TIMEOUT)


@contextmanager
def guest_begun(platform: Platform, network: Network, folder: RunFolder) -> Iterator[Underway]:
    """As :func:`mininet_topos.old_platforms.begun`."""
    found = kernel.found()
    addresses = addresses_of(network.topology)
    state.write_network(folder.path, network)
    introduce(folder.path / POINTS, addresses)
    argv = [sys.executable, "-m", "mininet_topos.old_guest.inside", "--folder", str(folder.path)]
    with ExitStack() as stack:
        listeners = {f"{POINT}{host}": stack.enter_context(_listening()) for host in addresses}
        ports = {host: listeners[f"{POINT}{host}"].getsockname()[1] for host in addresses}
        port = stack.enter_context(_reserved()).getsockname()[1]
        state.write_begun(folder.path, state.Begun(platform, port, ports))
        listeners[PROGRAMS] = stack.enter_context(_listening_at(folder.path / client.SOCKET))
        guest = stack.enter_context(machine.started(found, argv, folder.path, _environment()))
        services = {OPENFLOW: (LOOPBACK, port)}
        # The guest speaks first: what is said to its terminal before that is raw is spoilt.
        stack.enter_context(_carried(Channel(guest.line.fileno(), services, listeners, 0, room=0), guest.end))

        def await_built() -> None:
            # The clock before anything that looks at it runs.
            _await(lambda: state.is_listening(folder.path), guest)
            if guest.modules_missing:
                raise Unavailable(f"the guest's kernel cannot load {', '.join(guest.modules_missing)}")
            clock.set_clock(folder.path / client.SOCKET)
            _await(lambda: state.is_built(folder.path), guest)

        yield Underway(GuestBed(folder.path, network, platform, port, ports), await_built, sealed=True)


def _await(reached: Callable[[], bool], guest: machine.Guest) -> None:
    wait_until(lambda: reached() or guest.process.poll() is not None, READY_TIMEOUT)
    if not reached():
        raise Unavailable(f"the testbed does not come up in its guest: {_said(guest)}")


def _reserved() -> socket.socket:
    """A TCP port on loopback that is given to nobody else who asks for one, as long as this is open.

    Who asks for it by its number can listen on it, as our controller does: both have SO_REUSEADDR, and this
    one does not listen.
    """
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((LOOPBACK, 0))
    return sock


def _listening() -> socket.socket:
    sock = socket.create_server((LOOPBACK, 0))
    sock.setblocking(False)
    return sock


def _listening_at(path: Path) -> socket.socket:
    """For whoever may look into the run folder: we."""
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    sock.listen(64)
    sock.setblocking(False)
    return sock


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(machine.PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def _carried(channel: Channel, end: Callable[[], None]) -> Iterator[None]:
    """What goes over the line is carried by a thread meanwhile.

    :param end: of the guest, should the thread end before: nobody would reach it any more.
    """

    def carry() -> None:
        try:
            channel.run(until)
        finally:
            end()

    until, ended = os.pipe()
    with closing(os.fdopen(until, "rb")), closing(os.fdopen(ended, "wb", buffering=0)) as stop:
        thread = threading.Thread(target=carry, name="guest's line", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.write(b"x")
            thread.join()


def _said(guest: machine.Guest) -> str:
    """What the guest's program said last, else its kernel."""
    for name in ("stderr", "console"):
        lines = [line for line in _text(guest.share / name).splitlines() if line.strip()]
        if lines:
            return " | ".join(lines[-3:])
    return "it said nothing"


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""

"""A running test network as whoever experiments with it sees it, whatever runs it.

Programs of the network run inside (:meth:`Bed.inside`), the controller where its switches reach it
(:meth:`Bed.serving`).  All that is said here are command lines for the machine that we are on: whoever runs
them has their input, output and exit status, and ends them by a signal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mininet_topos.networks import Network
from mininet_topos.old_platforms.names import Platform
from mininet_topos.shaping import Change


@dataclass(frozen=True, slots=True)
class PointContact:
    """How a measurement point is reached.

    :param url: of its pScheduler API, as the collector reaches it.
    :param node: ``address:port`` by which the other points reach it.
    :param certificate: PEM file that it is known by to whoever uses the URL.
    """

    url: str
    node: str
    certificate: Path


class Bed(Protocol):
    """See the module's text."""

    @property
    def folder(self) -> Path:
        """The run folder."""

    @property
    def network(self) -> Network:
        """What runs."""

    @property
    def platform(self) -> Platform:
        """What it runs on; every report says it."""

    @property
    def emulation(self) -> str:
        """How delays and switches are emulated, in words; every report quotes it."""

    @property
    def openflow_port(self) -> int:
        """The port on 127.0.0.1, where :meth:`serving` runs, that the switches' controller listens on."""

    @property
    def pid(self) -> int:
        """Of the process, as seen from here, with which all of it ends."""

    @property
    def controller(self) -> Path:
        """The file of the token that the measurement points know their controller by."""

    def point(self, host: str) -> PointContact:
        """The measurement point in a host.

        :raises NotFound: if there is none.
        """

    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """The command that runs a program in a host, or where the switches are.

        It passes on standard input, output and error, and the exit status.  SIGINT and SIGTERM end the
        program, in a guest as themselves, on the host as SIGTERM; and it does not outlive the command.

        :raises InvalidInput: if there is no such host, naming those that are there.
        """

    def terminal(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`inside`, for a program that gets a terminal like ours: keys, colours, size.

        :raises InvalidInput: if there is no such host, naming those that are there.
        """

    def serving(self, argv: Sequence[str]) -> list[str]:
        """The command that runs a controller where the switches and the points reach it.

        Sockets that it inherits stay this machine's: a web side that is handed its listening socket
        (``sd_listen_fds(3)``) is reached from here.
        """

    def dump_flows(self, switch: str) -> str:
        """A switch's rules with their counters, as ``ovs-ofctl`` prints them.

        :raises Unavailable: if it cannot be asked.
        """

    def ofctl(self, *words: str) -> str:
        """``ovs-ofctl -O OpenFlow13`` on the switches, and what it prints.

        :raises Unavailable: if it fails, with its own words.
        """

    def controlled(self) -> bool:
        """Whether anything listens where the switches look for their controller."""

    def reconnect(self) -> None:
        """Let the switches try their controller at once, and not after a pause of up to 8 s.

        :raises Unavailable: if they cannot be told.
        """

    def set_link(self, name: str, change: Change) -> None:
        """Change a link, in both directions, while it is in use.

        :param name: as the network's description has it (:meth:`Network.link`).
        :raises InvalidInput: if there is no such link, or for what it or this platform cannot do.
        """


@dataclass(frozen=True, slots=True)
class Underway:
    """A test network that is being built.

    :param bed: says already how its parts will be reached; nothing can be run in it before it is built.
    :param await_built: waits until everything answers; raises Unavailable if it does not come up.
    :param sealed: whether nobody reaches its measurement points before that.  A controller may be started
        meanwhile: it measures nothing of a network that does not forward yet.
    """

    bed: Bed
    await_built: Callable[[], None]
    sealed: bool

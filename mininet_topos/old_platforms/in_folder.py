"""What every bed can say from its run folder alone, whatever its network runs on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from adon.errors import InvalidInput, NotFound
from mininet_topos.networks import Network
from mininet_topos.old_platforms import link_changes, state
from mininet_topos.old_platforms.bed import PointContact
from mininet_topos.old_platforms.names import Platform
from mininet_topos.points import FOLDER as POINTS
from mininet_topos.points import LOOPBACK, addresses_of, introduced
from mininet_topos.shaping import Change
from mininet_topos.topology import MEASUREMENT_POINT_PORT


@dataclass(frozen=True, slots=True)
class BedInFolder(ABC):
    """The part of a :class:`~mininet_topos.old_platforms.bed.Bed` that platforms share.

    What is known only when it is built is read from its folder.

    :param ports: as :attr:`mininet_topos.old_platforms.state.Begun.ports`.
    """

    folder: Path
    network: Network
    platform: Platform
    openflow_port: int
    ports: Mapping[str, int]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The network that runs in a folder.

        :raises Unavailable: if none does.
        """
        state.read_built(folder)
        begun, network = state.read_begun(folder), state.read_network(folder)
        return cls(folder, network, begun.platform, begun.openflow_port, begun.ports)

    @property
    def pid(self) -> int:
        """As :attr:`Bed.pid`."""
        return state.read_pid(self.folder)

    @property
    def emulation(self) -> str:
        """As :attr:`Bed.emulation`."""
        return str(state.read_built(self.folder).emulation)

    @property
    def controller(self) -> Path:
        """As :attr:`Bed.controller`."""
        return introduced(self.folder / POINTS, ()).controller

    def point(self, host: str) -> PointContact:
        """As :meth:`Bed.point`."""
        addresses = addresses_of(self.network.topology)
        if host not in addresses:
            raise NotFound("measurement point in host", host)
        node = f"{addresses[host]}:{MEASUREMENT_POINT_PORT}"
        certificate = introduced(self.folder / POINTS, (host,)).certificates[host]
        reached_at = f"{LOOPBACK}:{self.ports[host]}" if host in self.ports else node
        return PointContact(f"https://{reached_at}/pscheduler", node, certificate)

    @abstractmethod
    def inside(self, argv: Sequence[str], host: str | None = None) -> list[str]:
        """As :meth:`Bed.inside`."""

    @abstractmethod
    def ofctl(self, *words: str) -> str:
        """As :meth:`Bed.ofctl`."""

    def dump_flows(self, switch: str) -> str:
        """As :meth:`Bed.dump_flows`."""
        return self.ofctl("dump-flows", switch)

    def set_link(self, name: str, change: Change) -> None:
        """As :meth:`Bed.set_link`."""
        link_changes.set_link(self, name, change)


def known(network: Network, host: str) -> None:
    """Refuse a host that is not there.

    :raises InvalidInput: naming those that are, but for the lines, which only who knows them looks into.
    """
    if all(one.name != host for one in network.topology.hosts):
        names = [one.name for one in network.topology.machines]
        cause = f"there is no {host!r} in {network.name}; there are {', '.join(names)}"
        raise InvalidInput.of("host", cause, "unknown-name")


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

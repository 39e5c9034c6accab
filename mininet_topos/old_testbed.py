"""Build a described network inside this process's namespaces, and remove it.

To be used by a program that :mod:`mininet_topos.old_isolation` runs; it refuses to build in the machine's own
network. What is built is said by :mod:`mininet_topos.building` and :mod:`mininet_topos.link_shape`; here and
in :mod:`mininet_topos.joined_hosts` it is done, in few processes. Hosts are as Mininet's (``mnexec``, a shell
each). Its ``net.start`` is not used: it starts a hundred programs for two campuses, which takes half a minute
in a guest, changes limits of the whole machine, and ignores a rate out of range; its ``cleanup`` kills by
name.

Rates.  HTB with one class per direction and a tail-drop queue, never at a switch's port (see
:class:`~mininet_topos.topology.Kind`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from adon.errors import InvalidInput, Unavailable
from mininet_topos import building, namespaces
from mininet_topos.emulation import Emulation
from mininet_topos.joined_hosts import JoinedHosts, joined_hosts
from mininet_topos.laps import Laps
from mininet_topos.link_shape import LinkShape, tc_lines
from mininet_topos.namespaces import Inside
from mininet_topos.openvswitch import OpenVSwitch, await_processors, open_vswitch
from mininet_topos.shaping import Change
from mininet_topos.topology import Interface, Topology

READY_TIMEOUT = 20
PING_INTERVAL = 0.2


@dataclass(frozen=True)
class Testbed:
    """A running network.

    :param took: seconds of each part of building it.
    """

    __test__ = False  # pytest would otherwise take the class for a test

    hosts: JoinedHosts
    switches: OpenVSwitch
    took: Mapping[str, float]
    _shapes: dict[str, LinkShape] = field(repr=False)

    @property
    def topology(self) -> Topology:
        """What was built."""
        return self.hosts.topology

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.hosts.folder

    @property
    def emulated_by(self) -> Emulation:
        """What the machine had to emulate it with; reports quote it."""
        return self.hosts.emulated_by

    def host(self, name: str) -> Inside:
        """The host or router of this name.

        :raises InvalidInput: if there is none.
        """
        return self.hosts.host(name)

    def dump_flows(self, switch: str) -> str:
        """The rules in one switch with their counters, as ``ovs-ofctl`` prints them."""
        return self.switches.ofctl("dump-flows", switch)

    def connected(self, switch: str) -> bool:
        """Whether the switch is connected to its controller."""
        return self.switches.vsctl("get", "controller", switch, "is_connected").strip() == "true"

    def shape(self, interface: str) -> LinkShape | None:
        """What may leave by an interface now.

        :raises InvalidInput: if there is none of this name.
        """
        return self._shapes.get(self._interface(interface).name)

    def set_link(self, *interfaces: str, change: Change) -> None:
        """Change what leaves by these interfaces, or take them up or down, while traffic runs.

        All of them are checked before the first is changed.

        :raises InvalidInput: if one is not there, has no shape to change, or is to have an impossible one.
        :raises Unavailable: if it is to have a delay or a loss, and this kernel has no netem.
        """
        if (change.delay or change.loss) and not self.emulated_by.netem:
            raise Unavailable("this kernel has no netem, so that a link can have neither delay nor loss")
        ends = [self._interface(name) for name in interfaces]
        shapes = {end.name: self._changed(end, change) for end in ends} if change.shapes else {}
        for end in ends:
            with self._where(end):
                if end.name in shapes:
                    namespaces.batch(
                        "tc", tc_lines(end.name, shapes[end.name], netem=self.emulated_by.netem, change=True)
                    )
                    self._shapes[end.name] = shapes[end.name]
                if change.up is not None:
                    namespaces.batch("ip", building.taken(self.topology, end, up=change.up))

    def _where(self, end: Interface) -> AbstractContextManager[None]:
        """This thread is where the interface is."""
        return self.hosts.inside[end.node].entered() if end.node in self.hosts.inside else nullcontext()

    def _interface(self, name: str) -> Interface:
        for link in self.topology.links:
            for end in link.ends:
                if end.name == name:
                    return end
        raise InvalidInput.of("interface", f"there is no interface {name!r} in {self.topology.name!r}")

    def _changed(self, end: Interface, change: Change) -> LinkShape:
        shape = self._shapes.get(end.name)
        if shape is None:
            raise InvalidInput.of(f"interfaces.{end.name}", "it was built without a rate, and cannot get one")
        return change.of(shape, f"interfaces.{end.name}")


@contextmanager
def testbed(  # it is no test
    topology: Topology,
    folder: Path,
    openflow_port: int,
    *,
    kernel_datapath: bool | None = None,  # noqa: PT028
) -> Iterator[Testbed]:
    """Build the network, wait until it forwards, and remove it at the end.

    :param folder: the run folder; Open vSwitch's files are in ``ovs/`` below it.
    :param openflow_port: TCP port on 127.0.0.1 of this namespace that the campus edges connect to.
    :param kernel_datapath: whether switches are the kernel's; None: if it has them.
    :raises Unavailable: if it cannot be built here, saying what is missing.
    """
    with (
        joined_hosts(topology, folder, kernel_datapath=kernel_datapath) as hosts,
        switched(hosts, openflow_port) as built,
    ):
        yield built


@contextmanager
def switched(hosts: JoinedHosts, openflow_port: int) -> Iterator[Testbed]:
    """The second half of :func:`testbed`: switches for hosts that are there; the hosts stay when it ends."""
    topology, emulated_by, laps = hosts.topology, hosts.emulated_by, Laps()
    if emulated_by.datapath == "kernel":
        await_processors()
        laps.lap("the machine's first seconds")
    with open_vswitch(hosts.folder / "ovs") as switches:
        laps.lap("Open vSwitch starts")
        switches.vsctl(*building.bridges(topology, emulated_by, openflow_port))
        laps.lap("switches")
        switches.add_flows({switch.name: switch.rules for switch in topology.switches})
        laps.lap("rules")
        _await_forwarding(hosts)
        laps.lap("first answers")
        shapes = {end.name: end.shape for link in topology.links for end in link.ends if end.shape}
        yield Testbed(hosts, switches, {**hosts.took, **laps.took}, shapes)


def _await_forwarding(hosts: JoinedHosts) -> None:
    """Ready means that every host reaches its own routers and they each other, by real pings."""
    wanted = [
        *dict.fromkeys((host.name, route.via) for host in hosts.topology.hosts for route in host.routes)
    ]
    until = ("-c", "1", "-i", str(PING_INTERVAL), "-w", str(READY_TIMEOUT))  # the first answer
    pings = list[subprocess.Popen[bytes]]()
    try:
        for name, via in wanted:
            with hosts.host(name).entered():
                argv = ["ping", "-n", "-q", *until, via]
                pings.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, start_new_session=True))
        for (name, via), ping in zip(wanted, pings, strict=True):
            if ping.wait(READY_TIMEOUT + 1) != 0:
                raise Unavailable(f"testbed: {name} does not reach {via}")
    finally:
        for ping in pings:
            ping.kill()
            ping.wait()

"""A network of a topology that runs in the namespaces, or in the guest, of this process.

It is for programs that :func:`~mininet_topos.isolation.run_isolated` starts: they see and change nothing
outside, and everything ends with the program.  A host is a Mininet node.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import Topo

from adon.errors import InvalidInput, Unavailable
from mininet_topos import commands
from mininet_topos.guest import is_guest
from mininet_topos.link_shape import tc_lines
from mininet_topos.nodes import DATAPATH, CampusEdge, Host, ShapedLink
from mininet_topos.openvswitch import OpenVSwitch, await_processors, open_vswitch
from mininet_topos.topologies.campus_topo import CampusTopo, Circuit, Interface
from mininet_topos.topologies.cloud_topo import CloudTopo

OPENFLOW_PORT = 6653
"""TCP port on 127.0.0.1, inside, that the campus edges connect to."""
TOPOLOGY = "topology"
"""File in the testbed's folder: the name of what runs there."""
HOSTS = "hosts"
"""Folder of the testbed's folder: per host the PID, as seen inside, that ``mnexec -a`` takes."""
READY_TIMEOUT = 20


@dataclass(frozen=True, slots=True)
class LinkChange:
    """New attributes of a circuit, in both directions; None leaves an attribute unchanged.

    :param rate: bits/s on the wire, as built.
    :param delay: seconds, one way.
    :param loss: share of the packets, 0..1.
    """

    up: bool | None = None
    rate: float | None = None
    delay: float | None = None
    loss: float | None = None


@dataclass
class Testbed:
    """A running network.

    :param folder: for sockets and logs; it ends with the testbed.
    :param emulation: datapath, rates and delays in words; every report quotes it.
    """

    __test__ = False  # no test class of pytest

    topo: Topo
    folder: Path
    net: Mininet
    switches: OpenVSwitch
    emulation: str
    _changed: dict[str, LinkChange] = field(default_factory=dict, repr=False)

    def popen(self, host: str, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program in a host; it ends with the testbed at the latest.

        The program has its own session, so that a Ctrl-C in the terminal does not reach it.

        :param options: as for :class:`subprocess.Popen`.
        """
        return subprocess.Popen(self._command(host, argv), start_new_session=True, **options)

    def run(self, host: str, *argv: str, timeout: float = commands.TIMEOUT) -> str:
        """Run a program in a host and return what it prints.

        :raises Unavailable: if the program fails or takes longer than ``timeout`` seconds.
        """
        return commands.output(self._command(host, argv), name=f"{host}: {argv[0]}", timeout=timeout)

    def change_link(self, circuit: str, change: LinkChange) -> LinkChange:
        """Change a circuit while traffic runs, and return the attributes that it had before.

        The kernel removes the routes by an interface that goes down; they return with the interface.

        :raises InvalidInput: if the circuit was built without a rate, or the values are out of range; nothing
            is changed then.
        :raises Unavailable: for a delay or a loss if the kernel has no netem.
        """
        found = self.topo.circuits[circuit]
        before = self._changed.get(circuit, _as_built(found))
        given: dict[str, Any] = {name: value for name, value in asdict(change).items() if value is not None}
        after = replace(before, **given)
        if replace(after, up=before.up) != before:
            self._shape(found, {"rate": after.rate, "delay": after.delay, "loss": after.loss})
        if after.up != before.up:
            self._set_up(found, up=bool(after.up))
        self._changed[circuit] = after
        return before

    def restore_links(self) -> None:
        """Give every changed circuit the attributes with which it was built."""
        for circuit in list(self._changed):
            self.change_link(circuit, _as_built(self.topo.circuits[circuit]))

    def _command(self, host: str, argv: Sequence[str]) -> list[str]:
        return ["mnexec", "-a", str(self.net[host].pid), *argv]

    def _shape(self, circuit: Circuit, values: Mapping[str, Any]) -> None:
        if circuit.shape is None:
            raise InvalidInput.of("circuit", f"{circuit.name} was built without a rate and cannot get one")
        shape = replace(circuit.shape, **values)
        for attribute, cause in shape.faults():
            raise InvalidInput.of(f"circuits.{circuit.name}.{attribute}", cause, "out-of-range")
        is_as_built = (shape.delay, shape.loss) == (circuit.shape.delay, circuit.shape.loss)
        if (shape.delay or shape.loss) and not is_as_built and not ShapedLink.netem:
            raise Unavailable(
                "netem: this kernel cannot emulate delay and loss; use the platform guest",
                code="missing-requirement",
            )
        for end in circuit.shaped:
            lines = tc_lines(end.name, shape, netem=bool(ShapedLink.netem), change=True)
            self._batch(end.node, "tc", lines)

    def _set_up(self, circuit: Circuit, *, up: bool) -> None:
        for node, interface in circuit.interfaces.items():
            routes = self._routes_by(interface) if up else ()
            self._batch(node, "ip", [f"link set dev {interface.name} {'up' if up else 'down'}", *routes])

    def _routes_by(self, interface: Interface) -> Iterator[str]:
        """Yield lines that set the static routes of a node whose next hop is behind an interface."""
        if interface.address:
            network = ip_network(f"{interface.address}/{interface.prefix}", strict=False)
            for destination, via in self.net[interface.node].params.get("routes", ()):
                if ip_address(via) in network:
                    yield f"route replace {destination} via {via}"

    def _batch(self, node: str, tool: str, lines: Sequence[str]) -> None:
        argv = self._command(node, [tool, "-batch", "-"])
        commands.output(argv, "\n".join((*lines, "")), name=f"{node}: {tool}")


def _as_built(circuit: Circuit) -> LinkChange:
    shape = circuit.shape
    return LinkChange(True) if shape is None else LinkChange(True, shape.rate, shape.delay, shape.loss)


@contextmanager
def build_testbed(topo: Topo, folder: Path) -> Iterator[Testbed]:
    """Build a network, wait until every host reaches its next hops, and remove the network at the end.

    The nodes of a plain topology get the classes of this package, and MAC addresses as by ``mn --mac``.

    :param folder: of :func:`~mininet_topos.isolation.folder_inside`.
    :raises Unavailable: if this process is not isolated, or the network cannot be built here.
    """
    if os.getpid() != 1 and not is_guest():
        raise Unavailable(
            "a testbed is built only in namespaces of its own: start the program with run_isolated"
        )
    if DATAPATH == "kernel":
        await_processors()
    commands.output(["ip", "link", "set", "dev", "lo", "up"])
    with open_vswitch(folder / "ovs") as switches, _start_mininet(topo, switches) as net:
        has_netem = any(ShapedLink.has_netem(host) for host in net.hosts[:1])
        delays = "netem delay and loss" if has_netem else "no delay and no loss (no netem)"
        emulation = f"Open vSwitch {DATAPATH} datapath, HTB rates, {delays}"
        testbed = Testbed(topo, folder, net, switches, emulation)
        (folder / HOSTS).mkdir()
        for host in net.hosts:
            (folder / HOSTS / host.name).write_text(f"{host.pid}\n")
        _await_forwarding(testbed)
        yield testbed


class _Controller(RemoteController):  # type: ignore[misc]
    """ADON, which starts after the network."""

    def checkListening(self) -> None:  # noqa: N802 - Mininet's name
        """Expect nothing."""


@contextmanager
def _start_mininet(topo: Topo, switches: OpenVSwitch) -> Iterator[Mininet]:
    os.environ.update(switches.environment)  # for the programs that Mininet starts
    Mininet.inited = True  # its init() changes limits of the whole machine
    is_plain = not isinstance(topo, CampusTopo | CloudTopo)
    classes = {"switch": CampusEdge, "host": Host, "link": TCLink} if is_plain else {}
    net = Mininet(topo, controller=None, build=False, autoSetMacs=is_plain, **classes)
    try:
        net.addController("adon", _Controller, ip="127.0.0.1", port=OPENFLOW_PORT)
        net.start()
        yield net
    except RuntimeError as error:
        raise Unavailable(f"testbed: {error}") from error
    finally:
        with suppress(RuntimeError):  # a network that is half built
            net.stop()


def _await_forwarding(testbed: Testbed) -> None:
    """Wait until every host reaches the next hops of its routes, by pings."""
    wanted = {(host.name, via) for host in testbed.net.hosts for _, via in host.params.get("routes", ())}
    until = ("-c", "1", "-i", "0.2", "-w", str(READY_TIMEOUT))  # the first answer
    pings = {
        (name, via): testbed.popen(name, ["ping", "-n", "-q", *until, via], stdout=subprocess.DEVNULL)
        for name, via in wanted
    }
    for (name, via), ping in pings.items():
        if ping.wait() != 0:
            raise Unavailable(f"testbed: {name} does not reach {via}")

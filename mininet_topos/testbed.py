"""Build a described network inside this process's namespaces, and remove it.

To be used by a program that :mod:`mininet_topos.isolation` runs; it refuses to build in the machine's own
network.  Division of labour: Mininet makes hosts, switches and the links between them; what it does not know
(routes, aliases, VLAN modes, rates, the management network) is set here with ``ip``, ``sysctl``, ``tc`` and
``ovs-vsctl``.  Mininet's ``init`` is left out because it changes limits of the whole machine, its
``cleanup`` because it kills by name, its ``TCLink`` because it ignores a rate out of range.

Rates.  HTB with one class per direction and a tail-drop queue, never at a switch's port (see
:class:`~mininet_topos.topology.Kind`).

Congestion control is reno in every host: streams that share a path share it evenly after seconds, which is
what the paper's figures show (bbr, the default of some kernels, yields to nobody at shallow queues), and
every kernel lets a network namespace choose it (cubic only where ``tcp_allowed_congestion_control`` has it).
Nothing is remembered from one connection to the next (``tcp_no_metrics_save``), so that a measurement does
not depend on the one before.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from adon.errors import Unavailable
from mininet_topos import emulation
from mininet_topos.emulation import Emulation
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch
from mininet_topos.topology import Host, Interface, Kind, Shape, Switch, Topology
from mininet_topos.waiting import wait_until

CONGESTION_CONTROL = "reno"
MANAGEMENT_BRIDGE = "management"
MAX_BACKOFF = 1000
INACTIVITY_PROBE = 5000
"""Milliseconds: how long a switch waits at most before it tries its controller again, and after how much
silence it asks whether the controller is still there (``ovs-vswitchd.conf.db(5)``)."""

READY_TIMEOUT = 20.0
COMMAND_TIMEOUT = 15.0
STOP_TIMEOUT = 5.0
QDISC = "1:"
BURST = 6000
"""Bytes an HTB class may send at once: four frames, so that the rate holds over a millisecond."""

_IPV6_OFF = ("net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
_TCP = (f"net.ipv4.tcp_congestion_control={CONGESTION_CONTROL}", "net.ipv4.tcp_no_metrics_save=1")


@dataclass(frozen=True, slots=True)
class Inside:
    """One host or router of a running testbed: a network namespace to run programs in.

    :param pid: of its shell, in the testbed's PID namespace (``mnexec -a PID`` enters it).
    """

    name: str
    pid: int

    def popen(self, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program there; ``options`` as for :class:`subprocess.Popen`.

        It has a session of its own, so a Ctrl-C reaches it only through whoever started it.
        """
        return subprocess.Popen(["mnexec", "-a", str(self.pid), *argv], start_new_session=True, **options)

    def run(self, *argv: str, timeout: float = COMMAND_TIMEOUT) -> str:
        """Run a program there and return what it prints.

        :raises Unavailable: if it fails, with its own words.
        """
        return _run(["mnexec", "-a", str(self.pid), *argv], timeout, f"{self.name}: ")


@dataclass(frozen=True)
class Testbed:
    """A running network.

    :param emulated_by: what the machine had to emulate it with; reports quote it.
    """

    __test__ = False  # pytest would otherwise take the class for a test

    topology: Topology
    folder: Path
    switches: OpenVSwitch
    emulated_by: Emulation
    _inside: Mapping[str, Inside] = field(repr=False)

    def host(self, name: str) -> Inside:
        """The host or router of this name.

        :raises InvalidInput: if there is none.
        """
        return self._inside[self.topology.host(name).name]

    def dump_flows(self, switch: str) -> str:
        """The rules in one switch with their counters, as ``ovs-ofctl`` prints them."""
        return self.switches.ofctl("dump-flows", switch)

    def connected(self, switch: str) -> bool:
        """Whether the switch is connected to its controller."""
        return self.switches.vsctl("get", "controller", switch, "is_connected").strip() == "true"


@contextmanager
def testbed(topology: Topology, folder: Path, openflow_port: int) -> Iterator[Testbed]:
    """Build the network, wait until it forwards, and remove it at the end.

    :param folder: the run folder; Open vSwitch's files are in ``ovs/`` below it.
    :param openflow_port: TCP port on 127.0.0.1 of this namespace that the campus edges connect to.
    :raises Unavailable: if it cannot be built here, saying what is missing.
    """
    _require_own_namespace()
    with ExitStack() as stack:
        _sysctl(None, *_IPV6_OFF)
        _run(["ip", "link", "set", "lo", "up"])
        emulated_by = emulation.detect()
        switches = stack.enter_context(open_vswitch(folder / "ovs"))
        os.environ.update(switches.environment)  # Mininet runs ovs-vsctl from shells that inherit it
        inside = stack.enter_context(_mininet(topology, emulated_by))
        built = Testbed(topology, folder, switches, emulated_by, inside)
        _write_pids(built)
        _configure(built, openflow_port)
        _await_forwarding(built)
        yield built


def _run(argv: Sequence[str], timeout: float = COMMAND_TIMEOUT, prefix: str = "") -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{prefix}{error}") from error
    if done.returncode != 0:
        raise Unavailable(f"{prefix}{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _require_own_namespace() -> None:
    """The first process of a PID namespace of our own is 1; the machine's init is not Python."""
    if os.getpid() != 1:
        raise Unavailable(
            "a testbed is built only as the first process of its own namespaces: use run_isolated"
        )


@contextmanager
def _mininet(topology: Topology, emulated_by: Emulation) -> Iterator[dict[str, Inside]]:
    """Hosts, switches and links by Mininet; the hosts' namespaces by name."""
    net = _describe_to_mininet(topology, emulated_by)
    try:
        net.start()
        yield {host.name: Inside(host.name, host.pid) for host in net.hosts}
    finally:
        net.stop()


def _describe_to_mininet(topology: Topology, emulated_by: Emulation) -> Any:
    try:
        from mininet.log import setLogLevel
        from mininet.net import Mininet
        from mininet.node import OVSSwitch
    except ImportError as error:
        raise Unavailable("Mininet is not installed for this Python (run scripts/setup.sh)") from error
    setLogLevel("critical")
    Mininet.inited = True  # its init raises limits of the whole machine (fs.file-max, net.core.*)
    net = Mininet(topo=None, build=False, controller=None)
    for host in topology.hosts:
        net.addHost(host.name, ip=None)
    for switch in topology.switches:
        net.addSwitch(
            switch.name,
            cls=OVSSwitch,
            dpid=f"{switch.dpid:016x}",
            datapath=emulated_by.datapath,
            protocols="OpenFlow13",
            failMode="secure",
        )
    for link in topology.links:
        one, other = link.ends
        macs = {key: end.mac for key, end in (("addr1", one), ("addr2", other)) if end.mac is not None}
        net.addLink(one.node, other.node, intfName1=one.name, intfName2=other.name, **macs)
    return net


def _write_pids(built: Testbed) -> None:
    """``hosts/NAME`` in the run folder: what a person who looks inside gives to ``mnexec -a``."""
    folder = built.folder / "hosts"
    folder.mkdir()
    for host in built.topology.hosts:
        (folder / host.name).write_text(f"{built.host(host.name).pid}\n")


def _configure(built: Testbed, openflow_port: int) -> None:
    for host in built.topology.hosts:
        _configure_host(built.host(host.name), host, built.topology.interfaces(host.name), built.emulated_by)
    _management_network(built)
    for switch in built.topology.switches:
        _configure_switch(built, switch, openflow_port)


def _configure_host(
    inside: Inside, host: Host, interfaces: Sequence[Interface], emulated_by: Emulation
) -> None:
    _sysctl(inside, *_IPV6_OFF, *_TCP, f"net.ipv4.ip_forward={int(host.kind is Kind.ROUTER)}")
    for interface in interfaces:
        # A userspace datapath passes frames on as it gets them: with offload, without checksums.
        inside.run("ethtool", "-K", interface.name, "tx", "off")
        inside.run("ip", "link", "set", interface.name, "up")
        for address in interface.addresses:
            inside.run("ip", "address", "add", str(address), "dev", interface.name)
        if interface.shape is not None:
            for command in shaping_commands(interface.name, interface.shape, emulated_by):
                inside.run(*command)
    if host.kind is Kind.LINE:
        _join(inside, interfaces)
    for route in host.routes:
        inside.run("ip", "route", "add", str(route.destination), "via", route.via)


def _join(inside: Inside, interfaces: Sequence[Interface]) -> None:
    """A bridge that learns nothing: what comes in by one interface leaves by the other."""
    inside.run("ip", "link", "add", "joined", "type", "bridge", "ageing_time", "0", "mcast_snooping", "0")
    for interface in interfaces:
        inside.run("ip", "link", "set", interface.name, "master", "joined")
    inside.run("ip", "link", "set", "joined", "up")


def _sysctl(inside: Inside | None, *settings: str) -> None:
    argv = ("sysctl", "-q", "-w", *settings)
    if inside is None:
        _run(argv)
    else:
        inside.run(*argv)


def _management_network(built: Testbed) -> None:
    """A bridge beside the network under test: what the collector asks must not load what it measures."""
    _run(["ip", "link", "add", MANAGEMENT_BRIDGE, "type", "bridge"])
    _run(["ip", "address", "add", str(built.topology.management), "dev", MANAGEMENT_BRIDGE])
    _run(["ip", "link", "set", MANAGEMENT_BRIDGE, "up"])
    for host in built.topology.hosts:
        if host.management is None:
            continue
        inside = built.host(host.name)
        ours, theirs = f"mgmt-{host.name}", f"{host.name}-mgmt"
        _run(["ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", str(inside.pid)])
        _run(["ip", "link", "set", ours, "master", MANAGEMENT_BRIDGE, "up"])
        inside.run("ip", "address", "add", str(host.management), "dev", theirs)
        inside.run("ip", "link", "set", theirs, "up")


def _configure_switch(built: Testbed, switch: Switch, openflow_port: int) -> None:
    vsctl = built.switches.vsctl
    for interface in built.topology.interfaces(switch.name):
        if interface.vlans is not None and interface.vlans.access is not None:
            vsctl("set", "port", interface.name, "vlan_mode=access", f"tag={interface.vlans.access}")
        elif interface.vlans is not None:
            vsctl("set", "port", interface.name, "vlan_mode=trunk", f"trunks={interface.vlans.trunk}")
    if switch.controlled:
        target = f"tcp:127.0.0.1:{openflow_port}"
        limits = (f"max_backoff={MAX_BACKOFF}", f"inactivity_probe={INACTIVITY_PROBE}")
        vsctl("set-controller", switch.name, target, "--", "set", "controller", switch.name, *limits)
    # Only now: a switch that gets its first controller forgets all rules (OVS connmgr_set_controllers).
    for rule in switch.rules:
        built.switches.ofctl("--names", "add-flow", switch.name, rule)


def shaping_commands(interface: str, shape: Shape, emulated_by: Emulation) -> tuple[tuple[str, ...], ...]:
    """The ``tc`` commands for one interface (tc-htb(8), tc-pfifo(8), tc-netem(8))."""
    rate = f"{round(shape.rate)}bit"
    burst = ("burst", str(BURST), "cburst", str(BURST))
    queue: tuple[str, ...] = ("pfifo", "limit", str(shape.queue))
    if emulated_by.netem and shape.delay > 0:
        # netem's limit also counts the frames that are under way.
        under_way = round(shape.delay * shape.rate / (8 * 1500))
        delay = f"{shape.delay * 1000:g}ms"
        queue = ("netem", "delay", delay, "limit", str(shape.queue + under_way))
    return (
        ("tc", "qdisc", "replace", "dev", interface, "root", "handle", QDISC, "htb", "default", "1"),
        (
            "tc",
            "class",
            "add",
            "dev",
            interface,
            "parent",
            QDISC,
            "classid",
            f"{QDISC}1",
            "htb",
            "rate",
            rate,
            "ceil",
            rate,
            *burst,
        ),
        ("tc", "qdisc", "add", "dev", interface, "parent", f"{QDISC}1", "handle", "2:", *queue),
    )


def _await_forwarding(built: Testbed) -> None:
    """Ready means that every host reaches its own routers and they each other, by real pings."""
    for host in built.topology.hosts:
        for route in host.routes:
            reached = partial(_answers, built.host(host.name), route.via)
            if not wait_until(reached, READY_TIMEOUT):
                raise Unavailable(f"testbed: {host.name} does not reach {route.via}")


def _answers(inside: Inside, address: str) -> bool:
    try:
        inside.run("ping", "-c", "1", "-W", "1", address)
    except Unavailable:
        return False
    return True

"""Node and link classes of the test networks, in addition to the classes of Mininet.

``mn`` imports this module with the system's Python, so it uses the standard library and Mininet only.

Congestion control is reno in every host.  Every kernel lets a network namespace choose reno, and streams on
one path get equal rates within seconds, as in the figures of the paper.  TCP keeps no metrics between
connections (``tcp_no_metrics_save``), so a measurement does not depend on the one before.
"""

from __future__ import annotations

import cmd
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import Any

import mininet.cli
from mininet.link import Link
from mininet.node import Node, OVSSwitch, Switch
from mininet.util import errRun

from mininet_topos.link_shape import TRY_NETEM, tc_lines

DATAPATH = "kernel" if Path("/sys/module/openvswitch").exists() else "user"
AT_ONCE = 16
"""Number of ``ovs-ofctl`` processes at a time; each waits for the one thread of ovs-vswitchd."""

HOST_SETTINGS = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
    "net.ipv4.tcp_congestion_control=reno",
    "net.ipv4.tcp_no_metrics_save=1",
)


class CLI(mininet.cli.CLI):  # type: ignore[misc]
    """Mininet's prompt, which takes host names with a hyphen (``mu-dtn ping osu-dtn``)."""

    identchars = f"{cmd.Cmd.identchars}-"


class Host(Node):  # type: ignore[misc]
    """A network namespace with addresses, routes and settings."""

    forwarding = 0

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **params)
        self.cmd("sysctl -q -w", *HOST_SETTINGS, f"net.ipv4.ip_forward={self.forwarding}")

    def config(self, **params: Any):  # type: ignore[no-untyped-def]
        """Set the further addresses of the interfaces (``aliases``), and routes.

        :param params: also ``routes``, destination network and next hop of each static route.
        :raises RuntimeError: if ``ip`` refuses one.
        """
        result = super().config(**params)
        # With offload, a userspace datapath would forward frames without checksums.
        self.cmd("for i in", *self.intfNames(), "; do ethtool -K $i tx off; done")
        aliases = ((port, address) for port in self.intfList() for address in port.params.get("aliases", ()))
        lines = [f"address add {address} dev {port.name}" for port, address in aliases]
        lines += [f"route replace {destination} via {via}" for destination, via in params.get("routes", ())]
        run_batch(self, "ip", lines)
        return result


class Router(Host):
    """A router; ADON does not control it."""

    forwarding = 1


class Line(Host):
    """A long-haul layer-2 circuit: a bridge of two interfaces, where the bottleneck is.

    The userspace datapath of Open vSwitch sends all frames through one socket.  A queue at one port that is
    longer than the buffer of the socket (about 90 frames) would lose frames at all other ports.
    """

    def config(self, **params: Any):  # type: ignore[no-untyped-def]
        """Join the two interfaces by a bridge that learns nothing."""
        result = super().config(**params)
        joined = [f"link set dev {name} master joined" for name in self.intfNames()]
        bridge = "link add name joined type bridge ageing_time 0 mcast_snooping 0"
        run_batch(self, "ip", [bridge, *joined, "link set dev joined up"])
        return result


class StaticSwitch(OVSSwitch):  # type: ignore[misc]
    """An OpenFlow 1.3 switch with static rules and without a controller.

    :param rules: ``ovs-ofctl`` flow text, with ports by name.
    """

    controlled = False
    OVSVersion = "3.1"  # or a later one; Mininet asks whether it is older than 1.10

    def __init__(self, name: str, rules: Sequence[str] = (), **params: Any) -> None:
        # `mn` passes a listenPort, which no switch here needs.
        own = {"datapath": DATAPATH, "protocols": "OpenFlow13", "failMode": "secure", "listenPort": None}
        super().__init__(name, **{**params, **own})
        self.rules = tuple(rules)

    @classmethod
    def setup(cls) -> None:
        """Check nothing: :meth:`batchStartup` fails if Open vSwitch does not answer."""

    def intfOpts(self, intf: Any) -> str:  # noqa: N802 - Mininet's name
        """Return port options: the VLANs that the port carries under the NORMAL action, and its number."""
        vlans = intf.params.get("vlans", "")
        return f" {vlans}{super().intfOpts(intf)}"

    def start(self, controllers: Sequence[Any]) -> None:
        """Queue the commands that create the switch; only an edge gets the controllers."""
        super().start(controllers if self.controlled else [])

    def connected(self) -> bool:
        """Return whether the switch has its controller, if it needs one."""
        return not self.controlled or bool(super().connected())

    @classmethod
    def batchStartup(cls, switches: Sequence[Any]) -> Sequence[Any]:  # noqa: N802
        """Create all switches by one ``ovs-vsctl``, then install their rules.

        The rules come second: a switch that gets its first controller forgets its rules.

        :raises RuntimeError: if Open vSwitch refuses a switch or a rule.
        """
        started: Sequence[Any] = super().batchStartup(switches, run=_run)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda switch: switch.add_flows(switch.rules), switches))
        return started

    def add_flows(self, rules: Sequence[str]) -> None:
        """Install rules, with ports by name.

        :raises RuntimeError: if the switch refuses one.
        """
        argv = ["ovs-ofctl", "-O", "OpenFlow13", "--names", "add-flows", self.name, "-"]
        text = "\n".join((*rules, ""))
        done = run(argv, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {done.stderr.strip()}")


class CampusEdge(StaticSwitch):
    """The switch of a campus that ADON controls."""

    controlled = True


class ManagementBridge(Switch):  # type: ignore[misc]
    """A Linux bridge outside the network under test; the collector reaches the measurement points over it.

    :param address: of the bridge itself, with prefix length.
    :param routes: destination and next hop of each static route over it.
    """

    def __init__(
        self, name: str, address: str, routes: Sequence[tuple[str, str]] = (), **params: Any
    ) -> None:
        super().__init__(name, **{**params, "dpid": "1"})
        self.address, self.routes = address, routes

    def start(self, controllers: Sequence[Any]) -> None:  # noqa: ARG002 - Mininet's signature
        """Create the bridge with its ports."""
        ports = [name for name in self.intfNames() if name != "lo"]
        lines = [
            f"link add name {self.name} type bridge",
            f"address add {self.address} dev {self.name}",
            f"link set dev {self.name} up",
            *(f"link set dev {port} master {self.name} up" for port in ports),
            *(f"route replace {destination} via {via} dev {self.name}" for destination, via in self.routes),
        ]
        run_batch(self, "ip", lines)

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Remove the bridge."""
        self.cmd(f"ip link del {self.name}")
        super().stop(deleteIntfs)


class ShapedLink(Link):  # type: ignore[misc]
    """A link; an interface with a ``shape`` has a rate, a delay, a loss and a queue."""

    netem: bool | None = None

    def __init__(self, node1: Any, node2: Any, **options: Any) -> None:
        super().__init__(node1, node2, **options)
        for end in (self.intf1, self.intf2):
            shape = end.params.get("shape")
            if shape is not None:
                run_batch(end.node, "tc", tc_lines(end.name, shape, netem=self.has_netem(end.node)))

    @classmethod
    def has_netem(cls, host: Node) -> bool:
        """Return whether the kernel has netem, tried once in the namespace of a host."""
        if ShapedLink.netem is None:
            try:
                run_batch(host, "tc", TRY_NETEM)
                ShapedLink.netem = True
            except RuntimeError:
                ShapedLink.netem = False
        return ShapedLink.netem


def run_batch(node: Node, tool: str, lines: Sequence[str]) -> None:
    """Run lines with ``ip -batch`` or ``tc -batch`` in the namespace of a node.

    :raises RuntimeError: if the tool refuses one.
    """
    if lines:
        process = node.popen([tool, "-batch", "-"], stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True)
        output, _ = process.communicate("\n".join((*lines, "")))
        if process.returncode != 0:
            raise RuntimeError(f"{node.name}: {tool} -batch: {output.strip()}")


def _run(command: str, **_options: Any) -> None:
    _, error, status = errRun(command, shell=True)  # noqa: S604 - Mininet's own text
    if status != 0:
        raise RuntimeError(f"{command[:80]}: {error.strip()}; is Open vSwitch running, and are you root?")

r"""Two campus edges with real packets between them, in namespaces of this process's own.

To be used inside ``unshare --net --pid --mount`` (:func:`isolated`): nothing outside is touched, and
everything ends with the process.  One Open vSwitch (userspace data path) has both edges; hosts and the
router of the layer-3 path are network namespaces, joined to the edges by veth pairs::

    mu-dtn --- mu-edge === al2s, al2s-b (VLANs) === osu-edge --- osu-dtn
                  \______ router (Linux, layer 3) ______/

No rates and no delays are emulated: what is measured is loss and time by the change of rules, not by queues.
The configuration is that of :mod:`benchmarks.edges`, with a second layer-2 path.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mininet_topos.openvswitch import OpenVSwitch, open_vswitch

UNSHARE = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--net",
    "--pid",
    "--mount",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
EDGES = {"mu-edge": "0000000000000a01", "osu-edge": "0000000000000a02"}
PORTS = {"dtn": 1, "al2s": 2, "rtr": 3, "al2s-b": 4}
VLANS = {"al2s": 1701, "al2s-b": 1702}
MACS = {
    "mu-dtn": "02:00:00:00:0a:0a",
    "osu-dtn": "02:00:00:00:0b:0a",
    "mu-rtr": "02:00:00:00:0a:01",
    "osu-rtr": "02:00:00:00:0b:01",
}
NETWORK = {"mu": "10.1.0", "osu": "10.2.0"}


def isolated(module: str, *arguments: str) -> str:
    """Run a module in namespaces of its own; what it prints on standard output.

    :raises RuntimeError: if it fails, with the end of what it said.
    """
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{module}: {done.stderr[-3000:]}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Namespace:
    """A network namespace, kept by a sleeping process."""

    name: str
    pid: int

    def command(self, *argv: str) -> list[str]:
        """What runs a program in it."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *argv]

    def run(self, *argv: str) -> str:
        """Run a program in it and return what it prints."""
        return _run(*self.command(*argv))

    def popen(self, *argv: str, **options: Any) -> subprocess.Popen[Any]:
        """Start a program in it."""
        return subprocess.Popen(self.command(*argv), **options)


@dataclass(frozen=True, slots=True)
class Lab:
    """The running network."""

    switch: OpenVSwitch
    namespaces: Mapping[str, Namespace]

    def connect(self, *ports: int) -> None:
        """Give both edges their controllers, by their ports on loopback."""
        for edge in EDGES:
            self.switch.vsctl("set-controller", edge, *(f"tcp:127.0.0.1:{port}" for port in ports))
            for found in self.switch.vsctl("get", "Bridge", edge, "controller").strip("[] \n").split(", "):
                self.switch.vsctl("set", "Controller", found, "connection_mode=out-of-band")
        # Open vSwitch forgets all rules when a bridge gets its first controller, or loses its last.
        self.forwards_as_usual()

    def forwards_as_usual(self) -> None:
        """Put the campus's own rule into both edges."""
        for edge in EDGES:
            self.switch.ofctl("add-flow", edge, "priority=0,actions=NORMAL")

    def rules(self, edge: str) -> list[str]:
        """Our rules in one edge with their counters, as ``ovs-ofctl`` prints them."""
        found = self.switch.ofctl("dump-flows", edge, "cookie=0xad00000000000000/0xff00000000000000")
        return [line.strip() for line in found.splitlines() if "cookie=" in line]


@contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    """Build the network in this process's namespaces; its daemons and namespaces end with the context."""
    with ExitStack() as stack:
        _run("ip", "link", "set", "lo", "up")
        switch = stack.enter_context(open_vswitch(folder / "ovs"))
        names = ("mu-dtn", "osu-dtn", "router")
        inside = {name: stack.enter_context(_namespace(name)) for name in names}
        for edge, dpid in EDGES.items():
            words = ["add-br", edge, "--", "set", "Bridge", edge, "datapath_type=netdev", "fail_mode=secure"]
            switch.vsctl(*words, "protocols=OpenFlow13", f"other-config:datapath-id={dpid}")
        for path in VLANS:
            _veth(f"mu-edge-{path}", f"osu-edge-{path}")
        for site in NETWORK:
            _host(site, inside[f"{site}-dtn"])
            _router(site, inside["router"])
            for link, number in PORTS.items():
                _attach(switch, f"{site}-edge", f"{site}-edge-{link}", number)
        inside["router"].run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        made = Lab(switch, inside)
        made.forwards_as_usual()
        yield made


def configuration(folder: Path, **policy: object) -> None:
    """Add the second layer-2 path to the configuration in this folder, and a policy."""
    path = folder / "network.yaml"
    document = yaml.safe_load(path.read_text())
    second = {name: {"port": f"{name}-edge-al2s-b"} for name in NETWORK}
    document["paths"]["al2s-b"] = {"layer": 2, "vlan": 1702, "capacity": "60.6 Mbps", "ends": second}
    document["policy"] |= policy
    path.write_text(yaml.safe_dump(document))


@contextmanager
def _namespace(name: str) -> Iterator[Namespace]:
    keeper = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE
    )
    assert keeper.stdout is not None
    keeper.stdout.readline()  # the namespace is there once it has spoken
    made = Namespace(name, keeper.pid)
    made.run("ip", "link", "set", "lo", "up")
    made.run("sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1")
    try:
        yield made
    finally:
        keeper.kill()
        keeper.wait()


@contextmanager
def beside(name: str, here: str, there: str) -> Iterator[Namespace]:
    """A namespace joined to this one by a veth pair, ``NAME-here`` with the address ``here`` (of a /24)."""
    with _namespace(name) as made:
        _run("ip", "link", "set", "lo", "up")
        _veth(f"{name}-here", f"{name}-there")
        _run("ip", "link", "set", f"{name}-there", "netns", str(made.pid))
        made.run("ip", "address", "add", f"{there}/24", "dev", f"{name}-there")
        made.run("ip", "link", "set", f"{name}-there", "up")
        _run("ip", "address", "add", f"{here}/24", "dev", f"{name}-here")
        yield made


def _veth(one: str, other: str) -> None:
    _run("ip", "link", "add", one, "type", "veth", "peer", "name", other)
    for end in (one, other):
        _run("sysctl", "-q", "-w", f"net.ipv6.conf.{end}.disable_ipv6=1")
        _run("ip", "link", "set", end, "up")


def _into(namespace: Namespace, interface: str, mac: str, address: str) -> None:
    """Give one end of a veth pair to a namespace; the userspace data path knows no checksum offload."""
    _run("ip", "link", "set", interface, "netns", str(namespace.pid))
    namespace.run("ip", "link", "set", interface, "address", mac, "up")
    namespace.run("ip", "address", "add", f"{address}/24", "dev", interface)
    namespace.run("ethtool", "-K", interface, "tx", "off")


def _host(site: str, namespace: Namespace) -> None:
    _veth(f"{site}-eth", f"{site}-edge-dtn")
    _into(namespace, f"{site}-eth", MACS[f"{site}-dtn"], f"{NETWORK[site]}.10")
    namespace.run("ip", "route", "add", "default", "via", f"{NETWORK[site]}.1")
    _neighbour(namespace, f"{NETWORK[site]}.1", MACS[f"{site}-rtr"], f"{site}-eth")


def _router(site: str, namespace: Namespace) -> None:
    _veth(f"{site}-rtr", f"{site}-edge-rtr")
    _into(namespace, f"{site}-rtr", MACS[f"{site}-rtr"], f"{NETWORK[site]}.1")
    _neighbour(namespace, f"{NETWORK[site]}.10", MACS[f"{site}-dtn"], f"{site}-rtr")


def _neighbour(namespace: Namespace, address: str, mac: str, interface: str) -> None:
    namespace.run("ip", "neighbour", "replace", address, "lladdr", mac, "dev", interface, "nud", "permanent")


def _attach(switch: OpenVSwitch, edge: str, interface: str, number: int) -> None:
    switch.vsctl("add-port", edge, interface, "--", "set", "Interface", interface, f"ofport_request={number}")
    vlan = VLANS.get(interface.removeprefix(f"{edge}-"))
    if vlan is not None:  # forwarding as usual must not find a loop over the overlay
        switch.vsctl("set", "Port", interface, "vlan_mode=trunk", f"trunks={vlan}")


def _run(*argv: str | Sequence[str]) -> str:
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, argv))}: {done.stderr.strip()}")
    return done.stdout

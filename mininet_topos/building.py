"""What a described network is built with: lines for ``ip``, ``tc``, ``ovs-vsctl`` and ``ovs-ofctl``.

A function of the description.  Starting a program costs more than what it then does, in a guest a hundred
times more, so each tool is started once per namespace, or once at all, and reads what to do.

Sources: ip(8) and ip-link(8) (``-batch``), tc(8), ovs-vsctl(8), ovs-vswitchd.conf.db(5), ovs-ofctl(8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from mininet_topos.emulation import Emulation
from mininet_topos.link_shape import tc_lines
from mininet_topos.topology import Host, Interface, Kind, Switch, Topology

CONGESTION_CONTROL = "reno"
MANAGEMENT_BRIDGE = "management"
JOINED = "joined"
"""The bridge in a line."""

MAX_BACKOFF = 1000
INACTIVITY_PROBE = 5000
"""Milliseconds: how long a switch waits at most before it tries its controller again, and after how much
silence it asks whether the controller is still there (``ovs-vswitchd.conf.db(5)``).  Open vSwitch 3.1 was
seen to wait up to 8 s all the same: a controller that starts later than its switches lets them try again
(:meth:`mininet_topos.old_platforms.bed.Bed.reconnect`)."""

SETTINGS = {"net/ipv6/conf/all/disable_ipv6": "1", "net/ipv6/conf/default/disable_ipv6": "1"}
"""Of every namespace, below ``/proc/sys``."""

HOST_SETTINGS = {
    **SETTINGS,
    "net/ipv4/tcp_congestion_control": CONGESTION_CONTROL,
    "net/ipv4/tcp_no_metrics_save": "1",
}


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What is done in one host.

    :param interfaces: those of the network under test.
    :param addresses: lines for ``ip -batch``.
    :param limits: lines for ``tc -batch``.
    """

    interfaces: tuple[str, ...]
    addresses: tuple[str, ...]
    limits: tuple[str, ...]


def host_settings(host: Host) -> Mapping[str, str]:
    """Of a host, below ``/proc/sys``; written before it has interfaces, which take what is set then."""
    return {**HOST_SETTINGS, "net/ipv4/ip_forward": str(int(host.kind is Kind.ROUTER))}


def host_plan(topology: Topology, host: Host, emulated_by: Emulation) -> HostPlan:
    """What is done in a host, once its cables are there."""
    interfaces = topology.interfaces(host.name)
    return HostPlan(
        tuple(interface.name for interface in interfaces),
        tuple(_addresses(host, interfaces)),
        tuple(
            line
            for interface in interfaces
            if interface.shape is not None
            for line in tc_lines(interface.name, interface.shape, netem=emulated_by.netem)
        ),
    )


def _addresses(host: Host, interfaces: tuple[Interface, ...]) -> Iterator[str]:
    yield "link set dev lo up"
    for interface in interfaces:
        yield from (f"address add {address} dev {interface.name}" for address in interface.addresses)
        yield f"link set dev {interface.name} up"
    if host.kind is Kind.LINE:
        # A bridge that learns nothing: what comes in by one interface leaves by the other.
        yield f"link add name {JOINED} type bridge ageing_time 0 mcast_snooping 0"
        yield from (f"link set dev {interface.name} master {JOINED}" for interface in interfaces)
        yield f"link set dev {JOINED} up"
    if host.management is not None:
        yield f"address add {host.management} dev {_management_ends(host)[1]}"
        yield f"link set dev {_management_ends(host)[1]} up"
    yield from (f"route add {route.destination} via {route.via}" for route in host.routes)


def taken(topology: Topology, end: Interface, *, up: bool) -> Iterator[str]:
    """Lines for ``ip -batch`` that take an end of a link down or up while the network runs.

    The kernel forgets the routes by what goes down; they come back with it.
    """
    yield f"link set dev {end.name} {'up' if up else 'down'}"
    routes = (route for host in topology.hosts if host.name == end.node for route in host.routes)
    networks = [address.network for address in end.addresses]
    for route in routes if up else ():
        if any(IPv4Address(route.via) in network for network in networks):
            yield f"route replace {route.destination} via {route.via}"


def cables(topology: Topology, pids: Mapping[str, int]) -> Iterator[str]:
    """Lines for ``ip -batch`` where the switches are: all links, and the management network.

    The latter is a bridge beside the network under test: what the collector asks must not load what it
    measures.

    :param pids: per host a process in its namespace.
    """
    yield "link set dev lo up"
    for link in topology.links:
        one, other = (_end(end, pids.get(end.node)) for end in link.ends)
        yield f"link add {one} type veth peer {other}"
        yield from (f"link set dev {end.name} up" for end in link.ends if end.node not in pids)
    yield f"link add name {MANAGEMENT_BRIDGE} type bridge"
    yield f"address add {topology.management} dev {MANAGEMENT_BRIDGE}"
    yield f"link set dev {MANAGEMENT_BRIDGE} up"
    for host in topology.hosts:
        if host.management is not None:
            ours, theirs = _management_ends(host)
            yield f"link add name {ours} type veth peer name {theirs} netns {pids[host.name]}"
            yield f"link set dev {ours} master {MANAGEMENT_BRIDGE} up"


def _end(end: Interface, pid: int | None) -> str:
    words = [f"name {end.name}"]
    words += [f"address {end.mac}"] if end.mac is not None else []
    words += [f"netns {pid}"] if pid is not None else []
    return " ".join(words)


def _management_ends(host: Host) -> tuple[str, str]:
    """Names of the cable's end at the bridge, and of that in the host."""
    return f"mgmt-{host.name}", f"{host.name}-mgmt"


def bridges(topology: Topology, emulated_by: Emulation, openflow_port: int) -> tuple[str, ...]:
    """Arguments of one ``ovs-vsctl``: all switches, with their ports and controllers.

    Rules come after: a switch that gets its first controller forgets all that it has (``connmgr`` of Open
    vSwitch).
    """
    return tuple(
        word
        for switch in topology.switches
        for word in _bridge(switch, topology.interfaces(switch.name), emulated_by, openflow_port)
    )


def _bridge(
    switch: Switch, ports: tuple[Interface, ...], emulated_by: Emulation, openflow_port: int
) -> Iterator[str]:
    kind = {"kernel": "system", "user": "netdev"}[emulated_by.datapath]
    yield from ("--", "add-br", switch.name, "--", "set", "bridge", switch.name, f"datapath_type={kind}")
    yield from ("fail_mode=secure", "protocols=OpenFlow13", f"other_config:datapath-id={switch.dpid:016x}")
    yield "other_config:disable-in-band=true"
    for number, port in enumerate(ports, 1):
        yield from ("--", "add-port", switch.name, port.name)
        yield from port.vlans.split()
        yield from ("--", "set", "interface", port.name, f"ofport_request={number}")
    if switch.controlled:
        yield from ("--", "set-controller", switch.name, f"tcp:127.0.0.1:{openflow_port}")
        yield from ("--", "set", "controller", switch.name)
        yield from (f"max_backoff={MAX_BACKOFF}", f"inactivity_probe={INACTIVITY_PROBE}")

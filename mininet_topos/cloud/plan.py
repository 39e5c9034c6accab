"""A described cloud as the lines that ``ip -batch`` and ``tc -batch`` read, by namespace.

Every guest and every router is a network namespace.  A guest's only route is its router; addresses of both
ends are known beforehand, so nobody asks for any (ARP), and there is no IPv6.  What guests send is taken at
the router's door and led, one after the other, through the delay line and the limits, back to where it came
in; then it is routed (to ``gNN``, ``uplink`` or ``downNN``)::

    guest -- eth0 === gNN --> line (TUN: delays, losses) --> shape (IFB: limits) --> routes

Who builds the cloud reaches every guest at its address by a cable of its own (``cNN`` to ``ctl``), beside
what is emulated: orders to probe do not disturb what is probed.

Values to text; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from mininet_topos.cloud.classes import DEVICE, limited_device, router_lines
from mininet_topos.cloud.description import Cloud, Guest, Router

GATEWAY = "169.254.1.1"
CONTROL = "10.66.0.1"
"""Where guests see their owner."""
ROUTERS = IPv4Address("10.65.0.0")
GUEST_SETTINGS = {"net/ipv4/tcp_no_metrics_save": "1"}
"""A connection must not begin with what the one before it learnt."""
SEGMENTED = "ethtool -K eth0 tx-udp-segmentation off"
"""UDP packets that a sender hands to its kernel in one go leave the guest one by one, as from a real port."""
ROUTER_SETTINGS = {"net/ipv4/ip_forward": "1", "net/ipv4/icmp_ratelimit": "0"}
"""Without the second, traceroute(8) would miss hops."""
LINE_QUEUE = 10_000
"""Packets that wait for the delay line to be read, while it is at another's."""
_ALL = "protocol ip prio 1 u32 match u32 0 0 action mirred egress redirect dev"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, in this order.

    :param links: ``ip -batch`` in the namespace that all begins in.
    :param lines: the TUN device that the delay line makes there, by the router that it goes to; it goes there
        after ``links``.
    :param loses: whether packets are lost on any path.
    :param settings: kernel settings by namespace (paths under ``/proc/sys``, and values).
    :param devices: commands that set devices up, by namespace.
    :param addresses: ``ip -batch`` by namespace.
    :param limits: ``tc -batch`` by namespace.
    """

    links: Sequence[str]
    lines: Mapping[str, str]
    loses: bool
    settings: Mapping[str, Mapping[str, str]]
    devices: Mapping[str, Sequence[str]]
    addresses: Mapping[str, Sequence[str]]
    limits: Mapping[str, Sequence[str]]


def planned(cloud: Cloud) -> Plan:
    """All that makes this cloud; a delay line only where something is to be delayed."""
    lines = {
        router_space(cloud, router): _line(cloud, router)
        for router in cloud.routers
        if needs_delays(cloud, _guests(cloud, router))
    }
    addresses = {guest_space(cloud, guest.name): [*_guest(cloud, guest)] for guest in cloud.guests}
    addresses |= {router_space(cloud, router): [*_router(cloud, router)] for router in cloud.routers}
    limits = {router_space(cloud, router): [*_limits(cloud, router)] for router in cloud.routers}
    settings = {guest_space(cloud, guest.name): GUEST_SETTINGS for guest in cloud.guests}
    settings |= {router_space(cloud, router): ROUTER_SETTINGS for router in cloud.routers}
    devices = {guest_space(cloud, guest.name): [SEGMENTED] for guest in cloud.guests}
    loses = any(path.loss > 0 for path in cloud.paths.values())
    return Plan([*_links(cloud)], lines, loses, settings, devices, addresses, limits)


def guest_space(cloud: Cloud, guest: str) -> str:
    """The namespace of a guest."""
    return f"g{cloud.octet(guest)}"


def router_space(cloud: Cloud, router: Router) -> str:
    """The namespace of a router."""
    return f"r{_number(cloud, router.name)}"


def needs_delays(cloud: Cloud, guests: Sequence[Guest]) -> bool:
    """Whether what these send is delayed, lost, or must not count the router as a hop."""
    names = {guest.name for guest in guests}
    near = [guest.machine for guest in guests if guest.machine]
    return len({*near}) < len(near) or any(
        path.delay > 0 or path.loss > 0 for pair, path in cloud.paths.items() if pair.source in names
    )


def _number(cloud: Cloud, router: str) -> int:
    return 1 + [each.name for each in cloud.routers].index(router)


def _guests(cloud: Cloud, router: Router) -> list[Guest]:
    return [guest for guest in cloud.guests if guest.router == router.name]


def _line(cloud: Cloud, router: Router) -> str:
    return f"line{_number(cloud, router.name)}"


def _mac(kind: int, number: int) -> str:
    return f"02:{kind:02x}:00:00:00:{number:02x}"


def _links(cloud: Cloud) -> Iterator[str]:
    yield "link set lo up"
    yield f"address add {CONTROL}/32 dev lo"
    for guest in cloud.guests:
        number = cloud.octet(guest.name)
        space = f"r{_number(cloud, guest.router)}"
        ends = f"name eth0 address {_mac(1, number)} netns g{number}"
        yield f"link add g{number} address {_mac(2, number)} netns {space} type veth peer {ends}"
        ends = f"name ctl address {_mac(5, number)} netns g{number}"
        yield f"link add c{number} address {_mac(6, number)} type veth peer {ends}"
        yield _up(f"c{number}")
        yield from _route(str(cloud.address(guest.name)), f"c{number}", _mac(5, number))
    for router in cloud.routers:
        if router.above:
            number, above = _number(cloud, router.name), f"r{_number(cloud, router.above)}"
            ends = f"name down{number} address {_mac(4, number)} netns {above}"
            yield f"link add uplink address {_mac(3, number)} netns r{number} type veth peer {ends}"


def _up(device: str) -> str:
    return f"link set {device} addrgenmode none up"


def _neighbour(address: str, mac: str, device: str) -> str:
    return f"neighbour replace {address} lladdr {mac} dev {device} nud permanent"


def _guest(cloud: Cloud, guest: Guest) -> Iterator[str]:
    number = cloud.octet(guest.name)
    yield "link set lo up"
    yield _up("eth0")
    yield f"address add {cloud.address(guest.name)}/32 dev eth0"
    yield _neighbour(GATEWAY, _mac(2, number), "eth0")
    yield f"route add {GATEWAY}/32 dev eth0"
    yield f"route add default via {GATEWAY} dev eth0"
    yield _up("ctl")
    yield from _route(CONTROL, "ctl", _mac(6, number))


def _router(cloud: Cloud, router: Router) -> Iterator[str]:
    yield "link set lo up"
    yield f"address add {ROUTERS + _number(cloud, router.name)}/32 dev lo"
    yield f"link add {DEVICE} type ifb"
    yield _up(DEVICE)
    for guest in _guests(cloud, router):
        number = cloud.octet(guest.name)
        yield _up(f"g{number}")
        yield from _route(str(cloud.address(guest.name)), f"g{number}", _mac(1, number))
    if needs_delays(cloud, _guests(cloud, router)):
        yield f"link set {_line(cloud, router)} txqueuelen {LINE_QUEUE}"
        yield _up(_line(cloud, router))
    for below in cloud.routers:
        if below.above == router.name:
            number = _number(cloud, below.name)
            yield _up(f"down{number}")
            yield from _route(str(ROUTERS + number), f"down{number}", _mac(3, number))
            for guest in cloud.guests:
                if below.name in cloud.above(guest.router):
                    via = f"via {ROUTERS + number} dev down{number} onlink"
                    yield f"route add {cloud.address(guest.name)}/32 {via}"
    if router.above:
        number, above = _number(cloud, router.name), ROUTERS + _number(cloud, router.above)
        yield _up("uplink")
        yield _neighbour(str(above), _mac(4, number), "uplink")
        yield f"route add default via {above} dev uplink onlink"


def _route(address: str, device: str, mac: str) -> Iterator[str]:
    yield _neighbour(address, mac, device)
    yield f"route add {address}/32 dev {device}"


def _limits(cloud: Cloud, router: Router) -> Iterator[str]:
    guests, first = _guests(cloud, router), DEVICE
    if guests:
        yield from router_lines(cloud, guests)
    if needs_delays(cloud, guests):
        first = _line(cloud, router)
        yield f"qdisc add dev {first} clsact"
        yield f"filter add dev {first} ingress {_ALL} {DEVICE}"
    for guest in guests:
        device = f"g{cloud.octet(guest.name)}"
        yield f"qdisc add dev {device} clsact"
        yield f"filter add dev {device} ingress {_ALL} {first}"
        if guest.ingress is not None:
            yield from limited_device(device, guest.ingress, cloud.queue)
    if router.above and router.up is not None:
        yield from limited_device("uplink", router.up, cloud.queue)
    for below in cloud.routers:
        if below.above == router.name and below.down is not None:
            yield from limited_device(f"down{_number(cloud, below.name)}", below.down, cloud.queue)

"""Addresses that nobody chose: the same description always gets the same, and no two are alike.

::

    site N (from 1)     10.N.0.0/24         routers .1 .. .9, DTNs .10, .20, ...; after the measuring one's
                                            those measured there, one per path, and the next DTN at the
                                            next ten; closer together where they would not fit so
    MAC addresses       02:00:00:00:S:H     S = 9 + N, H = last byte of the IPv4 address
    between routers     203.0.113.0/24 in /30s (RFC 5737, TEST-NET-3), then 198.18.0.0/15 (RFC 2544); the
                        lower address is on the side where the first layer-3 path over it begins
    management          172.31.0.0/24       the controller .1, site N's point .(10+N)
    datapath ids (hex)  edges a00 + N, a provider's b00 + their number, a campus's N * 10000 + theirs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from itertools import chain, combinations

from adon.units import format_count
from mininet_topos.networks.campuses import Campus
from mininet_topos.networks.courses import Course
from mininet_topos.networks.graph import LAYER_3, Graph
from mininet_topos.networks.wrong import Wrong, refuse

MANAGEMENT = IPv4Interface("172.31.0.1/24")
FIRST_POINT = 11
FIRST_ROUTER, FIRST_DTN, LAST = 1, 10, 254
STEP = 10
"""From one DTN's address to the next one's, if there is room."""
ROOM = LAST + 1 - FIRST_DTN
"""Addresses of a campus's DTNs, with those that are measured."""
TRANSFER_POOLS = (IPv4Network("203.0.113.0/24"), IPv4Network("198.18.0.0/15"))
FIRST_SITE_BYTE = 10


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """What an interface in a campus's network has.

    :param measured: per path.
    """

    data: IPv4Interface
    mac: str
    measured: Mapping[str, IPv4Interface]


@dataclass(frozen=True, slots=True)
class Addresses:
    """All addresses of a network.

    :param hosts: per DTN and campus router those of its interface in the campus's network.
    :param transfer: per link between routers and node the address there.
    :param points: per measuring DTN its address on the management network.
    """

    networks: Mapping[str, IPv4Network]
    hosts: Mapping[str, HostAddresses]
    transfer: Mapping[tuple[str, str], IPv4Interface]
    points: Mapping[str, IPv4Interface]


def addresses(
    campuses: Sequence[Campus],
    written: Mapping[str, IPv4Network | None],
    graph: Graph,
    courses: Sequence[Course],
) -> Addresses:
    """Give out all addresses.

    :param written: per site the network that the description gives it, if it does.
    :raises WrongDescription: if networks overlap, or a site has more DTNs and measured paths than addresses.
    """
    networks = {
        campus.name: written[campus.name] or IPv4Network(f"10.{number}.0.0/24")
        for number, campus in enumerate(campuses, start=1)
    }
    measured = {campus.name: _measured(campus.name, courses) for campus in campuses}
    refuse(chain(_overlapping(networks), _too_many(campuses, measured)))
    hosts = {
        host: found
        for number, campus in enumerate(campuses)
        for host, found in _campus_hosts(campus, FIRST_SITE_BYTE + number, networks[campus.name], measured)
    }
    points = {
        campus.measuring: _at(MANAGEMENT.network, FIRST_POINT + number)
        for number, campus in enumerate(campuses)
    }
    return Addresses(networks, hosts, _transfer(graph, courses), points)


def _measured(site: str, courses: Iterable[Course]) -> tuple[str, ...]:
    return tuple(course.name for course in courses if course.measured and site in course.sites)


def _blocks(campus: Campus, measured: Sequence[str]) -> dict[str, int]:
    """Per DTN how many addresses are from its first to the next one's: the largest that fit."""
    steps = (
        {dtn: _rounded(1 + len(measured), step) if dtn == campus.measuring else step for dtn in campus.at}
        for step in range(STEP, 0, -1)
    )
    return next(found for found in steps if sum(found.values()) <= ROOM)


def _rounded(number: int, step: int) -> int:
    return step * -(-number // step)


def _campus_hosts(
    campus: Campus, site_byte: int, network: IPv4Network, measured: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, HostAddresses]]:
    for number, router in enumerate(campus.routers, start=FIRST_ROUTER):
        yield router, HostAddresses(_at(network, number), _mac(site_byte, number), {})
    paths = measured[campus.name]
    number = FIRST_DTN
    for dtn, block in _blocks(campus, paths).items():
        own = paths if dtn == campus.measuring else ()
        further = {path: _at(network, number + 1 + nth) for nth, path in enumerate(own)}
        yield dtn, HostAddresses(_at(network, number), _mac(site_byte, number), further)
        number += block


def _at(network: IPv4Network, number: int) -> IPv4Interface:
    return IPv4Interface((network.network_address + number, network.prefixlen))


def _mac(site_byte: int, number: int) -> str:
    return ":".join(f"{byte:02x}" for byte in (0x02, 0, 0, *site_byte.to_bytes(2), number))


def _transfer(graph: Graph, courses: Sequence[Course]) -> dict[tuple[str, str], IPv4Interface]:
    ways = chain(
        (
            (cable.name, near, far)
            for course in courses
            if course.layer == 3
            for near, cable, far in course.steps()
        ),
        ((cable.name, *cable.between) for cable in graph.cables.values()),
    )
    free = chain.from_iterable(pool.subnets(new_prefix=30) for pool in TRANSFER_POOLS)
    found: dict[tuple[str, str], IPv4Interface] = {}
    for name, near, far in ways:
        if (name, near) not in found and graph.nodes[near].role in LAYER_3:
            network = next(free)
            found[name, near], found[name, far] = _at(network, 1), _at(network, 2)
    return found


def _overlapping(networks: Mapping[str, IPv4Network]) -> Iterator[Wrong]:
    for one, other in combinations(networks, 2):
        if networks[one].overlaps(networks[other]):
            yield Wrong(("sites", other, "network"), f"{networks[other]} is the network of site {one!r} too")
    for site, network in networks.items():
        for taken in (MANAGEMENT.network, *TRANSFER_POOLS):
            if network.overlaps(taken):
                yield Wrong(("sites", site, "network"), f"{network} overlaps {taken}, which the testbed uses")


def _too_many(campuses: Sequence[Campus], measured: Mapping[str, Sequence[str]]) -> Iterator[Wrong]:
    for campus in campuses:
        dtns, paths = len(campus.at), len(measured[campus.name])
        if dtns + paths > ROOM:
            cause = (
                f"{dtns} DTNs and {format_count(paths, 'measured path')}, where there are {ROOM} addresses"
            )
            yield Wrong(("sites", campus.name, "dtns"), cause)


def edge_dpid(number: int) -> int:
    """Of the edge of the N-th site, from 1."""
    return 0xA00 + number


def provider_dpid(number: int) -> int:
    """Of the N-th switch of a provider, from 1."""
    return 0xB00 + number


def campus_dpid(site: int, number: int) -> int:
    """Of the N-th further switch of a site, both from 1."""
    return site * 0x10000 + number


def without_prefix(held: Mapping[str, IPv4Interface]) -> dict[str, IPv4Address]:
    """Addresses alone."""
    return {name: address.ip for name, address in held.items()}

"""What is in switches and routers from the beginning: the campus's and provider's own rules, and routes.

ADON adds to the edges' rules and changes nothing else.  A router whose every way leads over one neighbour, as
a campus's may, has a default route there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import pairwise

from mininet_topos.networks.addressing import Addresses
from mininet_topos.networks.courses import Course, hops
from mininet_topos.networks.wiring import Wiring
from mininet_topos.topology import Route

CAMPUS_RULES = ("priority=0,actions=NORMAL",)
"""A campus's switches send everything as ordinary switches do: what leaves goes through its router."""
DEFAULT = IPv4Network("0.0.0.0/0")


def provider_rules(courses: Sequence[Course], wires: Wiring) -> dict[str, tuple[str, ...]]:
    """Per provider's switch what carries each path's VLAN through it, both ways."""
    found: dict[str, tuple[str, ...]] = {}
    for course in courses:
        if course.layer == 2:
            for (before, after), switch in zip(pairwise(course.cables), course.nodes[1:-1], strict=True):
                ports = wires.at(before, switch), wires.at(after, switch)
                found[switch] = (*found.get(switch, ()), *_through(course.vlan, *ports))
    return found


def _through(vlan: int | None, left: str, right: str) -> Iterator[str]:
    for source, destination in ((left, right), (right, left)):
        yield f"priority=100,dl_vlan={vlan},in_port={source},actions=output:{destination}"


def routes(courses: Sequence[Course], given: Addresses) -> Mapping[str, tuple[Route, ...]]:
    """Per router its static routes, in the order of the sites."""
    via: dict[str, dict[str, str]] = {}
    for course in courses:
        if course.layer == 3:
            for node, site, cable, onward in hops(course):
                via.setdefault(node, {})[site] = str(given.transfer[cable.name, onward].ip)
    return {node: _routes(ways, given) for node, ways in via.items()}


def _routes(ways: Mapping[str, str], given: Addresses) -> tuple[Route, ...]:
    if len(set(ways.values())) == 1:
        return (Route(DEFAULT, next(iter(ways.values()))),)
    return tuple(Route(network, ways[site]) for site, network in given.networks.items() if site in ways)

"""Slices: tenants of the network, as in FlowVisor (docs/switches.md).

The members of a slice may steer the connections of its flowspace, within its share of each path's capacity
and its budget of rules.  Without slices all users may request all flows, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from adon.config.types import Party, Section
from adon.flowspace import PROTOCOL_NAMES, Box, build_boxes, find_overlap
from adon.marking import Dscp, dscp_text
from adon.templates_catalog.model import port_range
from adon.values import Frozen, Name

PROTOCOLS = {name: number for number, name in PROTOCOL_NAMES.items()}
Fraction = Annotated[float, Field(gt=0, le=1)]


def _ports(text: int | str) -> int | str:
    first, last = port_range(text)
    if not 1 <= first <= last <= 65_535:
        raise ValueError(f"{text!r} is not a port, or an ascending range of ports")
    return text


def _check_order(pair: tuple[int, int]) -> tuple[int, int]:
    if pair[0] > pair[1]:
        raise ValueError("has the highest priority first")
    return pair


Ports = Annotated[int | str, AfterValidator(_ports), Field(examples=["20000-20199"])]
Priority = Annotated[int, Field(ge=0, le=999)]
Priorities = Annotated[tuple[Priority, Priority], AfterValidator(_check_order), Field(examples=[[0, 999]])]
"""Lowest and highest priority."""


class Flowspace(Section):
    """Set of connections from the view of the host that opens them; absent keys do not restrict it.

    :param ports: destination ports: numbers, or ranges such as ``"20000-20199"``.
    :param paths: paths that its flows may take.
    :param sites: sites of both ends.
    :param source: networks of the senders.
    :param destination: networks of the receivers.
    :param protocols: IP protocols, by name or number.
    """

    source: tuple[IPv4Network | IPv6Network, ...] = ()
    destination: tuple[IPv4Network | IPv6Network, ...] = ()
    protocols: tuple[Literal["tcp", "udp", "sctp"] | Annotated[int, Field(ge=0, le=255)], ...] = ()
    ports: tuple[Ports, ...] = ()
    paths: tuple[Name, ...] = ()
    sites: tuple[Name, ...] = ()

    def _problems(self) -> Iterator[str]:
        if not self.boxes:
            yield "destination: has no version of IP in common with the source; for example 0.0.0.0/0"
        if len(self.sites) == 1:
            yield f"sites: a flow has two sites; for example [{self.sites[0]}, osu], or no sites for all"

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """Connections as comparable values."""
        protocols = [p if isinstance(p, int) else PROTOCOLS[p] for p in self.protocols]
        return build_boxes(
            self.source, self.destination, protocols, [port_range(port) for port in self.ports]
        )

    @property
    def named_ports(self) -> int:
        """Number of named ports; 0 for all."""
        return sum(last - first + 1 for first, last in map(port_range, self.ports))

    def common(self, other: Flowspace) -> Box | None:
        """Return the common connections; None without one."""
        apart = self.sites and other.sites and len(set(self.sites) & set(other.sites)) < 2
        return None if apart else find_overlap(other.boxes, self.boxes)

    def reaches(self, ends: tuple[str, str], path: str | None = None) -> bool:
        """Return whether flows between these sites, and over this path if given, may belong to it."""
        here = not self.sites or all(end in self.sites for end in ends)
        return here and (path is None or not self.paths or path in self.paths)


class Members(Party):
    """Members of a slice."""

    def _problems(self) -> Iterator[str]:
        if not (self.who or self.roles or self.groups):
            yield "who: the slice has no members; for example [ann], or roles or groups"


class Slice(Section):
    """Tenant of the network.

    :param number: the tenant in the cookies of its rules.
    :param share: the part of a path's capacity that the throughput bounds of its flows may take
        together, in each direction; one number for all paths, or one per path: none on what is not named.
    :param rule_budget: maximum number of its rules in one switch.
    :param priorities: the lowest and the highest priority that its flows may have.
    :param dscp: permitted DSCP marks of its flows; all if absent.
    :param mark: DSCP mark of its flows without a mark in request or template.
    :param shared: whether its flowspace may overlap that of another shared slice.
    :param members: its members.
    :param flowspace: the connections that it may steer.
    """

    number: int = Field(ge=1, le=4095)
    members: Members
    flowspace: tuple[Flowspace, ...] = Field(min_length=1)
    share: Fraction | Frozen[Name, Fraction]
    rule_budget: Annotated[int, Field(ge=1)] | None = None
    priorities: Priorities = (0, 999)
    dscp: tuple[Dscp, ...] | None = None
    mark: Dscp | None = None
    shared: bool = False

    def _problems(self) -> Iterator[str]:
        if self.mark is not None and self.dscp is not None and self.mark not in self.dscp:
            cause = f"{dscp_text(self.mark)} is not among the dscp of the slice"
            yield f"mark: {cause}; for example {', '.join(map(dscp_text, self.dscp[:1])) or 'no mark'}"

    def share_of(self, path: str) -> float:
        """Return its share of a path's capacity, 0 for none."""
        if not any(not space.paths or path in space.paths for space in self.flowspace):
            return 0.0
        return self.share.get(path, 0.0) if isinstance(self.share, Mapping) else self.share

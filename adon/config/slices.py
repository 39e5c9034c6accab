"""Slices: who has which part of the network (FlowVisor's idea; docs/slices.md), and the queue ladder.

A slice is a tenant: its members may steer the connections of its flowspace, within its share of each
path's capacity and its budget of rules.  Without slices everybody may ask for everything, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from adon.access.policy import Role
from adon.config.parts import Port, Section, Span, raise_all
from adon.errors import Problem
from adon.flowvisor.flowspace import ANY_PORT, Box, boxes, overlap
from adon.frozenmap import Frozen
from adon.marking import FIREFLY_PORT, Dscp, dscp_text
from adon.nearest_key import unknown_name
from adon.templates_catalog.model import Name, port_range
from adon.units import Size, format_ratio

if TYPE_CHECKING:
    from adon.config.configuration import Configuration

PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}
Fraction = Annotated[float, Field(gt=0, le=1)]
Priority = Annotated[int, Field(ge=0, le=999)]
REACTIVE_PORTS = 1024
"""Ports that an entry of policy.reactive may name: each is a rule per pair of hosts."""
_ROUNDING = 1e-9


class Flowspace(Section):
    """Some connections, as the host that opens them sees them; what is left out is not narrowed.

    :param ports: that a connection goes to: numbers, or ranges such as ``"20000-20199"``.
    :param paths: that its flows may take.
    :param sites: that both ends are at.
    """

    source: tuple[IPv4Network | IPv6Network, ...] = ()
    destination: tuple[IPv4Network | IPv6Network, ...] = ()
    protocols: tuple[Literal["tcp", "udp", "sctp"] | Annotated[int, Field(ge=0, le=255)], ...] = ()
    ports: tuple[int | str, ...] = ()
    paths: tuple[Name, ...] = ()
    sites: tuple[Name, ...] = ()

    @field_validator("ports")
    @classmethod
    def _ports(cls, ports: tuple[int | str, ...]) -> tuple[int | str, ...]:
        raise_all(
            f"{row}: {port!r} is not a port or a range such as '20000-20199'"
            for row, port in enumerate(ports)
            if not _in_order(port_range(port))
        )
        return ports

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not self.boxes:
            raise ValueError("destination: has no version of IP in common with the source")
        if len(self.sites) == 1:
            raise ValueError("sites: a flow leads from one site to another: name two at least, or none")
        return self

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The connections, as a value that can be compared."""
        protocols = [p if isinstance(p, int) else PROTOCOLS[p] for p in self.protocols]
        return boxes(self.source, self.destination, protocols, [port_range(port) for port in self.ports])

    def reaches(self, ends: tuple[str, str], path: str | None = None) -> bool:
        """Whether flows between these sites, over this path if one is given, may belong here."""
        here = not self.sites or all(end in self.sites for end in ends)
        return here and (path is None or not self.paths or path in self.paths)


class Members(Section):
    """Who belongs to a slice: whoever fits all that is given.

    :param who: names of actors.
    :param groups: what an identity provider says that they belong to (AARC-G069 values).
    """

    who: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = None
    roles: tuple[Role, ...] | None = None
    groups: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] | None = None

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if self.who is None and self.roles is None and self.groups is None:
            raise ValueError("who: nobody is named; give names, roles or groups")
        return self

    def hold(self, name: str, roles: Collection[str], groups: Collection[str]) -> bool:
        """Whether somebody of this name, with these roles and groups, is a member."""
        asked = ((self.who, (name,)), (self.roles, roles), (self.groups, groups))
        return all(given is None or any(one in held for one in given) for given, held in asked)


class Slice(Section):
    """A tenant of the network.

    :param number: the tenant in the cookies of its rules.
    :param share: the part of a path's capacity that the throughput bounds of its flows may take
        together, in each direction; one number for all paths, or one per path: none on what is not named.
    :param rule_budget: its rules in one switch, at most.
    :param priorities: the lowest and the highest priority that its flows may have.
    :param dscp: what its flows may be marked with; without it, anything.
    :param mark: what its flows are marked with if neither request nor template says.
    :param shared: its flowspace may overlap that of another slice that says so too.
    """

    number: int = Field(ge=1, le=4095)
    members: Members
    flowspace: tuple[Flowspace, ...] = Field(min_length=1)
    share: Fraction | Frozen[Name, Fraction]
    rule_budget: Annotated[int, Field(ge=1)] | None = None
    priorities: tuple[Priority, Priority] = (0, 999)
    dscp: tuple[Dscp, ...] | None = None
    mark: Dscp | None = None
    shared: bool = False

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.priorities[0] > self.priorities[1]:
            raise ValueError("priorities: the lowest comes first")
        if self.mark is not None and self.dscp is not None and self.mark not in self.dscp:
            raise ValueError(f"mark: {dscp_text(self.mark)} is not among the slice's own dscp")
        return self

    def share_of(self, path: str) -> float:
        """The part of a path's capacity that it may take, 0 for none."""
        if not any(not space.paths or path in space.paths for space in self.flowspace):
            return 0.0
        return self.share.get(path, 0.0) if isinstance(self.share, Mapping) else self.share


class DscpByPriority(Section):
    """What flows of these priorities, the lowest and the highest, are marked with if nothing else says."""

    priorities: tuple[Priority, Priority]
    dscp: Dscp


class ReactiveEntry(Section):
    """Unannounced connections of this flowspace become flows of this template (R18: none by default).

    :param requester: in whose name; with slices, a member of the one that it is to belong to.
    :param size: what is assumed that such a connection moves.
    :param per_minute: no more connections in any minute.
    :param refuse_for: after a refusal the same connection is not looked at for so long.
    """

    template: str = Field(min_length=1, max_length=80)
    flowspace: tuple[Flowspace, ...] = Field(min_length=1)
    slice: Name | None = None
    requester: str = Field(default="reactive", min_length=1, max_length=200)
    size: Size = 10**9
    per_minute: int = Field(default=60, ge=1, le=10_000_000)
    refuse_for: Span = 30.0

    @model_validator(mode="after")
    def _few_ports(self) -> Self:
        ranges = [box.ranges[3] for space in self.flowspace for box in space.boxes]
        if any(one != ANY_PORT and sum(b - a + 1 for a, b in one) > REACTIVE_PORTS for one in ranges):
            raise ValueError(
                f"flowspace: each port is a rule: name {REACTIVE_PORTS} at most, or none for all"
            )
        return self


class FireflyCollector(Section):
    """Who is told of flows with scitags, by UDP (www.scitags.org)."""

    host: IPv4Address | IPv6Address
    port: Port = FIREFLY_PORT


class LadderPolicy(Section):
    """The queue ladder of output ports (spec section 4; docs/slices.md).

    :param mode: ``auto``: queues where the switch has reported them at the port, else meters; ``off``
        follows the thesis.
    :param shares: of the port's capacity, guaranteed from the top rung to the lowest.
    :param queues: the numbers of the queues that the operator made at each port, per rung.
    :param burst: how long a flow may exceed its meter's rate, for queues of packets that come at once.
    """

    mode: Literal["off", "auto", "queues", "meters"] = "off"
    shares: tuple[Fraction, ...] = Field(default=(0.6, 0.3, 0.1), min_length=1, max_length=8)
    queues: tuple[Annotated[int, Field(ge=0, lt=0xFFFF_FFFF)], ...] = (1, 2, 3)
    burst: Span = 0.1

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if sum(self.shares) > 1 + _ROUNDING:
            raise ValueError(f"shares: they make {format_ratio(sum(self.shares))} of a port together")
        if len(set(self.queues)) != len(self.shares):
            raise ValueError("queues: one for each share is needed, each with a number of its own")
        return self


def wrong_slices(whole: Configuration) -> Iterator[str | Problem]:
    """What slices get wrong about the network, and about each other, as ``field: text``."""
    yield from _wrong_entries(whole)
    numbers: dict[int, str] = {}
    for name, one in whole.slices.items():
        taken = numbers.setdefault(one.number, name)
        if taken != name:
            yield f"slices.{name}.number: slice {taken!r} has the same"
        yield from _dangling(whole, name, one)
    for (first, one), (second, other) in combinations(whole.slices.items(), 2):
        if not (one.shared and other.shared):
            yield from _overlapping(first, one, second, other)
    for path in whole.paths:
        shares = {name: one.share_of(path) for name, one in whole.slices.items() if one.share_of(path)}
        if sum(shares.values()) > 1 + _ROUNDING:
            listed = ", ".join(f"{name} {format_ratio(share)}" for name, share in shares.items())
            last = next(reversed(shares))
            yield f"slices.{last}.share: path {path!r} is given away more than once: {listed}"


def _wrong_entries(whole: Configuration) -> Iterator[str | Problem]:
    for row, entry in enumerate(whole.policy.reactive):
        of = None if entry.slice is None else whole.slices.get(entry.slice)
        if entry.slice is not None and of is None:
            yield unknown_name(f"policy.reactive.{row}.slice", "slice", entry.slice, whole.slices)
        elif of is not None and not of.members.hold(entry.requester, (), ()):
            who = f"{entry.requester!r} is no member of slice {entry.slice!r}"
            yield f"policy.reactive.{row}.requester: {who}"


def _dangling(whole: Configuration, name: str, one: Slice) -> Iterator[str | Problem]:
    for row, space in enumerate(one.flowspace):
        for field, named, known in (("paths", space.paths, whole.paths), ("sites", space.sites, whole.sites)):
            for missing in (each for each in named if each not in known):
                yield unknown_name(f"slices.{name}.flowspace.{row}.{field}", field[:-1], missing, known)
    if isinstance(one.share, Mapping):
        for missing in (path for path in one.share if path not in whole.paths):
            yield unknown_name(f"slices.{name}.share.{missing}", "path", missing, whole.paths)


def _overlapping(first: str, one: Slice, second: str, other: Slice) -> Iterator[str | Problem]:
    """The first connection that two slices both have; one is enough to say so."""
    for row, space in enumerate(other.flowspace):
        for mine in one.flowspace:
            apart = space.sites and mine.sites and len(set(space.sites) & set(mine.sites)) < 2
            both = None if apart else overlap(mine.boxes, space.boxes)
            if both is not None:
                yield (
                    f"slices.{second}.flowspace.{row}: overlaps that of slice {first!r}: {both.example()} "
                    f"is in both; narrow one, or say 'shared: true' in both"
                )
                return


def _in_order(ports: tuple[int, int]) -> bool:
    return 1 <= ports[0] <= ports[1] <= 65_535

"""Sets of connections as comparable values: the flowspaces of slices (FlowVisor).

A *connection* is seen from the host that opens it: source and destination address, IP protocol, and the
port it goes to (0 for a protocol without ports).  A :class:`Box` is every connection whose four numbers lie
in given ranges, for one version of IP; a flowspace is some boxes together.  This is header space analysis
(Kazemian et al., NSDI 2012) with ranges in the place of wildcard bits: a prefix is a range of addresses, so
intersection and difference are done number by number.

The port that a connection comes *from* is no part of it: whoever opens it gets any free one.

Values and functions only.  Ranges are closed, sorted and do not touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
Ranges = tuple[tuple[int, int], ...]

ANY_PROTOCOL: Ranges = ((0, 255),)
ANY_PORT: Ranges = ((0, 65_535),)
PROTOCOL_NAMES = {6: "tcp", 17: "udp", 132: "sctp"}
_EVERYWHERE: dict[Literal[4, 6], Network] = {4: IPv4Network("0.0.0.0/0"), 6: IPv6Network("::/0")}


@dataclass(frozen=True, slots=True)
class Connection:
    """Connection from the view of the host that opens it."""

    source: Address
    destination: Address
    protocol: int
    port: int

    def __str__(self) -> str:
        protocol = PROTOCOL_NAMES.get(self.protocol, f"IP protocol {self.protocol}")
        port = f" port {self.port}" if self.protocol in PROTOCOL_NAMES else ""
        return f"{protocol} from {self.source} to {self.destination}{port}"


@dataclass(frozen=True, slots=True)
class Box:
    """Connections of one version of IP with all numbers in the given ranges.

    :param ranges: of the source's address, the destination's, the protocol and the port, in this order.
    """

    version: Literal[4, 6]
    ranges: tuple[Ranges, Ranges, Ranges, Ranges]

    @property
    def empty(self) -> bool:
        """Whether the box has no connection."""
        return not all(self.ranges)

    def holds(self, connection: Connection) -> bool:
        """Return whether a connection is in the box."""
        ends = connection.source, connection.destination
        numbers = (int(ends[0]), int(ends[1]), connection.protocol, connection.port)
        return all(end.version == self.version for end in ends) and all(map(_within, numbers, self.ranges))

    def intersection(self, other: Box) -> Box | None:
        """Return the common connections; None without one."""
        if self.version != other.version:
            return None
        one, two, three, four = map(_common, self.ranges, other.ranges)
        found = Box(self.version, (one, two, three, four))
        return None if found.empty else found

    def between(self, source: str, destination: str) -> Box | None:
        """Return the connections from one address to another; None without one."""
        ends = ip_address(source), ip_address(destination)
        if any(end.version != self.version for end in ends):
            return None
        one, two = (((int(end), int(end)),) for end in ends)
        return self.intersection(Box(self.version, (one, two, ANY_PROTOCOL, ANY_PORT)))

    def without(self, other: Box) -> Iterator[Box]:
        """Return the connections that are not in the other box, as disjoint boxes."""
        common = self.intersection(other)
        if common is None:
            yield self
            return
        rest = list(self.ranges)
        for place, (mine, both) in enumerate(zip(self.ranges, common.ranges, strict=True)):
            rest[place] = _difference(mine, both)
            if rest[place]:
                yield Box(self.version, (rest[0], rest[1], rest[2], rest[3]))
            rest[place] = both

    def example(self) -> Connection:
        """Return the connection of the lowest numbers; its port is above 0 if possible.

        :raises ValueError: for an empty box.
        """
        if self.empty:
            raise ValueError("an empty box has no connection")
        of = IPv4Address if self.version == 4 else IPv6Address
        sources, destinations, protocols, ports = self.ranges
        named = next((p for p in PROTOCOL_NAMES if _within(p, protocols)), protocols[0][0])
        return Connection(of(sources[0][0]), of(destinations[0][0]), named, ports[0][0])


def build_boxes(
    sources: Sequence[Network] = (),
    destinations: Sequence[Network] = (),
    protocols: Sequence[int] = (),
    ports: Sequence[tuple[int, int]] = (),
) -> tuple[Box, ...]:
    """Return the boxes of prefixes, protocols and port ranges; an empty list does not restrict.

    One box per version of IP that both ends have; none if they have none in common.
    """
    made = (
        Box(
            version,
            (
                _addresses(sources, version),
                _addresses(destinations, version),
                merge_ranges((p, p) for p in protocols) or ANY_PROTOCOL,
                merge_ranges(ports) or ANY_PORT,
            ),
        )
        for version in _EVERYWHERE
    )
    return tuple(box for box in made if not box.empty)


def find_overlap(one: Iterable[Box], other: Iterable[Box]) -> Box | None:
    """Return a box that is in both flowspaces; None without a common connection."""
    theirs = tuple(other)
    found = (mine.intersection(box) for mine in one for box in theirs)
    return next((both for both in found if both is not None), None)


def find_outside(inner: Iterable[Box], outer: Iterable[Box]) -> Box | None:
    """Return a box of the first flowspace that is not in the second; None without one."""
    rest = list(inner)
    for box in outer:
        rest = [piece for left in rest for piece in left.without(box)]
    return rest[0] if rest else None


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the ranges in order, with overlapping and adjacent ranges merged."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def _addresses(networks: Sequence[Network], version: Literal[4, 6]) -> Ranges:
    chosen = [n for n in networks if n.version == version] if networks else [_EVERYWHERE[version]]
    return merge_ranges((int(n.network_address), int(n.broadcast_address)) for n in chosen)


def _within(number: int, ranges: Ranges) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _common(one: Ranges, other: Ranges) -> Ranges:
    return merge_ranges((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d))


def _difference(one: Ranges, other: Ranges) -> Ranges:
    left = list(one)
    for first, last in other:
        cut = [((a, min(b, first - 1)), (max(a, last + 1), b)) for a, b in left]
        left = [(a, b) for pair in cut for a, b in pair if a <= b]
    return merge_ranges(left)

"""What a file of the Topology Zoo says, as values: places, and links between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS = 6371.0
"""Kilometres: the mean radius (IUGG)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point on the earth, in degrees."""

    latitude: float
    longitude: float

    def distance(self, other: Place) -> float:
        """Kilometres along the great circle (the haversine formula)."""
        north = sin(radians(other.latitude - self.latitude) / 2) ** 2
        east = sin(radians(other.longitude - self.longitude) / 2) ** 2
        middle = cos(radians(self.latitude)) * cos(radians(other.latitude))
        return 2 * EARTH_RADIUS * asin(sqrt(min(1.0, north + middle * east)))


@dataclass(frozen=True, slots=True)
class Node:
    """A point of presence, or another network that it is connected to.

    :param key: its id in the file.
    :param label: what people call it; its id if the file has no name for it.
    :param place: None if the file does not say.
    :param external: whether it belongs to another network (``Internal`` is 0).
    :param hyperedge: whether it stands for one link with more than two ends, such as an exchange's LAN.
    """

    key: str
    label: str
    place: Place | None = None
    external: bool = False
    hyperedge: bool = False

    def __str__(self) -> str:
        return f"node {self.key}" if self.label == self.key else f"node {self.key} ({self.label})"


@dataclass(frozen=True, slots=True)
class Edge:
    """A link, the same in both directions.

    :param name: its id in the file, else ``edge N``, counted from 0 in the order of the file.
    :param ends: the keys of two different nodes.
    :param rate: bits/s; None if the file does not say, or not in a form that is one number.
    """

    name: str
    ends: tuple[str, str]
    rate: float | None = None

    def beyond(self, key: str) -> str:
        """The node at the other end."""
        one, other = self.ends
        return other if key == one else one


@dataclass(frozen=True)
class Graph:
    """A whole file.

    :param name: the network's name (``Network``), else the file's.
    :param nodes: by key.
    :param notes: what of the file is not in here, or was read in a way of our own.
    """

    name: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def at(self) -> Mapping[str, tuple[Edge, ...]]:
        """The links of each node."""
        found: dict[str, list[Edge]] = {key: [] for key in self.nodes}
        for edge in self.edges:
            for key in edge.ends:
                found[key].append(edge)
        return {key: tuple(edges) for key, edges in found.items()}

    def only(self, kept: frozenset[str], *notes: str) -> Graph:
        """The part between these nodes."""
        nodes = {key: node for key, node in self.nodes.items() if key in kept}
        edges = tuple(edge for edge in self.edges if kept.issuperset(edge.ends))
        return Graph(self.name, nodes, edges, (*self.notes, *notes))

    def part(self, key: str) -> frozenset[str]:
        """The nodes that can be reached from one, with itself."""
        seen, ahead = {key}, [key]
        while ahead:
            here = ahead.pop()
            new = {edge.beyond(here) for edge in self.at[here]} - seen
            seen |= new
            ahead.extend(sorted(new))
        return frozenset(seen)

"""What a picture of a network shows, before anybody knows where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from adon.frozenmap import FrozenMap

MANY = 40
"""Of more provider's nodes than this, names and rates would lie upon each other."""


class Kind(Enum):
    """What a node is; the words are those of the legend."""

    EDGE = "campus edge, controlled by ADON"
    CAMPUS = "campus switch"
    TRANSIT = "provider's switch"
    ROUTER = "router"
    DTN = "data transfer node"


@dataclass(frozen=True, slots=True)
class Node:
    """One symbol.

    :param site: the campus that it stands in; None for a provider's.
    """

    name: str
    kind: Kind
    site: str | None = None

    @property
    def label(self) -> str:
        """Its name, within its campus without the campus's."""
        prefix = f"{self.site}-"
        return self.name.removeprefix(prefix) if self.site is not None else self.name


@dataclass(frozen=True, slots=True)
class Line:
    """One link.

    :param rate: bits/s at full scale, for the width of the line; None for a cable that nothing limits.
    :param text: what is written at it; empty for nothing.
    """

    name: str
    ends: tuple[str, str]
    rate: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """Paths that are drawn in one colour: one path, or those of one overlay.

    :param text: what the legend says of it.
    :param dashed: whether it is routed (layer 3).
    :param lines: names of the links that it runs over.
    """

    name: str
    text: str
    dashed: bool
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Sketch:
    """All of it.

    :param subtitle: under the title, smaller.
    :param places: degrees of latitude and longitude of nodes and sites; empty, or some.
    """

    title: str
    subtitle: str
    sites: tuple[str, ...]
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    ways: tuple[Way, ...]
    places: Mapping[str, tuple[float, float]] = field(default_factory=FrozenMap)

    @cached_property
    def node(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def near(self) -> Mapping[str, tuple[str, ...]]:
        """The neighbours of each node, once each, in the order of the links."""
        found: dict[str, dict[str, None]] = {node.name: {} for node in self.nodes}
        for line in self.lines:
            one, other = line.ends
            found[one][other] = found[other][one] = None
        return {name: tuple(others) for name, others in found.items()}

    @cached_property
    def transit(self) -> tuple[Node, ...]:
        """What is no campus's."""
        return tuple(node for node in self.nodes if node.site is None)

    @cached_property
    def quiet(self) -> frozenset[str]:
        """The nodes and links without words: of many of the provider's, all that no way leads over."""
        if len(self.transit) <= MANY:
            return frozenset()
        used = {name for way in self.ways for name in way.lines}
        between = [line for line in self.lines if any(self.node[end].site is None for end in line.ends)]
        loud = {end for line in between if line.name in used for end in line.ends}
        lines = {line.name for line in between if line.name not in used}
        return frozenset(lines | {node.name for node in self.transit if node.name not in loud})

    def within(self, site: str) -> tuple[Node, ...]:
        """What stands in a campus."""
        return tuple(node for node in self.nodes if node.site == site)

    def border(self, site: str) -> tuple[str, ...]:
        """The nodes of a campus that have links to the outside, the edge first."""
        outside = [
            node
            for node in self.within(site)
            if any(self.node[other].site != site for other in self.near[node.name])
        ]
        return tuple(node.name for node in sorted(outside, key=lambda node: node.kind is not Kind.EDGE))

"""Where a link with several ends is: amid what it joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import asin, atan2, cos, degrees, radians, sin

from mininet_topos.zoo.model import Graph, Place


def completed(graph: Graph) -> Graph:
    """The graph with a place for each hyperedge whose members have one; other nodes stay as they are."""
    nodes = {}
    for key, node in graph.nodes.items():
        members = [graph.nodes[edge.beyond(key)].place for edge in graph.at[key]]
        known = [place for place in members if place is not None]
        amid = node.hyperedge and node.place is None and known
        nodes[key] = replace(node, place=middle(known)) if amid else node
    return Graph(graph.name, nodes, graph.edges, graph.notes)


def middle(places: Sequence[Place]) -> Place:
    """The point of the earth above the mean of points: no seam, and no pole, is in its way."""
    x = sum(cos(radians(one.latitude)) * cos(radians(one.longitude)) for one in places)
    y = sum(cos(radians(one.latitude)) * sin(radians(one.longitude)) for one in places)
    z = sum(sin(radians(one.latitude)) for one in places)
    length = (x * x + y * y + z * z) ** 0.5
    if length < 1e-9:
        return places[0]
    return Place(degrees(asin(max(-1.0, min(1.0, z / length)))), degrees(atan2(y, x)))

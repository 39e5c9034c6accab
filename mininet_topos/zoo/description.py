"""A network of the Topology Zoo as a description that a testbed can be built from.

Points of presence become the provider's switches, chosen ones get a campus; the rules by which the rest is
settled (:mod:`~mininet_topos.zoo.settling`) are told in the description (``about``) and as notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adon.units import format_rate
from mininet_topos.zoo.model import Edge, Graph, Node
from mininet_topos.zoo.naming import Names
from mininet_topos.zoo.settling import FIBRE, Settled, Wishes, routed_share, scale_of, settle, short_of


@dataclass(frozen=True, slots=True)
class Imported:
    """A description as plain values, in the order to be written, and what people should know about it."""

    description: Mapping[str, Any]
    notes: tuple[str, ...]


def imported(graph: Graph, name: str, wishes: Wishes) -> Imported:
    """Describe a network.

    :param name: of the description, ``[a-z][a-z0-9_]*``.
    :raises InvalidInput: if a wish cannot be fulfilled; it names the node or link.
    """
    settled = settle(graph, wishes)
    scale = scale_of(settled, wishes.routed)
    routed = routed_share(settled, scale) if wishes.routed is None else wishes.routed
    notes = (*settled.graph.notes, *short_of(settled, wishes.overlays))
    return Imported(_written(settled, name, routed, scale, wishes), notes)


def _written(settled: Settled, name: str, routed: float, scale: int, wishes: Wishes) -> dict[str, Any]:
    graph, names = settled.graph, Names()
    sites = {node.key: names.of_campus(node.label, node.key) for node in settled.campuses}
    router = names.of_node("core", "core")
    names.take(f"{router}-{site}" for site in sites.values())
    nodes = {key: _named(node, names) for key, node in graph.nodes.items()}
    links = {edge.name: names.of_link(*(nodes[key] for key in edge.ends)) for edge in graph.edges}
    written: dict[str, Any] = {
        "network": name,
        "title": f"{printable(graph.name)[:70]}, with {len(sites)} campuses",
        "about": _about(graph, wishes),
        "scale": scale,
        "sites": dict.fromkeys(sites.values()),
        "switches": list(nodes.values()),
        "routers": [router],
        "places": _places(settled, nodes, sites, router),
        "links": {
            **{f"{site}-up": {"between": [f"{site}-edge", nodes[key]]} for key, site in sites.items()},
            **dict(_routed_links(settled, sites, router, routed)),
            **{links[edge.name]: _link(settled, edge, nodes) for edge in graph.edges},
        },
        "paths": dict(_paths(settled, sites, nodes, links, router)),
    }
    return {key: value for key, value in written.items() if value}


def printable(text: str) -> str:
    """On one line, and without what a title or a comment cannot have."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _named(node: Node, names: Names) -> str:
    return names.of_node("" if node.hyperedge and node.label == node.key else node.label, f"lan{node.key}")


def _about(graph: Graph, wishes: Wishes) -> str:
    return (
        f"Imported from the Topology Zoo's form of {graph.name}. Delays are great circles in fibre "
        f"({FIBRE:.0f} km/s), {wishes.delay * 1e3:g} ms where a place is not known; links without a speed "
        f"have {format_rate(wishes.rate)}. Overlays between two campuses share no link of the backbone. The "
        "routed path leads over one router amid the campuses."
    )


def _link(settled: Settled, edge: Edge, nodes: Mapping[str, str]) -> dict[str, Any]:
    attributes = {"between": [nodes[key] for key in edge.ends], "rate": format_rate(settled.rates[edge.name])}
    return {**attributes, **_delayed(settled.delays[edge.name])}


def _delayed(delay: float) -> dict[str, str]:
    milliseconds = round(delay * 1e3, 2)
    return {"delay": f"{milliseconds:g} ms"} if milliseconds else {}


def _routed_links(
    settled: Settled, sites: Mapping[str, str], router: str, routed: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, site in sites.items():
        between = {f"{site}-rtr": "inet", router: site}
        yield (
            f"{site}-inet",
            {"between": between, "goodput": format_rate(routed), **_delayed(settled.routed[key])},
        )


def _places(
    settled: Settled, nodes: Mapping[str, str], sites: Mapping[str, str], router: str
) -> dict[str, list[float]]:
    """Of everything or of nothing: half a map is none."""
    known = {key: node.place for key, node in settled.graph.nodes.items()}
    at = {
        **{site: known[key] for key, site in sites.items()},
        **{nodes[key]: place for key, place in known.items()},
        router: settled.router.place,
    }
    found = {name: place for name, place in at.items() if place is not None}
    if len(found) < len(at):
        return {}
    return {name: [round(place.latitude, 3), round(place.longitude, 3)] for name, place in found.items()}


def _paths(
    settled: Settled,
    sites: Mapping[str, str],
    nodes: Mapping[str, str],
    links: Mapping[str, str],
    router: str,
) -> Iterator[tuple[str, dict[str, Any]]]:
    several = len(sites) > 2
    for number in range(max(len(ways) for ways in settled.ways.values())):
        for (one, other), ways in settled.ways.items():
            if number < len(ways):
                suffix = f"-{sites[one]}-{sites[other]}" if several else ""
                over = [sites[one], *_steps(settled.graph, one, ways[number], nodes, links), sites[other]]
                yield f"overlay{number + 1}{suffix}", {"layer": 2, "over": over}
    for one, other in settled.ways:
        suffix = f"-{sites[one]}-{sites[other]}" if several else ""
        yield f"internet{suffix}", {"layer": 3, "over": [sites[one], router, sites[other]]}


def _steps(
    graph: Graph, begin: str, way: Sequence[Edge], nodes: Mapping[str, str], links: Mapping[str, str]
) -> Iterator[str]:
    """The nodes of a way, and the link's name where several join two nodes."""
    yield nodes[begin]
    here = begin
    for edge in way:
        there = edge.beyond(here)
        if sum(one.beyond(here) == there for one in graph.at[here]) > 1:
            yield links[edge.name]
        yield nodes[there]
        here = there

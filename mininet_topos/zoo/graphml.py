"""GraphML as the Topology Zoo writes it, read into a :class:`~mininet_topos.zoo.model.Graph`.

The form: ``key`` elements declare attributes (``Latitude``, ``Longitude``, ``label``, ``Internal`` and
``hyperedge`` of nodes, those of :mod:`~mininet_topos.zoo.speeds` of edges, ``Network`` of the graph),
``data`` elements give their values.  What else a file has (sources, population, colours) is passed over.

Document types and entities are refused, so that a file can neither read others nor expand without end.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # only for its exception; defusedxml parses
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import isfinite

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from adon.errors import InvalidInput, Problem
from mininet_topos.zoo.model import Edge, Graph, Node, Place
from mininet_topos.zoo.speeds import rate

MAX_CHARACTERS = 10_000_000
"""The largest file of the Zoo has less than a tenth of it."""

_NOBODY = frozenset({"", "none", "?"})
"""Labels that are no names, in lower case."""


def read_graphml(text: str, otherwise: str, file: str | None = None) -> Graph:
    """The network that a file describes.

    :param otherwise: the name of a network that the file does not name.
    :param file: the file's name, for messages.
    :raises InvalidInput: with every problem found, each naming its node or edge.
    """
    reading = _Reading(file)
    top = _parsed(text, file)
    keys = dict(reading.keys(top))
    graph = reading.the_graph(top)
    nodes = dict(reading.nodes(graph, keys)) if graph is not None else {}
    edges = tuple(reading.edges(graph, keys, nodes)) if graph is not None else ()
    if reading.problems:
        raise InvalidInput(reading.problems)
    said = _said(graph, keys, "graph") if graph is not None else {}
    name = said.get("Network") or said.get("label") or otherwise
    if len(nodes) < 2:
        raise InvalidInput(Problem("graph", f"has {len(nodes)} nodes: a network has at least two", file))
    return Graph(name, nodes, edges, tuple(reading.notes))


def _parsed(text: str, file: str | None) -> ET.Element:
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(Problem("", f"is longer than {MAX_CHARACTERS} characters", file))
    if text.lstrip().startswith(("graph [", "graph[", "Creator ")):
        raise InvalidInput(Problem("", "is GML, not GraphML: take the network's .graphml file", file))
    try:
        top: ET.Element = fromstring(text, forbid_dtd=True)
    except DefusedXmlException as error:
        raise InvalidInput(Problem("", "has a document type or entities, which are refused", file)) from error
    except (ET.ParseError, ValueError) as error:
        line = error.position[0] if isinstance(error, ET.ParseError) else None
        raise InvalidInput(Problem("", f"is not XML: {error}", file, line)) from error
    if _tag(top) != "graphml":
        raise InvalidInput(Problem("", f"is not GraphML: its top element is {_tag(top)!r}", file))
    return top


def _tag(element: ET.Element) -> str:
    """The name without its namespace; of a comment nothing."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    return (child for child in element if _tag(child) == tag)


@dataclass(frozen=True, slots=True)
class _Key:
    """What a ``data`` element with this key gives."""

    name: str
    of: str
    default: str | None


def _said(element: ET.Element, keys: Mapping[str, _Key], of: str) -> dict[str, str]:
    """The attributes of a node, edge or graph by name; what is empty was not said."""
    found = {
        key.name: key.default for key in keys.values() if key.of in (of, "all") and key.default is not None
    }
    for data in _children(element, "data"):
        key = keys.get(data.get("key", ""))
        if key is not None:
            found[key.name] = data.text or ""
    # On one line, as they are told: a label may have any space in it.
    return {name: " ".join(value.split()) for name, value in found.items() if value.strip()}


@dataclass(slots=True)
class _Reading:
    """One file being read: problems and notes are gathered on the way."""

    file: str | None
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def wrong(self, where: str, cause: str) -> None:
        self.problems.append(Problem(where, cause, self.file))

    def keys(self, top: ET.Element) -> Iterator[tuple[str, _Key]]:
        for key in _children(top, "key"):
            name, identity = key.get("attr.name"), key.get("id")
            if identity is None or name is None:
                self.wrong("key", f"{identity or name or 'one of them'}: has no id, or no attr.name")
                continue
            default = next((one.text for one in _children(key, "default")), None)
            yield identity, _Key(name, key.get("for", "all"), default)

    def the_graph(self, top: ET.Element) -> ET.Element | None:
        graphs = list(_children(top, "graph"))
        if len(graphs) != 1:
            self.wrong("graph", f"there are {len(graphs)} of it: a file describes one network")
            return None
        return graphs[0]

    def nodes(self, graph: ET.Element, keys: Mapping[str, _Key]) -> Iterator[tuple[str, Node]]:
        seen: set[str] = set()
        for number, element in enumerate(_children(graph, "node")):
            key = element.get("id")
            if not key:
                self.wrong("node", f"number {number}, counted from 0, has no id")
            elif key in seen:
                self.wrong(f"node {key}", "is there twice")
            else:
                seen.add(key)
                yield key, self._node(key, _said(element, keys, "node"))
            if element.find("{*}graph") is not None:
                self.wrong(f"node {key}", "has a graph within, which no file of the Zoo has")
        for number, _ in enumerate(_children(graph, "hyperedge")):
            key = _hyperedge_key(number)
            if key in seen:
                self.wrong(f"node {key}", "is there twice")
            yield key, Node(key, key, hyperedge=True)

    def _node(self, key: str, said: Mapping[str, str]) -> Node:
        label = said.get("label", "")
        named = Node(key, key if label.lower() in _NOBODY else label)
        place = self._place(named, said)
        external = self._flag(named, said, "Internal", usual=True) is False
        hyperedge = self._flag(named, said, "hyperedge", usual=False)
        return Node(key, named.label, place, external, hyperedge)

    def _place(self, node: Node, said: Mapping[str, str]) -> Place | None:
        given = {name: said[name] for name in ("Latitude", "Longitude") if name in said}
        if not given:
            return None
        if len(given) == 1:
            self.wrong(str(node), f"has a {next(iter(given))} only: a place needs both")
            return None
        latitude = self._degrees(node, "Latitude", given["Latitude"], 90)
        longitude = self._degrees(node, "Longitude", given["Longitude"], 180)
        return None if latitude is None or longitude is None else Place(latitude, longitude)

    def _degrees(self, node: Node, name: str, text: str, most: int) -> float | None:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if isfinite(value) and abs(value) <= most:
            return value
        self.wrong(str(node), f"{name}: {text[:40]!r} is not a number of degrees in -{most}..{most}")
        return None

    def _flag(self, node: Node, said: Mapping[str, str], name: str, *, usual: bool) -> bool:
        text = said.get(name)
        if text is None:
            return usual
        if text.lower() in {"0", "0.0", "false", "1", "1.0", "true"}:
            return text.lower() in {"1", "1.0", "true"}
        self.wrong(str(node), f"{name}: {text[:40]!r} is neither 0 nor 1")
        return usual

    def edges(self, graph: ET.Element, keys: Mapping[str, _Key], nodes: Mapping[str, Node]) -> Iterator[Edge]:
        directed = graph.get("edgedefault") == "directed"
        backwards: Counter[tuple[str, str]] = Counter()
        elements = list(_children(graph, "edge"))
        # All that the file gives: a name of ours must not be that of an edge further down.
        taken = {identity for element in elements if (identity := element.get("id"))}
        seen: set[str] = set()
        for number, element in enumerate(elements):
            identity = element.get("id")
            # networkx numbers parallel edges by their id, from 0 at each pair of nodes.
            name = _free("edge", number, taken) if not identity or identity in seen else identity
            seen.add(name)
            ends = self._ends(name, element.get("source"), element.get("target"), nodes)
            bits = self._rate(name, _said(element, keys, "edge"))
            if ends is None:
                continue
            one, other = ends
            if one == other:
                self.notes.append(f"{name}: joins {nodes[one]} to itself and is left out")
            elif directed and element.get("directed") != "false" and backwards[other, one] > 0:
                # The way back of a link that is there already.
                backwards[other, one] -= 1
            else:
                backwards[one, other] += 1
                yield Edge(name, ends, bits)
        yield from self._hyperedges(graph, keys, nodes, taken)

    def _hyperedges(
        self, graph: ET.Element, keys: Mapping[str, _Key], nodes: Mapping[str, Node], taken: set[str]
    ) -> Iterator[Edge]:
        """GraphML's own element for them, as a node with a link to each end.

        :param taken: names of edges; those given here are added.
        """
        for number, element in enumerate(_children(graph, "hyperedge")):
            middle = _hyperedge_key(number)
            bits = self._rate(middle, _said(element, keys, "hyperedge"))
            for endpoint in _children(element, "endpoint"):
                ends = self._ends(middle, endpoint.get("node"), middle, nodes)
                if ends is not None:
                    yield Edge(_free("hyperedge end", 0, taken), ends, bits)

    def _ends(
        self, name: str, source: str | None, target: str | None, nodes: Mapping[str, Node]
    ) -> tuple[str, str] | None:
        for what, key in (("source", source), ("target", target)):
            if not key:
                self.wrong(name, f"has no {what}")
            elif key not in nodes:
                self.wrong(name, f"{what}: there is no node {key!r}")
        return (source, target) if source in nodes and target in nodes else None  # type: ignore[return-value]

    def _rate(self, name: str, said: Mapping[str, str]) -> float | None:
        try:
            bits = rate(said)
        except ValueError as error:
            for line in str(error).splitlines():
                self.wrong(name, line)
            return None
        if bits is None and "LinkLabel" in said:
            self.notes.append(f"{name}: its label {said['LinkLabel'][:60]!r} is not one rate")
        return bits


def _free(kind: str, number: int, taken: set[str]) -> str:
    """``edge 3``, or with the next number that is free; it is taken then."""
    name = next(name for one in count(number) if (name := f"{kind} {one}") not in taken)
    taken.add(name)
    return name


def _hyperedge_key(number: int) -> str:
    return f"hyperedge {number}"

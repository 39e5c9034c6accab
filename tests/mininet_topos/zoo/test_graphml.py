"""GraphML of the Topology Zoo's form: what is read, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from adon.errors import InvalidInput
from mininet_topos.zoo.graphml import read_graphml
from mininet_topos.zoo.model import Edge, Graph, Place

SAMPLE = Path(__file__).parents[3] / "docs/examples/great-lakes.graphml"

KEYS = "".join(
    f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="string"/>'
    for of, names in {
        "graph": ["Network"],
        "node": ["label", "Latitude", "Longitude", "Internal", "hyperedge"],
        "edge": ["LinkSpeedRaw", "LinkSpeed", "LinkSpeedUnits", "LinkLabel"],
    }.items()
    for name in names
)
TWO = '<node id="0"/><node id="1"/>'


def document(inside: str, keys: str = KEYS, graph: str = 'edgedefault="undirected"') -> str:
    namespace = "http://graphml.graphdrawing.org/xmlns"
    return f'<graphml xmlns="{namespace}">{keys}<graph {graph}>{inside}</graph></graphml>'


def data(**values: str) -> str:
    return "".join(f'<data key="{name}">{value}</data>' for name, value in values.items())


def read(inside: str, **parts: str) -> Graph:
    return read_graphml(document(inside, **parts), "made-up")


def refused(text: str) -> str:
    with pytest.raises(InvalidInput) as error:
        read_graphml(text, "Made up", "made-up")
    return str(error.value)


def test_the_sample_has_each_thing_that_the_zoo_s_files_have() -> None:
    graph = read_graphml(SAMPLE.read_text(), "great-lakes")
    assert graph.name == "Great Lakes Research Network"
    assert len(graph.nodes) == 20
    assert [node.label for node in graph.nodes.values() if node.external] == ["Toronto"]
    assert [node.key for node in graph.nodes.values() if node.hyperedge] == ["17"]
    assert graph.nodes["0"].place == Place(44.98, -93.27)
    assert {edge.name: edge.rate for edge in graph.edges} | {
        "edge 2": 10e9,
        "edge 4": 10e9,
        "edge 5": pytest.approx(9.953e9, rel=1e-3),
        "edge 8": None,
        "edge 18": 20e9,
        "edge 19": None,
    } == {edge.name: edge.rate for edge in graph.edges}
    assert sum(set(edge.ends) == {"4", "10"} for edge in graph.edges) == 2
    assert graph.notes == (
        "edge 8: its label '10-20Gbps' is not one rate",
        "edge 22: joins node 12 (Columbus) to itself and is left out",
    )
    assert len(graph.part("0")) == 18
    assert graph.part("19") == {"18", "19"}


def test_without_a_namespace_with_defaults_and_for_all() -> None:
    text = (
        '<graphml><key id="i" for="all" attr.name="Internal"><default>0</default></key>'
        f'<graph id="G">{TWO}<edge source="0" target="1"/></graph></graphml>'
    )
    graph = read_graphml(text, "made-up")
    assert graph.name == "made-up"
    assert all(node.external for node in graph.nodes.values())
    assert graph.edges == (Edge("edge 0", ("0", "1")),)


@pytest.mark.parametrize("label", ["", "None", "?", " "])
def test_a_label_that_is_no_name_is_the_id(label: str) -> None:
    graph = read(f'<node id="7">{data(label=label)}</node><node id="8"/>')
    assert graph.nodes["7"].label == "7"
    assert str(graph.nodes["7"]) == "node 7"


def test_a_directed_file_names_each_link_twice() -> None:
    edges = '<edge source="0" target="1"/><edge source="1" target="0"/><edge source="1" target="0"/>'
    assert [edge.ends for edge in read(TWO + edges, graph='edgedefault="directed"').edges] == [
        ("0", "1"),
        ("1", "0"),
    ]
    assert len(read(TWO + edges).edges) == 3
    both_ways = edges.replace("/>", ' directed="false"/>')
    assert len(read(TWO + both_ways, graph='edgedefault="directed"').edges) == 3


def test_parallel_edges_that_networkx_numbers_from_0_have_names_of_their_own() -> None:
    edges = '<edge id="0" source="0" target="1"/><edge id="1" source="0" target="1"/>'
    third = '<node id="2"/><edge id="0" source="1" target="2"/>'
    assert [edge.name for edge in read(TWO + edges + third).edges] == ["0", "1", "edge 2"]


def test_a_name_that_an_edge_is_given_is_no_other_edge_s() -> None:
    """``edge 0`` has no id: it would be called as the one further down."""
    edges = (
        '<edge source="0" target="1"/><edge id="edge 0" source="1" target="2"/><edge source="0" target="2"/>'
    )
    more = '<edge id="hyperedge end 0" source="0" target="2"/><hyperedge>'
    more += "".join(f'<endpoint node="{key}"/>' for key in "012") + "</hyperedge>"
    names = [edge.name for edge in read(TWO + '<node id="2"/>' + edges + more).edges]
    assert names == ["edge 1", "edge 0", "edge 2", "hyperedge end 0"] + [
        f"hyperedge end {n}" for n in (1, 2, 3)
    ]


def test_graphml_s_own_hyperedges_become_nodes() -> None:
    inside = TWO + '<node id="2"/><hyperedge>' + data(LinkSpeedRaw="1")
    inside += "".join(f'<endpoint node="{key}"/>' for key in "012") + "</hyperedge>"
    graph = read(inside, keys=KEYS.replace('for="edge"', 'for="all"'))
    assert graph.nodes["hyperedge 0"].hyperedge
    assert {(edge.ends, edge.rate) for edge in graph.edges} == {((key, "hyperedge 0"), 1.0) for key in "012"}


def test_a_label_is_on_one_line() -> None:
    label = data(label="a&#9;&#x85;b")
    graph = read(f'<data key="Network"> Two&#10;rings </data><node id="0">{label}</node><node id="1"/>')
    assert (graph.name, graph.nodes["0"].label) == ("Two rings", "a b")


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<node id="0"/>', "graph: has 1 nodes: a network has at least two"),
        (TWO + '<node id="1"/>', "node 1: is there twice"),
        ('<node id="hyperedge 0"/><node id="1"/><hyperedge/>', "node hyperedge 0: is there twice"),
        (TWO + "<node/>", "node: number 2, counted from 0, has no id"),
        (TWO + '<edge source="0" target="5"/>', "edge 0: target: there is no node '5'"),
        (TWO + '<edge id="e9" source="0"/>', "e9: has no target"),
        (
            TWO + f'<node id="2">{data(label="Oslo", Latitude="59.9")}</node>',
            "node 2 (Oslo): has a Latitude only",
        ),
        (
            TWO + f'<node id="2">{data(Latitude="91", Longitude="x")}</node>',
            "node 2: Latitude: '91' is not a number of degrees in -90..90; made-up: node 2: Longitude: 'x'",
        ),
        (TWO + f'<node id="2">{data(Internal="so")}</node>', "node 2: Internal: 'so' is neither 0 nor 1"),
        (
            TWO + f'<edge source="0" target="1">{data(LinkSpeedRaw="-1")}</edge>',
            "edge 0: LinkSpeedRaw: '-1' is not a number above zero",
        ),
        (
            TWO + f'<edge source="0" target="1">{data(LinkSpeed="10", LinkSpeedUnits="furlong")}</edge>',
            "edge 0: LinkSpeedUnits: 'furlong' is none of K, M, G, T",
        ),
        (TWO + "</graph><graph>", "graph: there are 2 of it: a file describes one network"),
        (TWO.replace('"1"/>', '"1"><graph/></node>'), "node 1: has a graph within"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_node_or_edge(inside: str, words: str) -> None:
    assert f"made-up: {words}" in refused(document(inside))


ENTITIES = '<!DOCTYPE graphml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE graphml [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ENTITIES + document(TWO.replace('"1"', '"&b;"')), "has a document type or entities, which"),
        (OUTSIDE + document(TWO.replace('"1"', '"&secret;"')), "has a document type or entities"),
        (document(TWO)[:-5], "made-up:1: is not XML: "),
        ("<html/>", "is not GraphML: its top element is 'html'"),
        ("graph [\n  directed 1\n]", "is GML, not GraphML"),
        ("<graphml/>", "graph: there are 0 of it"),
        ("<graphml>" + " " * 10_000_000, "is longer than 10000000 characters"),
        ("<graphml>\x00</graphml>", "is not XML"),
        (document(TWO, keys='<key id="d0"/>'), "key: d0: has no id, or no attr.name"),
        (document(TWO, keys='<key attr.name="label"/>'), "key: label: has no id, or no attr.name"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused(text: str, words: str) -> None:
    assert words in refused(text)

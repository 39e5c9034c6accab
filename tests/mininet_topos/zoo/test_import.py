"""Maps of the Topology Zoo as descriptions: what is settled, told, refused; everything can be built."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.errors import InvalidInput
from mininet_topos import networks
from mininet_topos.pictures.sketching import sketched
from mininet_topos.pictures.svg import drawn
from mininet_topos.topology import MIN_RATE
from mininet_topos.zoo.description import imported
from mininet_topos.zoo.graphml import read_graphml
from mininet_topos.zoo.importing import described, plain_name, written
from mininet_topos.zoo.model import Edge, Graph, Node, Place
from mininet_topos.zoo.naming import Names
from mininet_topos.zoo.places import completed, middle
from mininet_topos.zoo.settling import FASTEST, FIBRE, Wishes

SAMPLE = Path(__file__).parents[3] / "docs/examples/great-lakes.graphml"


def network(graph: Graph, wishes: Wishes | None = None) -> networks.Network:
    return networks.described(written(imported(graph, "made_up", wishes or Wishes())))


@pytest.fixture(scope="module")
def sample() -> networks.Network:
    return networks.described(described(SAMPLE, Wishes()).yaml)


def test_a_file_is_a_network_like_those_built_in(sample: networks.Network) -> None:
    assert networks.found(str(SAMPLE)) == sample
    assert sample.name == "great_lakes"
    assert [site.name for site in sample.sites] == ["kan", "buf"]
    assert [path.name for path in sample.paths] == ["overlay1", "overlay2", "internet"]
    assert sample.scale == 1000


def test_delays_are_great_circles_in_fibre(sample: networks.Network) -> None:
    link = sample.link("minn-kans")
    distance = Place(44.98, -93.27).distance(Place(39.10, -94.58))
    assert link.shape is not None
    assert link.shape.delay == pytest.approx(distance / FIBRE, abs=5e-6)
    # The exchange stands amid its members, so its links have a length too.
    assert all(sample.link(name).shape.delay > 3e-4 for name in ("lan1-pitt", "lan1-buff", "lan1-colu"))  # type: ignore[union-attr]


def test_missing_speeds_are_the_stated_default_and_slow_links_are_raised() -> None:
    wishes = Wishes(rate=4e9, at_least=3e9)
    found = network(read_graphml(SAMPLE.read_text(), "great-lakes"), wishes)
    rates = {link.name: link.shape.rate * found.scale for link in found.links if link.shape is not None}
    assert rates["clev-pitt"] == rates["st-l-chic"] == pytest.approx(4e9)
    assert rates["minn-dulu"] == pytest.approx(3e9)
    assert rates["minn-madi"] == pytest.approx(10e9)
    assert "links without a speed have 4 Gbps" in found.about


def test_what_is_left_out_and_assumed_is_told() -> None:
    told = described(SAMPLE, Wishes())
    assert told.notes == (
        "edge 8: its label '10-20Gbps' is not one rate",
        "edge 22: joins node 12 (Columbus) to itself and is left out",
        "left out, for they are other networks': node 16 (Toronto)",
        "left out, for nothing joins them to the campuses: node 18 (Houghton), node 19 (Marquette)",
    )
    for note in told.notes:
        assert f"# {note}\n" in told.yaml


def test_another_network_s_node_may_be_chosen() -> None:
    found = described(SAMPLE, Wishes(campuses=("Toronto", "Duluth")))
    assert "between node 16 (Toronto) and node 1 (Duluth) there are only 1 disjoint paths" in found.notes
    assert [site.name for site in networks.described(found.yaml).sites] == ["tor", "dul"]


def test_a_label_cannot_end_the_comment_that_it_is_told_in() -> None:
    nodes = {**ring(1e9, 1e9).nodes, "9": Node("9", "x\nscale: 7\n", external=True)}
    graph = Graph("Ring", nodes, ring(1e9, 1e9).edges)
    assert network(graph).scale == 10


def test_parallel_links_are_named_in_the_path_that_takes_one(sample: networks.Network) -> None:
    assert "chic-ann" in sample.path("overlay2").links
    assert sample.link("chic-ann2").between == ("chicago", "ann-arbor")


@pytest.mark.parametrize("number", [2, 3, 5])
def test_overlays_between_two_campuses_share_no_link_but_the_way_in(number: int) -> None:
    found = network(read_graphml(SAMPLE.read_text(), "great-lakes"), Wishes(number=number))
    assert len(found.sites) == number
    for one, other in combinations((site.name for site in found.sites), 2):
        overlays = [path for path in found.between(one, other) if path.layer == 2]
        assert len(overlays) == 2
        common = set(overlays[0].links) & set(overlays[1].links)
        assert common == {f"{one}-up", f"{other}-up"}
        assert overlays[0].delay <= overlays[1].delay
        assert [path.layer for path in found.between(one, other)] == [2, 2, 3]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(2, 9))
    labels = st.text(max_size=14)
    places = st.none() | st.builds(Place, st.floats(-90, 90), st.floats(-180, 180))
    nodes = {
        str(key): Node(
            str(key),
            draw(labels) or str(key),
            draw(places),
            external=key > 1 and draw(st.booleans()),
            hyperedge=key > 1 and draw(st.booleans()),
        )
        for key in range(size)
    }
    more = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
        lambda ends: ends[0] != ends[1]
    )
    ends = [(0, 1), *draw(st.lists(more, max_size=14))]
    rates = st.none() | st.floats(100e6, 40e9)
    edges = tuple(
        Edge(f"edge {number}", (str(one), str(other)), draw(rates))
        for number, (one, other) in enumerate(ends)
    )
    return Graph("Made up", nodes, edges)


@given(graphs(), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_any_map_becomes_a_network_that_can_be_built(graph: Graph, overlays: int) -> None:
    """With at least two candidates that a link joins, whatever the labels, places and rates are."""
    found = network(graph, Wishes(overlays=overlays))
    assert len(found.sites) == 2
    rates = [link.shape.rate for link in found.links if link.shape is not None]
    assert min(rates) >= MIN_RATE
    assert max(rates) <= FASTEST * 1.06  # a goodput of as much is so much on the wire
    assert 2 <= len(found.paths) <= overlays + 1


def ring(*rates: float | None) -> Graph:
    nodes = {str(key): Node(str(key), f"PoP {key}") for key in range(len(rates))}
    edges = tuple(
        Edge(f"edge {key}", (str(key), str((key + 1) % len(rates))), rate) for key, rate in enumerate(rates)
    )
    return Graph("Ring", nodes, edges)


def chain(*nodes: Node) -> Graph:
    """Each joined to the next."""
    edges = tuple(
        Edge(f"e{key}", (one.key, other.key), 1e9) for key, (one, other) in enumerate(pairwise(nodes))
    )
    return Graph("Chain", {node.key: node for node in nodes}, edges)


def test_the_router_is_told_to_be_where_the_farthest_campus_is_nearest() -> None:
    """Between 0 and 10 degrees it is at 4, from where the farther one is 6 away, not 7 as from 3."""
    at = [Node(str(key), f"PoP {key}", Place(0, east)) for key, east in enumerate((0, 3, 4, 10))]
    found = network(chain(*at), Wishes(campuses=("PoP 0", "PoP 3")))
    assert found.places["core"] == (0, 4)
    assert found.path("internet").delay == pytest.approx(at[0].place.distance(at[3].place) / FIBRE, rel=1e-3)  # type: ignore[arg-type,union-attr]


def test_a_link_with_several_ends_is_no_place_of_a_router() -> None:
    amid = Node("1", "LAN", Place(0, 5), hyperedge=True)
    graph = chain(Node("0", "A", Place(0, 0)), amid, Node("2", "B", Place(0, 12)))
    assert network(graph).places["core"] == (0, 0)


@pytest.mark.parametrize("label", ["Core Lon", "All", "default", "Mgmt", "ovs netdev"])
def test_a_node_s_name_is_none_that_the_building_or_an_interface_has(label: str) -> None:
    nodes = (Node("0", "Lon"), Node("1", label), Node("2", "Core"), Node("3", "Rome"))
    found = network(chain(*nodes), Wishes(campuses=("Lon", "Rome"), overlays=1))
    assert len(found.topology.switches) == 6
    campus = network(chain(*nodes), Wishes(campuses=("Lon", label), overlays=1))
    assert len(campus.sites) == 2


def test_a_network_s_name_has_no_letters_that_a_title_cannot_have() -> None:
    graph = chain(Node("0", "Lon"), Node("1", "Rome"))
    assert network(replace(graph, name="a\u200bb")).title == "a b, with 2 campuses"


def test_half_a_map_is_none() -> None:
    nodes = (Node("0", "A", Place(0, 0)), Node("1", "B"), Node("2", "C", Place(0, 12)))
    assert network(chain(*nodes)).places == {}


def test_the_routed_path_has_what_can_be_built_at_least() -> None:
    """A tenth of 500 Mbps would be 50 kbps at 1:1000."""
    found = network(ring(100e9, 500e6))
    assert found.scale == 1000
    assert found.path("internet").goodput == pytest.approx(100e3)


@pytest.mark.parametrize(
    ("graph", "wishes", "words"),
    [
        (
            ring(1e6, 100e9, 100e9),
            Wishes(),
            "1 Mbps is too slow to be built beside 100 Gbps: 1:1000 is 1 kbps, below 100 kbps; let",
        ),
        (ring(10e9, 10e9, 10e9), Wishes(routed=1e6), "routed: 1 Mbps is too slow beside 10 Gbps"),
        (ring(1e9, 1e9), Wishes(overlays=0), "overlays: 0 is not in 1..16"),
        (ring(1e9, 1e9), Wishes(overlays=17), "overlays: 17 is not in 1..16"),
        (ring(1e9, 1e9), Wishes(rate=0.0), "rate: 0 bps is not a rate that a link has"),
        (ring(1e9, 1e9), Wishes(routed=-1.0), "routed: -1 bps is not a rate that a link has"),
        (ring(1e9, 1e9), Wishes(at_least=1e16), "at_least: 1e+04 Tbps is not a rate that a link has"),
        (ring(1e9, 1e9), Wishes(delay=5.0), "delay: 5 s is not in 0..1 s"),
        (
            ring(*[1e9] * 12),
            Wishes(delay=0.5),
            "node 0 (PoP 0): 1.5 s of routed path are to node 3 (PoP 3), which is not in 0..1 s: let links",
        ),
        (
            ring(*[1e9] * 40),
            Wishes(number=27),
            "campuses: have 1053 paths between them, of 1000 at most: take fewer, or fewer overlays",
        ),
        (ring(1e9, 1e9), Wishes(number=3), "campuses: 3 is not in 2..2, the nodes there are"),
        (ring(1e9, 1e9), Wishes(campuses=("PoP 1", "PoP 9")), "there is no node 'PoP 9'; did you mean PoP"),
        (
            Graph("Apart", {"0": Node("0", "Oslo"), "1": Node("1", "Rome")}, ()),
            Wishes(campuses=("Oslo", "Rome")),
            "no path joins node 0 (Oslo) and node 1 (Rome)",
        ),
        (
            Graph("One", {"0": Node("0", "Oslo"), "1": Node("1", "Rome", external=True)}, ()),
            Wishes(),
            "campuses: no two nodes of the network's own are joined by links",
        ),
    ],
)  # fmt: skip
def test_a_wish_that_cannot_be_fulfilled_is_refused(graph: Graph, wishes: Wishes, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        imported(graph, "made_up", wishes)
    assert words in str(error.value)


def test_more_nodes_than_a_machine_builds_leave_those_on_the_paths() -> None:
    graph = ring(*[1e9] * 201)
    found = imported(graph, "made_up", Wishes(campuses=("PoP 0", "PoP 3"), overlays=1))
    assert len(found.description["switches"]) == 4
    assert "201 nodes are more than the 200 that one machine builds" in found.notes[0]


def test_the_router_may_be_where_nothing_is_built() -> None:
    """Amid three campuses that have straight ways to each other, in a map of which only these are built."""
    places = {
        "A": (0, 0),
        "B": (0, 10),
        "C": (8.66, 5),
        "O": (2.9, 5),
        "x": (1.4, 2.5),
        "y": (1.4, 7.5),
        "z": (5.8, 5),
    }
    places |= {f"far {number}": (-20, number / 100) for number in range(200)}
    nodes = {key: Node(key, key, Place(*place)) for key, place in places.items()}
    ends = [*map(tuple, ("AB", "BC", "CA", "Ox", "Oy", "Oz", "xA", "yB", "zC")), ("A", "far 0")]
    ends += [(f"far {number}", f"far {number + 1}") for number in range(199)]
    edges = tuple(Edge(f"e{number}", (one, other), 1e9) for number, (one, other) in enumerate(ends))
    found = network(Graph("Star", nodes, edges), Wishes(campuses=("A", "B", "C"), overlays=1))
    assert found.places["core"] == (2.9, 5)
    assert len(found.topology.switches) == 6  # of each campus its edge, and where it is
    way = Place(*places["O"]).distance(Place(*places["x"])) + Place(*places["x"]).distance(
        Place(*places["A"])
    )
    assert found.link("axx-inet").shape.delay == pytest.approx(way / FIBRE, abs=1e-5)  # type: ignore[union-attr]


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none\.graphml: cannot be read: there is no such file"):
        described(tmp_path / "none.graphml", Wishes())
    (tmp_path / "latin.graphml").write_bytes(b"\xe9")
    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        described(tmp_path / "latin.graphml", Wishes())


@pytest.mark.parametrize("name", ["", "Lakes", "x" * 41, "1lake"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"name: '.*' is not a letter and at most 39 more"):
        described(SAMPLE, Wishes(), name)


def test_a_label_may_be_html() -> None:
    """In YAML, in notes and in a picture it is what it was."""
    nodes = {**ring(1e9, 1e9).nodes, "1": Node("1", "<b onclick='x'>&amp;</b>")}
    found = network(Graph("<script>", nodes, ring(1e9, 1e9).edges))
    assert found.title == "<script>, with 2 campuses"
    assert fromstring(drawn(sketched(found))).get("aria-label") == found.title


@given(st.lists(st.tuples(st.sampled_from(["campus", "node"]), st.text(max_size=12)), max_size=30))
def test_names_are_short_plain_and_each_is_given_once(wanted: list[tuple[str, str]]) -> None:
    names, given_ = Names(), []
    for what, label in wanted:
        name = names.of_campus(label, "7") if what == "campus" else names.of_node(label, "7")
        given_ += [f"{name}{end}" for end in ("", "-edge", "-dtn", "-rtr")] if what == "campus" else [name]
    assert len(given_) == len(set(given_))
    assert all(1 < len(name) <= 10 and name[0].isalpha() and name.isascii() for name in given_)


@pytest.mark.parametrize(
    ("label", "name"),
    [("Kansas City", "kansas-cit"), ("Zürich", "zurich"), ("São Paulo", "sao-paulo"),
     ("東京", "n7"), ("4th St", "n4th-st"), ("A", "a1")],
)  # fmt: skip
def test_names_of_nodes(label: str, name: str) -> None:
    assert Names().of_node(label, "7") == name


@pytest.mark.parametrize(
    ("stem", "name"), [("Abilene", "abilene"), ("Great-Lakes.2011", "great_lakes_2011"), ("2011", "zoo_2011")]
)
def test_names_of_files(stem: str, name: str) -> None:
    assert plain_name(stem) == name


def test_the_middle_of_places_has_no_seam() -> None:
    amid = middle([Place(0, 170), Place(0, -170)])
    assert abs(amid.longitude) == pytest.approx(180)
    nodes = {"0": Node("0", "0", hyperedge=True), "1": Node("1", "1")}
    graph = Graph("made up", nodes, (Edge("e", ("0", "1")),))
    assert completed(graph) == graph
    nodes = {"0": Node("0", "0", Place(9, 9), hyperedge=True), "1": Node("1", "1", Place(0, 0))}
    graph = Graph("made up", nodes, (Edge("e", ("0", "1")),))
    assert completed(graph) == graph  # one that has a place stays there

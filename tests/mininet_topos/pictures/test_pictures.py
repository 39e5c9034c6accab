"""Pictures of the networks there are: everything is on them, and nothing lies upon another."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

from adon.errors import InvalidInput
from mininet_topos import networks
from mininet_topos.pictures import svg
from mininet_topos.pictures.arrangement import Arrangement, arranged
from mininet_topos.pictures.boxes import Box
from mininet_topos.pictures.files import encoded
from mininet_topos.pictures.sketch import Kind, Sketch
from mininet_topos.pictures.sketching import sketched
from mininet_topos.pictures.strokes import strokes
from mininet_topos.pictures.symbols import half_height
from mininet_topos.zoo.description import imported
from mininet_topos.zoo.importing import written
from mininet_topos.zoo.model import Edge, Graph, Node, Place
from mininet_topos.zoo.settling import Wishes

SAMPLE = str(Path(__file__).parents[3] / "docs/examples/great-lakes.graphml")
LATTICE = "lattice"
EVERY = (*networks.names(), SAMPLE, LATTICE)


def lattice(side: int) -> networks.Network:
    """Nodes joined to the next in their rows and columns; the two rows in the middle are in one place."""
    keys = [(row, column) for row in range(side) for column in range(side)]
    nodes = {
        f"{row}-{column}": Node(f"{row}-{column}", f"PoP {row} {column}", Place(row - (row > 3), column))
        for row, column in keys
    }
    ends = [
        (f"{row}-{column}", f"{row + down}-{column + right}")
        for row, column in keys
        for down, right in ((0, 1), (1, 0))
        if row + down < side and column + right < side
    ]
    edges = tuple(Edge(f"edge {number}", pair, 10e9) for number, pair in enumerate(ends))
    return networks.described(written(imported(Graph("Lattice", nodes, edges), LATTICE, Wishes())))


@pytest.fixture(scope="module", params=EVERY, ids=lambda name: Path(name).stem)
def sketch(request: pytest.FixtureRequest) -> Sketch:
    return sketched(lattice(8) if request.param == LATTICE else networks.found(request.param))


@pytest.fixture(scope="module")
def arrangement(sketch: Sketch) -> Arrangement:
    return arranged(sketch)


def test_everything_is_on_it(sketch: Sketch, arrangement: Arrangement) -> None:
    assert set(arrangement.points) == {node.name for node in sketch.nodes}
    assert set(arrangement.boxes) == set(sketch.sites)
    root = fromstring(svg.written(sketch, arrangement))
    titles = {element.text for element in root.findall(".//{*}title")}
    assert {f"{node.name}: {node.kind.value}" for node in sketch.nodes} <= titles
    assert {": ".join(filter(None, (line.name, line.text))) for line in sketch.lines} <= titles
    texts = {element.text for tag in ("text", "tspan") for element in root.findall(f".//{{*}}{tag}")}
    assert {sketch.title, *sketch.sites, *(way.name for way in sketch.ways)} <= texts


def test_nothing_lies_upon_another(sketch: Sketch, arrangement: Arrangement) -> None:
    symbols = {}
    for name, (x, y) in arrangement.points.items():
        half = half_height(sketch.node[name].kind, small=name in arrangement.small)
        symbols[name] = Box(x, y, half, half)
    for one, other in combinations(symbols, 2):
        assert symbols[one].common(symbols[other]) == 0, (one, other)
    for one, other in combinations(sketch.sites, 2):
        assert arrangement.boxes[one].common(arrangement.boxes[other]) == 0, (one, other)
    for site, box in arrangement.boxes.items():
        for name, symbol in symbols.items():
            within = sketch.node[name].site == site
            area = 4 * symbol.half_width * symbol.half_height
            assert box.common(symbol) == pytest.approx(area if within else 0), (site, name)


def test_ways_on_one_link_lie_side_by_side(sketch: Sketch, arrangement: Arrangement) -> None:
    laid = strokes(sketch, arrangement.points)
    assert len({stroke.ends for stroke in laid.ways}) == len(laid.ways)
    used = {name for way in sketch.ways for name in way.lines}
    assert len(laid.base) == len(sketch.lines)
    assert used <= set(laid.base)


def test_equal_networks_have_equal_pictures(sketch: Sketch, arrangement: Arrangement) -> None:
    assert svg.drawn(sketch) == svg.written(sketch, arrangement)


def test_of_many_nodes_those_on_the_paths_have_words() -> None:
    """Each of the rest is smaller, without a name, and can be pointed at."""
    few, many = sketched(lattice(6)), sketched(lattice(8))
    assert not few.quiet
    assert "PoP" not in few.subtitle
    used = {end for way in many.ways for line in many.lines if line.name in way.lines for end in line.ends}
    transit = {node.name for node in many.transit}
    assert many.quiet & transit == transit - used
    assert transit & used
    found = arranged(many)
    assert many.quiet & transit <= found.small
    assert not used & found.small
    root = fromstring(svg.written(many, found))
    texts = [element.text for element in root.findall(".//{*}text")]
    told = [line.text for line in many.lines if line.name not in many.quiet and line.text]
    assert texts.count(told[-1]) == told.count(told[-1]) < len(many.lines) / 2
    assert {node.label for node in many.transit} & set(texts) == transit & used
    assert any(text is not None and text.endswith("names and rates along the paths only") for text in texts)


def test_what_is_told_is_what_was_described() -> None:
    """mu_osu tells a goodput, five_sites rates: each in its own words, at full scale."""
    found = {line.name: line.text for line in sketched(networks.named("mu_osu")).lines}
    assert found["line"] == "5.8 Gbps TCP · 5 ms"
    assert found["routed"] == "650 Mbps TCP · 10 ms"
    assert found["mu-al2s"] == ""
    found = {line.name: line.text for line in sketched(networks.named("five_sites", 1000)).lines}
    assert found["hous-atla"] == "10 Gbps · 5.5 ms · 0.01 % loss"
    found = {line.name: line.text for line in sketched(networks.named("choreo_tree")).lines}
    assert found["r1-h1n"] == "1 Gbps"
    assert found["a1-c1"] == "10 Gbps · 50 µs"


def test_few_paths_are_drawn_each_and_many_by_overlay() -> None:
    few = sketched(networks.named("two_campuses")).ways
    assert [way.name for way in few] == ["al2s", "regional", "internet", "research"]
    assert few[0].text == "layer 2, VLAN 1701: 5 Gbps TCP · 5 ms"
    assert [way.dashed for way in few] == [False, False, True, True]
    many = sketched(networks.named("five_sites")).ways
    assert [way.name for way in many] == ["first", "second", "internet"]
    assert many[0].text == "layer 2: 10 paths, 5 Gbps to 10 Gbps"


def test_the_paths_between_two_sites() -> None:
    found = sketched(networks.named("five_sites"), ("ne", "nw"))
    assert [way.name for way in found.ways] == ["first-nw-ne", "second-nw-ne", "internet-nw-ne"]
    assert "nw-rtr-lan" not in found.ways[0].lines
    assert found.ways[2].lines[-2:] == ("nw-inet", "ne-inet")
    with pytest.raises(InvalidInput, match="there is no site 'nn'"):
        sketched(networks.named("five_sites"), ("nw", "nn"))


def test_a_routed_path_begins_at_the_edge() -> None:
    sketch = sketched(networks.named("mu_osu"))
    internet = next(way for way in sketch.ways if way.name == "internet")
    lines = {line.name: line.ends for line in sketch.lines}
    assert [set(lines[name]) for name in internet.lines] == [
        {"mu-edge", "mu-rtr"},
        {"osu-edge", "osu-rtr"},
        {"mu-rtr", "core"},
        {"osu-rtr", "core"},
    ]


def test_kinds_of_nodes() -> None:
    sketch = sketched(networks.named("five_sites"))
    counted = {kind: sum(node.kind is kind for node in sketch.nodes) for kind in Kind}
    assert counted == {Kind.EDGE: 5, Kind.CAMPUS: 95, Kind.TRANSIT: 9, Kind.ROUTER: 6, Kind.DTN: 10}


def test_files(tmp_path: Path) -> None:
    text = svg.drawn(sketched(networks.named("mu_osu")))
    assert encoded(text, tmp_path / "a.svg") == text.encode()
    png = encoded(text, tmp_path / "a.PNG")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width = int(fromstring(text).attrib["width"])
    assert int.from_bytes(png[16:20], "big") == 2 * width
    with pytest.raises(InvalidInput, match=r"'a\.pdf' ends neither with"):
        encoded(text, tmp_path / "a.pdf")

"""Pictures of the networks there are: everything is on them, and nothing lies upon another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree.ElementTree import Element  # only the type; defusedxml parses

import pytest
from defusedxml.ElementTree import fromstring

from adon.errors import InvalidInput
from mininet_topos import networks
from mininet_topos.pictures import svg
from mininet_topos.pictures.arrangement import Arrangement, arranged
from mininet_topos.pictures.boxes import Box
from mininet_topos.pictures.files import encoded
from mininet_topos.pictures.labels import text_width
from mininet_topos.pictures.sketch import Kind, Line, Sketch
from mininet_topos.pictures.sketch import Node as DrawnNode
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


def described(sites: str, *links: str, paths: str = "") -> Sketch:
    """The sketch of campuses with these links, each of them ``name: {...}``."""
    lines = "".join(f"  {link}\n" for link in links)
    text = f"network: made_up\ntitle: Made up\nsites: {sites}\nrouters: [core]\n"
    text += f"links:\n{lines}" if links else ""
    return sketched(networks.described(text + (f"paths:\n  {paths}\n" if paths else "")))


TWO = "{aa: , bb: }"
DIRECT = "ee: {between: [aa-edge, bb-edge], goodput: 10 Mbps, delay: 12.5 ms, loss: 0.01 %}"
OVER = "p: {layer: 2, over: [aa, bb]}"
STORES = ", ".join(f"{{}}-store{number}: " for number in range(10))
DENSE = "{" + ", ".join(f"{site}: {{dtns: {{{STORES.replace('{}', site)}}}}}" for site in ("aa", "bb")) + "}"


@pytest.mark.parametrize(
    "sketch",
    [
        described(TWO),
        described(TWO, "up: {between: [aa-rtr, core]}"),
        described(TWO, "up: {between: [aa-rtr, core]}", DIRECT, paths=OVER),
        described(TWO, DIRECT, paths=OVER),
    ],
    ids=["nothing between", "one way out", "a router of one", "a direct link"],
)
def test_two_campuses_stand_apart_whatever_joins_them(sketch: Sketch) -> None:
    found = arranged(sketch)
    test_everything_is_on_it(sketch, found)
    test_nothing_lies_upon_another(sketch, found)
    one, other = found.boxes["aa"], found.boxes["bb"]
    assert abs(one.x - other.x) > one.half_width + other.half_width + 100


def picture(sketch: Sketch) -> tuple[list[tuple[str, Box]], float]:
    """Each of its texts with what it covers, letters as wide as they are on the average, and its width."""
    root = fromstring(svg.drawn(sketch))
    width = float(root.attrib["width"])
    return [found for group in root.iter() for found in _texts(group)], width


def _texts(group: Element) -> Iterator[tuple[str, Box]]:
    moved = re.match(r"translate\((\S+) (\S+)\)", group.get("transform", "translate(0 0)"))
    assert moved is not None
    for text in group.findall("{*}text"):
        parts = [text, *text.findall("{*}tspan")]
        size = float(text.attrib["font-size"])
        sizes = [float(part.get("font-size", size)) for part in parts]
        bold = [part.get("font-weight") == "bold" for part in parts]
        gaps = sum(float(part.get("dx", 0)) for part in parts)
        wide = gaps + sum(
            text_width(part.text or "", its, bold=heavy)
            for part, its, heavy in zip(parts, sizes, bold, strict=True)
        )
        x, y = (float(text.attrib[axis]) + float(by) for axis, by in zip("xy", moved.groups(), strict=True))
        middle = x if text.get("text-anchor") == "middle" else x + wide / 2
        box = Box(middle, y - size * 0.36, wide / 2, size * 0.36)
        yield " ".join(filter(None, (part.text for part in parts))), box


LONG = described(
    TWO, DIRECT, paths="a-path-that-has-a-name-of-many-letters-indeed: {layer: 2, over: [aa, bb]}"
)
BY_THE_BORDER = {"one": (0.0, 0.0), "two": (0.0, 40.0), "three": (12.0, 40.0)}


def on_the_border(*, turned: bool) -> Sketch:
    """A link with many words along one side of a map."""
    by = -1 if turned else 1
    return Sketch(
        "Map", "", ("aa",), (DrawnNode("aa-edge", Kind.EDGE, "aa"), *map(_transit, ("one", "two", "three"))),
        (
            Line("up", ("aa-edge", "one")), Line("a", ("one", "two")),
            Line("b", ("two", "three"), 1e9, "10 Gbps TCP \u00b7 123.4 ms \u00b7 0.0123 % loss"),
        ),
        (), {name: (north, by * east) for name, (north, east) in {**BY_THE_BORDER, "aa": (0.0, 0.0)}.items()},
    )  # fmt: skip


def _transit(name: str) -> DrawnNode:
    return DrawnNode(name, Kind.TRANSIT)


@pytest.mark.parametrize(
    "sketch",
    [
        replace(LONG, title="Campus networks of a hundred letters " * 3),
        LONG,
        replace(LONG, ways=(replace(LONG.ways[0], text="told in many words " * 8),)),
        on_the_border(turned=False),
        on_the_border(turned=True),
    ],
    ids=["title", "name of a path", "legend", "link in the east", "link in the west"],
)
def test_nothing_is_cut(sketch: Sketch) -> None:
    texts, width = picture(sketch)
    assert [words for words, box in texts if box.left < 0 or box.right > width] == []


def test_nothing_is_cut_of_what_there_is(sketch: Sketch) -> None:
    test_nothing_is_cut(sketch)


def test_names_in_a_dense_campus_are_apart() -> None:
    sketch = described(DENSE, DIRECT, paths=OVER)
    texts, _ = picture(sketch)
    names = [box for words, box in texts if words.startswith("store")]
    assert len(names) == 20
    assert all(one.common(other) == 0 for one, other in combinations(names, 2))
    told = [words for words, _ in texts]
    assert "aa 1 switch" in told
    # The link between the two is in neither frame's words.
    assert "10 Mbps TCP \u00b7 12.5 ms \u00b7 0.01 % loss" in told


def test_a_campus_s_name_lies_on_lines_and_under_no_link_s_words(sketch: Sketch) -> None:
    root = fromstring(svg.drawn(sketch))
    (body,) = (group for group in root.findall("{*}g") if group.find("{*}rect") is not None)
    order = list(body)
    first_words = next(place for place, child in enumerate(order) if child.tag.endswith("text"))
    assert not any(child.find("{*}line") is not None for child in order[first_words:])
    texts, _ = picture(sketch)
    captions = [box for words, box in texts if words.split()[0] in sketch.sites and box.half_height > 4.5]
    links = {line.text for line in sketch.lines} - {""}
    for words, box in texts:
        if words.removesuffix(" each") in links:
            assert all(box.common(caption) == 0 for caption in captions), words

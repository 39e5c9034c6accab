"""An arranged sketch as SVG (1.1, one file, nothing outside it but the reader's fonts)."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # builds and writes; nothing is parsed
from collections.abc import Iterator, Mapping, Sequence

from mininet_topos.pictures.arrangement import Arrangement, arranged
from mininet_topos.pictures.boxes import Box, Point, around
from mininet_topos.pictures.labels import LINK, NAME, SMALL, Label, placed, text_width
from mininet_topos.pictures.legend import legend, widest
from mininet_topos.pictures.sketch import Kind, Line, Sketch
from mininet_topos.pictures.strokes import Stroke, Strokes, strokes
from mininet_topos.pictures.symbols import FILLS, half_height, symbol

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK, QUIET, PAPER = "#1b2430", "#667085", "#ffffff"
CABLE, FRAME, GROUND = "#c3cad5", "#cfd8e6", "#f4f7fb"
MARGIN = 26.0
HEAD = 62.0
LEAST_WIDTH = 760.0
BESIDE = 8.0
"""Between a campus's name and what is said beside it."""
MANY_SAID = " \u00b7 names and rates along the paths only"

TITLE, SUBTITLE, CAPTION = 20.0, 12.5, 13.0
"""Sizes of letters, in pixels."""


def drawn(sketch: Sketch) -> str:
    """The picture of a network."""
    return written(sketch, arranged(sketch))


def written(sketch: Sketch, arrangement: Arrangement) -> str:
    """The picture, given where everything is."""
    laid = strokes(sketch, arrangement.points)
    labels = _labels(sketch, arrangement, laid.base)
    extent = around([arrangement.extent, *(label.box(LINK) for label in labels)])
    subtitle = sketch.subtitle + (MANY_SAID if sketch.quiet else "")
    within = max(
        2 * extent.half_width,
        text_width(sketch.title, TITLE, bold=True),
        text_width(subtitle, SUBTITLE),
        widest(sketch),
    )
    width = max(within + 2 * MARGIN, LEAST_WIDTH)
    key = legend(sketch, width - 2 * MARGIN)
    height = HEAD + 2 * extent.half_height + key.height + 2.4 * MARGIN
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:.0f} {height:.0f}",
            "width": f"{width:.0f}",
            "height": f"{height:.0f}",
            "font-family": FONT,
            "role": "img",
            "aria-label": sketch.title,
        },
    )
    ET.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": PAPER})
    _text(root, sketch.title, (MARGIN, 34.0), TITLE, anchor="start", weight="bold")
    _text(root, subtitle, (MARGIN, 54.0), SUBTITLE, anchor="start", fill=QUIET)
    shift = (width / 2 - extent.x, HEAD + MARGIN / 2 - extent.top)
    body = ET.SubElement(root, "g", {"transform": f"translate({shift[0]:.1f} {shift[1]:.1f})"})
    _body(body, sketch, arrangement, laid, labels)
    foot = ET.SubElement(
        root, "g", {"transform": f"translate({MARGIN:.1f} {height - key.height - MARGIN * 0.6:.1f})"}
    )
    key.write(foot)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def _body(
    body: ET.Element, sketch: Sketch, arrangement: Arrangement, laid: Strokes, labels: Sequence[Label]
) -> None:
    for box in arrangement.boxes.values():
        _frame(body, box)
    for line in sketch.lines:
        _line(body, line, laid.base[line.name])
    for stroke in laid.ways:
        _way(body, stroke)
    # What is written lies on the lines, or they would strike it out.
    for site, box in arrangement.boxes.items():
        _caption(body, sketch, site, box, arrangement.small)
    for label in labels:
        _text(body, label.text, (label.x, label.y + LINK * 0.36), LINK, fill=QUIET, halo=PAPER)
    for node in sketch.nodes:
        small = node.name in arrangement.small
        group = symbol(body, node.kind, arrangement.points[node.name], small=small)
        ET.SubElement(group, "title").text = f"{node.name}: {node.kind.value}"
        if node.name in sketch.quiet:
            continue
        x, y = arrangement.points[node.name]
        size = SMALL if small else NAME
        below = y + half_height(node.kind, small=small) + size + 1
        _text(body, node.label, (x, below), size, halo=PAPER if node.site is None else GROUND)


def _frame(body: ET.Element, box: Box) -> None:
    ET.SubElement(
        body,
        "rect",
        {
            "x": f"{box.left:.1f}",
            "y": f"{box.top:.1f}",
            "width": f"{2 * box.half_width:.1f}",
            "height": f"{2 * box.half_height:.1f}",
            "rx": "12",
            "fill": GROUND,
            "stroke": FRAME,
        },
    )


def _caption(body: ET.Element, sketch: Sketch, site: str, box: Box, small: frozenset[str]) -> None:
    at = (box.left + 12, box.top + 18)
    caption = _text(body, site, at, CAPTION, anchor="start", weight="bold", halo=GROUND)
    if words := _of_dense(sketch, site, small):
        look = {"font-size": f"{LINK:g}", "font-weight": "normal", "fill": QUIET, "dx": f"{BESIDE:g}"}
        ET.SubElement(caption, "tspan", look).text = words


def _of_dense(sketch: Sketch, site: str, small: frozenset[str]) -> str:
    """What is said beside a dense campus's name; of others nothing."""
    within = {node.name for node in sketch.within(site)}
    if not within & small:
        return ""
    switches = sum(node.kind in (Kind.EDGE, Kind.CAMPUS) for node in sketch.within(site))
    said = sorted({line.text for line in sketch.lines if line.text and within.issuperset(line.ends)})
    counted = "1 switch" if switches == 1 else f"{switches} switches"
    return counted + (f", links {said[0]}" if len(said) == 1 else "")


def _caption_box(sketch: Sketch, site: str, box: Box, small: frozenset[str]) -> Box:
    """What a campus's name covers, with what is said beside it."""
    words = _of_dense(sketch, site, small)
    wide = text_width(site, CAPTION, bold=True) + (BESIDE + text_width(words, LINK) if words else 0.0)
    return Box(box.left + 12 + wide / 2, box.top + 14, wide / 2, 8)


def _line(body: ET.Element, line: Line, ends: tuple[Point, Point]) -> None:
    """A link that nothing limits is thinner than one that has a rate."""
    group = ET.SubElement(body, "g")
    _stroke(group, ends, CABLE, 1.4 if line.rate is None else 2.6)
    ET.SubElement(group, "title").text = ": ".join(filter(None, (line.name, line.text)))


def _way(body: ET.Element, stroke: Stroke) -> None:
    group = ET.SubElement(body, "g")
    element = _stroke(group, stroke.ends, stroke.colour, stroke.width)
    if stroke.dashed:
        element.set("stroke-dasharray", "7 4")
        element.set("stroke-linecap", "butt")
    ET.SubElement(group, "title").text = stroke.name


def _stroke(parent: ET.Element, ends: tuple[Point, Point], colour: str, width: float) -> ET.Element:
    (x, y), (far_x, far_y) = ends
    return ET.SubElement(
        parent,
        "line",
        {
            "x1": f"{x:.1f}",
            "y1": f"{y:.1f}",
            "x2": f"{far_x:.1f}",
            "y2": f"{far_y:.1f}",
            "stroke": colour,
            "stroke-width": f"{width:g}",
            "stroke-linecap": "round",
        },
    )


def _labels(sketch: Sketch, arrangement: Arrangement, base: Mapping[str, tuple[Point, Point]]) -> list[Label]:
    """What is written at links, except within dense campuses, where the frame says it, and at quiet ones."""
    taken = []
    for node in sketch.nodes:
        x, y = arrangement.points[node.name]
        small = node.name in arrangement.small
        half, size = half_height(node.kind, small=small), SMALL if small else NAME
        taken.append(Box(x, y, half + 3, half + 2))
        if node.name not in sketch.quiet:
            taken.append(Box(x, y + half + size * 0.7, text_width(node.label, size) / 2, size * 0.6))
    taken += [_caption_box(sketch, site, box, arrangement.small) for site, box in arrangement.boxes.items()]
    silent = sketch.quiet | {
        one.name
        for one in sketch.lines
        if arrangement.small.issuperset(one.ends) and len({sketch.node[end].site for end in one.ends}) == 1
    }
    lines = [line for line in sketch.lines if line.text and line.name not in silent]
    wanted = [(text, base[line.name]) for line, text in _told(lines, sketch, arrangement)]
    return placed(wanted, taken, [*base.values()], [*arrangement.boxes.values()], LINK)


def _told(lines: Sequence[Line], sketch: Sketch, arrangement: Arrangement) -> Iterator[tuple[Line, str]]:
    """Which words are written where: between two tiers links that are alike have one label."""
    alike: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        ends = [(sketch.node[name].site, arrangement.points[name]) for name in line.ends]
        within = ends[0][0] if ends[0][0] == ends[1][0] else None
        heights = frozenset(round(point[1]) for _, point in ends)
        key = (line.text, within, heights) if arrangement.tiered else (line.name,)
        alike.setdefault(key, []).append(line)
    for found in alike.values():
        leftmost = min(found, key=lambda line: sum(arrangement.points[name][0] for name in line.ends))
        yield leftmost, leftmost.text + (" each" if len(found) > 1 else "")


def _text(
    parent: ET.Element,
    words: str,
    at: Point,
    size: float,
    *,
    anchor: str = "middle",
    weight: str = "normal",
    fill: str = INK,
    halo: str | None = None,
) -> ET.Element:
    element = ET.SubElement(
        parent,
        "text",
        {
            "x": f"{at[0]:.1f}",
            "y": f"{at[1]:.1f}",
            "font-size": f"{size:g}",
            "text-anchor": anchor,
            "fill": fill,
        },
    )
    if weight != "normal":
        element.set("font-weight", weight)
    if halo is not None:
        for name, value in {"stroke": halo, "stroke-width": "3", "stroke-linejoin": "round"}.items():
            element.set(name, value)
        element.set("paint-order", "stroke")
    element.text = words
    return element


assert set(FILLS) == set(Kind)  # noqa: S101 - each kind has a symbol

"""The foot of a picture: what the colours are, and what the symbols."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # builds; nothing is parsed
from dataclasses import dataclass

from mininet_topos.pictures.labels import text_width
from mininet_topos.pictures.sketch import Kind, Sketch, Way
from mininet_topos.pictures.strokes import COLOURS
from mininet_topos.pictures.symbols import symbol

ROW, SIZE = 21.0, 11.5
SWATCH = 34.0


@dataclass(frozen=True, slots=True)
class Legend:
    """Ways in columns, symbols in rows below.

    :param width: of a column of ways.
    """

    ways: tuple[Way, ...]
    kinds: tuple[tuple[Kind, ...], ...]
    columns: int
    width: float

    @property
    def height(self) -> float:
        """Pixels that it needs."""
        return (-(-len(self.ways) // self.columns) + len(self.kinds)) * ROW + 10

    def write(self, parent: ET.Element) -> None:
        """Write it below a group that begins at its left upper corner."""
        rows = -(-len(self.ways) // self.columns)
        for number, way in enumerate(self.ways):
            column, row = divmod(number, rows)
            _way(parent, way, COLOURS[number % len(COLOURS)], column * self.width, (row + 0.5) * ROW)
        for row, kinds in enumerate(self.kinds):
            x = 0.0
            for kind in kinds:
                y = (rows + row + 0.5) * ROW + 8
                symbol(parent, kind, (x + 9, y), small=True)
                _text(parent, kind.value, x + 22, y)
                x += _kind_width(kind)


def legend(sketch: Sketch, width: float) -> Legend:
    """What a picture of this width needs."""
    present = {node.kind for node in sketch.nodes}
    rows: list[list[Kind]] = [[]]
    for kind in Kind:
        if kind in present:
            if rows[-1] and sum(map(_kind_width, [*rows[-1], kind])) > width:
                rows.append([])
            rows[-1].append(kind)
    columns = max(1, min(len(sketch.ways), int(width / (widest(sketch) or width))))
    return Legend(sketch.ways, tuple(map(tuple, rows)), columns, width / columns)


def widest(sketch: Sketch) -> float:
    """Pixels of the longest line that cannot be broken; 0 without ways."""
    return max((_way_width(way) for way in sketch.ways), default=0.0)


def _way_width(way: Way) -> float:
    return SWATCH + 34 + text_width(way.name, SIZE, bold=True) + text_width(f"  {way.text}", SIZE)


def _kind_width(kind: Kind) -> float:
    return 48 + text_width(kind.value, SIZE)


def _way(parent: ET.Element, way: Way, colour: str, x: float, y: float) -> None:
    swatch = ET.SubElement(
        parent,
        "line",
        {
            "x1": f"{x:.1f}",
            "y1": f"{y:.1f}",
            "x2": f"{x + SWATCH:.1f}",
            "y2": f"{y:.1f}",
            "stroke": colour,
            "stroke-width": "4",
        },
    )
    if way.dashed:
        swatch.set("stroke-dasharray", "7 4")
    element = _text(parent, "", x + SWATCH + 8, y)
    name = ET.SubElement(element, "tspan", {"font-weight": "bold"})
    name.text = way.name
    rest = ET.SubElement(element, "tspan", {"fill": "#667085", "dx": "7"})
    rest.text = way.text


def _text(parent: ET.Element, words: str, x: float, y: float) -> ET.Element:
    element = ET.SubElement(
        parent,
        "text",
        {"x": f"{x:.1f}", "y": f"{y + SIZE * 0.36:.1f}", "font-size": f"{SIZE:g}", "fill": "#1b2430"},
    )
    element.text = words
    return element

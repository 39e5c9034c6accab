"""Lines of links and, along them, of the ways that use them: side by side, as on a map of an underground."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mininet_topos.pictures.boxes import Point
from mininet_topos.pictures.sketch import Line, Sketch

COLOURS = ("#2f6fd0", "#c8621b", "#1f8a5b", "#8a5cc7", "#b3345a", "#7a7f0f", "#0e7c86", "#5b6472")
"""Told apart with the usual colour blindnesses; ways beyond the last begin again."""

BESIDE = 10.0
"""Between two links that join the same nodes."""
WAY = 3.4
CROWDED = 2.4
"""Widths of a way, and of each of more than three on one link."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """One way on one link."""

    name: str
    ends: tuple[Point, Point]
    colour: str
    dashed: bool
    width: float


@dataclass(frozen=True, slots=True)
class Strokes:
    """All lines.

    :param base: of each link, by name.
    """

    base: Mapping[str, tuple[Point, Point]]
    ways: tuple[Stroke, ...]


def strokes(sketch: Sketch, points: Mapping[str, Point]) -> Strokes:
    """The lines between these points."""
    base = _base(sketch, points)
    users: dict[str, list[int]] = {line.name: [] for line in sketch.lines}
    for number, way in enumerate(sketch.ways):
        for name in dict.fromkeys(way.lines):
            users[name].append(number)
    line = {line.name: line for line in sketch.lines}
    found = []
    for name, numbers in users.items():
        width = WAY if len(numbers) <= 3 else CROWDED
        for lane, number in enumerate(numbers):
            way = sketch.ways[number]
            aside = (lane - (len(numbers) - 1) / 2) * (width + 0.6)
            ends = _shifted(base[name], aside, turned=_turned(line[name]))
            found.append(Stroke(way.name, ends, COLOURS[number % len(COLOURS)], way.dashed, width))
    return Strokes(base, tuple(found))


def _base(sketch: Sketch, points: Mapping[str, Point]) -> dict[str, tuple[Point, Point]]:
    beside: dict[frozenset[str], list[Line]] = {}
    for line in sketch.lines:
        beside.setdefault(frozenset(line.ends), []).append(line)
    found = {}
    for together in beside.values():
        for place, line in enumerate(together):
            one, other = line.ends
            aside = (place - (len(together) - 1) / 2) * BESIDE
            found[line.name] = _shifted((points[one], points[other]), aside, turned=_turned(line))
    return found


def _turned(line: Line) -> bool:
    """Whether its ends are against the order of names: sides must not change from one link to the next."""
    return line.ends[0] > line.ends[1]


def _shifted(ends: tuple[Point, Point], aside: float, *, turned: bool) -> tuple[Point, Point]:
    (x, y), (far_x, far_y) = ends
    length = math.dist(*ends) or 1.0
    by = -aside if turned else aside
    over, down = -(far_y - y) / length * by, (far_x - x) / length * by
    return (x + over, y + down), (far_x + over, far_y + down)

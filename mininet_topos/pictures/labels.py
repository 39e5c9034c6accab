"""What is written at links, where it covers least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mininet_topos.pictures.boxes import Box, Point, around

ALONG = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75)
ASIDE = (0, 1, -1, 2, -2)
"""On the line, beside it, and farther beside it."""
CLOSE, FARTHER = 4.0, 9.0
LETTER, BOLD = 0.56, 1.25
"""Width of a letter by its size, on the average of the fonts that a picture names; times as much if bold."""

NAME, SMALL, LINK = 11.0, 8.0, 10.0
"""Sizes of letters, in pixels: names of nodes, of those in a dense campus, what is written at links."""


@dataclass(frozen=True, slots=True)
class Label:
    """Words with the middle of their place."""

    text: str
    x: float
    y: float

    def box(self, size: float) -> Box:
        """What it covers, in letters of this size."""
        return Box(self.x, self.y, *_halves(self.text, size))


def text_width(words: str, size: float, *, bold: bool = False) -> float:
    """Pixels that words take, about."""
    return len(words) * size * LETTER * (BOLD if bold else 1.0)


def _halves(words: str, size: float) -> tuple[float, float]:
    """Half of the width and height that words have for themselves."""
    return text_width(words, size) / 2 + 2, size * 0.62


def placed(
    wanted: Sequence[tuple[str, tuple[Point, Point]]],
    taken: Sequence[Box],
    lines: Sequence[tuple[Point, Point]],
    frames: Sequence[Box],
    size: float,
) -> list[Label]:
    """A label for each link, those with least room first.

    :param wanted: the words and the link's ends.
    :param taken: what they must not cover.
    :param lines: all links; other than its own a label should not lie on.
    :param frames: campuses; what is outside of one is better not written into it.
    """
    occupied = list(taken)
    order = sorted(range(len(wanted)), key=lambda place: math.dist(*wanted[place][1]))
    found: dict[int, Label] = {}
    for place in order:
        words, ends = wanted[place]
        candidates = _candidates(words, ends, size)
        region = around(one.box for one in candidates)
        near = [box for box in occupied if region.common(box) > 0]
        by = [line for line in lines if region.crossed(line)]
        best = min(candidates, key=lambda one: _price(one, ends, near, by, frames))
        occupied.append(best.box)
        found[place] = Label(words, best.box.x, best.box.y)
    return [found[place] for place in range(len(wanted))]


@dataclass(frozen=True, slots=True)
class _Candidate:
    box: Box
    worse: float


def _candidates(words: str, ends: tuple[Point, Point], size: float) -> list[_Candidate]:
    (x, y), (far_x, far_y) = ends
    length = math.dist(*ends) or 1.0
    over, down = -(far_y - y) / length, (far_x - x) / length
    half_width, half_height = _halves(words, size)
    # Just beside the line, however it lies.
    reach = abs(over) * half_width + abs(down) * half_height + CLOSE
    return [
        _Candidate(
            Box(
                x + (far_x - x) * along + over * _far(side, reach),
                y + (far_y - y) * along + down * _far(side, reach),
                half_width,
                half_height,
            ),
            abs(along - 0.5) * 60 + (30 if side == 0 else 16 * (abs(side) - 1)) + (4 if side > 0 else 0),
        )
        for along in ALONG
        for side in ASIDE
    ]


def _far(side: int, reach: float) -> float:
    return 0.0 if side == 0 else math.copysign(reach + FARTHER * (abs(side) - 1), side)


def _price(
    one: _Candidate,
    ends: tuple[Point, Point],
    occupied: Sequence[Box],
    lines: Sequence[tuple[Point, Point]],
    frames: Sequence[Box],
) -> float:
    covered = sum(one.box.common(box) for box in occupied)
    crossed = sum(one.box.crossed(line) for line in lines if line != ends)
    middle = Box((ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2, 1.0, 1.0)
    strange = sum(frame.common(one.box) > 0 and frame.common(middle) == 0 for frame in frames)
    return one.worse + covered * 4 + crossed * 45 + strange * 50

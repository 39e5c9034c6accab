"""Rectangles that do not lie upon each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

ROUNDS = 200
DIRECTIONS = 24
STEP = 18.0
SLACK = 60.0
"""What boxes may have been moved since they were put in order."""
FARTHEST = 60
GAP = 14.0
CROSSING, TANGLE = 300.0, 60.0
GROWTH = 900.0
SHEET = 1.5
"""How wide a sheet is by its height."""

Point = tuple[float, float]
"""x to the right and y downwards."""
Segment = tuple[Point, Point]
"""A line by its ends."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its middle and half of its extent, in pixels; y downwards."""

    x: float
    y: float
    half_width: float
    half_height: float

    @property
    def left(self) -> float:
        """Its least x."""
        return self.x - self.half_width

    @property
    def right(self) -> float:
        """Its largest x."""
        return self.x + self.half_width

    @property
    def top(self) -> float:
        """Its least y."""
        return self.y - self.half_height

    @property
    def bottom(self) -> float:
        """Its largest y."""
        return self.y + self.half_height

    def common(self, other: Box) -> float:
        """The area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return wide * high if wide > 0 and high > 0 else 0.0

    def crossed(self, line: Segment) -> bool:
        """Whether a line comes through it (Liang and Barsky's clipping)."""
        (x, y), (far_x, far_y) = line
        begin, end = 0.0, 1.0
        for step, room in (
            (x - far_x, x - self.left),
            (far_x - x, self.right - x),
            (y - far_y, y - self.top),
            (far_y - y, self.bottom - y),
        ):
            if step == 0:
                if room < 0:
                    return False
            elif step < 0:
                begin = max(begin, room / step)
            else:
                end = min(end, room / step)
        return begin <= end

    def grown(self, by: float) -> Box:
        """Larger by so much on each side."""
        return Box(self.x, self.y, self.half_width + by, self.half_height + by)


def around(boxes: Iterable[Box]) -> Box:
    """The smallest that holds all of them.

    :raises ValueError: if there are none.
    """
    every = list(boxes)
    left, right = min(box.left for box in every), max(box.right for box in every)
    top, bottom = min(box.top for box in every), max(box.bottom for box in every)
    return Box((left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2)


def pushed_apart(boxes: Mapping[str, Box]) -> dict[str, Box]:
    """Each moved as little as it takes, along the shorter way, both of a pair alike."""
    found = dict(boxes)
    for _ in range(ROUNDS):
        moved = False
        # From left to right: whatever begins beyond a box's right side does not lie upon it.
        names = sorted(found, key=lambda name: found[name].left)
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                first, second = found[one], found[other]
                if second.left >= first.right + SLACK:
                    break
                if first.common(second) > 0:
                    found[one], found[other] = _parted(first, second)
                    moved = True
        if not moved:
            break
    return found


def _parted(one: Box, other: Box) -> tuple[Box, Box]:
    aside, down = other.x - one.x, other.y - one.y
    wide = one.half_width + other.half_width - abs(aside)
    high = one.half_height + other.half_height - abs(down)
    if wide < high:
        by = math.copysign(wide / 2 + 0.01, aside)
        return replace(one, x=one.x - by), replace(other, x=other.x + by)
    by = math.copysign(high / 2 + 0.01, down)
    return replace(one, y=one.y - by), replace(other, y=other.y + by)


@dataclass(frozen=True)
class Surroundings:
    """What a campus finds when it is placed.

    :param taken: what it must not cover.
    :param campuses: those before it, which it must not cover, and its lines not cross.
    :param lines: that its own lines had better not cross.
    """

    taken: Sequence[Box]
    campuses: Sequence[Box]
    lines: Sequence[Segment]

    @cached_property
    def sides(self) -> NDArray[np.float64]:
        """Left, right, top and bottom of all that must not be covered, a column each."""
        boxes = (*self.taken, *self.campuses)
        return np.array([(one.left, one.right, one.top, one.bottom) for one in boxes]).reshape(-1, 4)

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Both ends of each line."""
        return np.array(self.lines).reshape(-1, 2, 2)

    def price(self, there: Box, ties: Sequence[Point], whole: Box) -> float:
        """How bad a place is: covered pixels, crossings, and growth of the picture."""
        roomy = there.grown(GAP)
        own = [((there.x, there.y), tie) for tie in ties]
        covered = _covered(roomy, self.sides)
        crossed = sum(one.crossed(line) for one in self.campuses for line in own)
        tangled = sum(_met(line, self.points) for line in own)
        beyond = _sheet(around([whole, there])) / _sheet(whole) - 1
        return covered + CROSSING * crossed + TANGLE * tangled + GROWTH * beyond


def settled_near(box: Box, ties: Sequence[Point], found: Surroundings) -> Box:
    """Near where it is, at the best place among its surroundings.

    :param ties: what lines lead to from it.
    """
    whole = around([*found.taken, *found.campuses, box])
    outwards = math.atan2(box.y - whole.y, box.x - whole.x)
    best: tuple[float, Box] | None = None
    for distance in range(FARTHEST):
        far = distance * STEP
        if best is not None and best[0] < far:
            break
        for turn in range(DIRECTIONS):
            angle = outwards + 2 * math.pi * turn / DIRECTIONS
            there = replace(box, x=box.x + far * math.cos(angle), y=box.y + far * math.sin(angle))
            price = far + found.price(there, ties, whole)
            if best is None or price < best[0]:
                best = price, there
    assert best is not None  # noqa: S101 - there is at least one direction
    return best[1]


def _covered(box: Box, sides: NDArray[np.float64]) -> float:
    """The area of others that a box covers."""
    left, right, top, bottom = sides.T
    wide = np.minimum(right, box.right) - np.maximum(left, box.left)
    high = np.minimum(bottom, box.bottom) - np.maximum(top, box.top)
    return float((np.maximum(wide, 0) * np.maximum(high, 0)).sum())


def _met(line: Segment, others: NDArray[np.float64]) -> int:
    """How many lines one crosses, elsewhere than at a common end."""
    begin, end = np.array(line)
    begins, ends = others[:, 0], others[:, 1]
    apart = _side(begin, end, begins) * _side(begin, end, ends) < 0
    return int((apart & (_side(begins, ends, begin) * _side(begins, ends, end) < 0)).sum())


def _side(
    begin: NDArray[np.float64], end: NDArray[np.float64], point: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Above 0 on one side of a line, below on the other, 0 on it, which both ends of a line may be."""
    along, to = end - begin, point - begin
    side: NDArray[np.float64] = along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]
    return np.where(np.abs(side) < 1e-6, 0.0, side)


def _sheet(whole: Box) -> float:
    """The area of the sheet that a picture needs: to grow within it costs nothing."""
    return max(2 * whole.half_width, SHEET * 2 * whole.half_height) ** 2 / SHEET

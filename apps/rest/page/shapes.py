"""The few shapes that a picture of a network is made of: rectangles and bent lines, in pixels.  Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]

SAMPLES = 24
"""Points of a curve that are looked at; boxes are far wider than the steps between them."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def about(cls, middle: Point, width: float, height: float) -> Area:
        """The rectangle around a point."""
        x, y = middle
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    def meets(self, other: Area) -> bool:
        """Whether they overlap."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, point: Point, spare: float = 0.0) -> bool:
        """Whether a point is in it, or nearer to it than ``spare``."""
        x, y = point
        across = self.left - spare < x < self.right + spare
        return across and self.top - spare < y < self.bottom + spare


@dataclass(frozen=True, slots=True)
class Curve:
    """A quadratic Bézier curve."""

    start: Point
    control: Point
    end: Point

    @classmethod
    def bent(cls, start: Point, end: Point, off: float) -> Curve:
        """From one point to another that is not the same, in the middle so far off the straight line."""
        length = math.dist(start, end)
        across = ((start[1] - end[1]) / length, (end[0] - start[0]) / length)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        # The curve passes half way to its control point.
        return cls(start, (middle[0] + 2 * off * across[0], middle[1] + 2 * off * across[1]), end)

    def at(self, t: float) -> Point:
        """The point at this share of the way."""
        (ax, ay), (bx, by), (cx, cy) = self.start, self.control, self.end
        p, q, r = (1 - t) ** 2, 2 * t * (1 - t), t * t
        return p * ax + q * bx + r * cx, p * ay + q * by + r * cy

    @property
    def points(self) -> list[Point]:
        """Points along it, without its ends."""
        return [self.at(step / SAMPLES) for step in range(1, SAMPLES)]

    def hits(self, areas: Sequence[Area], spare: float) -> int:
        """How many of these it comes nearer to than this."""
        # It lies within the triangle of its three points, so most areas need no closer look.
        xs, ys = zip(self.start, self.control, self.end, strict=True)
        hull = Area(min(xs) - spare, min(ys) - spare, max(xs) + spare, max(ys) + spare)
        near = [area for area in areas if area.meets(hull)]
        points = self.points if near else []
        return sum(any(area.holds(point, spare) for point in points) for area in near)

    @property
    def d(self) -> str:
        """As SVG path data."""
        (ax, ay), (bx, by), (cx, cy) = self.start, self.control, self.end
        return f"M{ax:.1f} {ay:.1f}Q{bx:.1f} {by:.1f} {cx:.1f} {cy:.1f}"

"""Where everything of a picture is, in pixels; x to the right, y downwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mininet_topos.pictures import plane
from mininet_topos.pictures.boxes import Box, Point, Segment, Surroundings, around, pushed_apart, settled_near
from mininet_topos.pictures.campus import Ranked, ranked
from mininet_topos.pictures.labels import SMALL, text_width
from mininet_topos.pictures.sketch import Sketch

RANKS, SLOTS = 104.0, 84.0
"""Between two ranks and two neighbours of a rank, where ranks are columns."""
UPRIGHT_RANKS, UPRIGHT_SLOTS = 70.0, 96.0
"""The same where ranks are rows."""
DENSE_RANKS, DENSE_SLOTS = 46.0, 23.0
"""The same with small symbols; slots are wider where names are."""
BETWEEN_NAMES = 4.0

PADDING = 34.0
"""Between the outermost symbols of a campus and its frame."""
CAPTION = 18.0
"""For its name, above."""

LANE_STEP = 168.0
LANES = SLOTS
TIER_HEIGHT = 128.0
GAP = 36.0
WIDE, HIGH = 1150.0, 620.0
"""What the nodes between campuses are spread over, on a map, if there are no more of them than this."""
ROOMY = 25
QUIET_SHARE = 0.4
"""Of the room of a node with a name, what one without needs."""
LABEL_ROOM, QUIET_ROOM = (46.0, 27.0), (14.0, 14.0)
"""Half of the width and height that a provider's node has for itself: with its name, and without."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A picture's places.

    :param points: of each node, its middle.
    :param boxes: of each campus.
    :param small: the nodes whose symbols are small.
    :param tiered: whether nodes stand in tiers, with links from one tier to the next.
    """

    points: Mapping[str, Point]
    boxes: Mapping[str, Box]
    small: frozenset[str]
    tiered: bool = False

    @property
    def extent(self) -> Box:
        """What holds all of it, with room for names."""
        nodes = [Box(x, y, *LABEL_ROOM) for x, y in self.points.values()]
        return around([*self.boxes.values(), *nodes])


@dataclass(frozen=True, slots=True)
class _Campus:
    """A campus with its direction: points around its box's middle."""

    points: Mapping[str, Point]
    box: Box
    small: bool

    def at(self, middle: Point) -> _Campus:
        """The same, elsewhere."""
        points = {name: (x + middle[0], y + middle[1]) for name, (x, y) in self.points.items()}
        return _Campus(points, replace(self.box, x=middle[0], y=middle[1]), self.small)


def arranged(sketch: Sketch) -> Arrangement:
    """The arrangement that suits what is known of the network."""
    inside = {site: ranked(sketch, site) for site in sketch.sites}
    anchors = (*sketch.sites, *(node.name for node in sketch.transit))
    found = plane.tiers(sketch)
    tiered = False
    if sketch.places and all(name in sketch.places for name in anchors):
        earth = plane.on_earth({name: sketch.places[name] for name in anchors})
        points, campuses = _on_map(sketch, _filling(earth, sketch.quiet), inside)
    elif len(sketch.sites) == 2 and plane.chains(sketch):
        points, campuses = _in_lanes(sketch, inside)
    elif found is not None and len(sketch.sites) > 1:
        tiered = True
        points, campuses = _in_tiers(sketch, found, inside)
    else:
        points, campuses = _on_map(sketch, _filling(plane.by_steps(sketch), sketch.quiet), inside)
    dense = {name for campus in campuses.values() if campus.small for name in campus.points}
    return Arrangement(
        points | {name: point for campus in campuses.values() for name, point in campus.points.items()},
        {site: campus.box for site, campus in campuses.items()},
        frozenset(dense | {node.name for node in sketch.transit if node.name in sketch.quiet}),
        tiered,
    )


def _filling(points: Mapping[str, Point], quiet: frozenset[str]) -> dict[str, Point]:
    """Scaled, alike in both directions, so that they fill the room of a map.

    :param quiet: those of them that need little of it.
    """
    left, top = (min(point[axis] for point in points.values()) for axis in (0, 1))
    width, height = (
        max(point[axis] for point in points.values()) - start for axis, start in ((0, left), (1, top))
    )
    crowd = sum(QUIET_SHARE if name in quiet else 1.0 for name in points)
    larger = max(1.0, math.sqrt(crowd / ROOMY))
    by = larger * min(WIDE / width if width > 0 else math.inf, HIGH / height if height > 0 else math.inf)
    by = by if math.isfinite(by) else 1.0
    return {name: ((x - left) * by, (y - top) * by) for name, (x, y) in points.items()}


def _across(found: Ranked, toward: Point) -> bool:
    """Whether ranks are columns."""
    return abs(toward[0]) > abs(toward[1]) and not found.dense


def _turned(found: Ranked, toward: Point, slots: float = SLOTS) -> _Campus:
    """The campus with its first rank on the side of ``toward``, a direction."""
    across = _across(found, toward)
    rank_step, slot_step = (
        (DENSE_RANKS, max(DENSE_SLOTS, text_width(found.longest, SMALL) + BETWEEN_NAMES))
        if found.dense
        else (RANKS, slots)
        if across
        else (UPRIGHT_RANKS, UPRIGHT_SLOTS)
    )
    sign = 1 if (toward[0] if across else toward[1]) > 0 else -1
    middle_rank, middle_slot = (found.ranks - 1) / 2, (found.slots - 1) / 2
    points = {}
    for name, rank in found.rank.items():
        along = sign * (middle_rank - rank) * rank_step
        beside = (found.slot[name] - middle_slot) * slot_step
        points[name] = (along, beside + CAPTION / 2) if across else (beside, along + CAPTION / 2)
    deep, broad = middle_rank * rank_step, middle_slot * slot_step
    width, height = (deep, broad) if across else (broad, deep)
    box = Box(0.0, 0.0, width + PADDING + (0 if found.dense else 8), height + PADDING + CAPTION / 2)
    return _Campus(points, box, found.dense)


def _in_lanes(sketch: Sketch, inside: Mapping[str, Ranked]) -> tuple[dict[str, Point], dict[str, _Campus]]:
    left, right = sketch.sites
    flat = plane.in_lanes(sketch)
    steps = flat[right][0]
    one = _turned(inside[left], (1, 0))
    other = _turned(inside[right], (-1, 0))
    # Campuses of different height have their edges at one height.
    level = one.points[sketch.border(left)[0]][1] - other.points[sketch.border(right)[0]][1]
    length = steps * LANE_STEP
    campuses = {
        left: one.at((-one.box.half_width, 0.0)),
        right: other.at((length + other.box.half_width, level)),
    }
    # From the frame to the first symbol behind it, on both sides.
    known = {name: point for campus in campuses.values() for name, point in campus.points.items()}
    begin, end = (known[sketch.border(site)[0]][0] for site in (left, right))
    heights = _heights(sketch, flat, known)
    return (
        {
            node.name: (begin + (end - begin) * flat[node.name][0] / steps, heights[flat[node.name][1]])
            for node in sketch.transit
        },
        campuses,
    )


def _heights(sketch: Sketch, flat: Mapping[str, Point], known: Mapping[str, Point]) -> dict[float, float]:
    """The y of each lane: of what it leads to, as far as lanes keep their distance."""
    wanted: dict[float, list[float]] = {}
    for node in sketch.transit:
        reached = [known[other][1] for other in sketch.near[node.name] if other in known]
        wanted.setdefault(flat[node.name][1], []).extend(reached)
    means = {lane: sum(found) / len(found) if found else 0.0 for lane, found in wanted.items()}
    ordered = sorted(means, key=lambda lane: (means[lane], lane))
    return dict(zip(ordered, _kept_apart([means[lane] for lane in ordered], LANES), strict=True))


def _kept_apart(wanted: Sequence[float], least: float) -> list[float]:
    """The nearest values in this order with at least so much between two (pool adjacent violators)."""
    pools: list[list[float]] = []
    for place, value in enumerate(wanted):
        pools.append([value - place * least])
        while len(pools) > 1 and sum(pools[-2]) / len(pools[-2]) > sum(pools[-1]) / len(pools[-1]):
            last = pools.pop()
            pools[-1].extend(last)
    level = [sum(pool) / len(pool) for pool in pools for _ in pool]
    return [value + place * least for place, value in enumerate(level)]


def _in_tiers(
    sketch: Sketch, found: Sequence[Sequence[str]], inside: Mapping[str, Ranked]
) -> tuple[dict[str, Point], dict[str, _Campus]]:
    turned = {site: _turned(inside[site], (0, -1)) for site in sketch.sites}
    pitch = 2 * max(campus.box.half_width for campus in turned.values()) + GAP
    deepest = max(campus.box.half_height for campus in turned.values())
    flat = plane.in_tiers(sketch, found, TIER_HEIGHT)
    points = {node.name: (flat[node.name][0] * pitch, flat[node.name][1]) for node in sketch.transit}
    top = {site: campus.box.half_height - deepest for site, campus in turned.items()}
    campuses = {
        site: campus.at((flat[site][0] * pitch, deepest + top[site])) for site, campus in turned.items()
    }
    return points, campuses


def _on_map(
    sketch: Sketch, flat: Mapping[str, Point], inside: Mapping[str, Ranked]
) -> tuple[dict[str, Point], dict[str, _Campus]]:
    nodes = pushed_apart(
        {
            node.name: Box(*flat[node.name], *(QUIET_ROOM if node.name in sketch.quiet else LABEL_ROOM))
            for node in sketch.transit
        }
    )
    points = {name: (box.x, box.y) for name, box in nodes.items()}
    middle = _middle([*flat.values()])
    taken = [*nodes.values(), *_along([line.ends for line in sketch.lines], points)]
    lines = _segments([line.ends for line in sketch.lines], points)
    campuses: dict[str, _Campus] = {}
    # The outermost first: they have the most room to themselves.
    for site in sorted(sketch.sites, key=lambda one: -math.dist(flat[one], middle)):
        ties = {
            name: [points[other] for other in sketch.near[name] if other in points]
            for name in sketch.border(site)
        }
        anchor = next((_middle(found) for found in ties.values() if found), flat[site])
        direction = (middle[0] - anchor[0], middle[1] - anchor[1])
        all_ties = [point for found in ties.values() for point in found]
        coming = [other for other in sketch.sites if other != site and other not in campuses]
        expected = [box for other in coming for box in _expected(sketch, other, points, flat[other])]
        boxes = [campus.box for campus in campuses.values()]
        found = Surroundings([*taken, *expected], boxes, lines)
        # Once as it would face the middle, then as it faces what it is tied to from the side it came to.
        for _ in range(2):
            across = _across(inside[site], direction)
            box = replace(_turned(inside[site], direction).box, x=anchor[0], y=anchor[1])
            place = settled_near(box, all_ties, found)
            direction = (anchor[0] - place.x, anchor[1] - place.y)
        # Its box has the room of the way that it was turned then.
        direction = (direction[0], 0.0) if across else (0.0, direction[1])
        campuses[site] = min(
            (_turned(one, direction).at((place.x, place.y)) for one in _both_ways(inside[site])),
            key=lambda campus: _reach(campus, ties),
        )
        known = {**points, **campuses[site].points}
        own = [(name, other) for name in ties for other in sketch.near[name]]
        taken += _along(own, known, within=place)
        lines += _segments(own, known)
    return points, campuses


def _both_ways(found: Ranked) -> tuple[Ranked, Ranked]:
    """A campus, and its mirror image."""
    return found, replace(found, slot={name: found.slots - 1 - slot for name, slot in found.slot.items()})


def _reach(campus: _Campus, ties: Mapping[str, Sequence[Point]]) -> float:
    """How long its links to the outside are, together."""
    return sum(math.dist(campus.points[name], tie) for name, found in ties.items() for tie in found)


def _expected(sketch: Sketch, site: str, points: Mapping[str, Point], about: Point) -> list[Box]:
    """The same as :func:`_along` of a campus that has no place yet, but will be about there."""
    reached = [other for name in sketch.border(site) for other in sketch.near[name] if other in points]
    return _along([(other, site) for other in reached], {**points, site: about})


def _middle(found: Sequence[Point]) -> Point:
    return sum(x for x, _ in found) / len(found), sum(y for _, y in found) / len(found)


def _segments(lines: Sequence[tuple[str, str]], points: Mapping[str, Point]) -> list[Segment]:
    return [(points[one], points[other]) for one, other in lines if one in points and other in points]


def _along(
    lines: Sequence[tuple[str, str]], points: Mapping[str, Point], within: Box | None = None
) -> list[Box]:
    """Small boxes on lines between known points, outside a campus, which others had better not cover."""
    found = []
    for (x, y), (far_x, far_y) in _segments(lines, points):
        count = max(2, int(math.hypot(far_x - x, far_y - y) / 40))
        for part in range(1, count):
            box = Box(x + (far_x - x) * part / count, y + (far_y - y) * part / count, 12.0, 12.0)
            if within is None or box.common(within) == 0:
                found.append(box)
    return found

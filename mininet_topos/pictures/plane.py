"""Where the parts of a network stand to each other, before boxes and symbols need room.

What the network says decides, in this order: places on the earth; two campuses, which stand left and right
with the paths between them as lanes; tiers, where each link joins a tier with the next, as in a datacentre's
tree; else points whose distances are as near as a plane allows to the number of links between them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from measurement.majorisation import settled
from mininet_topos.pictures.boxes import Point
from mininet_topos.pictures.sketch import Sketch

STARTS = 6


def on_earth(places: Mapping[str, Point]) -> dict[str, Point]:
    """Latitudes and longitudes as points: equirectangular, true at the middle latitude.

    The map is cut where nothing is, so that a network across the Pacific stays in one piece.
    """
    cut = _widest_gap([longitude for _, longitude in places.values()])
    middle = (max(lat for lat, _ in places.values()) + min(lat for lat, _ in places.values())) / 2
    narrowed = math.cos(math.radians(middle))
    return {
        name: ((longitude % 360 - cut) % 360 * narrowed, -latitude)
        for name, (latitude, longitude) in places.items()
    }


def _widest_gap(longitudes: Iterable[float]) -> float:
    """The middle of the widest span of longitudes without a point."""
    ordered = sorted({longitude % 360 for longitude in longitudes})
    gaps = zip(ordered, [*ordered[1:], ordered[0] + 360], strict=True)
    begin, end = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (begin + end) / 2 % 360


def in_lanes(sketch: Sketch) -> dict[str, Point]:
    """Between two campuses: each of the ways a lane, its nodes in the order of their steps."""
    left, right = sketch.sites
    far = {site: _steps(sketch, sketch.border(site)) for site in (left, right)}
    # Of links from campus to campus there are no steps: these are as long as one.
    most = max(1, *(far[left].get(name, 0) for name in sketch.border(right)))
    lanes = _lanes(sketch)
    points: dict[str, Point] = {left: (0.0, 0.0), right: (float(most), 0.0)}
    for node in sketch.transit:
        one, other = far[left].get(node.name, 1), far[right].get(node.name, 1)
        points[node.name] = (most * one / (one + other), float(lanes[node.name]))
    return points


def _lanes(sketch: Sketch) -> dict[str, int]:
    """Nodes that links join without a campus between them share a lane, if they follow one another."""
    lanes: dict[str, int] = {}
    transit = {node.name for node in sketch.transit}
    for node in sketch.transit:
        if node.name in lanes:
            continue
        lane = len(set(lanes.values()))
        ahead = [node.name]
        while ahead:
            here = ahead.pop()
            if here not in lanes:
                lanes[here] = lane
                ahead.extend(other for other in sketch.near[here] if other in transit)
    return lanes


def chains(sketch: Sketch) -> bool:
    """Whether all that lies between campuses are rows of nodes; each campus has a way out there."""
    if not all(sketch.border(site) for site in sketch.sites):
        return False
    transit = {node.name for node in sketch.transit}
    return all(sum(other in transit for other in sketch.near[name]) <= 2 for name in transit)


def tiers(sketch: Sketch) -> list[list[str]] | None:
    """The provider's nodes by their steps from the campuses, if each link leads from one tier to the next.

    None if it does not, or there is only one.
    """
    far = _steps(sketch, [name for site in sketch.sites for name in sketch.border(site)])
    found: dict[int, list[str]] = {}
    for node in sketch.transit:
        if any(far.get(other) == far.get(node.name) for other in sketch.near[node.name]):
            return None
        found.setdefault(far.get(node.name, 1), []).append(node.name)
    return [found[tier] for tier in sorted(found)] if len(found) > 1 else None


def in_tiers(sketch: Sketch, found: Sequence[Sequence[str]], apart: float) -> dict[str, Point]:
    """The campuses side by side at the foot, each tier above the last, in the middle of what it joins.

    :param apart: between two tiers, where two campuses are 1 apart.
    """
    points: dict[str, Point] = {site: (float(place), 0.0) for place, site in enumerate(sketch.sites)}
    width = len(sketch.sites) - 1
    for height, names in enumerate(found, start=1):
        wanted = {name: _middle_below(sketch, name, points) for name in names}
        ordered = sorted(names, key=lambda name: (wanted[name], name))
        step = width / max(len(ordered), 1)
        for place, name in enumerate(ordered):
            points[name] = ((place + 0.5) * step, -height * apart)
    return points


def _middle_below(sketch: Sketch, name: str, points: Mapping[str, Point]) -> float:
    below = [
        points[key][0]
        for key in (sketch.node[other].site or other for other in sketch.near[name])
        if key in points
    ]
    return sum(below) / len(below) if below else 0.0


def by_steps(sketch: Sketch, seed: int = 1) -> dict[str, Point]:
    """Points as far apart as there are links between them, as near as a plane allows."""
    keys = [*sketch.sites, *(node.name for node in sketch.transit)]
    if len(keys) < 2:
        return dict.fromkeys(keys, (0.0, 0.0))
    place = {key: number for number, key in enumerate(keys)}
    steps = np.full((len(keys), len(keys)), float(len(keys)))
    for key in keys:
        for other, far in _steps_of_parts(sketch, key).items():
            steps[place[key], place[other]] = far
    np.fill_diagonal(steps, 0)
    weights = np.divide(1, steps**2, out=np.zeros_like(steps), where=steps > 0)
    generator = np.random.default_rng(seed)
    found = [
        settled(generator.normal(scale=len(keys) ** 0.5, size=(len(keys), 2)), steps, weights)
        for _ in range(STARTS)
    ]
    best = min(found, key=lambda one: one[0])[1]
    centred = best - best.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    return {key: (float(turned[number, 0]), float(turned[number, 1])) for key, number in place.items()}


def _steps(sketch: Sketch, begin: Iterable[str]) -> dict[str, int]:
    """Links from the nearest of some nodes, over what is no campus's."""
    far = dict.fromkeys(begin, 0)
    ahead = deque(far)
    while ahead:
        here = ahead.popleft()
        for other in sketch.near[here]:
            if other not in far and (sketch.node[here].site is None or sketch.node[other].site is None):
                far[other] = far[here] + 1
                if sketch.node[other].site is None:
                    ahead.append(other)
    return far


def _steps_of_parts(sketch: Sketch, key: str) -> dict[str, int]:
    """The same, where a campus is one point."""
    begin = sketch.border(key) if key in sketch.sites else (key,)
    found: dict[str, int] = {}
    for name, far in _steps(sketch, begin).items():
        part = sketch.node[name].site or name
        found[part] = min(far, found.get(part, far))
    return found

"""Where on the map everything stands: the same network always in the same places.  Pure.  Pixels."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

from adon.api.network import NetworkView
from apps.dashboard.network.layout import MANY, layout

Point = tuple[float, float]

CELL = (170.0, 110.0)
TIGHT = (140.0, 84.0)
"""A switch's place; of a large network."""
BLOCK_GAP = 0.8
"""Cells between the blocks of two sites."""
SHAPE = 1.4
"""How much wider than high the map is."""
ROUND = 230.0
"""The radius on which few sites stand; more of them need more."""
APART = 210.0
"""Between two neighbours on the circle."""
PARALLEL = 46.0
"""Between two lines that join the same switches."""


def of_switches(network: NetworkView, pairs: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """The edges of sites around, every other switch between its neighbours (:mod:`.layout`).

    :param pairs: the names of switches that a line joins.
    """
    known = [switch.name for switch in network.switches]
    if not known:
        return {}
    edges = dict.fromkeys(site.edge for site in network.sites if site.edge in known)
    outer = tuple(edges) or (known[0],)
    inner = tuple(name for name in known if name not in outer)
    distinct = tuple(pair for pair in pairs if pair[0] != pair[1])
    many = len(known) > MANY
    parallel = 0 if many else max((distinct.count(pair) for pair in set(distinct)), default=0)
    width, height = TIGHT if many else CELL
    found = layout(outer, inner, distinct, max(3, math.ceil(parallel * PARALLEL / height) + 1))
    return {
        # Every other row is shifted, so that fewer switches are in line with one another.
        name: ((column + (0.5 if row % 2 and len(known) > 2 else 0.0)) * width, row * height)
        for name, (column, row) in found.cells.items()
    }


def by_site(network: NetworkView, pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The site of each switch: whose edge is nearest by links, the first of the nearest; "" for none."""
    known = [switch.name for switch in network.switches]
    near: dict[str, list[str]] = {name: [] for name in known}
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    found: dict[str, str] = {}
    waiting: deque[str] = deque()
    for site in network.sites:
        if site.edge in near and site.edge not in found:
            found[site.edge] = site.name
            waiting.append(site.edge)
    while waiting:
        here = waiting.popleft()
        for other in near[here]:
            if other not in found:
                found[other] = found[here]
                waiting.append(other)
    return {name: found.get(name, "") for name in known}


def of_groups(groups: Mapping[str, str], pairs: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Each site's switches together in a block of their own, the blocks beside each other.

    :param groups: the site of each switch (:func:`by_site`).
    """
    blocks: dict[str, list[str]] = {}
    for name, site in groups.items():
        blocks.setdefault(site, []).append(name)
    drawn = [_block(names, pairs) for names in blocks.values()]
    if not drawn:
        return {}
    wide = TIGHT[0] * (max(x for block in drawn for x, _ in block.values()) + 1 + BLOCK_GAP)
    high = TIGHT[1] * (max(y for block in drawn for _, y in block.values()) + 1 + BLOCK_GAP)
    across = min(
        range(1, len(drawn) + 1),
        key=lambda number: max(number * wide, SHAPE * math.ceil(len(drawn) / number) * high),
    )
    return {
        name: (number % across * wide + x * TIGHT[0], number // across * high + y * TIGHT[1])
        for number, block in enumerate(drawn)
        for name, (x, y) in block.items()
    }


def _block(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """The cells of one site's switches, from (0, 0) on."""
    inside = tuple(pair for pair in pairs if pair[0] != pair[1] and {*pair} <= {*names})
    cells = layout((names[0],), tuple(names[1:]), inside).cells
    left, top = (min(cell[axis] for cell in cells.values()) for axis in (0, 1))
    return {name: (column - left, row - top) for name, (column, row) in cells.items()}


def of_sites(names: Sequence[str]) -> dict[str, Point]:
    """On a circle, clockwise from the left; two opposite each other."""
    radius = max(ROUND, APART * len(names) / math.tau)
    turns = [math.pi + math.tau * number / len(names) for number in range(len(names))]
    return {
        name: (round(1.6 * radius * math.cos(turn), 1), round(radius * math.sin(turn), 1))
        for name, turn in zip(names, turns, strict=True)
    }

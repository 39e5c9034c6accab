"""Where the switches of a picture go: edge switches around, all others between their neighbours.  Pure.

Tutte's barycentric drawing ("How to draw a graph", 1963): the outer switches are fixed, every inner one
is at the mean of its neighbours.  Then each is put onto a cell of a grid of its own, so that no two boxes can
overlap, and moved to a better cell near its neighbours while that makes links shorter.  Nothing is left to
chance: the same network is always drawn in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

Cell = tuple[int, int]
"""Column and row, from 0."""
Point = tuple[float, float]

WIDEST = 8
"""Columns, as long as the network is not so large that it gets :data:`WIDEST_OF_MANY`."""
WIDEST_OF_MANY = 10
MANY = 30
ROOM = 1.6
"""Cells per switch: with too few there is no place to improve to, with too many the picture is empty."""
SETTLING = 200
"""Rounds in which the means settle, far more than a hundred switches need."""
IMPROVING = 12
REACH = 2
"""How many cells around the middle of its neighbours a switch may try."""
WIDE = 1.6
"""How much wider than high a cell is."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A cell for each switch, in a grid of so many columns and rows."""

    cells: Mapping[str, Cell]
    columns: int
    rows: int


@lru_cache(maxsize=32)
def layout(
    outer: tuple[str, ...], inner: tuple[str, ...], links: tuple[tuple[str, str], ...], deep: int = 3
) -> Layout:
    """Where each switch goes.

    :param outer: the edge switches, in the order in which they stand around.
    :param inner: all other switches.
    :param links: pairs of names of these.
    :param deep: rows at least.
    """
    columns, rows = _size(len(outer) + len(inner), len(inner), deep)
    fixed = _around(outer, columns, rows)
    near = _neighbours((*outer, *inner), links)
    wanted = _settled(inner, near, fixed, ((columns - 1) / 2, (rows - 1) / 2))
    placed = _placed(inner, wanted, fixed, columns, rows)
    return Layout(_improved(inner, placed, near, columns, rows), columns, rows)


def _size(number: int, inner: int, deep: int) -> Cell:
    if not inner:
        return 4 if number <= 2 else 6, max(deep, 3 if number <= 2 else 5)
    widest = WIDEST if number <= MANY else WIDEST_OF_MANY
    columns = min(widest, max(5, math.ceil(math.sqrt(ROOM * 2 * number))))
    return columns, max(deep, 3, math.ceil(ROOM * number / columns))


def _around(outer: Sequence[str], columns: int, rows: int) -> dict[str, Cell]:
    """The outer switches on the border, clockwise from the middle of its left side."""
    border = [(0, row) for row in range((rows - 1) // 2, -1, -1)]
    border += [(column, 0) for column in range(1, columns)]
    border += [(columns - 1, row) for row in range(1, rows)]
    border += [(column, rows - 1) for column in range(columns - 2, -1, -1)]
    border += [(0, row) for row in range(rows - 2, (rows - 1) // 2, -1)]
    if len(outer) == 2:
        return dict(zip(outer, ((0, (rows - 1) // 2), (columns - 1, (rows - 1) // 2)), strict=True))
    return {
        name: border[number * len(border) // len(outer) % len(border)] for number, name in enumerate(outer)
    }


def _neighbours(names: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {name: [] for name in names}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    return near


def _settled(
    inner: Sequence[str], near: Mapping[str, Sequence[str]], fixed: Mapping[str, Cell], middle: Point
) -> dict[str, Point]:
    """Tutte's means; a switch without neighbours is in the middle."""
    at: dict[str, Point] = {name: (float(x), float(y)) for name, (x, y) in fixed.items()}
    at |= dict.fromkeys(inner, middle)
    for _ in range(SETTLING):
        for name in inner:
            if near[name]:
                at[name] = _mean([at[other] for other in near[name]])
    return at


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _placed(
    inner: Sequence[str], wanted: Mapping[str, Point], fixed: Mapping[str, Cell], columns: int, rows: int
) -> dict[str, Cell]:
    """Place each node on the nearest free cell, the farthest from the middle first."""
    placed, middle = dict(fixed), ((columns - 1) / 2, (rows - 1) / 2)
    free = set(product(range(columns), range(rows))) - set(fixed.values())
    for name in sorted(inner, key=lambda name: (-math.dist(wanted[name], middle), name)):
        placed[name] = min(free, key=lambda cell: (math.dist(cell, wanted[name]), cell))
        free.remove(placed[name])
    return placed


def _improved(
    inner: Sequence[str],
    placed: dict[str, Cell],
    near: Mapping[str, Sequence[str]],
    columns: int,
    rows: int,
) -> dict[str, Cell]:
    """Each in turn to the cell, free or exchanged for another's, that makes its links shortest."""
    at = dict(placed)
    holder = {cell: name for name, cell in at.items()}
    movable = frozenset(inner)
    for _ in range(IMPROVING):
        moved = False
        for name in inner:
            best = _best(name, at, holder, near, movable, columns, rows)
            if best is not None:
                _exchange(name, best, at, holder)
                moved = True
        if not moved:
            break
    return at


def _best(
    name: str,
    at: Mapping[str, Cell],
    holder: Mapping[Cell, str],
    near: Mapping[str, Sequence[str]],
    movable: frozenset[str],
    columns: int,
    rows: int,
) -> Cell | None:
    """The cell that gains most; None if none gains anything."""
    if not near[name]:
        return None
    x, y = (round(value) for value in _mean([at[other] for other in near[name]]))
    xs = range(max(0, x - REACH), min(columns, x + REACH + 1))
    ys = range(max(0, y - REACH), min(rows, y + REACH + 1))
    best, most = None, 1e-9
    for cell in product(xs, ys):
        other = holder.get(cell)
        if cell == at[name] or (other is not None and other not in movable):
            continue
        gain = _gain(name, cell, at, near) + (0.0 if other is None else _gain(other, at[name], at, near))
        if gain > most:
            best, most = cell, gain
    return best


def _gain(name: str, to: Cell, at: Mapping[str, Cell], near: Mapping[str, Sequence[str]]) -> float:
    """By how much the squares of a switch's links get shorter; a link to who comes here counts as it is."""
    here = at[name]
    ends = [at[other] for other in near[name] if at[other] != to]
    return sum(_square(here, end) - _square(to, end) for end in ends)


def _square(one: Cell, other: Cell) -> float:
    return (WIDE * (one[0] - other[0])) ** 2 + (one[1] - other[1]) ** 2


def _exchange(name: str, to: Cell, at: dict[str, Cell], holder: dict[Cell, str]) -> None:
    here, other = at[name], holder.get(to)
    at[name], holder[to] = to, name
    if other is None:
        del holder[here]
    else:
        at[other], holder[here] = here, other

"""What two open tasks rule out for each other (arc consistency; Mackworth, Artificial Intelligence 8, 1977).

If one task were on machine n, another must be somewhere: on the same machine, if both fit and are not to be
apart, or on one whose paths to and from n carry what the two send each other, beside all that is placed
already, within the time.  Where there is no such place, the first task cannot be on n.  A pair that sends so
much that no path carries it in time is *forced together* this way; with heavy-tailed transfers that settles
nearly everything.
"""

from __future__ import annotations

import numpy as np

from adon.placement.arrays import Flags, Floats, Numbers
from adon.placement.constraints import SLACK
from adon.placement.nodes import OPEN, Nodes, Space

ELEMENTS = 4_000_000
"""Larger tables than that are not made: J^2 M^2 for the open tasks."""


def consistent(space: Space, node: Nodes, domain: Flags, limit: float) -> Flags | None:
    """Where each task may still be, if it is all to take less than a limit.

    :param node: one.
    :param domain: J x M, where each may be by itself; not more is left of it.
    :return: None if some task can be nowhere.
    """
    open_ = np.flatnonzero(node.placed[0] == OPEN)
    size = len(open_) * space.arrays.machines
    if len(open_) < 2 or size * size > ELEMENTS:
        return domain
    possible = _possible(space, node, open_, limit)
    left = domain[open_]
    while True:
        supported = left & np.all(np.any(possible & left, axis=3), axis=2)
        if not np.all(np.any(supported, axis=1)):
            return None
        if np.array_equal(supported, left):
            break
        left = supported
    found = domain.copy()
    found[open_] = left
    return found


def floor(space: Space, root: Nodes, most: float, halvings: int = 10) -> float:
    """Seconds below which no placement is: a time in which some task could be nowhere is too short.

    A destructive lower bound (Klein and Scholl, European Journal of Operational Research 112, 1999), halved
    towards the shortest time that is not ruled out so.

    :param root: one node, from which the search began.
    :param most: seconds that can be had.
    """
    least = 0.0
    for _ in range(halvings):
        middle = (least + most) / 2
        if consistent(space, root, root.values[0] < middle, middle) is None:
            least = middle
        else:
            most = middle
    return least


def _possible(space: Space, node: Nodes, open_: Numbers, limit: float) -> Flags:
    """Open x M x open x M: whether two tasks can be there at the same time."""
    arrays, count = space.arrays, space.arrays.machines
    to, out = node.talk[0, open_, :count], node.talk[0, open_, count:]
    one_way = node.busy[0, :, count:] + out[:, None, :] * arrays.per_bit  # the first on n: path n > m
    beside = to.T[:, :, None] * arrays.per_bit[:, None, :]  # the second on m hears from n: n, second, m
    own = arrays.bits[np.ix_(open_, open_)]
    seconds: Floats = (
        one_way[:, :, None, :] + beside[None] + own[:, None, :, None] * arrays.per_bit[None, :, None, :]
    )
    possible: Flags = seconds < limit
    possible &= possible.transpose(2, 3, 0, 1)
    need = arrays.need[open_]
    together: Flags = np.all(need[:, None, None] + need[None, :, None] <= node.free[0] + SLACK, axis=3)
    machines, tasks = np.arange(count), np.arange(len(open_))
    possible[:, machines, :, machines] = together.transpose(2, 0, 1)
    if arrays.clash is not None:
        possible &= ~arrays.clash[open_][:, :, open_]
    possible[tasks, :, tasks, :] = True
    return possible

"""Positions on the map."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from apps.dashboard.network.map_graph import BOX, place

TREE = tuple((f"s{(number - 1) // 3}", f"s{number}") for number in range(1, 16))
NAMES = tuple(f"s{number}" for number in range(16))


@pytest.mark.parametrize("pairs", [TREE, TREE[:7], ()], ids=["connected", "with single boxes", "no lines"])
def test_boxes_do_not_overlap_and_the_same_network_has_the_same_map(
    pairs: tuple[tuple[str, str], ...],
) -> None:
    found = place(NAMES, pairs)
    distances = [
        math.dist(found[one].values(), found[other].values()) for one, other in combinations(NAMES, 2)
    ]
    assert min(distances) >= 0.99 * BOX
    place.cache_clear()
    assert place(NAMES, pairs) == found


def test_one_box_and_two_boxes_have_positions() -> None:
    assert place(("a",), ()).keys() == {"a"}
    two = place(("a", "b"), (("a", "b"),))
    assert two["a"]["x"] < two["b"]["x"]
    assert place((), ()) == {}

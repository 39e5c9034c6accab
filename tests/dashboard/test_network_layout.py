"""Where switches stand in the picture of the network."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.dashboard.network.layout import layout


@st.composite
def networks(draw: Any) -> tuple[list[tuple[int, int]], list[int], int]:
    """Links between numbered switches, those at the edge, and how many switches there are."""
    number = draw(st.integers(1, 14))
    ends = st.integers(0, number - 1)
    links = st.lists(st.tuples(ends, ends).filter(lambda two: two[0] != two[1]), max_size=24)
    edges = draw(links) if number > 1 else []
    return edges, draw(st.lists(ends, unique=True, max_size=5)), number


@given(networks())
def test_every_switch_has_a_cell_of_its_own_and_edges_are_around(
    case: tuple[list[tuple[int, int]], list[int], int],
) -> None:
    edges, sites, number = case
    inner = tuple(f"s{one}" for one in range(number) if one not in sites)
    outer = tuple(f"s{one}" for one in sites) or (inner[0],)
    inner = tuple(name for name in inner if name not in outer)
    links = tuple((f"s{one}", f"s{other}") for one, other in edges)
    found = layout(outer, inner, links)
    assert len(set(found.cells.values())) == len(found.cells) == number
    for name in outer:
        column, row = found.cells[name]
        assert column in (0, found.columns - 1) or row in (0, found.rows - 1) or len(outer) <= 2
    layout.cache_clear()
    assert layout(outer, inner, links) == found


def test_two_sites_face_each_other() -> None:
    found = layout(("a", "b"), ("x", "y"), (("a", "x"), ("x", "b"), ("a", "y"), ("y", "b"), ("x", "y")))
    (left, row), (right, same) = found.cells["a"], found.cells["b"]
    assert (left, right, row) == (0, found.columns - 1, same)
    assert found.cells["x"][1] != found.cells["y"][1]  # beside one another their links would hide

"""A clock read over a line that takes its time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.guest.clock import best, reading

WAYS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=20)


@given(WAYS, st.integers(-(10**12), 10**12))
def test_the_offset_is_known_to_half_of_the_shortest_answer(ways: list[tuple[int, int]], ahead: int) -> None:
    """``ways``: how long each question takes there, and its answer back."""
    now, left = 0, iter(ways)

    def ask() -> int:
        nonlocal now
        there, back = next(left)
        now += there + back
        return now - back + ahead

    found = best(ask, lambda: now, rounds=len(ways))
    assert found.took == min(there + back for there, back in ways)
    assert 2 * abs(found.offset - ahead) <= found.took + 1


def test_one_reading() -> None:
    assert reading(1000, 5000, 1200).offset == 3900
    assert reading(1000, 5000, 1200).took == 200

"""The agenda: never a conflict, whoever is slow; never idle without need; all is done."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from measurement.health.agenda import Agenda
from measurement.health.model import Pair
from measurement.health.round_schedule import Limits
from tests.measurement.health.rounds import find_collisions, limits, some_pairs


def played(agenda: Agenda, lasts: Callable[[Pair], float], within: Limits) -> tuple[list[Pair], float, int]:
    """All of it, on a clock of its own: what was begun in which order, how long it took, how many at once."""
    order: list[Pair] = []
    ends: list[tuple[float, Pair]] = []
    now, most = 0.0, 0
    while True:
        for pair in agenda.begin():
            order.append(pair)
            heapq.heappush(ends, (now + lasts(pair), pair))
        assert not find_collisions([tuple(pair for _, pair in ends)], within)
        most = max(most, len(ends))
        if not ends:
            return order, now, most
        now, pair = heapq.heappop(ends)
        agenda.done(pair)


@given(some_pairs, limits, st.none() | st.integers(1, 5), st.randoms(use_true_random=False))
def test_all_is_done_without_conflict(
    pairs: Sequence[Pair], within: Limits, at_once: int | None, chance
) -> None:
    agenda = Agenda(pairs, within, at_once)
    order, _, most = played(agenda, lambda pair: chance.expovariate(1.0), within)
    assert sorted(order) == sorted(pairs)
    assert at_once is None or most <= at_once

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.simulation.policies import AlwaysLayer
from tests.reference.shared_path import Job, finish
from tests.simulation.small_worlds import ends, network, run, transfer, workload


def test_who_stays_has_what_the_others_leave() -> None:
    assert finish(1e9, [Job(1e9), Job(2e9)]) == pytest.approx([2.0, 3.0])
    assert finish(1e9, [Job(1e9, 1, 0.25e9), Job(3e9)]) == pytest.approx([4.0, 4.0])
    assert finish(1e9, [Job(math.inf, 3), Job(1e9)]) == [math.inf, pytest.approx(4.0)]
    assert finish(0.0, [Job(1.0)]) == [math.inf]
    assert finish(1e9, []) == []


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 4)), min_size=1, max_size=6))
def test_it_is_what_the_simulator_makes_of_transfers_that_begin_together(
    drawn: list[tuple[int, int]],
) -> None:
    asked = [transfer(n, megabytes=125.0 * gb, streams=streams) for n, (gb, streams) in enumerate(drawn, 1)]
    records = run(workload(*asked, over=network(1e9)), AlwaysLayer("l2"))
    assert finish(1e9, [Job(one.bits, one.streams) for one in asked]) == pytest.approx(
        ends(records), rel=1e-5
    )

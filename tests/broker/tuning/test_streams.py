"""How many streams, and what bounds them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.tuning.item import Confidence
from adon.broker.tuning.streams import Bound, memory_bound, parallel_streams

IRODS = Bound(16, "iRODS opens at most 16")


def number(target: float, per_stream: float, *bounds: Bound) -> int:
    return parallel_streams(target, per_stream, bounds, "", Confidence.MEDIUM).number


@pytest.mark.parametrize(
    ("target", "per_stream", "bounds", "expected"),
    [
        (10e9, 10e9, (IRODS,), 1),
        (10e9, math.inf, (IRODS,), 1),
        (10e9, 9.99e9, (IRODS,), 2),
        (10e9, 1e9, (IRODS,), 10),
        (100e9, 1e9, (IRODS,), 16),
        (100e9, 1e9, (), 100),
        (10e9, 1e9, (IRODS, Bound(4, "memory")), 4),
        (10e9, 0.0, (IRODS,), 16),
        (1.7e308, 5e-324, (IRODS,), 16),
        (1e9 * (1 + 1e-12), 1e9, (IRODS,), 1),
    ],
)
def test_enough_and_no_more(
    target: float, per_stream: float, bounds: tuple[Bound, ...], expected: int
) -> None:
    assert number(target, per_stream, *bounds) == expected


@pytest.mark.parametrize(
    ("per_stream", "words"),
    [
        (10e9, "one stream fills 10 Gbps; a second would only compete"),
        (2e9, "one stream reaches 2 Gbps of 10 Gbps; 5 are needed"),
        (0.5e9, "20 would be needed, but iRODS opens at most 16: these reach at most 8 Gbps"),
        (0.0, "more than any tool opens would be needed, but iRODS"),
    ],
)
def test_the_reason_names_what_decided(per_stream: float, words: str) -> None:
    found = parallel_streams(10e9, per_stream, (IRODS,), "", Confidence.MEDIUM)
    assert found.item.reason.startswith(words)


@pytest.mark.parametrize(
    ("memory", "per_stream", "most"),
    [(64e9, 100e6, 160), (1e9, 1e9, 1), (64e9, 1.0, 10**6), (None, 1e6, None), (64e9, 0.0, None)],
)
def test_a_quarter_of_memory_is_for_buffers(
    memory: float | None, per_stream: float, most: int | None
) -> None:
    bound = memory_bound("dtn", None if memory is None else int(memory), per_stream)
    assert (None if bound is None else bound.most) == most


@given(st.floats(1, 1e12), st.floats(0, 1e12), st.lists(st.integers(1, 200), max_size=3))
def test_never_above_a_bound_and_never_more_than_fill_the_path(
    target: float, per_stream: float, most: list[int]
) -> None:
    found = number(target, per_stream, *(Bound(one, "") for one in most))
    assert found >= 1
    assert all(found <= one for one in most)
    assert found == 1 or (found - 1) * per_stream < target

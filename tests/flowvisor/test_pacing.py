"""Token buckets and the pieces of a batch."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.send_pacing import OFPT_FLOW_MOD, Bucket, split_messages
from tests.support.refusals import refused

RATES = st.floats(0.5, 5_000)
MOMENTS = st.lists(st.floats(0, 10), min_size=1, max_size=60).map(sorted)


def message(kind: int, size: int = 8) -> bytes:
    return struct.pack("!BBHI", 4, kind, size, 7) + bytes(size - 8)


@given(rate=RATES, burst=st.floats(1, 100), moments=MOMENTS)
def test_never_more_than_burst_and_rate_allow_over_any_span(
    rate: float, burst: float, moments: list[float]
) -> None:
    bucket, passed = Bucket.full(rate, burst, 0.0), []
    for now in moments:
        left = bucket.take(now)
        if left is not None:
            bucket = left
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            allowed = burst + rate * (passed[last] - passed[first])
            assert last - first + 1 <= allowed + 1e-6


@given(rate=RATES, burst=st.floats(1, 100), sizes=st.lists(st.integers(0, 50), min_size=1, max_size=40))
def test_who_waits_as_told_is_as_fast_as_allowed_and_no_faster(
    rate: float, burst: float, sizes: list[int]
) -> None:
    bucket, now = Bucket.full(rate, burst, 0.0), 0.0
    for size in sizes:
        bucket, wait = bucket.borrow(now, size)
        now += wait
    total = sum(sizes)
    # Everything has left at the first moment at which the bucket allows it: not before, not later.
    assert now == pytest.approx(max(0.0, (total - burst) / rate), abs=1e-6)


@given(
    kinds=st.lists(st.sampled_from([OFPT_FLOW_MOD, 13, 18, 20]), max_size=60),
    most=st.integers(1, 10),
)
def test_pieces_are_the_batch_again_whole_messages_and_bounded(kinds: list[int], most: int) -> None:
    data = b"".join(message(kind, 8 + 8 * (number % 3)) for number, kind in enumerate(kinds))
    cut = list(split_messages(data, most))
    assert b"".join(piece.data for piece in cut) == data
    assert sum(piece.flow_mods for piece in cut) == kinds.count(OFPT_FLOW_MOD)
    assert all(piece.flow_mods <= most for piece in cut)
    # No more pieces than needed: every one but the last is full.
    assert all(piece.flow_mods == most for piece in cut[:-1])
    for piece in cut:
        assert next(split_messages(piece.data, most)) == piece


@pytest.mark.parametrize(
    "data", [b"\x04\x0e\x00", message(14)[:6], message(14, 16)[:12], b"\x04\x0e\x00\x07" + bytes(4)]
)
def test_what_is_no_whole_message_is_refused(data: bytes) -> None:
    with refused(ValueError):
        list(split_messages(data, 5))

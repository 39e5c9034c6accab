"""Trains beside the transfers that verify them."""

from __future__ import annotations

import pytest

from measurement.health.model import Found, Pair
from measurement.health.record import RoundRecord
from measurement.health.train_verification import Verified, mean_error, verified_pairs
from tests.measurement.health.rounds import changed, instances

A_B, A_C, B_A, C_A = Pair("a", "b"), Pair("a", "c"), Pair("b", "a"), Pair("c", "a")
RECORD = RoundRecord.of(
    0.0,
    1.0,
    instances("abc"),
    (A_B, A_C, B_A, C_A),
    {A_B: Found(throughput=(110.0,)), B_A: Found(throughput=(80.0,)), A_C: Found()},
    verified={
        B_A: (90.0, 110.0),
        A_B: (100.0,),
        A_C: (100.0,),  # without a train
        C_A: (100.0,),  # not even reached
    },
)


def test_pairs_with_both_are_compared_in_order() -> None:
    assert verified_pairs(RECORD) == (Verified(A_B, 110.0, 100.0), Verified(B_A, 80.0, 100.0))
    assert [one.off for one in verified_pairs(RECORD)] == pytest.approx([0.1, -0.2])


def test_errors_do_not_cancel_out() -> None:
    assert mean_error(RECORD) == pytest.approx(0.15)


def test_of_nothing_there_is_no_error() -> None:
    assert mean_error(changed(RECORD, verified={})) is None
    assert mean_error(changed(RECORD, verified={A_B: (0.0, 0.0)})) is None

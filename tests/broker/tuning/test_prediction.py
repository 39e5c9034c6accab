"""What is gained: the model before and after, with what tests show of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.tuning.prediction import Range, Settings, formula, modelled, predict
from adon.broker.uncertain import Uncertain
from tests.broker.tuning.values import MIB, a_test_of, path

SMALL = Settings(1, 2 * MIB, 1460)
LARGE = Settings(1, 64 * MIB, 1460)
WINDOW_RATE = 2 * MIB * 8 / 0.033


def test_the_formula_alone() -> None:
    found = predict(path(), SMALL, LARGE)
    assert found is not None
    assert found.before is not None
    assert found.before.expected == pytest.approx(WINDOW_RATE)
    assert found.after == Range(10e9, 10e9, 10e9)
    assert found.gain is not None
    assert found.gain.expected == pytest.approx(10e9 / WINDOW_RATE)
    assert found.basis.startswith("the formula alone")


def test_what_a_test_shows_of_the_rest_stays_as_it_is() -> None:
    # A test of the present settings reached 60 % of what the formula gives for them.
    found = predict(path(reached=a_test_of(0.6 * WINDOW_RATE)), SMALL, LARGE)
    assert found is not None
    assert found.before is not None
    assert found.before.expected == pytest.approx(0.6 * WINDOW_RATE)
    assert found.after.expected == pytest.approx(6e9)
    assert found.after.high == 10e9
    assert "reached 60 %" in found.basis


def test_a_test_above_the_formula_promises_no_more_than_the_formula() -> None:
    found = predict(path(reached=a_test_of(3 * WINDOW_RATE)), SMALL, LARGE)
    assert found is not None
    assert found.after.expected == 10e9


def test_unknown_buffers_may_be_the_reason() -> None:
    found = predict(path(reached=a_test_of(2e9)), Settings(1, None, 1460), LARGE)
    assert found is not None
    assert found.before is not None
    assert found.before.expected == 2e9
    assert (found.after.low, found.after.expected) == (2e9, 10e9)
    assert "not known" in found.basis


def test_without_window_and_test_nothing_is_said_about_before() -> None:
    found = predict(path(), Settings(1, None, 1460), LARGE)
    assert found is not None
    assert (found.before, found.gain) == (None, None)
    assert predict(path(rate=None), SMALL, Settings(1, None, 1460)) is None


def test_a_test_with_other_streams_is_taken_in_proportion() -> None:
    found = predict(path(reached=a_test_of(4e9, streams=4)), Settings(2, None, 1460), LARGE)
    assert found is not None
    assert found.before is not None
    assert found.before.expected == 2e9


def test_spreads_become_an_interval() -> None:
    about = path(rate=None, rtt=Uncertain(0.033, 0.003), loss=Uncertain(1e-5, 2e-6))
    found = modelled(about, LARGE)
    assert found is not None
    low, high = (8 * 1460 * 1.5**0.5 / (rtt * loss**0.5) for rtt, loss in CORNERS)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.low < found.expected < found.high


CORNERS = (
    (0.033 + 1.645 * 0.003, 1e-5 + 1.645 * 2e-6),
    (0.033 - 1.645 * 0.003, 1e-5 - 1.645 * 2e-6),
)


def test_bbr_may_reach_what_the_path_has_but_is_not_promised_to() -> None:
    lossy = path(loss=Uncertain(1e-4))
    driven, free = (predict(lossy, SMALL, LARGE, loss_driven=driven) for driven in (True, False))
    assert driven is not None
    assert free is not None
    assert free.after.expected == driven.after.expected < 1e8
    assert (driven.after.high, free.after.high) == (driven.after.expected, 10e9)


def test_the_formula_is_told_with_its_numbers() -> None:
    assert formula(path(loss=Uncertain(1e-5)), LARGE) == (
        "min(10 Gbps; 1 · 64 MiB · 8 / 33 ms; 1 · 8 · 1460 B / (33 ms · √0.001 %) · √1.5) = 137.1 Mbps"
    )
    assert formula(path(rtt=None), LARGE) == "min(10 Gbps) = 10 Gbps"


@given(
    st.floats(1e3, 1e12),
    st.floats(1e-4, 1),
    st.floats(0, 0.05),
    st.floats(0, 0.5),
    st.integers(1, 64),
    st.floats(1e3, 1e9),
)
def test_the_interval_holds_the_expectation_and_more_never_costs(
    rate: float, rtt: float, loss: float, spread: float, streams: int, window: float
) -> None:
    about = path(rate=rate, rtt=Uncertain(rtt, spread * rtt), loss=Uncertain(loss, spread * loss))
    found = modelled(about, Settings(streams, window, 1460))
    more = modelled(about, Settings(streams + 1, 2 * window, 1460))
    assert found is not None
    assert more is not None
    assert found.low <= found.expected <= found.high <= rate
    assert more.expected >= found.expected

"""The choice of a train's shape, against trying all, and the paper's figure 6."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.calibration import Compared, Trial, chosen
from measurement.probes.train import Shape
from tests.support.refusals import refused


def trial(burst: int, *errors: float, took: float = 0.5, bursts: int = 10) -> Trial:
    paths = tuple(Compared(1e9, (1e9 * (1 + error), 1e9 * (1 - error)), took) for error in errors)
    return Trial(Shape(burst=burst, bursts=bursts), paths)


def test_like_ec2_ten_bursts_of_200_are_enough() -> None:
    found = chosen([trial(2000, 0.04), trial(200, 0.09), trial(100, 0.12)])
    assert (found.best.shape.burst, found.within) == (200, True)


def test_like_rackspace_they_are_not() -> None:
    found = chosen([trial(200, 0.5), trial(2000, 0.04), trial(3000, 0.04)])
    assert (found.best.shape.burst, found.within) == (2000, True)


def test_where_none_is_good_the_truest_is_told_as_such() -> None:
    found = chosen([trial(200, 0.5), trial(2000, 0.2), trial(400, 0.3)])
    assert (found.best.shape.burst, found.within) == (2000, False)


def test_a_train_of_a_second_is_too_long() -> None:
    found = chosen([trial(2000, 0.01, took=1.0), trial(200, 0.5)])
    assert (found.best.shape.burst, found.within) == (200, False)
    with refused(ValueError, "trials"):
        chosen([trial(2000, 0.01, took=1.0)])


def test_errors_are_means_over_trains_and_paths() -> None:
    one = Compared(100.0, (110.0, 80.0, None), 0.1)
    assert one.error == pytest.approx((0.1 + 0.2 + 1.0) / 3)
    assert Trial(Shape(), (one, Compared(100.0, (100.0,), 0.3))).error == pytest.approx(one.error / 2)
    assert Trial(Shape(), (one, Compared(100.0, (100.0,), 0.3))).took == 0.3


@given(
    st.lists(
        st.tuples(st.integers(2, 3000), st.integers(1, 20), st.floats(0, 1), st.floats(0, 2)),
        min_size=1,
        max_size=12,
    ),
    st.floats(0.01, 0.5),
)
def test_none_that_is_good_enough_is_cheaper(
    tried: list[tuple[int, int, float, float]], bound: float
) -> None:
    trials = [trial(burst, error, took=took, bursts=bursts) for burst, bursts, error, took in tried]
    short = [each for each in trials if each.took < 1.0]
    if not short:
        with refused(ValueError, "trials"):
            chosen(trials, bound)
        return
    found = chosen(trials, bound)
    good = [each for each in short if each.error <= bound]
    assert found.within == bool(good)
    assert found.best in short
    assert all(found.best.size <= each.size for each in good)
    if not good:
        assert all(found.best.error <= each.error for each in short)


@pytest.mark.parametrize("truth", [0.0, -1.0, float("nan"), float("inf")])
def test_nothing_can_be_compared_with_no_rate(truth: float) -> None:
    with refused(ValueError, "truth"):
        Compared(truth, (1.0,), 0.1)


def test_what_was_not_tried_is_no_trial() -> None:
    with refused(ValueError, "rates"):
        Compared(1.0, (), 0.1)
    with refused(ValueError, "paths"):
        Trial(Shape(), ())
    with refused(ValueError, "bound"):
        chosen([trial(200, 0.1)], 0.0)

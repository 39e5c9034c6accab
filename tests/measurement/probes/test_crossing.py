"""Cross traffic: the equations, forward and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.crossing import beside, from_two
from tests.support.refusals import refused

links, counts = st.floats(1.0, 1e11), st.floats(0, 20)


@pytest.mark.parametrize(
    ("link", "share", "others"), [(1000, 1000, 0), (1000, 500, 1), (1000, 200, 4), (900, 1000, 0)]
)
def test_others_on_a_link_that_is_known(link: float, share: float, others: float) -> None:
    assert beside(link, share) == pytest.approx(others)


def test_two_connections_find_the_link_too() -> None:
    """1000 shared by three, then by four."""
    found = from_two(1000 / 3, 1000 / 4)
    assert found is not None
    assert (found.others, found.link) == (pytest.approx(2), pytest.approx(1000))


def test_a_second_connection_that_costs_nothing_tells_of_another_limit() -> None:
    assert from_two(300.0, 300.0) is None
    assert from_two(300.0, 297.0) is None


@given(links, counts)
def test_they_are_the_reverse_of_sharing(link: float, others: float) -> None:
    assert beside(link, link / (others + 1)) == pytest.approx(others, abs=1e-6)
    found = from_two(link / (others + 1), link / (others + 2))
    assert found is not None
    assert (found.others, found.link) == (pytest.approx(others, abs=1e-4), pytest.approx(link, rel=1e-4))


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_what_is_no_rate_is_refused(wrong: float) -> None:
    for question in (beside, from_two):
        with refused(ValueError):
            question(10.0, wrong)

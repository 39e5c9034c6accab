"""Equations of cross traffic and their inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.sequence_analysis import competing_connections, find_shared_link
from tests.support.refusals import refused

links, counts = st.floats(1.0, 1e11), st.floats(0, 20)


@pytest.mark.parametrize(
    ("link", "share", "others"), [(1000, 1000, 0), (1000, 500, 1), (1000, 200, 4), (900, 1000, 0)]
)
def test_competing_connections_of_a_known_link(link: float, share: float, others: float) -> None:
    assert competing_connections(link, share) == pytest.approx(others)


def test_two_transfers_give_link_and_competitors() -> None:
    """1000 shared by three, then by four."""
    found = find_shared_link(1000 / 3, 1000 / 4)
    assert found is not None
    assert (found.others, found.rate) == (pytest.approx(2), pytest.approx(1000))


def test_second_connection_without_effect_gives_no_link() -> None:
    assert find_shared_link(300.0, 300.0) is None
    assert find_shared_link(300.0, 297.0) is None


@given(links, counts)
def test_equations_invert_fair_sharing(link: float, others: float) -> None:
    assert competing_connections(link, link / (others + 1)) == pytest.approx(others, abs=1e-6)
    found = find_shared_link(link / (others + 1), link / (others + 2))
    assert found is not None
    assert (found.others, found.rate) == (pytest.approx(others, abs=1e-4), pytest.approx(link, rel=1e-4))


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_invalid_rate_is_refused(wrong: float) -> None:
    for question in (competing_connections, find_shared_link):
        with refused(ValueError):
            question(10.0, wrong)

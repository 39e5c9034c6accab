from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.config.network import LinkDiscovery
from adon.flowvisor.discovery.link import FlapHistory

SETTINGS = LinkDiscovery()


@pytest.mark.parametrize(
    ("failures", "penalty"), [(1, 0.0), (2, 10.0), (3, 20.0), (4, 40.0), (8, 600.0), (5000, 600.0)]
)
def test_each_failure_doubles_the_penalty_up_to_the_cap(failures: int, penalty: float) -> None:
    flaps = FlapHistory()
    for _ in range(failures):
        flaps = flaps.add_failure(1000.0, SETTINGS)
    assert flaps.until - 1000.0 == penalty


@given(st.lists(st.floats(0, 500), min_size=1, max_size=40))
def test_it_never_exceeds_the_cap_and_decays_to_nothing(gaps: list[float]) -> None:
    flaps, now = FlapHistory(), 1_000_000.0
    for gap in gaps:
        now += gap
        flaps = flaps.add_failure(now, SETTINGS)
        assert now <= flaps.until <= now + SETTINGS.flap_penalty_cap
    later = now + flaps.count * SETTINGS.flap_forgiven
    assert flaps.count_failures(later, SETTINGS) == 0
    assert flaps.add_failure(later, SETTINGS).until == later


@given(st.integers(1, 20), st.floats(0, 3000), st.floats(0, 3000))
def test_what_is_remembered_only_fades(count: int, one: float, more: float) -> None:
    flaps = FlapHistory(count, last=0.0)
    assert flaps.count_failures(one + more, SETTINGS) <= flaps.count_failures(one, SETTINGS) <= count


def test_a_link_that_fails_once_an_hour_is_not_punished() -> None:
    flaps = FlapHistory()
    for hour in range(24):
        flaps = flaps.add_failure(hour * 3600.0, SETTINGS)
        assert flaps.until == hour * 3600.0

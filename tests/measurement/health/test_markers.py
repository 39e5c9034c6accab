"""The five markers: cases from the paper's words, and how their tolerance follows the place."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.markers import WIDEST, Marker, Tolerance, Tolerances, adapt_tolerances, find_fired
from measurement.health.model import Found, Indicator
from tests.measurement.health.rounds import founds

USUAL = (9e-3, 10e-3, 10.5e-3, 10.5e-3)
"""Mean 10 ms, standard deviation 0.71 ms, and none of them above both together."""
BEFORE = Found(
    icmp={64: USUAL, 512: USUAL, 4096: USUAL},
    udp={64: USUAL, 1024: USUAL},
    sandwich=(100e-6, 100e-6),
    connect=USUAL,
    tcp=USUAL,
    throughput=(1e9,) * 10,
)


def which(
    now: Found, before: Sequence[Found] = (BEFORE,), tolerances: Tolerances | None = None
) -> set[Marker]:
    return {one.marker for one in find_fired(now, before, tolerances or {})}


def icmp(over: int, of: int, rtt: float = 10.8e-3) -> Found:
    """So many samples of 64 B over the threshold, all others as usual."""
    return replace(BEFORE, icmp={64: (rtt,) * over + (10e-3,) * (of - over)})


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        ((), set()),
        ((Indicator.ICMP,), set()),
        ((Indicator.ICMP, Indicator.TCP), {Marker.TIMEOUT}),
        (tuple(Indicator), {Marker.TIMEOUT}),
    ],
)
def test_a_timeout_is_agreed_by_more_than_one(silent: tuple[Indicator, ...], expected: set[Marker]) -> None:
    now = replace(BEFORE, silent=frozenset(silent))
    assert which(now) == expected
    assert which(now, before=()) == expected, "it needs no round before"


@pytest.mark.parametrize(
    ("now", "fires"),
    [
        (icmp(0, 10), False),
        (icmp(1, 10), False),
        (icmp(2, 10), True),
        (icmp(10, 10), True),
        (icmp(10, 10, rtt=10.6e-3), False),  # within one standard deviation of the mean
        (icmp(10, 10, rtt=0.8e-3), False),  # more than the deviation itself, as the paper has it: no news
    ],
)
def test_icmp_fires_when_a_fifth_of_the_samples_is_over(now: Found, fires: bool) -> None:
    assert which(now) == ({Marker.ICMP} if fires else set())


def test_the_sizes_are_taken_together() -> None:
    slow, usual = (12e-3,) * 2, (10e-3,) * 4
    assert which(replace(BEFORE, icmp={64: slow, 512: usual, 4096: usual})) == {Marker.ICMP}
    assert which(replace(BEFORE, icmp={64: slow, 512: usual, 4096: (*usual, 10e-3)})) == set()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"udp": {64: (12e-3,), 1024: (10e-3,)}}, {Marker.UDP}),
        ({"sandwich": (149e-6,)}, set()),
        ({"sandwich": (151e-6,)}, {Marker.UDP}),
        ({"connect": (12e-3,) * 5}, {Marker.TCP}),
        ({"tcp": (12e-3,) * 5}, {Marker.TCP}),
    ],
)
def test_udp_and_tcp(changed: dict[str, object], expected: set[Marker]) -> None:
    assert which(replace(BEFORE, **changed)) == expected  # type: ignore[arg-type]


def test_a_sandwich_that_was_nothing_is_held_to_what_can_be_measured() -> None:
    nothing = replace(BEFORE, sandwich=(-1e-6, 1e-6))
    assert which(replace(BEFORE, sandwich=(29e-6,)), [nothing]) == set()
    assert which(replace(BEFORE, sandwich=(31e-6,)), [nothing]) == {Marker.UDP}


@pytest.mark.parametrize(
    ("rounds", "now", "fires"), [(3, 0.81e9, False), (3, 0.79e9, True), (2, 0.1e9, False), (9, 0.79e9, True)]
)
def test_throughput_has_a_long_term_threshold(rounds: int, now: float, fires: bool) -> None:
    found = which(replace(BEFORE, throughput=(now,) * 10), [BEFORE] * rounds)
    assert found == ({Marker.THROUGHPUT} if fires else set())


def test_a_path_that_always_varied_may_go_on() -> None:
    varied = [replace(BEFORE, throughput=(rate,) * 10) for rate in (0.5e9, 0.7e9, 1e9, 1.3e9, 1.5e9)]
    assert which(replace(BEFORE, throughput=(0.4e9,) * 10), varied) == set()


def test_equal_samples_need_a_rise_that_can_be_noticed() -> None:
    steady = replace(BEFORE, tcp=(10e-3,) * 5, connect=(10e-3,) * 5)
    assert which(replace(steady, tcp=(10.05e-3,) * 5), [steady]) == set()
    assert which(replace(steady, tcp=(10.2e-3,) * 5), [steady]) == {Marker.TCP}


def test_nothing_before_is_nothing_to_compare_with() -> None:
    gone = replace(BEFORE, silent=frozenset(Indicator))
    slow = replace(BEFORE, tcp=(1.0,))
    assert which(slow, []) == which(slow, [gone]) == set()


def test_the_reason_is_in_words() -> None:
    (one,) = find_fired(icmp(2, 10), [BEFORE], {})
    assert {"2", "10"} <= {*one.why.split()}


class TestTolerance:
    def test_noise_that_fires_again_and_again_widens_it_until_it_seldom_does(self) -> None:
        chance = random.Random(4)
        tolerances: Tolerances = {}
        early = late = 0
        before: list[Found] = []
        for number in range(300):
            now = Found(tcp=tuple(chance.lognormvariate(-5, 0.5) for _ in range(10)))
            found = find_fired(now, before[-1:], tolerances)
            tolerances = adapt_tolerances(found, tolerances)
            early += bool(found) and number < 30
            late += bool(found) and number >= 200
            before.append(now)
        assert early / 30 > 2 * late / 100
        assert 1 < tolerances[Marker.TCP].factor < WIDEST

    def test_a_change_for_good_fires_and_is_usual_then(self) -> None:
        slow = replace(BEFORE, tcp=tuple(2 * rtt for rtt in USUAL))
        assert which(slow) == {Marker.TCP}
        assert which(slow, [slow]) == set()

    @given(st.lists(st.booleans(), max_size=200))
    def test_it_stays_within_its_bounds(self, rounds: list[bool]) -> None:
        tolerance = Tolerance()
        for fires in rounds:
            following = tolerance.after(fired=fires)
            assert (following.factor >= tolerance.factor) if fires else (following.factor <= tolerance.factor)
            tolerance = following
        assert 1 <= tolerance.factor <= WIDEST
        assert 0 <= tolerance.fired <= 1

    def test_it_comes_back_where_nothing_happens(self) -> None:
        tolerance = Tolerance(WIDEST, 0.5)
        for _ in range(100):
            tolerance = tolerance.after(fired=False)
        assert tolerance.factor == 1.0


@given(founds(), st.lists(founds(), max_size=4), st.floats(1, WIDEST), st.floats(1, WIDEST))
def test_a_wider_tolerance_fires_no_more(now: Found, before: list[Found], one: float, other: float) -> None:
    narrow, wide = (
        which(now, before, {marker: Tolerance(factor) for marker in Marker})
        for factor in sorted((one, other))
    )
    assert wide <= narrow


@given(founds(), st.lists(founds(), max_size=4))
def test_each_marker_fires_once_at_most(now: Found, before: list[Found]) -> None:
    found = find_fired(now, before, {})
    assert len({one.marker for one in found}) == len(found)
    assert all(one.why for one in found)

"""Γ_a by the size of a transfer, where a token bucket throttles the path."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.cost.terms import NetworkTerms
from adon.broker.cost.token_bucket import basis_of, bucket_for, describe_bucket
from adon.broker.flow import Flow
from adon.flowvisor.selection.performance import PerformanceView
from adon.flowvisor.topology.path import Basis
from measurement.model import PathKey
from measurement.token_bucket import Allowance
from tests.support.factories import make_flow, make_measurement

KEY, END = PathKey("al2s", "mu", "osu"), 1_000.0
MICRO = Allowance(200e6, 80e6, 4.0)
PROFILE = [200e6] * 4 + [80e6] * 6
MEAN = 128e6
FLOW = make_flow()


def view(rates: object = PROFILE, value: float = MEAN) -> PerformanceView:
    found = PerformanceView()
    said = {"streams": 1, "seconds": 10.0, "interval_bits": rates}
    found.record(make_measurement(key=KEY, value=value, observed_at=END, lasted=10, parameters=said))
    return found


def given_to(
    flow: Flow = FLOW,
    seen: PerformanceView | None = None,
    basis: str = Basis.TEST,
    available: float = MEAN,
    capacity: float = 1e9,
    idle: float = 60.0,
) -> Allowance | None:
    return bucket_for(flow, seen or view(), KEY, basis, available, capacity, END + idle)


class TestWhatAFlowIsGiven:
    def test_the_bucket_of_the_test_a_minute_later(self) -> None:
        assert given_to() == MICRO

    def test_right_after_the_test_nothing_is_in_it(self) -> None:
        found = given_to(idle=0.0)
        assert found is not None
        assert not found.throttled
        assert found.mean_rate(1e6) == pytest.approx(80e6)

    @pytest.mark.parametrize("sent", [{"bytes_sent": 1}, {"bytes_delivered": 1}, {"bytes_reported": 1}])
    def test_what_is_left_of_a_transfer_has_the_sustained_rate(self, sent: dict[str, int]) -> None:
        found = given_to(replace(FLOW, **sent))  # type: ignore[arg-type]
        assert found is not None
        assert (found.lasts, found.sustained) == pytest.approx((0.0, 80e6))

    @pytest.mark.parametrize("basis", [one for one in Basis if one is not Basis.TEST] + [""])
    def test_on_any_other_basis_there_is_none(self, basis: str) -> None:
        assert given_to(basis=basis) is None
        assert basis_of(view(), KEY, basis) == basis

    def test_its_basis_is_its_own(self) -> None:
        assert basis_of(view(), KEY, Basis.TEST) == Basis.BUCKET
        assert basis_of(view([MEAN] * 10), KEY, Basis.TEST) == Basis.TEST
        assert basis_of(PerformanceView(), KEY, Basis.TEST) == Basis.TEST

    def test_a_constant_test_and_none_give_none(self) -> None:
        assert given_to(seen=view([MEAN] * 10)) is None
        assert given_to(seen=PerformanceView()) is None
        assert given_to(available=0.0) is None

    @pytest.mark.parametrize(
        ("available", "capacity", "expected"),
        [
            (MEAN / 4, 1e9, Allowance(50e6, 20e6, 4.0)),  # one stream where four were tested
            (MEAN * 4, 1e9, MICRO),  # four streams where one was: together they have one bucket
            (MEAN, 150e6, Allowance(150e6, 80e6, 4.0)),
            (79e6, 79e6, None),  # the path is narrower than what is sustained
        ],
    )
    def test_streams_and_capacity(
        self, available: float, capacity: float, expected: Allowance | None
    ) -> None:
        found = given_to(available=available, capacity=capacity)
        if expected is None:
            assert found is None or found.burst <= capacity
        else:
            assert found is not None
            assert (found.burst, found.sustained, found.lasts) == pytest.approx(
                (expected.burst, expected.sustained, expected.lasts)
            )

    def test_in_words(self) -> None:
        words = "a token bucket that fits the intervals of an active test"
        assert describe_bucket(None) == ""
        assert describe_bucket(MICRO) == f"{words}: 100 MB at 200 Mbps, then 80 Mbps"


class TestTerms:
    THROTTLED = NetworkTerms("al2s", 1e9, MEAN, basis=Basis.BUCKET, bucket=MICRO)

    @pytest.mark.parametrize(
        ("size", "rate"),
        [
            (1, 200e6),
            (100_000_000, 200e6),  # 800 Mbit in 4 s
            (110_000_000, 8 * 110e6 / 5),
            (1_100_000_000, 8 * 1.1e9 / 104),
            (0, MEAN),
            pytest.param(10**400, 80e6, id="more than any float"),
        ],
    )
    def test_by_hand(self, size: int, rate: float) -> None:
        assert self.THROTTLED.available_for(size) == pytest.approx(rate)
        assert self.THROTTLED.rate_for(size) == pytest.approx(rate)

    def test_of_unknown_size_the_mean_is_had(self) -> None:
        assert self.THROTTLED.rate == MEAN

    def test_tcp_may_reach_less_than_the_burst(self) -> None:
        assert replace(self.THROTTLED, theoretical=90e6).rate_for(1) == 90e6

    def test_what_is_unknown_stays_so(self) -> None:
        assert replace(self.THROTTLED, available=None).rate_for(1) is None

    @given(st.integers(1, 10**15), st.integers(0, 10**15))
    def test_between_the_rates_and_never_more_for_more(self, size: int, more: int) -> None:
        small, large = self.THROTTLED.available_for(size), self.THROTTLED.available_for(size + more)
        assert small is not None
        assert large is not None
        assert 80e6 * (1 - 1e-9) <= large <= small * (1 + 1e-9) <= 200e6 * (1 + 2e-9)

    @given(st.integers(0, 10**15), st.floats(1e3, 1e12))
    def test_without_a_bucket_size_is_of_no_account(self, size: int, rate: float) -> None:
        terms = NetworkTerms("al2s", math.inf, rate)
        assert terms.rate_for(size) == terms.rate == rate

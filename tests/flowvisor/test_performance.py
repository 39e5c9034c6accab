"""What is known about paths, and the estimates made from it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.selection.performance import (
    Counters,
    FlowLoad,
    HourlyTable,
    MeasuredLoad,
    PathChange,
    PerformanceView,
    estimate_throughput,
)
from adon.flowvisor.topology.path import Basis, KnownValue, UnknownValue, compose_metrics
from measurement.model import Measurement, Metric, PathKey
from tests.support.factories import make_measurement
from tests.support.refusals import refused

THERE, BACK = PathKey("al2s", "mu", "osu"), PathKey("al2s", "osu", "mu")
NOW = 1_000_000.0


def result(
    value: float,
    ended: float = NOW,
    key: PathKey = THERE,
    metric: Metric = Metric.THROUGHPUT,
    streams: object = 1,
    lasted: float = 10.0,
) -> Measurement:
    times = {"observed_at": ended, "lasted": lasted}
    return make_measurement(key=key, metric=metric, value=value, **times, parameters={"streams": streams})


def estimate(
    tested: Measurement | None,
    *loads: FlowLoad,
    streams: int = 1,
    capacity: float = 100.0,
    counters: Counters | None = None,
) -> KnownValue | UnknownValue:
    return estimate_throughput(tested, NOW, 60.0, capacity, streams, loads, counters)


class TestView:
    def test_only_news_is_news(self) -> None:
        view = PerformanceView()
        newest = result(5.0)
        assert view.record(newest)
        assert not view.record(newest)
        assert not view.record(result(6.0, NOW - 1))
        assert view.latest(THERE, Metric.THROUGHPUT) == newest

    def test_what_is_from_before_a_change_is_superseded(self) -> None:
        view = PerformanceView()
        view.record(result(5.0))
        view.record(result(6.0, key=BACK))
        view.supersede(THERE, Metric.THROUGHPUT, PathChange(NOW + 1, "alarm a-1"))
        assert isinstance(view.knowledge(THERE, Metric.THROUGHPUT, NOW + 2, 60.0), UnknownValue)
        assert isinstance(view.knowledge(BACK, Metric.THROUGHPUT, NOW + 2, 60.0), KnownValue)
        view.record(result(4.0, NOW + 1))
        found = view.knowledge(THERE, Metric.THROUGHPUT, NOW + 2, 60.0)
        assert isinstance(found, KnownValue)
        assert found.value == 4.0, "what was observed as the change began is not from before it"

    def test_a_change_that_is_over_supersedes_nothing(self) -> None:
        view = PerformanceView()
        view.record(result(5.0))
        view.supersede(THERE, Metric.THROUGHPUT, PathChange(NOW + 1, "alarm a-1"))
        view.supersede(THERE, Metric.THROUGHPUT, None)
        assert view.find_change(THERE, Metric.THROUGHPUT) is None
        assert isinstance(view.knowledge(THERE, Metric.THROUGHPUT, NOW + 2, 60.0), KnownValue)

    def test_directions_and_metrics_are_apart(self) -> None:
        view = PerformanceView()
        view.record(result(5.0))
        assert view.record(result(6.0, key=BACK))
        assert view.latest(BACK, Metric.THROUGHPUT) == result(6.0, key=BACK)
        assert view.latest(THERE, Metric.RTT) is None

    @pytest.mark.parametrize(
        ("ended", "expected"),
        [
            (NOW, KnownValue(5.0, NOW, "run/1")),
            (NOW - 60, KnownValue(5.0, NOW - 60, "run/1")),
            (NOW + 5, KnownValue(5.0, NOW + 5, "run/1")),
            (NOW - 61, UnknownValue("61 s old, older than max_age (60 s)")),
            (NOW - 7200, UnknownValue("2 h old, older than max_age (60 s)")),
        ],
    )
    def test_age_decides_what_is_known(self, ended: float, expected: KnownValue | UnknownValue) -> None:
        view = PerformanceView()
        view.record(result(5.0, ended))
        assert view.knowledge(THERE, Metric.THROUGHPUT, NOW, 60.0) == expected

    def test_never_measured_is_neither_zero_nor_good(self) -> None:
        known = PerformanceView().knowledge(THERE, Metric.LOSS, NOW, 60.0)
        assert known == UnknownValue("never measured")

    def test_a_result_from_the_future_is_refused_if_the_time_is_known(self) -> None:
        view = PerformanceView()
        with refused("in-future", "observed_at"):
            view.record(result(9.0, NOW + 5.1), now=NOW)
        assert view.best([THERE], Metric.THROUGHPUT, 0.0) is None
        assert view.record(result(5.0, NOW + 5), now=NOW)

    def test_the_best_of_the_window_in_the_metrics_own_direction(self) -> None:
        view = PerformanceView()
        for ended, value in ((NOW - 10 * 3600, 9.0), (NOW - 7200, 7.0), (NOW, 5.0)):
            view.record(result(value, ended))
            view.record(result(value, ended, metric=Metric.RTT))
        assert view.best([THERE, BACK], Metric.THROUGHPUT, NOW - 3 * 3600) == 7.0
        assert view.best([THERE], Metric.RTT, NOW - 11 * 3600) == 5.0
        assert view.best([BACK], Metric.RTT, 0.0) is None

    def test_a_late_result_counts_towards_the_best(self) -> None:
        view = PerformanceView()
        view.record(result(5.0))
        view.record(result(8.0, NOW - 30))
        assert view.best([THERE], Metric.THROUGHPUT, NOW - 3600) == 8.0

    def test_memory_is_bounded_and_one_wrong_date_does_not_empty_it(self) -> None:
        table = HourlyTable[float](6)
        for hour in range(100):
            table.update(result(1.0 + hour, NOW + hour * 3600), lambda _, hour=hour: 1.0 + hour)
        table.update(result(999.0, NOW + 10**8), lambda _: 999.0)
        held = table.since(THERE, Metric.THROUGHPUT, 0.0)
        assert sorted(held) == [96.0, 97.0, 98.0, 99.0, 100.0, 999.0]


class TestEstimate:
    OLD = FlowLoad(3, NOW - 100)
    NEW = FlowLoad(2, NOW - 1)

    @pytest.mark.parametrize(
        ("loads", "streams", "tested_with", "expected", "basis"),
        [
            ([], 1, 1, 12.0, Basis.TEST),
            ([OLD], 1, 1, 12.0, Basis.TEST),  # it was in the way of the test already
            ([NEW], 1, 1, 4.0, Basis.FAIR_SHARE),  # T·1/(2+1)
            ([OLD, NEW], 1, 1, 8.0, Basis.FAIR_SHARE),  # T·(3+1)/(3+2+1)
            ([NEW], 2, 2, 6.0, Basis.FAIR_SHARE),  # T·2/(2+2)
            ([], 1, 4, 3.0, Basis.TEST),  # no stream is promised more than a tested one got
            ([], 4, 1, 12.0, Basis.TEST),  # alone the test filled what there was
            ([OLD], 3, 1, 24.0, Basis.TEST),  # three of six equal shares of 48
            ([FlowLoad(2, NOW - 10)], 1, 1, 4.0, Basis.FAIR_SHARE),  # admitted as the test started
            ([FlowLoad(2, NOW - 5)], 1, 1, 4.0, Basis.FAIR_SHARE),  # admitted during the test
            ([FlowLoad(2, NOW, limit=1.0)], 1, 1, 11.0, Basis.FAIR_SHARE),  # it takes 1 at most
            ([FlowLoad(2, NOW, limit=1.0, rate=3.0)], 1, 1, 9.0, Basis.FAIR_SHARE),  # seen to take 3
            ([FlowLoad(2, NOW, limit=2.0, rate=0.0)], 1, 1, 10.0, Basis.FAIR_SHARE),  # it may yet take 2
            ([FlowLoad(2, NOW, limit=50.0)], 1, 1, 4.0, Basis.FAIR_SHARE),  # the fair share is better
            ([FlowLoad(1, NOW, limit=1.0), FlowLoad(1, NOW)], 1, 1, 4.0, Basis.FAIR_SHARE),
        ],
    )
    def test_shares(
        self, loads: list[FlowLoad], streams: int, tested_with: int, expected: float, basis: Basis
    ) -> None:
        known = estimate(result(12.0, streams=tested_with), *loads, streams=streams)
        assert isinstance(known, KnownValue)
        assert known.value == pytest.approx(expected)
        assert (known.basis, known.source, known.observed_at) == (basis, "run/1", NOW)

    @pytest.mark.parametrize("streams", [None, "8", 0, -1])
    def test_a_test_that_does_not_say_its_streams_had_one(self, streams: object) -> None:
        assert estimate(result(12.0, streams=streams)) == KnownValue(12.0, NOW, "run/1")

    def test_capacity_caps_a_test_that_saw_more(self) -> None:
        assert estimate(result(120.0)) == KnownValue(100.0, NOW, "run/1")

    @pytest.mark.parametrize(
        ("used", "loads", "streams", "expected"),
        [
            (30.0, [], 1, 70.0),
            (130.0, [], 1, 0.0),
            (-5.0, [], 1, 100.0),
            (30.0, [OLD], 1, 70.0),
            (30.0, [FlowLoad(1, NOW)], 1, 35.0),
            (30.0, [FlowLoad(1, NOW, limit=10.0)], 1, 60.0),
            (30.0, [FlowLoad(3, NOW)], 4, 40.0),
        ],
    )
    def test_counters_serve_without_a_fresh_test(
        self, used: float, loads: list[FlowLoad], streams: int, expected: float
    ) -> None:
        seen = Counters(used, NOW, "counters of 000000000000000a")
        for tested in (None, result(12.0, NOW - 61)):
            known = estimate(tested, *loads, streams=streams, counters=seen)
            assert known == KnownValue(expected, NOW, seen.source, Basis.COUNTERS)

    def test_a_fresh_test_is_better_evidence_than_counters(self) -> None:
        known = estimate(result(12.0), counters=Counters(0.0, NOW, "counters"))
        assert known == KnownValue(12.0, NOW, "run/1")

    @pytest.mark.parametrize(
        ("tested", "counters", "reason"),
        [
            (None, None, "never measured"),
            (None, Counters(1.0, NOW - 61, "c"), "never measured"),
            (result(1.0, NOW - 61), Counters(1.0, NOW - 62, "c"), "61 s old, older than max_age (60 s)"),
        ],
    )
    def test_otherwise_it_is_unknown(
        self, tested: Measurement | None, counters: Counters | None, reason: str
    ) -> None:
        assert estimate(tested, counters=counters) == UnknownValue(reason)

    rates = st.floats(0, 1e10, allow_subnormal=False)
    loads = st.lists(
        st.builds(
            FlowLoad,
            st.integers(1, 64),
            st.floats(NOW - 30, NOW),
            st.none() | rates,
            st.none() | rates,
        ),
        max_size=4,
    )

    @given(
        st.none() | st.builds(result, rates, streams=st.integers(1, 64)),
        loads,
        st.builds(FlowLoad, st.integers(1, 64), st.just(NOW), st.none() | rates, st.none() | rates),
        st.integers(1, 64),
        st.floats(1, 1e10),
        st.builds(Counters, rates, st.just(NOW), st.just("c")),
    )
    def test_never_above_capacity_and_never_more_because_a_flow_was_admitted(
        self,
        tested: Measurement | None,
        loads: list[FlowLoad],
        newcomer: FlowLoad,
        streams: int,
        capacity: float,
        counters: Counters,
    ) -> None:
        before = estimate(tested, *loads, streams=streams, capacity=capacity, counters=counters)
        after = estimate(tested, *loads, newcomer, streams=streams, capacity=capacity, counters=counters)
        assert isinstance(before, KnownValue)
        assert isinstance(after, KnownValue)
        assert 0 <= after.value <= capacity
        assert after.value <= before.value or math.isclose(after.value, before.value, rel_tol=1e-9)

    @given(st.builds(result, rates, streams=st.integers(1, 64)), loads, st.integers(1, 64))
    def test_a_flow_that_ended_since_gives_nothing_back_that_was_not_measured(
        self, tested: Measurement, loads: list[FlowLoad], streams: int
    ) -> None:
        """No stream is promised more than a tested stream got, and an empty path no more than the test."""
        known = estimate(tested, *loads, streams=streams, capacity=1e12)
        alone = estimate(tested, streams=streams, capacity=1e12)
        assert isinstance(known, KnownValue)
        assert isinstance(alone, KnownValue)
        per_stream = tested.value / int(str(tested.parameters["streams"]))
        assert known.value <= streams * per_stream * (1 + 1e-9)
        assert alone.value <= tested.value * (1 + 1e-9)


class TestCompose:
    def test_each_metric_by_its_own_rule(self) -> None:
        first = {
            Metric.THROUGHPUT: 10.0,
            Metric.RTT: 0.02,
            Metric.ONE_WAY_DELAY: 0.01,
            Metric.JITTER: 0.003,
            Metric.LOSS: 0.1,
        }
        second = {
            Metric.THROUGHPUT: 4.0,
            Metric.RTT: 0.03,
            Metric.ONE_WAY_DELAY: 0.02,
            Metric.JITTER: 0.004,
            Metric.LOSS: 0.5,
        }
        assert compose_metrics([first, second]) == pytest.approx(
            {
                Metric.THROUGHPUT: 4.0,
                Metric.RTT: 0.05,
                Metric.ONE_WAY_DELAY: 0.03,
                Metric.JITTER: 0.005,
                Metric.LOSS: 0.55,
            }
        )
        assert compose_metrics([first]) == pytest.approx(first)

    def test_what_one_link_does_not_know_the_path_does_not_know(self) -> None:
        assert compose_metrics([{Metric.RTT: 1.0, Metric.LOSS: 0.0}, {Metric.RTT: 2.0}]) == {Metric.RTT: 3.0}
        assert compose_metrics([]) == {}

    links = st.lists(
        st.fixed_dictionaries(
            {metric: st.floats(0, 1) if metric.is_ratio else st.floats(0, 1e9) for metric in Metric}
        ),
        min_size=1,
        max_size=4,
    )

    @given(links, links)
    def test_a_longer_path_is_never_better_and_parts_compose(
        self, head: list[dict[Metric, float]], tail: list[dict[Metric, float]]
    ) -> None:
        whole = compose_metrics(head + tail)
        parts = compose_metrics([compose_metrics(head), compose_metrics(tail)])
        for metric in Metric:
            assert whole[metric] == pytest.approx(parts[metric], rel=1e-9, abs=1e-9)
            if metric.higher_is_better:
                assert whole[metric] <= compose_metrics(head)[metric]
            else:
                assert whole[metric] >= compose_metrics(head)[metric] * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (PathChange(NOW - 20, "x"), KnownValue(50.0, NOW - 10, "run/1", Basis.TEST)),
        (PathChange(NOW - 5, "x"), UnknownValue("superseded: x")),
        (PathChange(NOW - 5, "x", less=False), KnownValue(80.0, NOW, "counters", Basis.COUNTERS)),
        (None, KnownValue(50.0, NOW - 10, "run/1", Basis.TEST)),
    ],
)
def test_counters_are_no_substitute_where_a_path_does_less_than_it_did(
    changed: PathChange | None, expected: KnownValue | UnknownValue
) -> None:
    """Its capacity, which they take for granted, is what the change calls into question."""
    tested, seen = result(50.0, NOW - 10), Counters(20.0, NOW, "counters")
    assert estimate_throughput(tested, NOW, 60.0, 100.0, 1, (), seen, changed) == expected


class TestSpread:
    def test_count_mean_and_spread_of_what_was_news(self) -> None:
        view = PerformanceView()
        for value, ended in ((4e6, NOW - 30), (6e6, NOW - 20), (6e6, NOW - 20), (9e9, NOW - 40), (5e6, NOW)):
            view.record(result(value, ended))  # a duplicate and one that is late do not count
        found = view.summarise_results(THERE, Metric.THROUGHPUT, NOW - 3600)
        assert (found.count, found.mean) == (3, pytest.approx(5e6))
        assert found.cov == pytest.approx(0.2)
        assert view.summarise_results(BACK, Metric.THROUGHPUT, 0).count == 0
        assert view.summarise_results(THERE, Metric.LOSS, 0).count == 0

    def test_what_our_own_flows_took_does_not_make_a_path_unsteady(self) -> None:
        """Twelve streams beside a test of one: it had a thirteenth, as the demo's Neuroblastoma leaves it."""
        view = PerformanceView()
        for age, value, beside in ((40, 58.0, 0.0), (30, 58.0, 0.0), (20, 4.5, 12.0)):
            view.record(result(value, NOW - age), beside=beside)
        found = view.summarise_results(THERE, Metric.THROUGHPUT, NOW - 3600)
        assert (found.count, found.mean) == (3, pytest.approx(58.0)), "no more than the best test had"
        assert found.cov == pytest.approx(0.0, abs=1e-9)

    def test_what_was_before_the_window_or_before_a_change_does_not_count(self) -> None:
        view = PerformanceView()
        for hour in range(5):
            view.record(result(1e6 * (hour + 1), NOW + 3600 * hour))
        assert view.summarise_results(THERE, Metric.THROUGHPUT, NOW + 3 * 3600).count == 2
        view.supersede(THERE, Metric.THROUGHPUT, PathChange(NOW + 4 * 3600, "a plateau"))
        assert view.summarise_results(THERE, Metric.THROUGHPUT, NOW).count == 1

    def test_memory_is_bounded_by_the_window(self) -> None:
        view = PerformanceView(window=3 * 3600)
        for hour in range(50):
            view.record(result(1e6, NOW + 3600 * hour))
        assert view.summarise_results(THERE, Metric.THROUGHPUT, 0).count <= 4


def freed(
    value: float,
    carried: MeasuredLoad | None,
    best: float | None,
    *loads: FlowLoad,
    streams: int = 1,
    tested: int = 1,
) -> float:
    found = estimate_throughput(
        result(value, streams=tested), NOW, 60.0, 100.0, streams, loads, None, None, carried, best
    )
    assert isinstance(found, KnownValue)
    return found.value


def there(streams: int) -> FlowLoad:
    return FlowLoad(streams, NOW - 100)


class TestFlowsThatHaveLeft:
    """A path of 60 in all; a test of one stream beside five of ours had 10."""

    five = MeasuredLoad(60.0, 5, NOW)

    @pytest.mark.parametrize(("left", "expected"), [(5, 10.0), (4, 12.0), (2, 20.0), (0, 60.0)])
    def test_what_they_had_is_shared_by_who_is_left(self, left: int, expected: float) -> None:
        loads = (there(left),) if left else ()
        assert freed(10.0, self.five, 60.0, *loads) == pytest.approx(expected)

    def test_other_people_take_their_part(self) -> None:
        """Beside two of ours the test had 10, so all had 30: the other 30 are three streams of others."""
        assert freed(10.0, MeasuredLoad(30.0, 2, NOW), 60.0) == pytest.approx(60 / 4)

    def test_nobody_gets_more_than_the_best_test(self) -> None:
        """A path that no stream fills: two of ours and the test had 20 each, and never had one more."""
        assert freed(20.0, MeasuredLoad(60.0, 2, NOW), 20.0) == 20.0

    def test_who_came_since_is_no_reason_to_raise_it(self) -> None:
        came = FlowLoad(7, NOW)
        assert freed(10.0, self.five, 60.0, came) == freed(10.0, None, None, came)

    @pytest.mark.parametrize(("carried", "best"), [(None, 60.0), (MeasuredLoad(60.0, 5, NOW), None)])
    def test_what_is_not_known_raises_nothing(self, carried: MeasuredLoad | None, best: float | None) -> None:
        assert freed(10.0, carried, best) == 10.0

    @given(
        st.floats(0.1, 60),
        st.integers(1, 8),
        st.floats(0, 60),
        st.integers(0, 8),
        st.integers(1, 4),
        st.integers(1, 4),
    )
    def test_it_never_lowers_an_estimate_nor_exceeds_the_best_test(
        self, value: float, were: int, beside: float, present: int, streams: int, tested: int
    ) -> None:
        best, loads = max(60.0, value), (there(present),) if present else ()
        plain = freed(value, None, None, *loads, streams=streams, tested=tested)
        found = freed(
            value, MeasuredLoad(value + beside, were, NOW), best, *loads, streams=streams, tested=tested
        )
        assert plain <= found <= max(plain, streams * best / tested) * (1 + 1e-9)

    def test_it_is_of_the_newest_test_only(self) -> None:
        view = PerformanceView()
        view.record(result(10.0))
        assert view.find_test_load(THERE) is None
        view.note_test_load(result(10.0), 50.0, 5)
        assert view.find_test_load(THERE) == MeasuredLoad(60.0, 5, NOW)
        view.record(result(12.0, NOW + 60))
        assert view.find_test_load(THERE) is None

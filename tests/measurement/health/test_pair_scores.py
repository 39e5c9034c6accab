"""Scores of pairs: worked by hand from the paper's equations, and properties of any round."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Found, Indicator, Pair, Round, instances
from measurement.health.pair_scores import Part, Scope, around, between, scores
from measurement.health.score_weights import Weights, rising
from tests.measurement.health.rounds import found, rounds, whole
from tests.support.refusals import refused

A_B, A_C, B_A = Pair("a", "b"), Pair("a", "c"), Pair("b", "a")
ICMP_ONLY = Weights(throughput=0, icmp=1, udp=0, tcp=0)


class TestByHand:
    def test_equation_1_turned_so_that_1_is_the_healthiest(self) -> None:
        """ω = 1/6, 2/6, 3/6; a-c is in the middle at 64 B, best at 512 B, worst at 4096 B."""
        icmp = {
            A_B: {64: (1.0,), 512: (4.0,), 4096: (2.0,)},
            A_C: {64: (2.0,), 512: (2.0,), 4096: (6.0,)},
            Pair("a", "d"): {64: (3.0,), 512: (3.0,), 4096: (4.0,)},
        }
        got = scores({pair: Found(icmp=its) for pair, its in icmp.items()}, ICMP_ONLY, Scope.SOURCE)
        expected = [1 / 6 + 0 + 3 / 6, 0.5 / 6 + 2 / 6 + 0, 0 + 1 / 6 + 1.5 / 6]
        assert [got[pair].parts[Part.ICMP] for pair in icmp] == pytest.approx(expected)

    def test_several_probes_of_one_size_are_averaged(self) -> None:
        icmp = {A_B: (1.0, 3.0), A_C: (1.0,), Pair("a", "d"): (3.0,)}
        got = scores({pair: Found(icmp={64: its}) for pair, its in icmp.items()}, ICMP_ONLY)
        assert [got[pair].total for pair in icmp] == [0.5, 1.0, 0.0]

    def test_equation_3_weighs_the_parts(self) -> None:
        best, worst = found(0.001, 1e9), found(0.1, 1e8)
        got = scores({A_B: best, A_C: worst, B_A: replace(best, throughput=worst.throughput)})
        assert (got[A_B].total, got[A_C].total) == pytest.approx((1.0, 0.2))  # both are as steady as can be
        assert got[B_A].total == pytest.approx(0.4 * 0.5 + 0.6)

    def test_throughput_is_half_volume_and_half_steadiness(self) -> None:
        steps = {A_B: (10.0, 10.0), A_C: (14.0, 16.0), B_A: (28.0, 32.0)}
        got = scores({pair: Found(throughput=its) for pair, its in steps.items()})
        assert [got[pair].parts[Part.THROUGHPUT] for pair in steps] == pytest.approx(
            [0 + 0.5, 0.125 + 0.375, 0.5 + 0]
        )

    def test_a_train_has_no_steadiness(self) -> None:
        trains = {A_B: (10.0,), A_C: (15.0,), B_A: (30.0,)}
        got = scores({pair: Found(throughput=its) for pair, its in trains.items()})
        assert [got[pair].parts[Part.THROUGHPUT] for pair in trains] == [0, 0.25, 1]
        assert all("steadiness" in one.missing for one in got.values())

    def test_a_sandwich_counts_as_much_as_both_round_trips(self) -> None:
        near = Found(udp={64: (1.0,), 1024: (1.0,)}, sandwich=(2.0,))
        queued = Found(udp={64: (2.0,), 1024: (2.0,)}, sandwich=(1.0,))
        got = scores({A_B: near, A_C: queued})
        assert [got[pair].parts[Part.UDP] for pair in (A_B, A_C)] == [0.5, 0.5]


class TestTimeouts:
    def test_two_kinds_of_probe_agree_that_somebody_is_gone(self) -> None:
        gone = found(silent=(Indicator.ICMP, Indicator.TCP))
        got = scores({A_B: gone, A_C: found()})
        assert (got[A_B].total, got[A_B].timed_out, got[A_C].total) == (0.0, True, 1.0)

    def test_one_alone_does_not(self) -> None:
        """ICMP is often filtered: that is not death."""
        filtered = replace(found(), icmp={}, silent=frozenset({Indicator.ICMP}))
        got = scores({A_B: filtered, A_C: found()})
        assert (got[A_B].total, got[A_B].timed_out) == (1.0, False)
        assert got[A_B].missing == ("icmp 64 B", "icmp 512 B", "icmp 4096 B")

    def test_who_is_gone_is_nobodys_measure(self) -> None:
        gone = found(9.0, silent=(Indicator.ICMP, Indicator.UDP))
        with_it = scores({A_B: found(0.01), A_C: found(0.02), B_A: gone})
        without = scores({A_B: found(0.01), A_C: found(0.02)})
        assert [with_it[pair] for pair in without] == list(without.values())


class TestScope:
    ROUND = whole(a_b=0.010, a_c=0.020, b_a=0.100, b_c=0.200)

    def test_towards_one_place_a_source_compares_its_own(self) -> None:
        got = scores(self.ROUND, scope=Scope.SOURCE)
        assert got[B_A].total == got[A_B].total == 1.0

    def test_a_map_compares_all(self) -> None:
        got = scores(self.ROUND, scope=Scope.SYSTEM)
        totals = [got[pair].total or 0.0 for pair in self.ROUND]
        assert totals == sorted(totals, reverse=True)
        assert totals[0] == 1.0 > totals[1] > totals[2] > totals[3]


def test_around_a_place_the_ways_into_it_are_compared_with_each_other() -> None:
    """Per source each of a, b would be compared with where else it leads: both would be perfect."""
    of = whole(a_s=0.01, b_s=0.03, c_s=0.02, s_a=0.2, s_b=0.1, s_c=0.3, a_b=9.0)
    got = around("s", of)
    assert got.keys() == {pair for pair in of if "s" in pair}
    ranked = sorted(got, key=lambda pair: -(got[pair].total or 0.0))
    assert [pair.source for pair in ranked if pair.destination == "s"] == ["a", "c", "b"]
    assert [pair.destination for pair in ranked if pair.source == "s"] == ["b", "a", "c"]
    assert got == around("s", {pair: found for pair, found in of.items() if "s" in pair})


def test_nothing_known_is_no_score() -> None:
    (score,) = scores({A_B: Found()}).values()
    assert (score.total, score.parts, score.timed_out) == (None, {}, False)
    assert len(score.missing) == 10


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"icmp": -0.1}, "icmp"),
        ({"throughput": 0.5}, ""),
        ({"icmp_sizes": {64: 0.5, 512: 0.6}}, "icmp_sizes"),
        ({"udp_sizes": {64: 2.0}}, "udp_sizes.64"),
        ({"sandwich": 1.5}, "sandwich"),
        ({"volume": float("nan")}, "volume"),
    ],
)
def test_weights_that_are_none_are_refused_by_name(wrong: dict[str, float], named: str) -> None:
    with refused(ValueError, named):
        Weights(**wrong)  # type: ignore[arg-type]


def test_weights_rise_with_size() -> None:
    assert rising((4096, 64, 512)) == {64: 1 / 6, 512: 2 / 6, 4096: 3 / 6}


@given(rounds(), st.sampled_from(Scope))
def test_every_pair_has_a_score_from_0_to_1(of: Round, scope: Scope) -> None:
    got = scores(of, scope=scope)
    assert got.keys() == of.keys()
    for pair, score in got.items():
        assert score.timed_out == of[pair].timed_out
        values = [*score.parts.values(), *([] if score.total is None else [score.total])]
        assert all(-1e-12 <= value <= 1 + 1e-12 for value in values)
        assert (score.total is None) == (not score.parts and not score.timed_out)


@given(rounds(), st.sampled_from(Scope), st.integers(-8, 8))
def test_the_unit_does_not_matter(of: Round, scope: Scope, power: int) -> None:
    """Powers of two, so that nothing is rounded."""
    by = 2.0**power

    def scaled(one: Found) -> Found:
        return replace(
            one,
            icmp={size: tuple(by * t for t in its) for size, its in one.icmp.items()},
            throughput=tuple(by * rate for rate in one.throughput),
        )

    other = scores({pair: scaled(one) for pair, one in of.items()}, scope=scope)
    for pair, score in scores(of, scope=scope).items():
        assert other[pair].total == pytest.approx(score.total)


@given(rounds(), st.randoms(use_true_random=False))
def test_names_do_not_matter(of: Round, chance) -> None:
    names = list(instances(of))
    others = [f"x-{name}" for name in names]
    chance.shuffle(others)
    renamed = dict(zip(names, others, strict=True))

    def other(pair: Pair) -> Pair:
        return Pair(renamed[pair.source], renamed[pair.destination])

    got = scores({other(pair): one for pair, one in of.items()})
    assert {pair: got[other(pair)] for pair in of} == scores(of)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.data())
def test_a_place_among_peers(peers: list[float], data: st.DataObject) -> None:
    value, other = data.draw(st.sampled_from(peers)), data.draw(st.sampled_from(peers))
    more, less = (between(value, min(peers), max(peers), more_is_better=better) for better in (True, False))
    assert 0 <= more <= 1
    assert more + less == pytest.approx(1.0) or more == less == 1.0 == len({*peers})
    assert (value <= other) <= (more <= between(other, min(peers), max(peers), more_is_better=True))

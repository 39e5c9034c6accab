"""Comparisons: the tests against scipy's, the correction against its definition, and verdicts that hold."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from adon.evaluations import builtins
from measurement.evaluation.comparison import Verdict, compare, disagreement, hedges, holm, refusals, welch
from measurement.evaluation.document import Analysing
from measurement.evaluation.results import Measured, Path
from measurement.evaluation.run import Reference, Run, Sample, summarised

A_B, A_C, B_C = Path("a", "b"), Path("a", "c"), Path("b", "c")
NORMAL = Analysing()


def run(name: str, **series: list[float]) -> Run:
    paths = {"ab": A_B, "ac": A_C, "bc": B_C, "ba": A_B.back}
    samples = [
        Sample(0, paths[key], float(second), value)
        for key, its in series.items()
        for second, value in enumerate(its)
    ]
    samples = [replace(sample, number=number) for number, sample in enumerate(samples)]
    return Run(
        name,
        Reference("d", 1),
        "tcp-transfer-bit-speed",
        "bit/s",
        tuple("abc"),
        (),
        0.0,
        1.0,
        1,
        len(samples),
        tuple(samples),
    )


def stated(name: str, measured: Measured) -> Run:
    return replace(run(name), stated={A_B: measured})


def noise(mean: float, count: int, seed: int, spread: float = 0.05) -> list[float]:
    chance = random.Random(seed)
    return [abs(chance.gauss(mean, spread * mean)) for _ in range(count)]


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.5, Verdict.HIGHER), (0.5, Verdict.LOWER), (1.0, Verdict.ALIKE)],
)
def test_what_became_of_a_path(factor: float, verdict: Verdict) -> None:
    found = compare(run("x", ab=noise(100, 60, 1)), run("y", ab=noise(100 * factor, 60, 2)), NORMAL)
    (change,) = found.changes
    assert change.verdict is verdict
    assert change.method == "mann-whitney"
    assert change.ratio == pytest.approx(factor, rel=0.05)
    if factor != 1:
        assert change.effect == (1 if factor > 1 else -1)


def test_a_certain_difference_that_is_too_small_to_matter_is_alike() -> None:
    found = compare(run("x", ab=noise(100, 300, 1)), run("y", ab=noise(104, 300, 2)), NORMAL)
    (change,) = found.changes
    assert change.p is not None
    assert change.p < 1e-6
    assert change.verdict is Verdict.ALIKE


def test_too_few_noisy_values_show_nothing() -> None:
    found = compare(run("x", ab=noise(100, 4, 1, 0.6)), run("y", ab=noise(130, 4, 2, 0.6)), NORMAL)
    assert found.changes[0].verdict is Verdict.NOT_SHOWN
    assert found.verdict == "no difference is shown on 1 path tested"


@given(
    st.lists(st.floats(1, 1e3), min_size=2, max_size=30), st.lists(st.floats(1, 1e3), min_size=2, max_size=30)
)
def test_welch_is_scipys(first: list[float], second: list[float]) -> None:
    one, other = summarised(first), summarised(second)
    # Of values that are all but the same scipy's own moments are no measure: it says so by a warning.
    assume(min(one.deviation, other.deviation) > 1e-6)
    p, apart = welch(one, other, (len(first), len(second)), 0.95)
    oracle = stats.ttest_ind(second, first, equal_var=False)
    assert p == pytest.approx(oracle.pvalue, rel=1e-6, abs=1e-12)
    low, high = oracle.confidence_interval(0.95)
    assert (apart.low, apart.high) == (
        pytest.approx(low, rel=1e-6, abs=1e-6),
        pytest.approx(high, rel=1e-6, abs=1e-6),
    )


@pytest.mark.parametrize("step", [2.0**-10, 1.0])
def test_what_is_all_but_the_same_is_tested_as_well_as_anything(step: float) -> None:
    """Means and deviations are summed exactly (fsum, statistics.stdev): an offset takes nothing from them."""
    series = ([0.0, step, 2 * step], [step, 2 * step, 4 * step])
    plain, far = ([summarised([by + value for value in its]) for its in series] for by in (0.0, 2.0**30))
    assert [its.deviation for its in far] == [its.deviation for its in plain]
    expected, actual = (welch(one, other, (3, 3), 0.95) for one, other in (plain, far))
    assert actual[0] == pytest.approx(expected[0], rel=1e-3)
    assert actual[1].low == pytest.approx(expected[1].low, rel=1e-3)


def test_where_nothing_deviates_only_equal_means_are_equal() -> None:
    assert welch(Measured(1, 0, 5), Measured(1, 0, 5), (5, 5), 0.95)[0] == 1
    assert welch(Measured(1, 0, 5), Measured(2, 0, 5), (5, 5), 0.95)[0] == 0
    assert hedges(Measured(1, 0, 5), Measured(2, 0, 5)) is None


def test_hedges_g() -> None:
    """d = 1 with 10 + 10 values: J = 1 - 3 / (4 * 18 - 1) = 0.9577."""
    assert hedges(Measured(0, 1, 10), Measured(1, 1, 10)) == pytest.approx(0.95775, abs=1e-5)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_by_its_definition(values: list[float]) -> None:
    """The corrected value of a hypothesis is the least level at which the stepping down rejects it."""
    found = holm(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    for place, number in enumerate(order):
        before = [min(1.0, (len(values) - rank) * values[order[rank]]) for rank in range(place + 1)]
        assert found[number] == max(before)


def test_holm_does_not_depend_on_the_order() -> None:
    values = [0.01, 0.04, 0.03, 0.005]
    expected = dict(zip(values, holm(values), strict=True))
    assert expected == pytest.approx({0.005: 0.02, 0.01: 0.03, 0.03: 0.06, 0.04: 0.06})
    for order in permutations(values):
        assert holm(order) == [expected[one] for one in order]


def test_many_equal_paths_are_rarely_told_apart() -> None:
    """What the correction is for: in 40 comparisons of 3 equal paths at 95 % few come out different."""
    wrong = 0
    for seed in range(40):
        series = [
            {
                key: noise(100, 20, 100 * seed + place + 10 * side)
                for place, key in enumerate(("ab", "ac", "bc"))
            }
            for side in range(2)
        ]
        found = compare(run("x", **series[0]), run("y", **series[1]), Analysing(alike_within=0.001))
        wrong += bool(found.count(Verdict.HIGHER) + found.count(Verdict.LOWER))
    assert wrong <= 6


def test_values_that_follow_each_other_are_tested_for_what_they_are_worth() -> None:
    def walk(seed: int) -> list[float]:
        chance, last, values = random.Random(seed), 0.0, []
        for _ in range(100):
            last = 0.9 * last + chance.gauss(0, 1)
            values.append(100 + last)
        return values

    found = [
        compare(run("x", ab=walk(seed)), run("y", ab=walk(seed + 50)), Analysing(alike_within=0.001))
        for seed in range(20)
    ]
    assert {one.changes[0].method for one in found} == {"welch, correlated"}
    assert sum(one.changes[0].verdict in (Verdict.HIGHER, Verdict.LOWER) for one in found) <= 4


def test_summaries_are_tested_where_there_are_no_values() -> None:
    found = compare(stated("x", Measured(100, 10, 50)), run("y", ab=noise(150, 50, 1)), NORMAL)
    assert found.changes[0].method == "welch"
    assert found.changes[0].verdict is Verdict.HIGHER


def test_a_report_that_does_not_say_how_many_is_not_tested_unless_that_is_assumed() -> None:
    table = builtins.reference("nectar")
    found = compare(table, table, NORMAL)
    assert {change.verdict for change in found.changes} == {Verdict.NOT_TESTED}
    assert "nobody says how many values there are" in found.changes[0].why
    assert found.verdict == "none of 20 paths could be tested"
    assumed = compare(table, table, NORMAL, assumed=720)
    assert assumed.verdict == "all 20 paths are alike"
    assert assumed.marks == ("count: where a report does not say, 720 values per path are assumed",)


def test_runs_that_are_no_runs_of_the_same_are_refused() -> None:
    one = run("x", ab=[1.0, 2.0])
    other = replace(one, document=Reference("e", 1), metric="round-trip-time", unit="s")
    assert len(refusals(one, other)) == 2
    with pytest.raises(ValueError, match="two evaluations; metric: tcp"):
        compare(one, other, NORMAL)
    with pytest.raises(ValueError, match="paths: there is none"):
        compare(one, run("y", ac=[1.0, 2.0]), NORMAL)


def test_what_else_is_different_is_marked() -> None:
    one = replace(run("x", ab=[1.0, 2.0], ac=[1.0]), conditions={"duration": "30 s"}, pilot=True)
    other = replace(
        run("y", ba=[1.0, 2.0], bc=[3.0]),
        conditions={"duration": "5 s", "place": "z"},
        document=Reference("d", 2),
        planned=9,
        versions={"iperf3": "3.12"},
    )
    found = compare(one, other, NORMAL)
    assert found.marks == (
        "document: version 1, then 2",
        "duration: 30 s, then 5 s",
        "place: not stated, then z",
        "iperf3: not stated, then 3.12",
        "x: is a pilot only",
        "y: 3 of 9 tests",
    )
    assert found.only == {A_C: "x", B_C: "y"}
    assert [change.path for change in found.changes] == [A_B]


@pytest.mark.parametrize(("failed", "words"), [(1, "y: 1 test failed"), (2, "y: 2 tests failed")])
def test_tests_that_failed_are_counted(failed: int, words: str) -> None:
    one = run("x", ab=[1.0, 2.0])
    missing = tuple(Sample(2 + number, A_B, 9.0, None, "gone") for number in range(failed))
    other = replace(one, name="y", samples=(*one.samples, *missing), planned=2 + failed)
    assert compare(one, other, NORMAL).marks == (words,)


def test_the_same_version_with_another_content_is_marked() -> None:
    one = replace(run("x", ab=[1.0, 2.0]), document=Reference("d", 1, "aa"))
    found = compare(one, replace(one, name="y", document=Reference("d", 1, "bb")), NORMAL)
    assert found.marks == ("document: the content differs, though both say version 1",)


@given(st.integers(0, 30), st.floats(0.2, 5))
def test_the_other_way_round_it_is_the_other_way_round(seed: int, factor: float) -> None:
    one, other = run("x", ab=noise(100, 30, seed)), run("y", ab=noise(100 * factor, 30, seed + 1))
    there, back = compare(one, other, NORMAL).changes[0], compare(other, one, NORMAL).changes[0]
    assert there.p == pytest.approx(back.p)
    opposite = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
    if abs(factor - 1) > 0.3:
        assert opposite[there.verdict] is back.verdict


@pytest.mark.parametrize(("mean", "verdict"), [(109.9, Verdict.ALIKE), (110.5, Verdict.HIGHER)])
def test_alike_is_a_share_of_the_first_mean(mean: float, verdict: Verdict) -> None:
    found = compare(stated("x", Measured(100, 0.01, 50)), stated("y", Measured(mean, 0.01, 50)), NORMAL)
    assert found.changes[0].verdict is verdict


def test_where_means_and_ranks_disagree_nothing_is_shown() -> None:
    """Nearly all values are higher, but one was so low that the mean is lower."""
    before, after = [100.0 + number % 2 / 10 for number in range(40)], [101.0 + n % 2 / 10 for n in range(39)]
    (change,) = compare(run("x", ab=before), run("y", ab=[*after, 0.0]), Analysing(alike_within=1e-3)).changes
    assert change.p is not None
    assert change.p < 1e-6
    assert (change.verdict, change.why) == (Verdict.NOT_SHOWN, "means and ranks disagree")


@pytest.mark.parametrize(
    ("delta", "apart", "agree"),
    [(0.5, 1, True), (-1, -2, True), (0, 1, True), (0.5, -1, False), (1, 0, False)],
)
def test_ranks_tell_a_direction_where_the_means_have_the_same(
    delta: float, apart: float, agree: bool
) -> None:
    """Of equal means neither is higher, however the ranks are."""
    assert (disagreement(delta, apart) == "") is agree


def test_of_a_path_that_was_dead_there_is_no_ratio_nor_one_of_all() -> None:
    found = compare(run("x", ab=[0.0] * 9, ac=[4.0] * 9), run("y", ab=[3.0] * 9, ac=[8.0] * 9), NORMAL)
    assert [change.ratio for change in found.changes] == [None, 2.0]
    assert found.overall is None
    assert replace(found, changes=found.changes[1:]).overall == pytest.approx(2.0)


def test_a_count_that_is_known_is_not_assumed() -> None:
    known, unknown = stated("x", Measured(100, 10, 5)), stated("y", Measured(100, 10))
    (change,) = compare(known, unknown, NORMAL, assumed=720).changes
    assert (change.before.count, change.after.count) == (5, 720)

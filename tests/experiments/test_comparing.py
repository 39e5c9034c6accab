"""Two runs: differences that are there are found, others are not, and what else differs is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adon.experiments.comparing import _ranks, compare, least_p
from adon.experiments.results import Run, State
from apps.experiments import difference
from measurement.evaluation.comparison import Verdict
from tests.experiments import synthetic
from tests.experiments.test_verdicts import CHECKS, FILE, GOOD, Times, decided, run


def compared(before: Times, after: Times):
    one, other = run(before), run(after)
    return compare((EXPERIMENT, one), (EXPERIMENT, renamed(other)))


def renamed(other: Run) -> Run:
    return replace(other, about=replace(other.about, run="second"))


EXPERIMENT = synthetic.parse(FILE + CHECKS["ratio"]).experiment


def test_between_a_run_and_itself_nothing_is_shown():
    found = compared(GOOD, GOOD)
    # Where repetitions deviate by a tenth, three of them cannot show that a mean is the same.
    assert {change.verdict for change in found.changes} == {Verdict.ALIKE, Verdict.NOT_SHOWN}
    assert {change.p for change in found.changes} == {1.0}
    assert found.decisions == ()
    assert found.marks == ()
    assert found.compared == 0  # nothing was decided: that is no agreement


def test_trials_in_which_anything_was_decided_are_compared():
    def admitted(done):
        return decided(done.number, "admit al2s")

    both = compare((EXPERIMENT, run(GOOD, admitted)), (EXPERIMENT, renamed(run(GOOD, admitted))))
    assert (both.compared, both.decisions) == (9, ())
    one = compare((EXPERIMENT, run(GOOD)), (EXPERIMENT, renamed(run(GOOD, admitted))))
    assert (one.compared, len(one.decisions)) == (9, 9)


def test_what_does_not_deviate_is_not_certain():
    """Welch's test divides by the deviation: of three equal values against three it would be sure."""
    flat: Times = {1: [10.0] * 3, 2: [5.0] * 3, 4: [2.0] * 3}
    one = compared(flat, {**flat, 2: [6.0] * 3}).changes[1]
    assert (one.method, one.verdict) == ("mann-whitney", Verdict.NOT_SHOWN)
    assert one.p == pytest.approx(min(1.0, 4 * least_p(3, 3)))
    assert {change.verdict for change in compared(flat, flat).changes} == {Verdict.ALIKE}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_ranks_with_equal_values_are_dealt_in_every_way(pool: list[int]) -> None:
    one, other = [float(v) for v in pool[:4]], [float(v) for v in pool[4:]]
    ranks = stats.rankdata(pool)
    found = abs(sum(ranks[:4]) - 18)
    ways = [abs(sum(ranks[place] for place in way) - 18) for way in combinations(range(8), 4)]
    expected = sum(far >= found - 1e-9 for far in ways) / len(ways)
    if len({*pool}) < 8:
        assert _ranks(one, other)[0] == pytest.approx(expected)


def test_a_network_that_was_changed_is_told():
    one, other = run(GOOD), run(GOOD)
    before, after = replace(one.about, network="a1"), replace(other.about, run="second", network="b2")
    found = compare((EXPERIMENT, replace(one, about=before)), (EXPERIMENT, replace(other, about=after)))
    assert found.marks == ("network: its description differs",)
    older = replace(other.about, run="second")
    found = compare((EXPERIMENT, replace(one, about=before)), (EXPERIMENT, replace(other, about=older)))
    assert found.marks == ()


def test_a_figure_that_has_two_names_is_compared_once():
    named = [(change.figure, change.where) for change in compared(GOOD, GOOD).changes]
    assert [name for name, _ in named] == ["one", "two", "all", "rate"]
    assert dict(named[2][1])["a.streams"] == 4


@pytest.mark.parametrize(
    ("order", "called"),
    [
        (["one", "two", "all", "rate"], ["one", "two", "all", "rate"]),
        (["all", "one", "two", "rate"], ["one", "two", "all", "rate"]),
        (["all", "two", "rate"], ["all", "two", "all", "rate"]),
    ],
)
def test_a_number_is_compared_whatever_the_second_file_calls_it_first(order, called):
    figures = {name: EXPERIMENT.figures[name] for name in order}
    other = EXPERIMENT.model_copy(update={"figures": figures})
    found = compare((EXPERIMENT, run(GOOD)), (other, renamed(run(GOOD))))
    assert [change.figure for change in found.changes] == called
    assert (found.only, found.marks) == ({}, ())


def test_a_difference_is_found_with_its_interval_and_effect():
    found = compared(GOOD, {**GOOD, 2: [7.0, 7.1, 6.9]})
    by_name = {change.figure: change for change in found.changes}
    two = by_name["two"]
    assert two.verdict is Verdict.HIGHER
    assert two.method == "welch"
    assert two.ratio == pytest.approx(1.4)
    assert two.apart is not None
    assert two.apart.low < 2.0 < two.apart.high
    assert two.p is not None
    assert two.p < 0.01
    assert two.effect is not None
    assert two.effect > 5
    assert by_name["one"].verdict is Verdict.ALIKE


def test_p_values_are_corrected_for_the_number_of_comparisons():
    found = compared(GOOD, {**GOOD, 1: [10.3, 10.4, 10.2], 2: [7.0, 7.1, 6.9]})
    raw = stats.ttest_ind([7.0, 7.1, 6.9], [5.0, 5.1, 4.9], equal_var=False).pvalue
    least = min(found.changes, key=lambda change: 1.0 if change.p is None else change.p)
    assert least.figure == "two"
    assert len(found.changes) == 4
    assert least.p == pytest.approx(4 * raw)


def test_of_single_values_nothing_is_tested():
    once: Times = {1: [10.0], 2: [5.0], 4: [2.0]}
    found = compared(once, GOOD)
    assert {change.verdict for change in found.changes} == {Verdict.NOT_TESTED}
    assert found.changes[0].why == "of a single value nothing can be told"


@pytest.mark.parametrize(
    ("last", "verdict", "why"),
    [
        (1.009, Verdict.HIGHER, ""),
        (12.0, Verdict.NOT_SHOWN, "means and ranks disagree"),
    ],
)
def test_where_ranks_and_means_disagree_no_direction_is_told(last: float, verdict: Verdict, why: str) -> None:
    """Nearly all values doubled, but one of the first was so high that the mean fell."""
    file = FILE.replace("repetitions: 3", "repetitions: 10")
    experiment = synthetic.parse(file + CHECKS["ratio"]).experiment
    ones = [1.0 + number / 1000 for number in range(9)]
    before: Times = {1: [*ones, last], 2: ones * 2, 4: ones * 2}
    after: Times = {**before, 1: [2.01 + number / 1000 for number in range(10)]}
    one, other = run(before, file=file), renamed(run(after, file=file))
    found = compare((experiment, one), (experiment, other)).changes[0]
    assert (found.method, found.verdict, found.why) == ("mann-whitney", verdict, why)
    assert found.p is not None
    assert found.p < 0.05
    assert difference.line(found).method == ("mann-whitney: " + why if why else "mann-whitney")


def test_what_cannot_be_tested_does_not_count_as_a_comparison():
    """Of four against five values a rank test can find something if it is one of two, not one of four."""
    file = FILE.replace("repetitions: 3", "repetitions: 5")
    experiment = synthetic.parse(file + CHECKS["ratio"]).experiment
    fives: Times = {streams: [1.0, 1.1, 1.2, 1.3, 1.4] for streams in (1, 2, 4)}
    fours: Times = {1: fives[1][:4], 2: [1.0], 4: [1.0]}
    found = compare((experiment, run(fours, file=file)), (experiment, renamed(run(fives, file=file))))
    assert [change.method for change in found.changes] == ["mann-whitney", "", "", "mann-whitney"]


def test_what_one_run_alone_has_is_named():
    found = compared(GOOD, {**GOOD, 2: [None, None, None]})
    assert found.only == {"two (a.streams 2, ours)": "first"}


def test_what_else_differs_is_told():
    one, other = run(GOOD), run(GOOD)
    about = replace(
        other.about, run="second", seed=9, scale=50.0, platform={"name": "guest"}, digest="other",
        versions={"adon": "0.2.0", "Open vSwitch": "3.1.0"}, state=State.PARTIAL, why="interrupted",
    )  # fmt: skip
    found = compare((EXPERIMENT, one), (EXPERIMENT, replace(other, about=about)))
    assert found.marks[:3] == (
        "file: what the experiments say differs",
        "seed: 1, then 9",
        "scale: 100, then 50 (figures are compared at full scale)",
    )
    assert "platform name: synthetic, then guest" in found.marks
    assert "versions adon: 0.1.0, then 0.2.0" in found.marks
    assert not any("Open vSwitch" in mark for mark in found.marks)
    assert found.marks[-1] == "second is partial: interrupted"


def test_runs_of_two_scales_are_compared_at_full_scale():
    # Rates divided by half as much and sizes by as much: transfers take half as long, at twice the rate.
    halved: Times = {streams: [(seconds or 0) / 2 for seconds in times] for streams, times in GOOD.items()}
    other = run(halved)
    other = replace(other, about=replace(other.about, run="second", scale=50.0))
    found = compare((EXPERIMENT, run(GOOD)), (EXPERIMENT, other))
    assert [change.ratio for change in found.changes] == pytest.approx([1.0] * 4)
    assert found.changes[0].before.median == pytest.approx(100.0)


def test_of_two_scales_a_figure_that_has_no_full_scale_is_not_compared():
    text = FILE.replace(
        "workload:\n", "workload:\n  - {flow: b, template: soykb, from: mu, to: osu, lasts: 9 s}\n"
    )
    text = text.replace("  rate: {of: throughput, flow: a", "  rate: {of: received")
    experiment = synthetic.parse(text + CHECKS["ratio"]).experiment
    one, other = run(GOOD, file=text), renamed(run(GOOD, file=text))
    halved = replace(other, about=replace(other.about, scale=50.0))
    found = compare((experiment, one), (experiment, halved))
    assert [change.figure for change in found.changes] == ["one", "two", "all"]
    assert found.marks[-1].startswith("figure rate: is partly of sizes and partly of given times")
    assert found.only == {}
    same = compare((experiment, one), (experiment, other))
    assert [change.figure for change in same.changes] == ["one", "two", "all", "rate"]


def test_decisions_are_compared_exactly():
    one = run(GOOD, lambda done: decided(done.number, "admit al2s"))
    other = run(GOOD, lambda done: decided(done.number, "admit internet"))
    found = compare((EXPERIMENT, one), (EXPERIMENT, renamed(other)))
    assert len(found.decisions) == 9
    assert found.decisions[0].startswith("a.streams=1 / ours / 1: a: admit on al2s (first), but")


def test_other_experiments_are_not_compared():
    other = EXPERIMENT.model_copy(update={"experiment": "other"})
    with pytest.raises(ValueError, match="'made' and 'other' are two experiments"):
        compare((EXPERIMENT, run(GOOD)), (other, run(GOOD)))


def test_a_figure_that_is_defined_otherwise_is_not_compared():
    figures = {**EXPERIMENT.figures, "one": EXPERIMENT.figures["rate"]}
    other = EXPERIMENT.model_copy(update={"figures": figures})
    found = compare((EXPERIMENT, run(GOOD)), (other, run(GOOD)))
    assert "one" not in {change.figure for change in found.changes}
    assert found.marks == ("figure one: is another measure",)
    assert found.only == {}
    quoted = {**EXPERIMENT.figures, "one": EXPERIMENT.figures["one"].model_copy(update={"paper": "11 s"})}
    other = EXPERIMENT.model_copy(update={"figures": quoted})
    assert compare((EXPERIMENT, run(GOOD)), (other, run(GOOD))).marks == ()


def exact(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value of the rank sum by trying every way of dealing the values (no ties)."""
    pool = sorted([*one, *other])
    ranks = {value: rank for rank, value in enumerate(pool, 1)}
    centre = len(one) * (len(pool) + 1) / 2
    found = abs(sum(ranks[value] for value in one) - centre)
    ways = [abs(sum(way) - centre) for way in combinations(range(1, len(pool) + 1), len(one))]
    return sum(far >= found - 1e-9 for far in ways) / len(ways)


def dealt(number: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 10**6), min_size=2 * number, max_size=2 * number, unique=True)


@settings(deadline=None)
@given(st.integers(2, 5).flatmap(dealt))
def test_rank_tests_are_what_every_way_of_dealing_says(pool: list[int]) -> None:
    number = len(pool) // 2
    one, other = ([float(v) for v in pool[:number]], [float(v) for v in pool[number:]])
    p = float(stats.mannwhitneyu(other, one).pvalue)
    assert p == pytest.approx(exact(one, other))
    assert p >= least_p(number, number) - 1e-12


def test_ranks_are_used_as_soon_as_they_could_find_anything():
    assert least_p(3, 3) == pytest.approx(0.1)
    text = FILE.replace("repetitions: 3", "repetitions: 8").replace("[1, 2, 4]", "[1, 2]")
    its = synthetic.parse(text + CHECKS["ratio"])
    one = synthetic.run(its, noise=0.05)
    other = synthetic.run(its, noise=0.05, name="second")
    found = compare((its.experiment, one), (its.experiment, other))
    assert {change.method for change in found.changes} == {"mann-whitney"}

"""Two runs held against each other: every figure at every combination, and every decision.

A difference is tested by Mann and Whitney's test where that could find anything: of n and m repetitions its
smallest p-value is 2 / C(n + m, n), one in ten for three and three, and it has to survive the correction for
the number of comparisons (Holm 1979).  Where it cannot, Welch's test is taken, whose price is the assumption
that repetitions deviate about normally.  The interval of the difference is Welch's in both cases.  Tests and
words are those of :mod:`measurement.evaluation.comparison`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from adon.experiments.agreement import unlike_runs
from adon.experiments.cells import Where, cells, where_text
from adon.experiments.document import Experiment
from adon.experiments.figures import Figure, Unit
from adon.experiments.full_scale import MIXED, at_full_scale, is_mixed
from adon.experiments.measures import Observed
from adon.experiments.results import About, Run, State
from adon.experiments.summary import CONFIDENCE, Summary, measured, summary
from adon.frozenmap import FrozenMap
from measurement.evaluation.comparison import Verdict, disagreement, hedges, holm, welch
from measurement.evaluation.intervals import Interval

ALIKE_WITHIN = 0.05
"""Of the first mean: where the whole interval of the difference lies within, the figure is alike."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure at one combination under one policy.

    :param where: the combination, with the policy.
    :param apart: interval of the difference of the means, second less first.
    :param p: corrected for the number of comparisons.
    :param effect: Hedges' g; None where nothing deviates.
    :param why: why it was not tested, or why its test tells no direction; empty if nothing is to be said.
    """

    figure: str
    unit: Unit
    where: Where
    before: Summary
    after: Summary
    verdict: Verdict
    apart: Interval | None = None
    method: str = ""
    p: float | None = None
    effect: float | None = None
    why: str = ""

    @property
    def ratio(self) -> float | None:
        """Of the second mean to the first; None where that is 0."""
        return self.after.mean / self.before.mean if self.before.mean else None


@dataclass(frozen=True, slots=True)
class Difference:
    """All of it.

    :param decisions: how decisions differ, each in words.
    :param compared: trials whose decisions were compared: of those without any nothing is said.
    :param marks: what else is different between the runs: it may be the cause.
    :param only: figures at combinations that one run alone has values of, and which.
    """

    changes: tuple[Change, ...]
    decisions: tuple[str, ...]
    compared: int
    marks: tuple[str, ...]
    only: Mapping[str, str]

    def count(self, verdict: Verdict) -> int:
        """How many figures it is the verdict of."""
        return sum(1 for change in self.changes if change.verdict is verdict)


def compare(
    first: tuple[Experiment, Run], second: tuple[Experiment, Run], confidence: float = CONFIDENCE
) -> Difference:
    """Number by number: those of the first file that the second one has too, whatever they call them.

    :raises ValueError: if the two are no runs of the same experiment.
    """
    (one, before), (other, after) = first, second
    if one.name != other.name:
        raise ValueError(f"experiment: {one.name!r} and {other.name!r} are two experiments")
    scaled = (before.about.scale, before.about.sizes) != (after.about.scale, after.about.sizes)
    mixed = {name for its in (first, second) for name in _mixed(*its) if scaled}
    first_has, second_has = (_cells(experiment, run, mixed, scaled) for experiment, run in (first, second))
    otherwise = {
        name
        for name in one.figures.keys() & other.figures.keys()
        if _measured(one.figures[name]) != _measured(other.figures[name])
    }
    only = dict.fromkeys(_only(first_has, second_has, otherwise), before.about.run)
    only |= dict.fromkeys(_only(second_has, first_has, otherwise), after.about.run)
    pairs = [(its, second_has[key]) for key, its in first_has.items() if key in second_has]
    testable = sum(min(len(one.values), len(other.values)) > 1 for one, other in pairs)
    changes = [_tested(*pair, testable, confidence) for pair in pairs]
    corrected = iter(holm([change.p for change in changes if change.p is not None]))
    judged = tuple(
        change if change.p is None else _judged(replace(change, p=next(corrected)), confidence)
        for change in changes
    )
    return Difference(
        judged,
        tuple(unlike_runs((before, after))),
        _decided_in_both(before, after),
        (
            *_marks(before.about, after.about),
            *(f"figure {name}: is another measure" for name in sorted(otherwise)),
            *(f"figure {name}: {MIXED}, is not compared" for name in sorted(mixed)),
        ),
        only,
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """The values of a measure at one combination.

    :param names: of all figures that are this number, in the file's order.
    """

    names: tuple[str, ...]
    unit: Unit
    where: Where
    values: tuple[float, ...]

    def name_with(self, other: _Cell) -> str:
        """What both files call it, if there is such a name; else what this one does."""
        return next((name for name in self.names if name in other.names), self.names[0])


def _mixed(experiment: Experiment, run: Run) -> Iterator[str]:
    """The figures of which nobody can say what they are at full scale."""
    for name, figure in experiment.figures.items():
        if is_mixed(figure, experiment, run.about):
            yield name


def _cells(
    experiment: Experiment, run: Run, without: Set[str], scaled: bool
) -> dict[tuple[Figure, Where], _Cell]:
    """Every number of a run by what it is of: the same under a second name is the same number.

    :param scaled: at full scale: what runs of two scales have in common.
    """
    observed = Observed.of(run)
    found: dict[tuple[Figure, Where], _Cell] = {}
    for name, figure in experiment.figures.items():
        if name in without:
            continue
        factor = at_full_scale(figure, experiment, run.about) or 1.0 if scaled else 1.0
        for where, values in cells(observed, figure).items():
            if not values:
                continue
            key = _measured(figure), where
            names = (*found[key].names, name) if key in found else (name,)
            found[key] = _Cell(names, figure.unit, where, tuple(value * factor for value in values))
    return found


def _only(
    cells: Mapping[tuple[Figure, Where], _Cell],
    others: Mapping[tuple[Figure, Where], _Cell],
    otherwise: Set[str],
) -> Iterator[str]:
    """Figures and where they are of which the other run has no value.

    :param otherwise: figures that are another measure there: that is said of them already.
    """
    for key, its in cells.items():
        name = next((name for name in its.names if name not in otherwise), None)
        if key not in others and name is not None:
            yield f"{name} ({where_text(its.where)})"


def _measured(figure: Figure) -> Figure:
    """What a figure measures, without where, what the paper has, and what it is called."""
    return figure.model_copy(update={"where": FrozenMap(), "paper": None, "about": ""})


def least_p(one: int, other: int) -> float:
    """The smallest p-value that a rank test of so many values each can have, two-sided."""
    return 2 / math.comb(one + other, one)


def _tested(first: _Cell, second: _Cell, comparisons: int, confidence: float) -> Change:
    before, after = first.values, second.values
    one, other = summary(before), summary(after)
    assert one is not None and other is not None  # noqa: S101, PT018 - a cell has values
    change = Change(first.name_with(second), first.unit, first.where, one, other, Verdict.NOT_SHOWN)
    if min(one.count, other.count) < 2:
        return replace(change, verdict=Verdict.NOT_TESTED, why="of a single value nothing can be told")
    counts = (float(one.count), float(other.count))
    p, apart = welch(measured(before), measured(after), counts, confidence)
    effect = hedges(measured(before), measured(after))
    if apart.low == apart.high != 0:
        # Nothing deviates: Welch's test would be certain.  The ranks are as far apart as they can be.
        p = least_p(one.count, other.count)
        return replace(change, apart=apart, method="mann-whitney", p=p, effect=effect)
    if least_p(one.count, other.count) * comparisons <= 1 - confidence:
        p, delta = _ranks(before, after)
        why = disagreement(delta, other.mean - one.mean)
        return replace(change, apart=apart, method="mann-whitney", p=p, effect=effect, why=why)
    return replace(change, apart=apart, method="welch", p=p, effect=effect)


MOST_WAYS = 20_000
"""Of dealing values to two runs that are all tried where some are equal."""


def _ranks(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Mann and Whitney's p-value, and Cliff's delta.

    The p-value is exact for few values; what scipy takes where some are equal needs many.
    """
    from scipy import stats  # type: ignore[import-untyped]  # slow to import

    test = stats.mannwhitneyu(after, before)
    delta = 2 * float(test.statistic) / (len(before) * len(after)) - 1
    ways = math.comb(len(before) + len(after), len(before))
    equal = len({*before, *after}) < len(before) + len(after)
    if not equal or ways > MOST_WAYS:
        return float(test.pvalue), delta

    def statistic(one: Any, other: Any, axis: int) -> Any:
        return stats.mannwhitneyu(one, other, axis=axis, method="asymptotic").statistic

    dealt = stats.permutation_test((after, before), statistic, n_resamples=ways + 1)
    return float(dealt.pvalue), delta


def _judged(change: Change, confidence: float) -> Change:
    apart, margin = change.apart, ALIKE_WITHIN * abs(change.before.mean)
    assert apart is not None and change.p is not None  # noqa: S101, PT018 - it was tested
    if -margin <= apart.low and apart.high <= margin:
        return replace(change, verdict=Verdict.ALIKE)
    if change.p < 1 - confidence and not change.why:
        higher = change.after.mean > change.before.mean
        return replace(change, verdict=Verdict.HIGHER if higher else Verdict.LOWER)
    return change


def _decided_in_both(one: Run, other: Run) -> int:
    """Trials that both have complete, in which anything was decided at all."""
    return len(_keys(one) & _keys(other) & (_keys(one, decided=True) | _keys(other, decided=True)))


def _keys(run: Run, *, decided: bool = False) -> set[str]:
    with_any = {row.trial for row in run.tables.decisions}
    return {
        trial.key
        for trial in run.about.trials
        if trial.state is State.COMPLETE and (not decided or trial.number in with_any)
    }


def _marks(one: About, other: About) -> Iterator[str]:
    if one.digest != other.digest:
        yield "file: what the experiments say differs"
    if one.network and other.network and one.network != other.network:
        yield "network: its description differs"
    for name in ("follows", "seed", "scale", "sizes", "repetitions"):
        values = getattr(one, name), getattr(other, name)
        if values[0] != values[1]:
            scaled = " (figures are compared at full scale)" if name in ("scale", "sizes") else ""
            yield f"{name}: {_plain(values[0])}, then {_plain(values[1])}{scaled}"
    for section in ("platform", "machine", "versions"):
        first, second = getattr(one, section), getattr(other, section)
        for name in dict.fromkeys([*first, *second]):
            told = [its.get(name, "not stated") for its in (first, second)]
            if told[0] != told[1]:
                yield f"{section} {name}: {told[0]}, then {told[1]}"
    for about in (one, other):
        if about.state is State.PARTIAL:
            yield f"{about.run} is partial: {about.why}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

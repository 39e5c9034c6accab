"""Two runs of an evaluation compared, path by path.

Where both runs have the single values and neighbours in time are not correlated: Mann-Whitney's test, with
Cliff's delta as effect size.  Where they are correlated: Welch's test on what the values are worth
(:mod:`measurement.evaluation.intervals`).  Where there are only means, deviations and counts: Welch's test,
with Hedges' g.  The p-values of all paths are corrected together (Holm 1979).

A difference that is certain can still be too small to matter: where the whole confidence interval of the
difference of the means lies within what the document calls alike, the path is *alike*.

scipy's distributions take half a second to be imported: they are when they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from measurement.evaluation.document import Analysing
from measurement.evaluation.intervals import Interval, correlated, worth
from measurement.evaluation.results import Measured, Path, Results
from measurement.evaluation.run import Run


class Verdict(StrEnum):
    """What became of a path from the first run to the second."""

    HIGHER = "higher"
    LOWER = "lower"
    ALIKE = "alike"
    """The means are less apart than what the document calls alike, with its confidence."""
    NOT_SHOWN = "not shown"
    """No difference is shown; that is not to say that there is none."""
    NOT_TESTED = "not tested"


@dataclass(frozen=True, slots=True)
class Change:
    """One path.

    :param ratio: of the second mean to the first; None where the first is 0.
    :param apart: confidence interval of the difference of the means, second less first.
    :param method: ``mann-whitney``, ``welch`` or ``welch, correlated``; empty if it was not tested.
    :param p: corrected for the number of paths.
    :param effect: Cliff's delta (from -1 to 1), or Hedges' g with Welch's test.
    :param why: why it was not tested, or what makes it doubtful; empty if nothing does.
    """

    path: Path
    before: Measured
    after: Measured
    verdict: Verdict
    ratio: float | None
    apart: Interval | None = None
    method: str = ""
    p: float | None = None
    effect: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it.

    :param changes: of the paths that both runs have results of, in the order of the first.
    :param marks: what else is different between the runs, in words: it may be the cause.
    :param only: paths of which only one of them has results, with the name of that run.
    """

    changes: tuple[Change, ...]
    marks: tuple[str, ...]
    only: Mapping[Path, str]

    def count(self, verdict: Verdict) -> int:
        """How many paths it is the verdict of."""
        return sum(1 for change in self.changes if change.verdict is verdict)

    @property
    def overall(self) -> float | None:
        """The geometric mean of the ratios; None where a mean is 0."""
        ratios = [change.ratio for change in self.changes]
        logs = [math.log(ratio) for ratio in ratios if ratio]
        return math.exp(math.fsum(logs) / len(logs)) if logs and len(logs) == len(ratios) else None

    @property
    def verdict(self) -> str:
        """In words."""
        higher, lower = self.count(Verdict.HIGHER), self.count(Verdict.LOWER)
        number = len(self.changes)
        tested = number - self.count(Verdict.NOT_TESTED)
        if not tested:
            return f"none of {_paths(number)} could be tested"
        if higher or lower:
            are = "is" if higher == 1 else "are"
            return f"of {_paths(tested)} tested {higher} {are} higher and {lower} lower than before"
        if self.count(Verdict.ALIKE) == number:
            return "the path is alike" if number == 1 else f"all {number} paths are alike"
        return f"no difference is shown on {_paths(tested)} tested"


def _paths(count: int) -> str:
    return "1 path" if count == 1 else f"{count} paths"


def refusals(before: Run, after: Run) -> tuple[str, ...]:
    """Why two runs cannot be compared at all; empty if they can."""
    found = []
    if before.document.name != after.document.name:
        found.append(f"document: {before.document.name!r} and {after.document.name!r} are two evaluations")
    if (before.metric, before.unit) != (after.metric, after.unit):
        one, other = f"{before.metric} in {before.unit}", f"{after.metric} in {after.unit}"
        found.append(f"metric: {one} is not {other}")
    if not _common(before.results(), after.results()):
        found.append("paths: there is none of which both have results")
    return tuple(found)


def compare(before: Run, after: Run, analysing: Analysing, assumed: int | None = None) -> Comparison:
    """Path by path.

    :param assumed: how many values are behind a mean of which a report does not say; marked.
    :raises ValueError: if they cannot be compared; it says why.
    """
    refused = refusals(before, after)
    if refused:
        raise ValueError("; ".join(refused))
    one, other = _Side.of(before), _Side.of(after)
    common = _common(one.results, other.results)
    tested = [_tested(one, other, path, analysing, assumed) for path in common]
    corrected = iter(holm([each.p for each in tested if each.p is not None]))
    changes = tuple(_judged(each, None if each.p is None else next(corrected), analysing) for each in tested)
    return Comparison(changes, tuple(_marks(before, after, assumed)), _only(one, other))


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for being many (S. Holm, Scandinavian Journal of Statistics 6, 1979)."""
    found = [1.0] * len(values)
    least = 0.0
    for rank, number in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[number]))
        found[number] = least
    return found


@dataclass(frozen=True, slots=True)
class _Side:
    """A run with what is worked out of it once."""

    run: Run
    results: Results
    series: Mapping[Path, tuple[float, ...]]

    @classmethod
    def of(cls, run: Run) -> _Side:
        return cls(run, run.results(), run.series())

    def values(self, path: Path) -> tuple[float, ...]:
        return self.series.get(path) or self.series.get(path.back, ())


def _common(one: Results, other: Results) -> list[Path]:
    return [path for path in one.paths if other.measured(*path) is not None]


def _only(one: _Side, other: _Side) -> dict[Path, str]:
    found = {path: one.run.name for path in one.results.paths if other.results.measured(*path) is None}
    return found | {
        path: other.run.name for path in other.results.paths if one.results.measured(*path) is None
    }


def _counted(measured: Measured, assumed: int | None) -> Measured:
    if measured.count or assumed is None:
        return measured
    return Measured(measured.mean, measured.deviation, assumed)


def _tested(before: _Side, after: _Side, path: Path, analysing: Analysing, assumed: int | None) -> Change:
    found = [side.results.measured(*path) for side in (before, after)]
    one, other = (_counted(measured, assumed) for measured in found if measured is not None)
    ratio = other.mean / one.mean if one.mean else None
    if min(one.count, other.count) < 2:
        which = " and ".join(
            f"of {side.run.name} {'nobody says how many values' if its.count == 0 else 'one value'}"
            for side, its in ((before, one), (after, other))
            if its.count < 2
        )
        return Change(path, one, other, Verdict.NOT_TESTED, ratio, why=f"{which} there are")
    first, second = before.values(path), after.values(path)
    raw = bool(first) and bool(second)
    alone = not correlated(first) and not correlated(second)
    counts = (
        worth(first) if first else float(one.count),
        worth(second) if second else float(other.count),
    )
    p, apart = welch(one, other, counts, analysing.confidence)
    if raw and alone:
        from scipy import stats  # type: ignore[import-untyped]

        test = stats.mannwhitneyu(second, first)
        delta = 2 * float(test.statistic) / (len(first) * len(second)) - 1
        doubt = disagreement(delta, other.mean - one.mean)
        return Change(
            path,
            one,
            other,
            Verdict.NOT_SHOWN,
            ratio,
            apart,
            "mann-whitney",
            float(test.pvalue),
            delta,
            doubt,
        )
    method = "welch" if alone else "welch, correlated"
    return Change(path, one, other, Verdict.NOT_SHOWN, ratio, apart, method, p, hedges(one, other))


def disagreement(delta: float, apart: float) -> str:
    """Why ranks that differ do not tell which run is higher; empty where they and the means say the same.

    :param delta: Cliff's delta: above zero where the second run's values rank higher.
    :param apart: the second mean less the first.
    """
    return "means and ranks disagree" if delta and delta * apart <= 0 else ""


def welch(
    one: Measured, other: Measured, counts: tuple[float, float], confidence: float
) -> tuple[float, Interval]:
    """P-value and interval of the difference of two means whose deviations may differ (B. L. Welch 1947).

    :param counts: how many independent values each is worth; 2 or more.
    """
    parts = [its.deviation**2 / count for its, count in zip((one, other), counts, strict=True)]
    error, apart = math.sqrt(math.fsum(parts)), other.mean - one.mean
    if error == 0:
        return (1.0 if apart == 0 else 0.0), Interval(apart, apart)
    below = math.fsum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    freedom = math.fsum(parts) ** 2 / below if below > 0 else math.inf
    from scipy import stats

    p = 2 * float(stats.t.sf(abs(apart) / error, freedom))
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
    return p, Interval(apart - half, apart + half)


def hedges(one: Measured, other: Measured) -> float | None:
    """Hedges' g: the difference of the means in standard deviations; None where nothing deviates."""
    freedom = one.count + other.count - 2
    pooled = math.sqrt(
        ((one.count - 1) * one.deviation**2 + (other.count - 1) * other.deviation**2) / freedom
    )
    return None if pooled == 0 else (other.mean - one.mean) / pooled * (1 - 3 / (4 * freedom - 1))


def _judged(change: Change, p: float | None, analysing: Analysing) -> Change:
    if p is None or change.apart is None:
        return change
    margin = analysing.alike_within * change.before.mean
    verdict = Verdict.NOT_SHOWN
    if -margin <= change.apart.low and change.apart.high <= margin:
        verdict = Verdict.ALIKE
    elif p < 1 - analysing.confidence and not change.why:
        verdict = Verdict.HIGHER if change.after.mean > change.before.mean else Verdict.LOWER
    return Change(
        change.path, change.before, change.after, verdict, change.ratio, change.apart, change.method, p,
        change.effect, change.why,
    )  # fmt: skip


def _marks(before: Run, after: Run, assumed: int | None) -> Iterator[str]:
    one, other = before.document, after.document
    if one.version != other.version:
        yield f"document: version {one.version}, then {other.version}"
    elif one.digest and other.digest and one.digest != other.digest:
        yield f"document: the content differs, though both say version {one.version}"
    for name in dict.fromkeys([*before.conditions, *after.conditions]):
        levels = [run.conditions.get(name, "not stated") for run in (before, after)]
        if levels[0] != levels[1]:
            yield f"{name}: {levels[0]}, then {levels[1]}"
    for name in dict.fromkeys([*before.versions, *after.versions]):
        versions = [run.versions.get(name, "not stated") for run in (before, after)]
        if versions[0] != versions[1]:
            yield f"{name}: {versions[0]}, then {versions[1]}"
    for run in (before, after):
        if run.pilot:
            yield f"{run.name}: is a pilot only"
        if not run.complete:
            yield f"{run.name}: {len(run.samples)} of {run.planned} tests"
        failed = sum(run.failures().values())
        if failed:
            yield f"{run.name}: {failed} {'test' if failed == 1 else 'tests'} failed"
    if assumed is not None:
        yield f"count: where a report does not say, {assumed} values per path are assumed"

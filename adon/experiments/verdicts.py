"""What became of a file's checks in a run: held, did not hold, or cannot be told.

A check is judged by the middle of all repetitions.  Where the interval reaches beyond the bounds it says so.
While a repetition is missing nothing is judged: what there is so far is told.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from adon.experiments.agreement import unlike_expected, unlike_repetitions
from adon.experiments.checks import Check, DecisionsCheck, Expected, OrderCheck, RatioCheck, ValueCheck
from adon.experiments.document import Experiment
from adon.experiments.figures import Figure, Unit, parse_quantity
from adon.experiments.full_scale import MIXED, at_full_scale, is_mixed
from adon.experiments.happened import Turn
from adon.experiments.measures import Observed, samples
from adon.experiments.parts import Scalar
from adon.experiments.summary import ratio, summary
from adon.experiments.sweeping import matches, points, swept
from adon.experiments.wording import interval_text, text
from measurement.evaluation.intervals import Interval


class Outcome(StrEnum):
    """Of a check."""

    HELD = "held"
    NOT_HELD = "not held"
    CANNOT_SAY = "cannot say"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check.

    :param claim: what is checked, in words.
    :param asked: the bounds, in words.
    :param found: what was found, in words.
    :param paper: what the paper has, in words; empty if nothing is said.
    :param doubt: why the outcome is not sure, or why it could not be told.
    :param discrepancy: why ours is not expected to be the paper's.
    """

    claim: str
    outcome: Outcome
    asked: str
    found: str
    paper: str = ""
    doubt: str = ""
    discrepancy: str = ""


class _NoValueError(Exception):
    """A figure has no value that can be judged; the message says why."""


def verdicts(experiment: Experiment, observed: Observed) -> list[Verdict]:
    """The verdict on each check, in the file's order, and on the decisions of repetitions being the same."""
    found = [_judged(check, experiment, observed) for check in experiment.checks]
    return [*found, *_repeated(experiment, observed)]


def _judged(check: Check, experiment: Experiment, observed: Observed) -> Verdict:
    judge = _Judge(experiment, observed)
    try:
        match check:
            case RatioCheck():
                return judge.ratio(check)
            case ValueCheck():
                return judge.value(check)
            case OrderCheck():
                return judge.order(check)
            case DecisionsCheck():
                return judge.decisions(check)
    except _NoValueError as error:
        asked, paper = judge.asked(check)
        return Verdict(
            check.check, Outcome.CANNOT_SAY, asked, "nothing", paper, str(error), check.discrepancy
        )


@dataclass(frozen=True, slots=True)
class _Judge:
    experiment: Experiment
    observed: Observed

    def values(self, name: str, where: Mapping[str, Scalar] | None = None) -> dict[int, float]:
        """A figure's value per repetition.

        :raises _NoValueError: if one is missing.
        """
        figure = self.experiment.figures[name]
        found = {one.trial.repetition: one.value for one in samples(self.observed, figure, where or {})}
        none = [repetition for repetition, value in found.items() if value is None]
        known = {repetition: value for repetition, value in found.items() if value is not None}
        if len(found) < self.experiment.repetitions:
            so_far = self._so_far(figure, list(known.values()))
            number = f"{len(found)} of {self.experiment.repetitions} repetitions are complete"
            raise _NoValueError(f"of {name} {number}{so_far}")
        if none:
            told = ", ".join(map(str, none))
            raise _NoValueError(f"{name} has no value in repetition {told}{self._why(name, where or {})}")
        return known

    def _so_far(self, figure: Figure, values: Sequence[float]) -> str:
        return f", so far {text(statistics.median(values), figure.unit)}" if values else ""

    def _why(self, name: str, where: Mapping[str, Scalar]) -> str:
        """What the flows of a figure had to say where it has no value."""
        figure = self.experiment.figures[name]
        for one in samples(self.observed, figure, where):
            if one.value is None:
                rows = self.observed.tables(one.trial).flows
                for row in rows:
                    if figure.flow in (None, row.flow) and row.state != "finished":
                        return f": {row.flow} is {row.state}" + (f" ({row.trouble})" if row.trouble else "")
        return ""

    def ratio(self, check: RatioCheck) -> Verdict:
        over, under = (self.values(name) for name in check.ratio)
        pairs = [(over[repetition], under[repetition]) for repetition in over]
        if any(one <= 0 or other <= 0 for one, other in pairs):
            raise _NoValueError("a figure is 0: there is no ratio")
        middle, between = ratio(pairs)
        low, high = check.between
        held = (low is None or middle >= low) and (high is None or middle <= high)
        doubt = _doubt(held, between, (low, high))
        found = f"{middle:.3g} ({interval_text(between, None)})" if between is not None else f"{middle:.3g}"
        return self._verdict(check, held, found, doubt)

    def value(self, check: ValueCheck) -> Verdict:
        figure = self.experiment.figures[check.value]
        its = summary(list(self.values(check.value).values()))
        assert its is not None  # noqa: S101 - values() raises where there are none
        full = at_full_scale(figure, self.experiment, self.observed.about)
        if figure.unit is Unit.BYTES and is_mixed(figure, self.experiment, self.observed.about):
            raise _NoValueError(f"{check.value}: {MIXED}")
        # Bounds of times are as measured; of everything else at full scale.
        factor = 1.0 if full is None or figure.unit is Unit.SECONDS else full
        low, high = (None if one is None else parse_quantity(one, figure.unit) for one in check.between)
        middle = its.median * factor
        held = (low is None or middle >= low) and (high is None or middle <= high)
        between = its.interval and Interval(its.interval.low * factor, its.interval.high * factor)
        found = _value_text(figure, its.median, full)
        return self._verdict(check, held, found, _doubt(held, between, (low, high)))

    def order(self, check: OrderCheck) -> Verdict:
        if check.over is None:
            names = [(name, self.values(name)) for name in check.figures]
            unit = self.experiment.figures[check.figures[0]].unit
        else:
            figure = self.experiment.figures[check.figures[0]]
            unit = figure.unit
            over = swept(self.experiment)[check.over]
            names = [(str(value), self.values(check.figures[0], {check.over: value})) for value in over]
        middles = [(name, statistics.median(values.values())) for name, values in names]
        held = _ordered([middle for _, middle in middles], check)
        found = ", ".join(f"{name}: {text(middle, unit)}" for name, middle in middles)
        doubt = _order_doubt([list(values.values()) for _, values in names], check) if held else ""
        return self._verdict(check, held, found, doubt)

    def decisions(self, check: DecisionsCheck) -> Verdict:
        meant = self.observed.meant({**check.where, "policy": check.policy})
        planned = self.experiment.repetitions * sum(
            matches(point, check.policy, check.where) for point in points(self.experiment)
        )
        wrong = [
            f"{trial.key}: {told}"
            for trial in meant
            for told in unlike_expected(self.observed.tables(trial), check.decisions)
        ]
        if wrong:
            return self._verdict(check, held=False, found="; ".join(wrong[:3]), doubt="")
        if not meant or len(meant) < planned:
            raise _NoValueError(f"{len(meant)} of {planned} trials are complete; in them it is so")
        return self._verdict(check, held=True, found=_in_all(len(meant)), doubt="")

    def _verdict(self, check: Check, held: bool, found: str, doubt: str) -> Verdict:
        asked, paper = self.asked(check)
        outcome = Outcome.HELD if held else Outcome.NOT_HELD
        return Verdict(check.check, outcome, asked, found, paper, doubt, check.discrepancy)

    def asked(self, check: Check) -> tuple[str, str]:
        """The bounds and the paper's value, in words."""
        match check:
            case RatioCheck():
                name = " / ".join(check.ratio)
                paper = "" if check.paper is None else f"{check.paper:g}"
                return f"{name} {_bounds(check.between)}", paper
            case ValueCheck():
                return f"{check.value} {_bounds(check.between)}", str(check.paper or "")
            case OrderCheck():
                what = check.figures[0] if check.over is not None else ", ".join(check.figures)
                over = "" if check.over is None else f" over {check.over}"
                within = f" (within {check.within:.3g})" if check.within else ""
                return f"{what}{over} is {check.trend}{within}", check.paper or ""
            case DecisionsCheck():
                told = (f"{one.flow}: {_expected(one)}" for one in check.decisions)
                return "; ".join(told), ""


def _in_all(trials: int) -> str:
    return "so in the only trial" if trials == 1 else f"so in all {trials} trials"


def _bounds(between: tuple[Any, Any]) -> str:
    low, high = between
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"from {low} to {high}"


def _expected(one: Expected) -> str:
    return str(Turn(one.outcome, one.path, one.site))


def _doubt(held: bool, between: Interval | None, bounds: tuple[float | None, float | None]) -> str:
    """Whether the interval tells otherwise than the middle, or there is none."""
    if between is None:
        return "of one repetition"
    low = -math.inf if bounds[0] is None else bounds[0]
    high = math.inf if bounds[1] is None else bounds[1]
    if held:
        inside = low <= between.low and between.high <= high
        return "" if inside else "the interval reaches beyond the bounds"
    return "the interval reaches into the bounds" if between.low <= high and between.high >= low else ""


def _order_doubt(values: Sequence[Sequence[float]], check: OrderCheck) -> str:
    """Where neighbours are to differ, whether their intervals do."""
    if min(map(len, values)) < 2:
        return "of one repetition"
    spans = [its.interval for its in map(summary, values) if its is not None and its.interval is not None]
    overlap = any(one.low <= other.high and other.low <= one.high for one, other in itertools.pairwise(spans))
    strict = check.trend != "flat" and not check.within
    return "intervals of neighbours overlap" if strict and overlap else ""


def _value_text(figure: Figure, value: float, factor: float | None) -> str:
    here = text(value, figure.unit)
    if factor is None or factor == 1:
        return here
    return f"{here} ({text(value * factor, figure.unit)} at full scale)"


def _ordered(values: Sequence[float], check: OrderCheck) -> bool:
    if check.trend == "flat":
        mean = statistics.fmean(values)
        return all(abs(value - mean) <= check.within * abs(mean) for value in values)
    steps = list(itertools.pairwise(values))
    slack = check.within
    if check.trend == "rising":
        return all(after > before if not slack else after >= before * (1 - slack) for before, after in steps)
    return all(after < before if not slack else after <= before * (1 + slack) for before, after in steps)


def _repeated(experiment: Experiment, observed: Observed) -> Iterator[Verdict]:
    """Whether repetitions of the same thing decided the same; nothing to say where nothing is comparable.

    Where all flows are pinned, nobody decides.
    """
    claim, asked = "repetitions decide the same", "the same turns of every flow in every repetition"
    complete = observed.meant({})
    if experiment.repetitions == 1 or not any(observed.tables(trial).decisions for trial in complete):
        return
    wrong = list(unlike_repetitions(observed))
    if wrong:
        yield Verdict(claim, Outcome.NOT_HELD, asked, "; ".join(wrong[:3]))
    elif len(complete) < observed.about.planned:
        yield Verdict(claim, Outcome.CANNOT_SAY, asked, "so far the same", doubt="trials are missing")
    else:
        yield Verdict(claim, Outcome.HELD, asked, _in_all(len(complete)))

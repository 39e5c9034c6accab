"""Verdicts on the checks of a run: held, not held, or cannot say.

A check is judged by the median (of ratios the geometric mean) of all repetitions; where the interval reaches
beyond the bounds, the verdict states the doubt.  While a repetition is missing nothing is judged.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import yaml

from adon.units import UNITS
from adon.values import FrozenMap
from measurement.evaluation.intervals import Interval
from mininet_topos.experiments import document
from mininet_topos.experiments.measures import (
    full_scale_factor,
    mean_ratio,
    sample_figure,
    summarise,
)
from mininet_topos.experiments.plan import count_points, swept_values
from mininet_topos.experiments.results import Completion, DecisionRow, RunInfo, RunResult, Tables, TrialRecord
from mininet_topos.experiments.timeline import find_flows, find_turns

LONG = 10_000.0
"""Seconds from which a time is written in hours; shorter times stand beside a paper's seconds."""
OVERLAP = "tests-overlapped"
"""``event`` of the row that a trial writes for tests that conflict and overlapped."""
SHOWN = 3
"""Differences that a verdict lists."""


def format_quantity(value: float, unit: document.Unit) -> str:
    """Return ``5.5 Gbps`` for 5.5e9 bits/s."""
    if unit is document.Unit.COUNT:
        return f"{value:.4g}"
    if value < 0:
        return f"-{format_quantity(-value, unit)}"
    if unit is document.Unit.SECONDS and 1 <= value < LONG:
        return f"{value:.4g} s"
    return UNITS[unit][1](value)


def format_interval(interval: Interval | None, unit: document.Unit | None) -> str:
    """Return ``5.4 Gbps to 5.6 Gbps``; a dash for None.

    :param unit: None for a plain number.
    """
    if interval is None:
        return "-"
    ends = (interval.low, interval.high)
    return " to ".join(f"{end:.3g}" if unit is None else format_quantity(end, unit) for end in ends)


class Outcome(StrEnum):
    """Outcome of a check."""

    HELD = "held"
    NOT_HELD = "not held"
    CANNOT_SAY = "cannot say"


class Conclusion(StrEnum):
    """Outcome of an experiment, the best first."""

    HELD = "held"
    HELD_WITH_DISCREPANCIES = "held, with stated discrepancies"
    NOT_HELD = "not held"
    UNCHECKED = "no checks"
    CANNOT_SAY = "cannot say"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on one check; its texts are for people.

    :param bounds: demand of the check, as the document states it.
    :param found: value or decisions of the run.
    :param paper: value of the paper; empty if unknown.
    :param doubt: reason why the outcome is not certain, or why there is none.
    """

    claim: str
    outcome: Outcome
    bounds: str
    found: str
    paper: str = ""
    doubt: str = ""
    discrepancy: str = ""


class RepetitionsCheck(document.Check):
    """Check of every run with repetitions and decisions: repetitions of a trial decide the same."""

    check: str = "repetitions decide the same"


def judge_all(experiment: document.Experiment, result: RunResult) -> list[Verdict]:
    """Return the verdict on each check, and on whether repetitions decide the same."""
    checks: list[document.Check] = list(experiment.checks)
    if experiment.repetitions > 1 and any(result.rows(trial).decisions for trial in result.complete()):
        checks.append(RepetitionsCheck())
    return [judge(check, experiment, result) for check in checks]


def conclude(info: RunInfo, verdicts: Sequence[Verdict]) -> Conclusion:
    """Return the outcome of a run as a whole."""
    if info.completion is Completion.PARTIAL:
        return Conclusion.PARTIAL
    unmet = [one for one in verdicts if one.outcome is Outcome.NOT_HELD]
    if any(not one.discrepancy for one in unmet):
        return Conclusion.NOT_HELD
    if any(one.outcome is Outcome.CANNOT_SAY for one in verdicts):
        return Conclusion.CANNOT_SAY
    if not verdicts:
        return Conclusion.UNCHECKED
    return Conclusion.HELD_WITH_DISCREPANCIES if unmet else Conclusion.HELD


@dataclass(frozen=True, slots=True)
class _Judgement:
    is_held: bool
    found: str
    doubt: str = ""


class _MissingError(Exception):
    """A figure has no value to judge; the message states why."""


def judge(check: document.Check, experiment: document.Experiment, result: RunResult) -> Verdict:
    """Return the verdict on a check."""
    paper = "" if check.paper is None else str(check.paper)
    verdict = Verdict(
        check.check, Outcome.CANNOT_SAY, _describe(check), "nothing", paper, discrepancy=check.discrepancy
    )
    try:
        found = _JUDGES[type(check)](_Run(experiment, result), check)
    except _MissingError as error:
        return replace(verdict, doubt=str(error))
    outcome = Outcome.HELD if found.is_held else Outcome.NOT_HELD
    return replace(verdict, outcome=outcome, found=found.found, doubt=found.doubt)


def _describe(check: document.Check) -> str:
    """Return the demand of a check, as the document states it: ``ratio: [one, two], between: [null, 1]``."""
    claim = {"check", "paper", "discrepancy"}
    demand = check.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=claim)
    text = str(yaml.safe_dump(demand, default_flow_style=True, sort_keys=False, width=math.inf))
    return text.strip("{}\n") or check.check


@dataclass(frozen=True, slots=True)
class _Run:
    """Experiment and what a run of it result."""

    experiment: document.Experiment
    result: RunResult

    def read_values(self, name: str, where: Mapping[str, document.Scalar] = FrozenMap()) -> dict[int, float]:
        """Return a figure by repetition.

        :raises _MissingError: if a repetition has no value.
        """
        figure, repetitions = self.experiment.figures[name], self.experiment.repetitions
        samples = sample_figure(self.result, figure, where)
        known = {one.trial.repetition: one.value for one in samples if one.value is not None}
        if len(samples) < repetitions:
            raise _MissingError(f"of {name} {len(samples)} of {repetitions} repetitions are complete")
        if missing := [one.trial for one in samples if one.value is None]:
            numbers = ", ".join(str(trial.repetition) for trial in missing)
            cause = _find_cause(self.result.rows(missing[0]), figure.flow)
            raise _MissingError(f"{name} has no value in repetition {numbers}{cause}")
        return known

    def judge_ratio(self, check: document.RatioCheck) -> _Judgement:
        """Compare the geometric mean of the ratios of repetitions with the bounds."""
        over, under = map(self.read_values, check.ratio)
        pairs = [(over[repetition], under[repetition]) for repetition in over]
        if any(one <= 0 or other <= 0 for one, other in pairs):
            raise _MissingError("a figure is 0, so there is no ratio")
        middle, interval = mean_ratio(pairs)
        shown = "" if interval is None else f" ({format_interval(interval, None)})"
        return _judge_bounds(middle, interval, check.between, f"{middle:.3g}{shown}")

    def judge_value(self, check: document.ValueCheck) -> _Judgement:
        """Compare the median with the bounds: of times as measured, of all others at full scale."""
        figure = self.experiment.figures[check.value]
        summary = summarise(list(self.read_values(check.value).values()))
        full = full_scale_factor(figure, self.experiment, self.result.info)
        if summary is None or (full is None and figure.unit is document.Unit.BYTES):
            raise _MissingError(f"{check.value} has no value at full scale")
        factor = 1.0 if full is None or figure.unit is document.Unit.SECONDS else full
        low, high = (
            None if one is None else document.parse_quantity(one, figure.unit) for one in check.between
        )
        interval = summary.interval
        if interval is not None:
            interval = Interval(interval.low * factor, interval.high * factor)
        found = format_quantity(summary.median, figure.unit)
        if full is not None and full != 1:
            found += f" ({format_quantity(summary.median * full, figure.unit)} at full scale)"
        return _judge_bounds(summary.median * factor, interval, (low, high), found)

    def judge_order(self, check: document.OrderCheck) -> _Judgement:
        """Compare the medians of neighbours."""
        if check.over is None:
            values = {name: self.read_values(name) for name in check.figures}
        else:
            over, name = check.over, check.figures[0]
            swept = swept_values(self.experiment)[over]
            values = {str(value): self.read_values(name, {over: value}) for value in swept}
        middles = {name: statistics.median(its.values()) for name, its in values.items()}
        unit = self.experiment.figures[check.figures[0]].unit
        found = ", ".join(f"{name}: {format_quantity(middle, unit)}" for name, middle in middles.items())
        pairs = itertools.pairwise(middles.values())
        is_held = all(one < other if check.trend == "rising" else one > other for one, other in pairs)
        doubt = _find_overlap([list(its.values()) for its in values.values()]) if is_held else ""
        return _Judgement(is_held, found, doubt)

    def judge_decisions(self, check: document.DecisionsCheck) -> _Judgement:
        """Compare the first decisions about each listed flow with the expected ones."""
        trials = self.result.complete({document.POLICY: "ours"})
        found = [(trial, _list_unexpected(self.result.rows(trial), check.decisions)) for trial in trials]
        differences = [f"{trial.key}: {one}" for trial, unexpected in found for one in unexpected]
        planned = self.experiment.repetitions * count_points(self.experiment)
        return _judge_differences(differences, trials, planned)

    def judge_schedule(self, _check: document.ScheduleCheck) -> _Judgement:
        """Look for tests that overlapped."""
        trials = self.result.complete()
        rows = [(trial, row) for trial in trials for row in self.result.rows(trial).events]
        overlaps = [f"{trial.key}: {row.about}" for trial, row in rows if row.event == OVERLAP]
        return _judge_differences(overlaps, trials, self.result.info.planned)

    def judge_repetitions(self, _check: RepetitionsCheck) -> _Judgement:
        """Compare outcome, path and site of decisions with the first repetition; times and Q differ."""
        trials = self.result.complete()
        first: dict[str, TrialRecord] = {}
        differences: list[str] = []
        for trial in trials:
            other = first.setdefault(trial.combination, trial)
            tables = (self.result.rows(other), self.result.rows(trial))
            for flow in dict.fromkeys(row.flow for one in tables for row in one.decisions):
                before, after = (_format_turns(find_turns(one, flow)) for one in tables)
                if before != after:
                    differences.append(f"{flow}: {before} ({other.key}), but {after} ({trial.key})")
        return _judge_differences(differences, trials, self.result.info.planned)


_JUDGES: Mapping[type[document.Check], Callable[[_Run, Any], _Judgement]] = {
    document.RatioCheck: _Run.judge_ratio,
    document.ValueCheck: _Run.judge_value,
    document.OrderCheck: _Run.judge_order,
    document.DecisionsCheck: _Run.judge_decisions,
    document.ScheduleCheck: _Run.judge_schedule,
    RepetitionsCheck: _Run.judge_repetitions,
}


def _find_cause(tables: Tables, flow: str | None) -> str:
    """Return the state and problem of the first flow that did not finish."""
    for row in find_flows(tables, flow):
        if row.state != "finished":
            return f": {row.flow} is {row.state}" + (f" ({row.problem})" if row.problem else "")
    return ""


def _judge_bounds(
    value: float, interval: Interval | None, bounds: tuple[float | None, float | None], found: str
) -> _Judgement:
    low = -math.inf if bounds[0] is None else bounds[0]
    high = math.inf if bounds[1] is None else bounds[1]
    is_held, doubt = low <= value <= high, ""
    if interval is None:
        doubt = "of one repetition"
    elif is_held and not (low <= interval.low and interval.high <= high):
        doubt = "the interval reaches beyond the bounds"
    elif not is_held and interval.low <= high and interval.high >= low:
        doubt = "the interval reaches into the bounds"
    return _Judgement(is_held, found, doubt)


def _find_overlap(values: Sequence[Sequence[float]]) -> str:
    """Return the doubt whether neighbours differ."""
    intervals = [summary.interval for summary in map(summarise, values) if summary is not None]
    for one, other in itertools.pairwise(intervals):
        if one is None or other is None:
            return "of one repetition"
        if one.low <= other.high and other.low <= one.high:
            return "intervals of neighbours overlap"
    return ""


def _list_unexpected(tables: Tables, decisions: Sequence[document.ExpectedDecision]) -> Iterator[str]:
    """Yield flows whose first decisions are not the expected ones."""
    for flow in dict.fromkeys(one.flow for one in decisions):
        expected = [one for one in decisions if one.flow == flow]
        turns = find_turns(tables, flow)
        if len(turns) < len(expected) or not all(map(_fits, expected, turns)):
            yield f"{flow}: {_format_turns(turns)}"
        for one in expected:
            rows = [row for row in tables.decisions if (row.flow, row.outcome) == (flow, one.outcome)]
            reasons = "; ".join(row.reason for row in rows)
            if one.reason not in reasons:
                yield f"{flow}: {one.outcome} because of {reasons}"


def _fits(expected: document.ExpectedDecision, turn: DecisionRow) -> bool:
    has_place = expected.path in (None, turn.path) and expected.site in (None, turn.site)
    return has_place and expected.outcome == turn.outcome


def _format_turns(turns: Sequence[DecisionRow]) -> str:
    return ", ".join(turn.change for turn in turns) or "no decision"


def _judge_differences(differences: Sequence[str], trials: Sequence[TrialRecord], planned: int) -> _Judgement:
    """Return a judgement that one difference decides, and only all trials confirm."""
    if differences:
        return _Judgement(False, "; ".join(differences[:SHOWN]))
    if not trials or len(trials) < planned:
        raise _MissingError(f"{len(trials)} of {planned} trials are complete")
    return _Judgement(True, "so in the only trial" if len(trials) == 1 else f"so in all {len(trials)} trials")

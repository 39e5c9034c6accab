"""Verdicts on the checks of a run: held, not held, or cannot say.

A check is judged by the median (of ratios the geometric mean) of all repetitions; where the interval reaches
beyond the bounds, the verdict states the doubt.  While a repetition is missing nothing is judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import NamedTuple

import yaml

from measurement.statistics import Interval
from mininet_topos.experiments import document, results
from mininet_topos.experiments.measures import full_scale_factor, mean_ratio, sample_figure, summarise

OVERLAP = "tests-overlapped"
"""``event`` of the row that a trial writes for tests that conflict and overlapped."""
SHOWN = 3
"""Differences that a verdict lists."""


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
    outcome: Outcome = Outcome.CANNOT_SAY
    bounds: str = ""
    found: str = "nothing"
    paper: str = ""
    doubt: str = ""
    discrepancy: str = ""


REPETITIONS = Verdict("repetitions decide the same", bounds="the same outcomes, paths and sites")
"""Verdict on every run with repetitions and decisions, before it is judged."""


def judge_all(experiment: document.Experiment, result: results.RunResult) -> list[Verdict]:
    """Return the verdict on each check, and on whether repetitions decide the same."""
    run = _Run(experiment, result)
    judges = ((check, partial(_JUDGES[check.kind], run, check)) for check in experiment.checks)
    verdicts = [_add_outcome(_state_check(check), judge) for check, judge in judges]
    if experiment.repetitions > 1 and any(result.rows(trial).decisions for trial in result.complete()):
        verdicts.append(_add_outcome(REPETITIONS, run.judge_repetitions))
    return verdicts


def conclude(info: results.RunInfo, verdicts: Sequence[Verdict]) -> Conclusion:
    """Return the outcome of a run as a whole."""
    if info.partial:
        return Conclusion.PARTIAL
    unmet = [one for one in verdicts if one.outcome is Outcome.NOT_HELD]
    if any(not one.discrepancy for one in unmet):
        return Conclusion.NOT_HELD
    if any(one.outcome is Outcome.CANNOT_SAY for one in verdicts):
        return Conclusion.CANNOT_SAY
    if not verdicts:
        return Conclusion.UNCHECKED
    return Conclusion.HELD_WITH_DISCREPANCIES if unmet else Conclusion.HELD


class _Judgement(NamedTuple):
    is_held: bool
    found: str
    doubt: str = ""


class _MissingError(Exception):
    """A figure has no value to judge; the message states why."""


def _state_check(check: document.Check) -> Verdict:
    """Return the claim of a check, and its demand as in the document: ``value: x, between: [1, 2]``."""
    claim = {"check", "paper", "discrepancy"}
    demand = check.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=claim)
    bounds = yaml.safe_dump(demand, default_flow_style=True, sort_keys=False, width=math.inf)
    paper = "" if check.paper is None else str(check.paper)
    return Verdict(check.check, bounds=bounds.strip("{}\n"), paper=paper, discrepancy=check.discrepancy)


def _add_outcome(verdict: Verdict, judge: Callable[[], _Judgement]) -> Verdict:
    try:
        is_held, found, doubt = judge()
    except _MissingError as error:
        return replace(verdict, doubt=str(error))
    return replace(verdict, outcome=Outcome.HELD if is_held else Outcome.NOT_HELD, found=found, doubt=doubt)


@dataclass(frozen=True, slots=True)
class _Run:
    """Experiment and the result of a run of it."""

    experiment: document.Experiment
    result: results.RunResult

    def read_values(self, name: str) -> dict[int, float]:
        """Return a figure by repetition.

        :raises _MissingError: if a repetition has no value.
        """
        figure, repetitions = self.experiment.figures[name], self.experiment.repetitions
        samples = sample_figure(self.result, figure)
        known = {trial.repetition: value for trial, value in samples if value is not None}
        if len(samples) < repetitions:
            raise _MissingError(f"of {name} {len(samples)} of {repetitions} repetitions are complete")
        if missing := [trial for trial, value in samples if value is None]:
            numbers = ", ".join(str(trial.repetition) for trial in missing)
            cause = _find_cause(self.result.rows(missing[0]), figure.flow)
            raise _MissingError(f"{name} has no value in repetition {numbers}{cause}")
        return known

    def judge_ratio(self, check: document.Check) -> _Judgement:
        """Compare the geometric mean of the ratios of repetitions with the bounds."""
        over, under = map(self.read_values, check.figures)
        pairs = [(over[repetition], under[repetition]) for repetition in over]
        if any(one <= 0 or other <= 0 for one, other in pairs):
            raise _MissingError("a figure is 0, so there is no ratio")
        middle, interval = mean_ratio(pairs)
        shown = "" if interval is None else f" ({interval.low:.3g} to {interval.high:.3g})"
        return _judge_bounds(check, document.Unit.COUNT, middle, interval, f"{middle:.3g}{shown}")

    def judge_value(self, check: document.Check) -> _Judgement:
        """Compare the median with the bounds: of times as measured, of all others at full scale."""
        (name,) = check.figures
        figure = self.experiment.figures[name]
        values = self.read_values(name).values()
        full = full_scale_factor(figure, self.experiment, self.result.info)
        if full is None and figure.unit is document.Unit.BYTES:
            raise _MissingError(f"{name} has no value at full scale")
        factor = 1.0 if full is None or figure.unit is document.Unit.SECONDS else full
        judged = summarise([value * factor for value in values])
        median = judged.median / factor
        found = document.format_quantity(median, figure.unit)
        if full is not None and full != 1:
            found += f" ({document.format_quantity(median * full, figure.unit)} at full scale)"
        return _judge_bounds(check, figure.unit, judged.median, judged.interval, found)

    def judge_decisions(self, check: document.Check) -> _Judgement:
        """Compare the first decisions about each listed flow with the expected ones."""
        trials = self.result.complete({document.POLICY: "ours"})
        expected = check.decisions or ()
        found = {trial.key: _list_unexpected(self.result.rows(trial), expected) for trial in trials}
        return _judge_trials(found, self.result.info.planned // len(self.experiment.policies))

    def judge_schedule(self, _check: document.Check) -> _Judgement:
        """Look for tests that overlapped."""
        events = {trial.key: self.result.rows(trial).events for trial in self.result.complete()}
        found = {key: [row.about for row in rows if row.event == OVERLAP] for key, rows in events.items()}
        return _judge_trials(found, self.result.info.planned)

    def judge_repetitions(self) -> _Judgement:
        """Compare decisions with those of the first repetition."""
        first: dict[str, results.TrialRecord] = {}
        found = {}
        for trial in self.result.complete():
            other = first.setdefault(trial.combination, trial)
            tables, expected = self.result.rows(trial), self.result.rows(other)
            found[trial.key] = _list_deviations(tables, expected, other.key)
        return _judge_trials(found, self.result.info.planned)


_JUDGES: Mapping[str, Callable[[_Run, document.Check], _Judgement]] = {
    "ratio": _Run.judge_ratio,
    "value": _Run.judge_value,
    "decisions": _Run.judge_decisions,
    "schedule": _Run.judge_schedule,
}


def _find_cause(tables: results.Tables, flow: str | None) -> str:
    """Return the state and problem of the first flow that did not finish."""
    unfinished = (row for row in tables.find_flows(flow) if row.state != results.FlowState.FINISHED)
    return next((f": {row.outcome}" for row in unfinished), "")


def _judge_bounds(
    check: document.Check, unit: document.Unit, value: float, interval: Interval | None, found: str
) -> _Judgement:
    first, last = check.between or (None, None)
    low = -math.inf if first is None else document.parse_quantity(first, unit)
    high = math.inf if last is None else document.parse_quantity(last, unit)
    is_held, doubt = low <= value <= high, ""
    if interval is None:
        doubt = "of one repetition"
    elif is_held and not (low <= interval.low and interval.high <= high):
        doubt = "the interval reaches beyond the bounds"
    elif not is_held and interval.low <= high and interval.high >= low:
        doubt = "the interval reaches into the bounds"
    return _Judgement(is_held, found, doubt)


def _list_unexpected(tables: results.Tables, decisions: Sequence[document.ExpectedDecision]) -> Iterator[str]:
    """Yield flows whose first decisions are not the expected ones."""
    for flow in dict.fromkeys(one.flow for one in decisions):
        expected = [one for one in decisions if one.flow == flow]
        turns = tables.find_turns(flow)
        if len(turns) < len(expected) or not all(map(_fits, expected, turns)):
            yield f"{flow}: {_format_turns(turns)}"
            if any(one.reason for one in expected):
                yield f"its reasons are {'; '.join(turn.reason for turn in turns)}"


def _fits(expected: document.ExpectedDecision, turn: results.DecisionRow) -> bool:
    has_place = expected.path in (None, turn.path) and expected.site in (None, turn.site)
    return has_place and expected.outcome == turn.outcome and expected.reason in turn.reason


def _list_deviations(tables: results.Tables, expected: results.Tables, key: str) -> Iterator[str]:
    """Yield flows with other outcomes, paths or sites than in the trial of this key; times and Q differ."""
    for flow in dict.fromkeys(row.flow for row in (*expected.decisions, *tables.decisions)):
        before, after = (_format_turns(one.find_turns(flow)) for one in (expected, tables))
        if before != after:
            yield f"{flow}: {after}, but {before} ({key})"


def _format_turns(turns: Sequence[results.DecisionRow]) -> str:
    return ", ".join(turn.change for turn in turns) or "no decision"


def _judge_trials(found: Mapping[str, Iterable[str]], planned: int) -> _Judgement:
    """Return a judgement that one difference decides, and only all trials confirm.

    :param found: differences by the key of each complete trial.
    """
    differences = [f"{key}: {one}" for key, texts in found.items() for one in texts]
    if differences:
        return _Judgement(False, "; ".join(differences[:SHOWN]))
    if not found or len(found) < planned:
        raise _MissingError(f"{len(found)} of {planned} trials are complete")
    return _Judgement(True, "so in the only trial" if len(found) == 1 else f"so in all {len(found)} trials")

"""Verdicts on the checks of a run: held, not held, or cannot say.

A check is judged by the median (of ratios the geometric mean) of all repetitions; where the interval reaches
beyond the bounds, the verdict states the doubt.  While a repetition is missing nothing is judged.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from adon.units import format_duration, format_rate, format_ratio, format_size
from adon.values import FrozenMap
from measurement.evaluation.intervals import Interval
from mininet_topos.experiments.document import (
    AnyCheck,
    DecisionsCheck,
    ExpectedDecision,
    Experiment,
    OrderCheck,
    RatioCheck,
    Scalar,
    ScheduleCheck,
    Unit,
    ValueCheck,
    parse_quantity,
)
from mininet_topos.experiments.measures import (
    MIXED,
    Observed,
    full_scale_factor,
    is_mixed,
    mean_ratio,
    sample_figure,
    summarise,
)
from mininet_topos.experiments.plan import list_points, matches, swept_values
from mininet_topos.experiments.results import Completion, RunInfo, Tables, TrialRecord
from mininet_topos.experiments.timeline import Turn, find_flows, find_turns

LONG = 10_000.0
"""Seconds from which a time is written in hours; shorter times stand beside a paper's seconds."""
_FORMATS = {
    Unit.SECONDS: format_duration,
    Unit.BITS_PER_SECOND: format_rate,
    Unit.BYTES: format_size,
    Unit.RATIO: format_ratio,
}


def format_quantity(value: float, unit: Unit) -> str:
    """Return ``5.5 Gbps`` for 5.5e9 bits/s."""
    if unit is Unit.COUNT:
        return f"{value:.4g}"
    if value < 0:
        return f"-{format_quantity(-value, unit)}"
    if unit is Unit.SECONDS and 1 <= value < LONG:
        return f"{value:.4g} s"
    return _FORMATS[unit](value)


def format_interval(interval: Interval | None, unit: Unit | None) -> str:
    """Return ``5.4 Gbps to 5.6 Gbps``; a dash for None.

    :param unit: None for a plain number.
    """
    if interval is None:
        return "-"
    ends = (interval.low, interval.high)
    return " to ".join(f"{end:.3g}" if unit is None else format_quantity(end, unit) for end in ends)


OVERLAP = "tests-overlapped"
"""``event`` of the row that a trial writes for tests that conflict and overlapped."""
Bounds = tuple[float | None, float | None]


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
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on one check; every text is for people.

    :param bounds: what is demanded.
    :param found: what the run has.
    :param paper: what the paper has; empty if unknown.
    :param doubt: why the outcome is not certain, or why there is none.
    """

    claim: str
    outcome: Outcome
    bounds: str
    found: str
    paper: str = ""
    doubt: str = ""
    discrepancy: str = ""


class _MissingError(Exception):
    """A figure has no value to judge; the message states why."""


def judge_all(experiment: Experiment, observed: Observed) -> list[Verdict]:
    """Return the verdict on each check, and on whether repetitions decide the same."""
    found = [judge(check, experiment, observed) for check in experiment.checks]
    return [*found, *_judge_repetitions(experiment, observed)]


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


def judge(check: AnyCheck, experiment: Experiment, observed: Observed) -> Verdict:
    """Return the verdict on a check."""
    bounds, paper = _describe(check)
    verdict = Verdict(check.check, Outcome.CANNOT_SAY, bounds, "nothing", paper, "", check.discrepancy)
    try:
        match check:
            case RatioCheck():
                held, found, doubt = _judge_ratio(check, experiment, observed)
            case ValueCheck():
                held, found, doubt = _judge_value(check, experiment, observed)
            case OrderCheck():
                held, found, doubt = _judge_order(check, experiment, observed)
            case DecisionsCheck():
                held, found, doubt = _judge_decisions(check, experiment, observed)
            case ScheduleCheck():
                held, found, doubt = _judge_schedule(observed)
    except _MissingError as error:
        return replace(verdict, doubt=str(error))
    outcome = Outcome.HELD if held else Outcome.NOT_HELD
    return replace(verdict, outcome=outcome, found=found, doubt=doubt)


def _describe(check: AnyCheck) -> tuple[str, str]:
    """Bounds and the paper's value."""
    match check:
        case RatioCheck():
            paper = "" if check.paper is None else f"{check.paper:g}"
            return f"{' / '.join(check.ratio)} {_bounds_text(check.between)}", paper
        case ValueCheck():
            return f"{check.value} {_bounds_text(check.between)}", str(check.paper or "")
        case OrderCheck():
            over = "" if check.over is None else f" over {check.over}"
            within = f" (within {check.within:.3g})" if check.within else ""
            return f"{', '.join(check.figures)}{over} is {check.trend}{within}", check.paper or ""
        case DecisionsCheck():
            return "; ".join(map(_expected_text, check.decisions)), ""
        case ScheduleCheck():
            return "no two tests that conflict overlapped", ""


def _expected_text(expected: ExpectedDecision) -> str:
    because = f" because of {expected.reason}" if expected.reason else ""
    return f"{expected.flow}: {Turn(expected.outcome, expected.path, expected.site)}{because}"


def _bounds_text(between: tuple[Any, Any]) -> str:
    low, high = between
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"from {low} to {high}"


Judgement = tuple[bool, str, str]
"""Whether a check held, what was found, and the doubt."""


def _values(
    name: str, experiment: Experiment, observed: Observed, where: Mapping[str, Scalar] = FrozenMap()
) -> dict[int, float]:
    """A figure per repetition; every repetition must have a value."""
    figure = experiment.figures[name]
    samples = sample_figure(observed, figure, where)
    known = {one.trial.repetition: one.value for one in samples if one.value is not None}
    if len(samples) < experiment.repetitions:
        number = f"of {name} {len(samples)} of {experiment.repetitions} repetitions are complete"
        middle = (
            f", so far {format_quantity(statistics.median(known.values()), figure.unit)}" if known else ""
        )
        raise _MissingError(number + middle)
    if missing := [one.trial for one in samples if one.value is None]:
        numbers = ", ".join(str(trial.repetition) for trial in missing)
        cause = _unfinished(observed.tables(missing[0]), figure.flow)
        raise _MissingError(f"{name} has no value in repetition {numbers}{cause}")
    return known


def _unfinished(tables: Tables, flow: str | None) -> str:
    for row in find_flows(tables, flow):
        if row.state != "finished":
            return f": {row.flow} is {row.state}" + (f" ({row.problem})" if row.problem else "")
    return ""


def _judge_ratio(check: RatioCheck, experiment: Experiment, observed: Observed) -> Judgement:
    over, under = (_values(name, experiment, observed) for name in check.ratio)
    pairs = [(over[repetition], under[repetition]) for repetition in over]
    if any(one <= 0 or other <= 0 for one, other in pairs):
        raise _MissingError("a figure is 0, so there is no ratio")
    middle, between = mean_ratio(pairs)
    held = _is_between(middle, check.between)
    interval = "" if between is None else f" ({format_interval(between, None)})"
    return held, f"{middle:.3g}{interval}", _interval_doubt(held, between, check.between)


def _judge_value(check: ValueCheck, experiment: Experiment, observed: Observed) -> Judgement:
    figure, info = experiment.figures[check.value], observed.info
    summary = summarise(list(_values(check.value, experiment, observed).values()))
    if summary is None:
        raise _MissingError(f"{check.value} has no value")
    if figure.unit is Unit.BYTES and is_mixed(figure, experiment, info):
        raise _MissingError(f"{check.value}: {MIXED}")
    full = full_scale_factor(figure, experiment, info)
    # Bounds of times are as measured; all others are at full scale.
    factor = 1.0 if full is None or figure.unit is Unit.SECONDS else full
    low, high = (None if one is None else parse_quantity(one, figure.unit) for one in check.between)
    held = _is_between(summary.median * factor, (low, high))
    between = summary.interval and Interval(summary.interval.low * factor, summary.interval.high * factor)
    found = format_quantity(summary.median, figure.unit)
    if full not in (None, 1):
        found += f" ({format_quantity(summary.median * (full or 1), figure.unit)} at full scale)"
    return held, found, _interval_doubt(held, between, (low, high))


def _judge_order(check: OrderCheck, experiment: Experiment, observed: Observed) -> Judgement:
    first = check.figures[0]
    if check.over is None:
        named = [(name, _values(name, experiment, observed)) for name in check.figures]
    else:
        over = swept_values(experiment)[check.over]
        named = [(str(value), _values(first, experiment, observed, {check.over: value})) for value in over]
    values = [list(its.values()) for _, its in named]
    middles = [statistics.median(its) for its in values]
    held, unit = _is_ordered(middles, check), experiment.figures[first].unit
    found = ", ".join(
        f"{name}: {format_quantity(m, unit)}" for (name, _), m in zip(named, middles, strict=True)
    )
    return held, found, _order_doubt(values, check) if held else ""


def _judge_decisions(check: DecisionsCheck, experiment: Experiment, observed: Observed) -> Judgement:
    meant = observed.complete({**check.where, "policy": check.policy})
    points = sum(matches(point, check.policy, check.where) for point in list_points(experiment))
    differences = [
        f"{trial.key}: {difference}"
        for trial in meant
        for difference in _unexpected(observed.tables(trial), check.decisions)
    ]
    if differences:
        return False, "; ".join(differences[:3]), ""
    if not meant or len(meant) < experiment.repetitions * points:
        raise _MissingError(f"{len(meant)} of {experiment.repetitions * points} trials are complete")
    return True, _in_all(len(meant)), ""


def _judge_schedule(observed: Observed) -> Judgement:
    meant = observed.complete()
    if not meant or len(meant) < observed.info.planned:
        raise _MissingError(f"{len(meant)} of {observed.info.planned} trials are complete")
    overlaps = [
        f"{trial.key}: {row.about}"
        for trial in meant
        for row in observed.tables(trial).events
        if row.event == OVERLAP
    ]
    return not overlaps, "; ".join(overlaps[:3]) or _in_all(len(meant)), ""


def _in_all(trials: int) -> str:
    return "so in the only trial" if trials == 1 else f"so in all {trials} trials"


def _is_between(value: float, bounds: Bounds) -> bool:
    low, high = bounds
    return (low is None or value >= low) and (high is None or value <= high)


def _interval_doubt(held: bool, between: Interval | None, bounds: Bounds) -> str:
    if between is None:
        return "of one repetition"
    low = -math.inf if bounds[0] is None else bounds[0]
    high = math.inf if bounds[1] is None else bounds[1]
    if held:
        inside = low <= between.low and between.high <= high
        return "" if inside else "the interval reaches beyond the bounds"
    return "the interval reaches into the bounds" if between.low <= high and between.high >= low else ""


def _order_doubt(values: Sequence[Sequence[float]], check: OrderCheck) -> str:
    """Where neighbours must differ, whether their intervals do."""
    if min(map(len, values)) < 2:
        return "of one repetition"
    spans = [one.interval for one in map(summarise, values) if one is not None and one.interval is not None]
    overlap = any(one.low <= other.high and other.low <= one.high for one, other in itertools.pairwise(spans))
    strict = check.trend != "flat" and not check.within
    return "intervals of neighbours overlap" if strict and overlap else ""


def _is_ordered(values: Sequence[float], check: OrderCheck) -> bool:
    slack = check.within
    if check.trend == "flat":
        mean = statistics.fmean(values)
        return all(abs(value - mean) <= slack * abs(mean) for value in values)
    steps = list(itertools.pairwise(values))
    if check.trend == "rising":
        return all(after > before if not slack else after >= before * (1 - slack) for before, after in steps)
    return all(after < before if not slack else after <= before * (1 + slack) for before, after in steps)


def _unexpected(tables: Tables, decisions: Sequence[ExpectedDecision]) -> Iterator[str]:
    """Flows whose decisions are not the expected ones."""
    for flow in dict.fromkeys(one.flow for one in decisions):
        listed = [one for one in decisions if one.flow == flow]
        expected = [one for one in listed if one.outcome != "end"]
        found = [turn for _, turn in find_turns(tables, flow)]
        if len(expected) < len(listed) and all(row.ended is None for row in find_flows(tables, flow)):
            yield f"{flow}: does not end"
        if len(found) < len(expected) or not all(map(_fits, expected, found)):
            yield f"{flow}: {_turns_text(found)}"
        for one in expected:
            reasons = [
                row.reason for row in tables.decisions if (row.flow, row.outcome) == (flow, one.outcome)
            ]
            if not any(one.reason in reason for reason in reasons):
                yield f"{flow}: {one.outcome} because of {'; '.join(reasons) or 'nothing'}"


def _fits(expected: ExpectedDecision, turn: Turn) -> bool:
    return (
        expected.outcome == turn.outcome
        and expected.path in (None, turn.path)
        and expected.site in (None, turn.site)
    )


def _turns_text(turns: Sequence[Turn]) -> str:
    return ", ".join(map(str, turns)) or "no decision"


def _judge_repetitions(experiment: Experiment, observed: Observed) -> Iterator[Verdict]:
    """Whether repetitions decide the same; times and Q differ, so only outcome, path and site count."""
    complete = observed.complete()
    if experiment.repetitions == 1 or not any(observed.tables(trial).decisions for trial in complete):
        return
    verdict = Verdict(
        "repetitions decide the same", Outcome.HELD, "the same decisions", _in_all(len(complete))
    )
    if differences := list(_differences(observed, complete)):
        yield replace(verdict, outcome=Outcome.NOT_HELD, found="; ".join(differences[:3]))
    elif len(complete) < observed.info.planned:
        yield replace(verdict, outcome=Outcome.CANNOT_SAY, doubt="trials are missing")
    else:
        yield verdict


def _differences(observed: Observed, trials: Sequence[TrialRecord]) -> Iterator[str]:
    """Flows about which repetitions decide otherwise than the first one."""
    groups: dict[tuple[object, ...], list[TrialRecord]] = {}
    for trial in trials:
        groups.setdefault((trial.policy, *trial.point.items()), []).append(trial)
    for first, *others in groups.values():
        for other in others:
            one, two = observed.tables(first), observed.tables(other)
            for flow in dict.fromkeys(row.flow for tables in (one, two) for row in tables.decisions):
                before, after = ([turn for _, turn in find_turns(tables, flow)] for tables in (one, two))
                if before != after:
                    said = f"{_turns_text(before)} ({first.key}), but {_turns_text(after)} ({other.key})"
                    yield f"{flow}: {said}"

"""Value of a figure in a trial, and over repetitions: the median, and the interval of the mean.

Rejected flows take part in counts only.  A flow that should have ended and did not leaves a figure that needs
its end without a value; to omit it would improve the figure.  Within this module an unknown value is NaN,
which makes every sum and mean that it is part of unknown.

The interval is Student's, of the mean; that of a ratio is the same of the logarithms of the ratios of
repetitions that belong together.  A bootstrap of three repetitions covers far less than it claims.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from measurement.statistics import Interval, mean_interval
from mininet_topos.experiments import results
from mininet_topos.experiments.document import Experiment, Figure, Measure, Unit

BIN = 1.0
"""Seconds of a row of throughput."""
CONFIDENCE = 0.95
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Summary:
    """Values of a figure over repetitions; ``interval`` is that of the mean, None of a single value."""

    count: int
    median: float
    interval: Interval | None


def sample_figure(run: results.RunResult, figure: Figure) -> list[tuple[results.TrialRecord, float | None]]:
    """Return the complete trials with the values of a figure's ``where``, and its value in each."""
    return [(trial, measure(figure, run.rows(trial))) for trial in run.complete(figure.where)]


def summarise(values: Sequence[float]) -> Summary:
    """Return median and interval of at least one value.

    The interval of values that cannot be negative starts at 0.
    """
    _, between = _mean_interval(values)
    if between is not None and min(values) >= 0 > between.low:
        between = Interval(0.0, between.high)
    return Summary(len(values), statistics.median(values), between)


def mean_ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, Interval | None]:
    """Return the geometric mean of ratios and its interval.

    :param pairs: numbers above zero, of one repetition each.
    """
    mean, between = _mean_interval([math.log(one / other) for one, other in pairs])
    if between is not None:
        between = Interval(math.exp(between.low), math.exp(between.high))
    return math.exp(mean), between


def _mean_interval(values: Sequence[float]) -> tuple[float, Interval | None]:
    mean = math.fsum(values) / len(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return mean, mean_interval(mean, deviation, len(values), CONFIDENCE)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Rows that a figure is read from.

    :param rows: its flows that were not rejected.
    :param window: its begin and end in seconds; infinite for the whole trial.
    """

    figure: Figure
    tables: results.Tables
    rows: Sequence[results.FlowRow]
    window: Window


def measure(figure: Figure, tables: results.Tables) -> float | None:
    """Return a figure of one trial's rows; None if it has no value."""
    flows, window = tables.find_flows(figure.flow), _find_window(tables, figure)
    rows = [row for row in flows if row.state != results.FlowState.REJECTED]
    has_flows = bool(flows if figure.unit is Unit.COUNT else rows)
    if window is None or not (has_flows or figure.of is Measure.MEASURED):
        return None
    value = _FUNCTIONS[figure.of](_Scope(figure, tables, rows, window))
    return None if math.isnan(value) else value


def _find_window(tables: results.Tables, figure: Figure) -> Window | None:
    if figure.during is None:
        return -math.inf, math.inf
    begin, end = map(tables.time_of, figure.during)
    return None if begin is None or end is None or end <= begin else (begin, end)


def _number(cell: float | None) -> float:
    """Return the value of a cell; NaN for an empty one."""
    return math.nan if cell is None else cell


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def _finish(row: results.FlowRow) -> float:
    return _number(row.ended) if row.state == results.FlowState.FINISHED else math.nan


def _rate(row: results.FlowRow) -> float:
    seconds = _finish(row) - _number(row.began)
    return row.received * 8 / seconds if seconds else math.nan


def _find_delay(scope: _Scope, row: results.FlowRow) -> float:
    """Return the time from the request of a flow, or from ``since``, to the next decision about it."""
    since = scope.figure.since
    begin = _number(row.asked if since is None else scope.tables.time_of(since))
    turns = scope.tables.find_turns(row.flow)
    return next((turn.at - begin for turn in turns if turn.at >= begin), math.nan)


def _throughput(scope: _Scope) -> float:
    if scope.figure.during is None:
        return math.fsum(map(_rate, scope.rows))
    begin, end = scope.window
    return _sum_received(scope) * 8 / (end - begin)


def _sum_received(scope: _Scope) -> float:
    path, names = scope.figure.path, {row.flow for row in scope.rows}
    if path is None and scope.figure.during is None:
        return float(sum(row.received for row in scope.rows))
    seconds = (row for row in scope.tables.throughput if row.flow in names and path in (None, row.path))
    return math.fsum(_share(row, scope.window) for row in seconds)


def _share(row: results.ThroughputRow, window: Window) -> float:
    """Return the bytes of a second that lie in a window, as if they came evenly."""
    overlap = min(row.at + BIN, window[1]) - max(row.at, window[0])
    return row.received * max(0.0, overlap) / BIN


def _count_lost(scope: _Scope) -> float:
    return math.fsum(_number(row.packets_lost) for row in scope.rows)


def _loss(scope: _Scope) -> float:
    sent = sum(row.packets_sent or 0 for row in scope.rows)
    return _count_lost(scope) / sent if sent else math.nan


def _mean_test(scope: _Scope) -> float:
    begin, end = scope.window
    return _mean(
        row.value
        for row in scope.tables.measurements
        if (row.path, row.metric) == (scope.figure.path, scope.figure.metric)
        and row.value is not None
        and begin <= row.at < end
    )


def _interruption(scope: _Scope) -> float:
    gaps = (_longest_gap(scope.tables, row, scope.window) for row in scope.rows)
    return max((gap for gap in gaps if gap is not None), default=math.nan)


def _longest_gap(tables: results.Tables, row: results.FlowRow, window: Window) -> float | None:
    """Return the longest time of a transfer without data, in the window; None if it was not under way."""
    if row.began is None:
        return None
    last = max((one.at + BIN for one in tables.throughput), default=row.began)
    begin, end = max(row.began, window[0]), min(last if row.ended is None else row.ended, window[1])
    if end <= begin:
        return None
    seconds = (one for one in tables.throughput if one.flow == row.flow and one.received)
    busy = sorted(one.at for one in seconds if begin <= one.at < end)
    ends = [begin, *(at + BIN for at in busy)]
    gaps = (max(0.0, after - before) for before, after in zip(ends, [*busy, end], strict=True))
    return float(math.floor(max(gaps) + 1e-9))


def _is_below_floor(row: results.FlowRow) -> bool:
    """Return whether a flow that was carried had less than was promised; an unfinished one had."""
    is_promised = row.floor is not None and row.began is not None
    return is_promised and not _rate(row) >= _number(row.floor)


_FUNCTIONS: Mapping[Measure, Callable[[_Scope], float]] = {
    Measure.COMPLETION_TIME: lambda its: _mean(_finish(row) - _number(row.asked) for row in its.rows),
    Measure.TRANSFER_TIME: lambda its: _mean(_finish(row) - _number(row.began) for row in its.rows),
    Measure.WAITING_TIME: lambda its: _mean(_number(row.began) - _number(row.asked) for row in its.rows),
    Measure.DECISION_TIME: lambda its: _mean(_find_delay(its, row) for row in its.rows),
    Measure.THROUGHPUT: _throughput,
    Measure.RECEIVED: _sum_received,
    Measure.PACKETS_LOST: _count_lost,
    Measure.LOSS: _loss,
    Measure.JITTER: lambda its: _mean(row.jitter for row in its.rows if row.jitter is not None),
    Measure.MEASURED: _mean_test,
    Measure.INTERRUPTION: _interruption,
    Measure.MOVES: lambda its: float(sum(row.paths.count(" > ") for row in its.rows)),
    Measure.FLOORS_MISSED: lambda its: float(sum(map(_is_below_floor, its.rows))),
}


def full_scale_factor(figure: Figure, experiment: Experiment, info: results.RunInfo) -> float | None:
    """Return the factor to full scale; None if the scale changes nothing, or the factor is unknown.

    What transfers of a size carry and how long they take depends on ``sizes``; what flows carry in a given
    time depends on ``scale``.  Where the divisors differ, the factor is unknown for a mixture of both, for
    flows with ``until``, and for bytes in a window.
    """
    is_duration = figure.of in (Measure.COMPLETION_TIME, Measure.TRANSFER_TIME)
    if figure.unit is Unit.BITS_PER_SECOND:
        return info.scale
    if figure.unit is not Unit.BYTES and not is_duration:
        return None
    flows = [flow for flow in experiment.workload if figure.flow in (None, flow.name)]
    are_sized = info.scale == info.sizes or all(flow.size is not None for flow in flows)
    are_timed = all(flow.lasts is not None for flow in flows)
    if info.scale != info.sizes and (figure.during is not None or not (are_sized or are_timed)):
        return None
    if is_duration:
        return info.sizes / info.scale if are_sized else None
    return info.sizes if are_sized else info.scale

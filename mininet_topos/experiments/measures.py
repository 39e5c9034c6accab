"""Value of a figure in a trial, and over repetitions: median, mean and its interval.

Rejected flows take part in counts only.  A flow that should have ended and did not leaves a figure that needs
its end without a value; to omit it would improve the figure.

The interval is Student's, of the mean; that of a ratio is the same of the logarithms of the ratios of
repetitions that belong together.  A bootstrap of three repetitions covers far less than it claims.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.values import FrozenMap
from measurement.evaluation.intervals import Interval, interval
from measurement.evaluation.results import Measured
from mininet_topos.experiments.document import (
    Experiment,
    Figure,
    FlowEntry,
    Measure,
    Moment,
    Phase,
    Scalar,
    Unit,
)
from mininet_topos.experiments.plan import matches
from mininet_topos.experiments.results import (
    Completion,
    FlowRow,
    FlowState,
    RunInfo,
    RunResult,
    Tables,
    ThroughputRow,
    TrialRecord,
)
from mininet_topos.experiments.timeline import find_flows, find_turns, time_of

BIN = 1.0
"""Seconds of a row of throughput."""
CONFIDENCE = 0.95
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sample:
    """Value of a figure in a trial; None if it has none."""

    trial: TrialRecord
    value: float | None


@dataclass(frozen=True, slots=True)
class Observed:
    """A run with its rows by trial."""

    info: RunInfo
    by_trial: Mapping[int, Tables]

    @classmethod
    def from_run(cls, run: RunResult) -> Observed:
        """Return a run's rows by trial."""
        return cls(run.info, run.tables.by_trial())

    def tables(self, trial: TrialRecord) -> Tables:
        """Return the rows of a trial."""
        return self.by_trial.get(trial.number, Tables())

    def complete(self, where: Mapping[str, Scalar] = FrozenMap()) -> list[TrialRecord]:
        """Return the complete trials with these values, in order."""
        return [
            trial
            for trial in self.info.trials
            if trial.completion is Completion.COMPLETE and matches(trial.point, trial.policy, where)
        ]


@dataclass(frozen=True, slots=True)
class Summary:
    """Values of a figure over repetitions; ``interval`` is that of the mean, None of a single value."""

    count: int
    median: float
    mean: float
    interval: Interval | None


def sample_figure(
    observed: Observed, figure: Figure, where: Mapping[str, Scalar] = FrozenMap()
) -> list[Sample]:
    """Return a figure in each complete trial with the values of its ``where`` and of ``where``."""
    return [
        Sample(trial, measure(figure, observed.tables(trial)))
        for trial in observed.complete({**where, **figure.where})
        if matches(trial.point, trial.policy, where)
    ]


def summarise(values: Sequence[float]) -> Summary | None:
    """Return median, mean and interval; None without values.

    The interval of values that cannot be negative starts at 0.
    """
    if not values:
        return None
    mean = _measured(values)
    between = interval(mean, CONFIDENCE)
    if between is not None and min(values) >= 0 > between.low:
        between = Interval(0.0, between.high)
    return Summary(len(values), statistics.median(values), mean.mean, between)


def mean_ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, Interval | None]:
    """Return the geometric mean of ratios and its interval.

    :param pairs: of one repetition each.
    :raises ValueError: without pairs, or with a value that is not above zero.
    """
    if not pairs or any(one <= 0 or other <= 0 for one, other in pairs):
        raise ValueError("pairs: expected numbers above zero")
    mean = _measured([math.log(one / other) for one, other in pairs])
    found = interval(mean, CONFIDENCE)
    between = None if found is None else Interval(math.exp(found.low), math.exp(found.high))
    return math.exp(mean.mean), between


def _measured(values: Sequence[float]) -> Measured:
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return Measured(math.fsum(values) / len(values), deviation, len(values))


def measure(figure: Figure, tables: Tables) -> float | None:
    """Return a figure of one trial's rows; None if it has no value."""
    window = None if figure.during is None else _window(tables, figure)
    if figure.during is not None and window is None:
        return None
    every = find_flows(tables, figure.flow)
    rows = [row for row in every if row.state != FlowState.REJECTED]
    match figure.of:
        case Measure.THROUGHPUT | Measure.RECEIVED | Measure.BYTES_ON_PATH:
            return _carried(tables, figure, rows, window)
        case Measure.MEASURED:
            return _test_mean(tables, figure, window)
        case Measure.INTERRUPTION:
            gaps = [gap for row in rows if (gap := _interruption(tables, row, window)) is not None]
            return max(gaps, default=None)
        case Measure.DECISION_TIME if figure.since is not None:
            return _reaction(tables, figure, rows)
        case _:
            counted = every if figure.unit is Unit.COUNT else rows
            return _OF_ROWS[figure.of](rows) if counted else None


def _window(tables: Tables, figure: Figure) -> Window | None:
    begin, end = (time_of(tables, moment) for moment in figure.during or ())
    return None if begin is None or end is None or end <= begin else (begin, end)


def _mean(values: Iterable[float | None]) -> float | None:
    """None if any is missing: a mean of the others would be of something else."""
    found = list(values)
    known = [one for one in found if one is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(found) else None


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _finish(row: FlowRow) -> float | None:
    return row.ended if row.state == FlowState.FINISHED else None


def _rate(row: FlowRow) -> float | None:
    seconds = _difference(_finish(row), row.began)
    return row.received * 8 / seconds if seconds else None


def _lost(rows: Sequence[FlowRow]) -> float | None:
    known = [row.packets_lost for row in rows if row.packets_lost is not None]
    return float(sum(known)) if len(known) == len(rows) else None


def _loss(rows: Sequence[FlowRow]) -> float | None:
    lost, sent = _lost(rows), sum(row.packets_sent or 0 for row in rows)
    return None if lost is None or not sent else lost / sent


def _is_below_floor(row: FlowRow) -> bool:
    """A flow that waits or is rejected was promised nothing."""
    if row.floor is None or row.began is None:
        return False
    rate = _rate(row)
    return rate is None or rate < row.floor


_OF_ROWS: dict[Measure, Callable[[Sequence[FlowRow]], float | None]] = {
    Measure.COMPLETION_TIME: lambda rows: _mean(_difference(_finish(row), row.asked) for row in rows),
    Measure.TRANSFER_TIME: lambda rows: _mean(_difference(_finish(row), row.began) for row in rows),
    Measure.WAITING_TIME: lambda rows: _mean(_difference(row.began, row.asked) for row in rows),
    Measure.DECISION_TIME: lambda rows: _mean(_difference(row.decided, row.asked) for row in rows),
    Measure.PACKETS_LOST: _lost,
    Measure.LOSS: _loss,
    Measure.JITTER: lambda rows: _mean(row.jitter for row in rows if row.jitter is not None),
    Measure.MOVES: lambda rows: float(sum(row.paths.count(" > ") for row in rows)),
    Measure.FLOORS_MISSED: lambda rows: float(sum(map(_is_below_floor, rows))),
}


def _carried(tables: Tables, figure: Figure, rows: Sequence[FlowRow], window: Window | None) -> float | None:
    if not rows:
        return None
    if window is None and figure.of is Measure.RECEIVED:
        return float(sum(row.received for row in rows))
    if window is None and figure.of is Measure.THROUGHPUT:
        rates = [rate for row in rows if (rate := _rate(row)) is not None]
        return math.fsum(rates) if len(rates) == len(rows) else None
    names = {row.flow for row in rows}
    seconds = [one for one in tables.throughput if one.flow in names and figure.path in (None, one.path)]
    received = math.fsum(_share(one, window) for one in seconds)
    if figure.of is not Measure.THROUGHPUT or window is None:
        return received
    return received * 8 / (window[1] - window[0])


def _share(row: ThroughputRow, window: Window | None) -> float:
    """Bytes of a second that lie in a window, as if they came evenly."""
    if window is None:
        return float(row.received)
    overlap = min(row.at + BIN, window[1]) - max(row.at, window[0])
    return row.received * max(0.0, overlap) / BIN


def _interruption(tables: Tables, row: FlowRow, window: Window | None) -> float | None:
    if row.began is None:
        return None
    last = max((one.at + BIN for one in tables.throughput), default=row.began)
    begin, end = row.began, last if row.ended is None else row.ended
    if window is not None:
        begin, end = max(begin, window[0]), min(end, window[1])
    if end <= begin:
        return None
    busy = sorted(
        one.at for one in tables.throughput if one.flow == row.flow and one.received and begin <= one.at < end
    )
    ends = [begin, *(at + BIN for at in busy)]
    gaps = (max(0.0, after - before) for before, after in zip(ends, [*busy, end], strict=True))
    return float(math.floor(max(gaps) + 1e-9))


def _test_mean(tables: Tables, figure: Figure, window: Window | None) -> float | None:
    return _mean(
        row.value
        for row in tables.measurements
        if (row.path, row.metric) == (figure.path, figure.metric)
        and row.value is not None
        and (window is None or window[0] <= row.at < window[1])
    )


def _reaction(tables: Tables, figure: Figure, rows: Sequence[FlowRow]) -> float | None:
    since = None if figure.since is None else time_of(tables, figure.since)
    if since is None:
        return None
    turns = ([at for at, _ in find_turns(tables, row.flow) if at >= since] for row in rows)
    return _mean(times[0] - since if times else None for times in turns)


MIXED = "mixes transfers that have a size with given times, so its value at full scale is unknown"
_SCALED_TIMES = (Measure.COMPLETION_TIME, Measure.TRANSFER_TIME)


def full_scale_factor(figure: Figure, experiment: Experiment, info: RunInfo) -> float | None:
    """Return the factor to full scale; None if the value is the same at every scale, or :func:`is_mixed`."""
    if figure.unit is Unit.BITS_PER_SECOND:
        return info.scale
    if is_mixed(figure, experiment, info) or not _is_divided(figure):
        return None
    by_size = info.scale == info.sizes or _lasts_by_size(figure, experiment)
    if figure.unit is Unit.BYTES:
        return info.sizes if by_size else info.scale
    return info.sizes / info.scale if by_size else None


def is_mixed(figure: Figure, experiment: Experiment, info: RunInfo) -> bool:
    """Return whether bytes or times are partly of sized transfers and partly of given times."""
    return _is_divided(figure) and info.scale != info.sizes and _lasts_by_size(figure, experiment) is None


def _is_divided(figure: Figure) -> bool:
    return figure.unit is Unit.BYTES or figure.of in _SCALED_TIMES


def _lasts_by_size(figure: Figure, experiment: Experiment) -> bool | None:
    """Whether what a figure is of lasts until bytes have arrived, or a given time; None if both."""
    if figure.during is not None:
        return _window_lasts_by_size(*figure.during, experiment)
    kinds = {
        _flow_lasts_by_size(flow, experiment) for flow in experiment.flows if figure.flow in (None, flow.name)
    }
    return kinds.pop() if len(kinds) == 1 else None


def _flow_lasts_by_size(flow: FlowEntry, experiment: Experiment) -> bool | None:
    if flow.size is not None:
        return True
    return None if flow.until is not None and _transfers_before(flow.until, experiment) else False


def _window_lasts_by_size(begin: Moment, end: Moment, experiment: Experiment) -> bool | None:
    """Between moments that follow the same transfers lies a given time."""
    before, after = (_transfers_before(moment, experiment) for moment in (begin, end))
    if before == after:
        return False
    whole = begin.of == end.of and end.what is Phase.ENDS and begin.wait == end.wait
    return True if whole and after - before == {end.of} else None


def _transfers_before(
    moment: Moment, experiment: Experiment, seen: frozenset[Moment] = frozenset()
) -> frozenset[str]:
    """Sized flows that end before a moment and so decide when it comes; a circle has none of its own."""
    step = next((step for step in experiment.steps if step.name == moment.of), None)
    if step is None or moment in seen:
        return frozenset()
    found: frozenset[str] = frozenset()
    awaited = [step.after]
    if moment.what in (Phase.ENDS, Phase.RETESTED):
        if isinstance(step, FlowEntry) and step.size is not None:
            found = frozenset({step.name})
        else:
            awaited.append(step.until)
    known = seen | {moment}
    return found.union(*(_transfers_before(one, experiment, known) for one in awaited if one is not None))

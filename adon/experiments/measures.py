"""From the rows of a trial to one number: what a figure is of it, or None where it has none.

Rejected flows take part in nothing but counts: of deadlines they miss theirs, to all else they add nothing,
so that where all were rejected a count is 0 and not unknown.  A flow that should have ended and did not
leaves a figure that needs its end without a value: leaving it out would make the figure look better the more
of them there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from adon.experiments.figures import Figure, Measure, Unit
from adon.experiments.happened import flows, time_of, turns
from adon.experiments.parts import Scalar
from adon.experiments.results import (
    About,
    FlowRow,
    FlowState,
    Run,
    State,
    Tables,
    ThroughputRow,
    TrialDone,
)
from adon.experiments.sweeping import matches
from adon.values import FrozenMap

BIN = 1.0
"""Seconds that a row of throughput is about."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A figure's value in one trial; None if it has none there."""

    trial: TrialDone
    value: float | None


@dataclass(frozen=True, slots=True)
class Observed:
    """A run with its rows sorted by trial, for who reads many figures."""

    about: About
    by_trial: Mapping[int, Tables]

    @classmethod
    def of(cls, run: Run) -> Observed:
        """Of a run."""
        return cls(run.about, run.tables.by_trial())

    def tables(self, trial: TrialDone) -> Tables:
        """The rows of a trial."""
        return self.by_trial.get(trial.number, _NO_ROWS)

    def meant(self, where: Mapping[str, Scalar]) -> list[TrialDone]:
        """The complete trials that a ``where`` asks for, in the run's order."""
        return [
            trial
            for trial in self.about.trials
            if trial.state is State.COMPLETE and matches(trial.point, trial.policy, where)
        ]


_NO_ROWS = Tables()


def samples(observed: Observed, figure: Figure, where: Mapping[str, Scalar] = FrozenMap()) -> list[Sample]:
    """A figure in every complete trial that it is of, in the run's order.

    :param where: beside the figure's own.
    """
    return [
        Sample(trial, value(observed.tables(trial), figure))
        for trial in observed.meant({**where, **figure.where})
        if matches(trial.point, trial.policy, where)
    ]


def value(tables: Tables, figure: Figure) -> float | None:
    """A figure of one trial.

    :param tables: the trial's rows only.
    """
    window = _window(tables, figure)
    if figure.during is not None and window is None:
        return None
    every = flows(tables, figure.flow)
    rows = [row for row in every if row.state != FlowState.REJECTED]
    match figure.of:
        case Measure.THROUGHPUT | Measure.RECEIVED | Measure.BYTES_ON_PATH:
            return _carried(tables, figure, rows, window)
        case Measure.MEASURED:
            return _measured(tables, figure, window)
        case Measure.INTERRUPTION:
            return _worst(_interruption(tables, row, window) for row in rows)
        case Measure.DECISION_TIME if figure.since is not None:
            return _reaction(tables, figure, rows)
        case Measure.DEADLINES_MISSED:
            return float(sum(map(_missed, every))) if every else None
        case _:
            counted = every if figure.unit is Unit.COUNT else rows
            return _OF_ROWS[figure.of](rows) if counted else None


def _window(tables: Tables, figure: Figure) -> tuple[float, float] | None:
    if figure.during is None:
        return None
    begin, end = (time_of(tables, moment) for moment in figure.during)
    return None if begin is None or end is None or end <= begin else (begin, end)


# -- of the flows' own rows ---------------------------------------------------------------------------------


def _mean(values: Iterable[float | None]) -> float | None:
    """None as soon as one is missing: a mean of the others would be of something else."""
    found = list(values)
    known = [one for one in found if one is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(found) else None


def _worst(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)


def _span(row: FlowRow, begin: float | None) -> float | None:
    whole = row.state == FlowState.FINISHED and row.ended is not None
    return None if begin is None or not whole or row.ended is None else row.ended - begin


def _completion(rows: Sequence[FlowRow]) -> float | None:
    return _mean(_span(row, row.asked) for row in rows)


def _transfer(rows: Sequence[FlowRow]) -> float | None:
    return _mean(_span(row, row.began) for row in rows)


def _waiting(rows: Sequence[FlowRow]) -> float | None:
    return _mean(None if row.began is None or row.asked is None else row.began - row.asked for row in rows)


def _deciding(rows: Sequence[FlowRow]) -> float | None:
    return _mean(
        None if row.decided is None or row.asked is None else row.decided - row.asked for row in rows
    )


def _lost(rows: Sequence[FlowRow]) -> float | None:
    known = [row.packets_lost for row in rows if row.packets_lost is not None]
    return float(sum(known)) if len(known) == len(rows) else None


def _loss(rows: Sequence[FlowRow]) -> float | None:
    lost = _lost(rows)
    sent = sum(row.packets_sent or 0 for row in rows)
    return None if lost is None or not sent else lost / sent


def _moves(rows: Sequence[FlowRow]) -> float | None:
    return float(sum(row.paths.count(" > ") for row in rows))


def _makespan(rows: Sequence[FlowRow]) -> float | None:
    asked = [row.asked for row in rows if row.asked is not None]
    spans = [_span(row, 0.0) for row in rows]
    ends = [one for one in spans if one is not None]
    return max(ends) - min(asked) if asked and len(ends) == len(rows) else None


def _below_floor(row: FlowRow) -> bool:
    """Of those that were begun: who waits, or is refused, was promised nothing."""
    if row.floor is None or row.began is None:
        return False
    rate = _rate(row)
    return rate is None or rate < row.floor


def _missed(row: FlowRow) -> bool:
    if row.deadline is None:
        return False
    return row.state != FlowState.FINISHED or row.ended is None or row.ended > row.deadline


_OF_ROWS: dict[Measure, Callable[[Sequence[FlowRow]], float | None]] = {
    Measure.COMPLETION_TIME: _completion,
    Measure.TRANSFER_TIME: _transfer,
    Measure.WAITING_TIME: _waiting,
    Measure.DECISION_TIME: _deciding,
    Measure.PACKETS_LOST: _lost,
    Measure.LOSS: _loss,
    Measure.DELAY: lambda rows: _mean(row.rtt for row in rows),
    Measure.JITTER: lambda rows: _mean(row.jitter for row in rows if row.jitter is not None),
    Measure.MOVES: _moves,
    Measure.MAKESPAN: _makespan,
    Measure.FLOORS_MISSED: lambda rows: float(sum(map(_below_floor, rows))),
}


# -- of what arrived in each second -------------------------------------------------------------------------


def _carried(
    tables: Tables, figure: Figure, rows: Sequence[FlowRow], window: tuple[float, float] | None
) -> float | None:
    if not rows:
        return None
    if window is None and figure.of is not Measure.BYTES_ON_PATH:
        if figure.of is Measure.RECEIVED:
            return float(sum(row.received for row in rows))
        rates = [_rate(row) for row in rows]
        known = [rate for rate in rates if rate is not None]
        return math.fsum(known) if len(known) == len(rates) else None
    names = {row.flow for row in rows}
    seconds = [one for one in tables.throughput if one.flow in names and figure.path in (None, one.path)]
    received = math.fsum(_share(one, window) for one in seconds)
    if figure.of is not Measure.THROUGHPUT or window is None:
        return received
    return received * 8 / (window[1] - window[0])


def _rate(row: FlowRow) -> float | None:
    seconds = _span(row, row.began)
    return row.received * 8 / seconds if seconds else None


def _share(row: ThroughputRow, window: tuple[float, float] | None) -> float:
    """Bytes of a second that lie in a window, as if they had come evenly."""
    if window is None:
        return float(row.received)
    overlap = min(row.at + BIN, window[1]) - max(row.at, window[0])
    return row.received * max(0.0, overlap) / BIN


def _interruption(tables: Tables, row: FlowRow, window: tuple[float, float] | None) -> float | None:
    if row.began is None:
        return None
    last = max((one.at + BIN for one in tables.throughput), default=row.began)
    begin, end = row.began, last if row.ended is None else row.ended
    if window is not None:
        # Before it begins and when it is over nothing is to arrive.
        begin, end = max(begin, window[0]), min(end, window[1])
    if end <= begin:
        return None
    heard = sorted(
        one.at for one in tables.throughput if one.flow == row.flow and one.received and begin <= one.at < end
    )
    # Between the ends of seconds in which something came and the beginnings of the next such.
    ends = [begin, *(at + BIN for at in heard)]
    gaps = (max(0.0, after - before) for before, after in zip(ends, [*heard, end], strict=True))
    return float(math.floor(max(gaps) + 1e-9))


# -- of measurements and decisions --------------------------------------------------------------------------


def _measured(tables: Tables, figure: Figure, window: tuple[float, float] | None) -> float | None:
    return _mean(
        row.value
        for row in tables.measurements
        if row.path == figure.path
        and row.metric == figure.metric
        and row.value is not None
        and (window is None or window[0] <= row.at < window[1])
    )


def _reaction(tables: Tables, figure: Figure, rows: Sequence[FlowRow]) -> float | None:
    since = None if figure.since is None else time_of(tables, figure.since)
    if since is None:
        return None
    return _mean(next(_after(tables, row, since), None) for row in rows)


def _after(tables: Tables, row: FlowRow, since: float) -> Iterator[float]:
    return (at - since for at, _ in turns(tables, row.flow) if at >= since)

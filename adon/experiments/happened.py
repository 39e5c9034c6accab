"""When something happened in a trial, and what was decided in it that changed anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from adon.experiments.parts import Moment, What
from adon.experiments.results import DecisionRow, FlowRow, FlowState, Tables
from measurement.model import Metric

NOT_TURNS = ("stay", "end")
"""Outcomes after which a flow is where it was; that it is over is in its own row."""


class Turn(NamedTuple):
    """A decision that changed what becomes of a flow."""

    outcome: str
    path: str | None
    site: str | None

    def __str__(self) -> str:
        where = "" if self.path is None else f" on {self.path}"
        return f"{self.outcome}{where}" + ("" if self.site is None else f", computed at {self.site}")


def turns(tables: Tables, flow: str) -> list[tuple[float, Turn]]:
    """The decisions about a flow that changed what becomes of it, and when.

    A waiting flow is examined at every measurement; that it still waits is recorded and is no turn.
    """
    found: list[tuple[float, Turn]] = []
    for row in sorted((row for row in tables.decisions if row.flow == flow), key=lambda row: row.at):
        turn = Turn(row.outcome, row.path, row.site)
        if row.outcome not in NOT_TURNS and (not found or found[-1][1] != turn):
            found.append((row.at, turn))
    return found


def flows(tables: Tables, name: str | None) -> list[FlowRow]:
    """The row of a flow, or those of all."""
    return [row for row in tables.flows if name is None or name == row.flow]


def time_of(tables: Tables, moment: Moment) -> float | None:
    """When a moment was, in seconds since the trial's beginning; None if it did not come."""
    at = _event(tables, moment) if _is_event(tables, moment) else _flow(tables, moment)
    return None if at is None else at + moment.wait


def _is_event(tables: Tables, moment: Moment) -> bool:
    return any(row.event == moment.of for row in tables.events)


def _event(tables: Tables, moment: Moment) -> float | None:
    phase = "ends" if moment.what in (What.ENDS, What.RETESTED) else "begins"
    done = (row for row in tables.events if row.event == moment.of and not row.trouble)
    at = min((row.at for row in done if row.phase == phase), default=None)
    return _tested(tables, at) if moment.what in (What.TESTED, What.RETESTED) else at


def _flow(tables: Tables, moment: Moment) -> float | None:
    rows = flows(tables, moment.of)
    match moment.what:
        case What.ENDS:
            return _last(_over(row, tables.decisions) for row in rows)
        case What.TESTED:
            return _last(_tested(tables, row.began) for row in _carried(rows))
        case What.RETESTED:
            return _last(_tested(tables, row.ended) for row in _carried(rows))
        case What.ASKED:
            found = [row.asked for row in rows]
        case What.BEGINS:
            found = [row.began for row in rows]
        case What.ADMITTED:
            found = [_first(tables, row, ("admit",)) for row in rows]
        case What.MOVED:
            found = [_first(tables, row, ("move",)) for row in rows]
    return min((at for at in found if at is not None), default=None)


def _last(times: Iterable[float | None]) -> float | None:
    """None as soon as one is missing."""
    found = list(times)
    return None if None in found else max((at for at in found if at is not None), default=None)


def _carried(rows: Sequence[FlowRow]) -> list[FlowRow]:
    """Without those that were refused: what is waited for never comes of them, and nobody waits for it."""
    return [row for row in rows if row.state != FlowState.REJECTED]


def _over(row: FlowRow, decisions: Sequence[DecisionRow]) -> float | None:
    """When a flow ended; one that was refused, when it was."""
    if row.ended is not None:
        return row.ended
    return next((one.at for one in decisions if one.flow == row.flow and one.outcome == "reject"), None)


def _first(tables: Tables, row: FlowRow, outcomes: tuple[str, ...]) -> float | None:
    return next((at for at, turn in turns(tables, row.flow) if turn.outcome in outcomes), None)


def _tested(tables: Tables, since: float | None) -> float | None:
    """When every path that was ever tested had a result again after something had begun, or ended.

    Rows have the time of a result and not of its test's beginning: what waits for the moment in the trial
    (:func:`adon.experiments.rows.tested`) waits for a test that began after it, and so perhaps for the next.
    """
    if since is None:
        return None
    tests = [one for one in tables.measurements if one.metric == Metric.THROUGHPUT and one.value is not None]
    firsts = [
        min((one.at for one in tests if one.path == path and one.at > since), default=None)
        for path in {one.path for one in tests}
    ]
    return _last(firsts)

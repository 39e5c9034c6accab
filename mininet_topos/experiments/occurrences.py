"""When moments came in a trial, and which decisions changed a flow's state: read from its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from measurement.model import Metric
from mininet_topos.experiments.document import Moment, Phase
from mininet_topos.experiments.results import FlowRow, FlowState, Tables

UNCHANGED = ("stay", "end")
"""Outcomes that leave a flow where it was."""


class Turn(NamedTuple):
    """A decision that changed a flow's state."""

    outcome: str
    path: str | None
    site: str | None

    def __str__(self) -> str:
        where = "" if self.path is None else f" on {self.path}"
        return f"{self.outcome}{where}" + ("" if self.site is None else f", computed at {self.site}")


def find_turns(tables: Tables, flow: str) -> list[tuple[float, Turn]]:
    """Return time and content of the decisions that changed a flow's state, in order."""
    found: list[tuple[float, Turn]] = []
    for row in sorted((row for row in tables.decisions if row.flow == flow), key=lambda row: row.at):
        turn = Turn(row.outcome, row.path, row.site)
        if row.outcome not in UNCHANGED and (not found or found[-1][1] != turn):
            found.append((row.at, turn))
    return found


def find_flows(tables: Tables, name: str | None) -> list[FlowRow]:
    """Return the row of a flow; of all flows without a name."""
    return [row for row in tables.flows if name in (None, row.flow)]


def time_of(tables: Tables, moment: Moment) -> float | None:
    """Return when a moment was, in seconds after the start of the trial; None if it did not come."""
    is_event = any(row.event == moment.of for row in tables.events)
    at = _event_time(tables, moment) if is_event else _flow_time(tables, moment)
    return None if at is None else at + moment.wait


def _event_time(tables: Tables, moment: Moment) -> float | None:
    phase = "ends" if moment.what in (Phase.ENDS, Phase.RETESTED) else "begins"
    done = (row for row in tables.events if row.event == moment.of and not row.problem)
    at = min((row.at for row in done if row.phase == phase), default=None)
    return _test_time(tables, at) if moment.what in (Phase.TESTED, Phase.RETESTED) else at


def _flow_time(tables: Tables, moment: Moment) -> float | None:
    rows = find_flows(tables, moment.of)
    carried = [row for row in rows if row.state != FlowState.REJECTED]
    match moment.what:
        case Phase.ENDS:
            return _last(_end_time(tables, row) for row in rows)
        case Phase.TESTED:
            return _last(_test_time(tables, row.began) for row in carried)
        case Phase.RETESTED:
            return _last(_test_time(tables, row.ended) for row in carried)
        case Phase.ASKED:
            return _first(row.asked for row in rows)
        case Phase.BEGINS:
            return _first(row.began for row in rows)
        case Phase.ADMITTED:
            return _first(_turn_time(tables, row, "admit") for row in rows)
        case Phase.MOVED:
            return _first(_turn_time(tables, row, "move") for row in rows)


def _first(times: Iterable[float | None]) -> float | None:
    return min((at for at in times if at is not None), default=None)


def _last(times: Iterable[float | None]) -> float | None:
    """None if any is missing."""
    found: Sequence[float | None] = list(times)
    return None if None in found else max((at for at in found if at is not None), default=None)


def _end_time(tables: Tables, row: FlowRow) -> float | None:
    return row.ended if row.ended is not None else _turn_time(tables, row, "reject")


def _turn_time(tables: Tables, row: FlowRow, outcome: str) -> float | None:
    return next((at for at, turn in find_turns(tables, row.flow) if turn.outcome == outcome), None)


def _test_time(tables: Tables, since: float | None) -> float | None:
    """When each tested path had a result again; rows hold the time of the result, not of the test's start."""
    if since is None:
        return None
    tests = [row for row in tables.measurements if row.metric == Metric.THROUGHPUT and row.value is not None]
    paths = {row.path for row in tests}
    return _last(_first(row.at for row in tests if row.path == path and row.at > since) for path in paths)

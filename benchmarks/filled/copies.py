"""A pattern of flows repeated through a month: the rows of one store, copied with later times and numbers.

Whatever names a flow, an event or a moment is shifted, in columns and inside the bodies alike; parts of
snapshots, which the copies share as the flows of one day do, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, column, create_engine, insert, select, table

from adon.broker.recompute.encoded import digest
from adon.store.tables import decisions, flow_history, flows, outcomes, snapshot_parts, snapshots, templates
from benchmarks.filled.lives import EVENT

_NAMED = re.compile(
    rf'(?P<event>{EVENT})|\bf-(?P<flow>\d+)\b|"(?:flow|number)": ?(?P<number>\d+)\b'
    r"|(?<![\d.])(?P<time>1[67]\d{8}\.\d+)(?!\d)"
)
"""Flows by name and by number, ids of events, and times: floats of this decade, as JSON writes them."""
_MOVED = (flows, flow_history, decisions, outcomes, snapshots)
_TIMES = {"at", "submitted_at", "ended_at"}
_FLOWS = {flows: "number", flow_history: "flow", decisions: "flow", outcomes: "flow"}
_NAMES = {"id", "decision", "cause", "reason"}
_AT_ONCE = 2000


class Text:
    """A text with places that a copy fills in anew."""

    def __init__(self, text: str) -> None:
        self._pieces: list[str | Callable[[Shift], str]] = []
        end = 0
        for found in _NAMED.finditer(text):
            start, stop = found.span(str(found.lastgroup))
            self._pieces += [text[end:start], _shifted(str(found.lastgroup), text[start:stop])]
            end = stop
        self._pieces.append(text[end:])

    def moved(self, by: Shift) -> str:
        """The text of a copy."""
        return "".join(piece if isinstance(piece, str) else piece(by) for piece in self._pieces)


class Shift:
    """How far a copy is from its pattern: so many flows, so many seconds; ``name`` tells its events."""

    def __init__(self, copy: int, flows_each: int, seconds_each: float) -> None:
        self.flows = copy * flows_each
        self.seconds = copy * seconds_each
        self.name = f"t{copy:03x}"


def _shifted(kind: str, text: str) -> Callable[[Shift], str]:
    match kind:
        case "event":
            return lambda by: by.name
        case "time":
            at = float(text)
            return lambda by: repr(at + by.seconds)
        case _:
            number = int(text)
            return lambda by: str(number + by.flows)


def repeat(pattern: Path, into: Connection, times: int, seconds_each: float) -> None:
    """Copy the flows of one SQLite store, and all that belongs to them, so many times into another.

    :param pattern: the file of the store with the flows.
    :param seconds_each: from the first moment of one copy to that of the next.
    """
    engine = create_engine(f"sqlite:///{pattern}")
    with engine.connect() as source:
        number = source.execute(select(flows.c.number).order_by(flows.c.number.desc()).limit(1)).scalar_one()
        shifts = [Shift(copy, number, seconds_each) for copy in range(times)]
        for whole in (templates, snapshot_parts):
            _write(into, whole, (dict(row) for row in _rows(source, whole)))
        for moved in _MOVED:
            rows = [(row, {name: Text(row[name]) for name in _texts(row)}) for row in _rows(source, moved)]
            _write(into, moved, (_copy(moved, row, texts, by) for by in shifts for row, texts in rows))
    engine.dispose()


def _rows(source: Connection, which: Table) -> list[dict[str, Any]]:
    # Without the types of the columns: JSON stays the text that it is.
    plain = table(which.name, *(column(one.name) for one in which.columns))
    rows = [dict(row._mapping) for row in source.execute(select(plain))]
    for row in rows:
        if which is flow_history:
            del row["id"]  # counted up by the database
    return rows


def _texts(row: dict[str, Any]) -> list[str]:
    return [name for name in (*sorted(_NAMES), "body") if isinstance(row.get(name), str)]


def _copy(which: Table, row: dict[str, Any], texts: dict[str, Text], by: Shift) -> dict[str, Any]:
    changed: dict[str, Any] = {name: text.moved(by) for name, text in texts.items()}
    changed |= {name: row[name] + by.seconds for name in _TIMES & row.keys()}
    if which is snapshots:
        changed["digest"] = digest(changed["body"])
    if which in _FLOWS:
        changed[_FLOWS[which]] = row[_FLOWS[which]] + by.flows
    return row | changed


def _write(into: Connection, which: Table, rows: Iterator[dict[str, Any]]) -> None:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _AT_ONCE:
            insert_plain(into, which.name, batch)
            batch = []
    insert_plain(into, which.name, batch)


def insert_plain(into: Connection, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows whose values are as the database keeps them: JSON is text already."""
    if rows:
        into.execute(insert(table(name, *(column(one) for one in rows[0]))), list(rows))

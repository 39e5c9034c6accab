"""How values go in: each one once, the first word of a run stays.

Two values are the same if they are of one series and one origin (the run's UUID, whichever way the value
came).  Archives that name no run give values without one; such a value is the same as one held if the same
series holds an equal value (relative 1e-9) that started within two seconds of it, in either order of
arrival.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, func, or_, select, tuple_, update

from measurement.archive import tables
from measurement.archive.rows import SampleRow
from measurement.archive.values import Appended, Disagreement, Refusal
from measurement.model import Series

RELATIVE = 1e-9
NEAR_S = 2.0
_AT_ONCE = 200


class Known(NamedTuple):
    """A series' number, and at least how long its tests take."""

    id: int
    longest: float


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What a series asks of newcomers: whether their like must be looked for, and how old they may be."""

    loose: bool
    raw_from: float


class _Near:
    """The new values of one batch by series and time, to find one's like among those before it."""

    def __init__(self) -> None:
        self._cells: dict[tuple[Series, float], list[SampleRow]] = {}
        self._identities: set[tuple[Series, bytes]] = set()

    def add(self, row: SampleRow) -> None:
        cell = (row.series, (row.started_at or 0.0) // NEAR_S)
        self._cells.setdefault(cell, []).append(row)
        self._identities.add((row.series, row.identity))

    def knows(self, row: SampleRow) -> bool:
        return (row.series, row.identity) in self._identities

    def holds_near(self, row: SampleRow) -> bool:
        cell = (row.started_at or 0.0) // NEAR_S
        near = (held for c in (cell - 1, cell, cell + 1) for held in self._cells.get((row.series, c), ()))
        return any(
            (row.loose or held.loose)
            and abs((held.started_at or 0.0) - (row.started_at or 0.0)) <= NEAR_S
            and same(held.value, row.value)
            for held in near
        )


def same(one: float, other: float) -> bool:
    """Whether two values are the same number, but for the last digits."""
    return math.isclose(one, other, rel_tol=RELATIVE)


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows that break no rule of uniqueness; how many those were."""
    if not rows:
        return 0
    statement = _insert(connection)(table).on_conflict_do_nothing()
    if connection.dialect.name == "sqlite":
        return connection.execute(statement, list(rows)).rowcount
    # PostgreSQL gets many rows in one statement, whose row count the driver does not add up.
    key = next(iter(table.primary_key))
    return len(connection.execute(statement.returning(key), list(rows)).all())


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, or put them in the place of those with the same primary key."""
    if not rows:
        return
    statement = _insert(connection)(table)
    keys = [column.name for column in table.primary_key]
    changed = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed), list(rows))


def _insert(connection: Connection) -> Any:
    # Imported where needed: a process uses one database, and each dialect is some megabytes.
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as insert_sqlite

        return insert_sqlite
    from sqlalchemy.dialects.postgresql import insert as insert_postgresql

    return insert_postgresql


def append_samples(
    connection: Connection, rows: Sequence[SampleRow], known: Mapping[Series, Known]
) -> tuple[Appended, dict[Series, Known]]:
    """Keep these values; says what became of them, and the series they are of.

    :param known: series met before; what is returned may be added to it after the commit.
    """
    if not rows:
        return Appended(), {}
    found = _series(connection, rows, known)
    remembered = _remembered(connection, min(row.observed_at for row in rows))
    wanted, refused = _young_enough(rows, found, remembered)
    fresh = _without_near(connection, wanted, found, remembered)
    new = insert_new(connection, tables.sample, [_columns(row, found) for row in fresh])
    disagreements = _disagreements(connection, fresh, found) if new < len(fresh) else ()
    _mark_loose(connection, fresh, found, remembered)
    duplicates = len(wanted) - new - len(disagreements)
    return Appended(new, duplicates, disagreements, refused), found


def _columns(row: SampleRow, found: Mapping[Series, Known]) -> dict[str, Any]:
    columns = row._asdict()
    columns["series_id"] = found[columns.pop("series")].id
    return columns


def _series(
    connection: Connection, rows: Iterable[SampleRow], known: Mapping[Series, Known]
) -> dict[Series, Known]:
    # Each series of the rows with its number; new ones and longer tests are written down.
    longest: dict[Series, float] = {}
    for row in rows:
        took = 0.0 if row.started_at is None else row.observed_at - row.started_at
        longest[row.series] = max(took, longest.get(row.series, 0.0))
    found = {one: known[one] for one in longest if one in known}
    missing = [one for one in longest if one not in known]
    blank = {"longest": 0.0, "loose": False}
    insert_new(connection, tables.series, [one._asdict() | blank for one in missing])
    for start in range(0, len(missing), _AT_ONCE):
        found |= _numbers(connection, missing[start : start + _AT_ONCE])
    grown = [one for one, took in longest.items() if took > found[one].longest]
    if grown:
        table = tables.series
        statement = update(table).where(table.c.id == bindparam("its_id"))
        statement = statement.where(table.c.longest < bindparam("took")).values(longest=bindparam("took"))
        connection.execute(statement, [{"its_id": found[one].id, "took": longest[one]} for one in grown])
    return found | {one: Known(found[one].id, longest[one]) for one in grown}


def _numbers(connection: Connection, wanted: Sequence[Series]) -> dict[Series, Known]:
    table = tables.series
    names = (table.c.path, table.c.source, table.c.destination, table.c.metric)
    rows = connection.execute(select(table.c.id, table.c.longest, *names).where(tuple_(*names).in_(wanted)))
    return {Series(*name): Known(number, longest) for number, longest, *name in rows}


def _remembered(connection: Connection, oldest: float) -> dict[int, _Remembered]:
    # Most series are in neither case, and cost nothing.
    table = tables.series
    query = select(table.c.id, table.c.loose, func.coalesce(table.c.raw_from, -math.inf))
    rows = connection.execute(query.where(or_(table.c.loose, table.c.raw_from > oldest)))
    return {number: _Remembered(loose, since) for number, loose, since in rows}


def _young_enough(
    rows: Iterable[SampleRow], found: Mapping[Series, Known], remembered: Mapping[int, _Remembered]
) -> tuple[list[SampleRow], tuple[Refusal, ...]]:
    # Where single values were dropped, nobody can tell any more whether one is new: counting it again
    # would falsify the roll-ups.
    wanted: list[SampleRow] = []
    refused: list[Refusal] = []
    for row in rows:
        its = remembered.get(found[row.series].id)
        if its is None or row.observed_at >= its.raw_from:
            wanted.append(row)
        else:
            cause = f"only roll-ups are kept of the time before {its.raw_from:.0f}"
            refused.append(Refusal(row.series, row.source, f"observed at {row.observed_at:.0f}: {cause}"))
    return wanted, tuple(refused)


def _without_near(
    connection: Connection,
    rows: Sequence[SampleRow],
    found: Mapping[Series, Known],
    remembered: Mapping[int, _Remembered],
) -> list[SampleRow]:
    loose = {row.series for row in rows if row.loose}
    loose |= {row.series for row in rows if (its := remembered.get(found[row.series].id)) and its.loose}
    batch, fresh = _Near(), list[SampleRow]()
    for row in rows:
        if row.series in loose and row.started_at is not None and not batch.knows(row):
            number = found[row.series].id
            if _held_value(connection, number, row.identity) is None:
                if batch.holds_near(row) or _held_near(connection, row, row.started_at, number):
                    continue
                batch.add(row)
        # What has the identity of a value held is left to the rule of uniqueness, which sees disagreements.
        fresh.append(row)
    return fresh


_TABLE = tables.sample.c
_LONGEST = select(tables.series.c.longest).where(tables.series.c.id == bindparam("its_series"))
_NEAR = select(_TABLE.value, _TABLE.loose).where(
    (_TABLE.series_id == bindparam("its_series"))
    & _TABLE.started_at.between(bindparam("low"), bindparam("high"))
    # The index knows when tests ended: at most the series' longest test after they started.
    & (_TABLE.observed_at >= bindparam("low"))
    & (_TABLE.observed_at <= bindparam("high") + _LONGEST.scalar_subquery())
)


def _held_near(connection: Connection, row: SampleRow, started_at: float, number: int) -> bool:
    bounds = {"its_series": number, "low": started_at - NEAR_S, "high": started_at + NEAR_S}
    return any(
        (row.loose or held.loose) and same(held.value, row.value)
        for held in connection.execute(_NEAR, bounds)
    )


_HELD = select(_TABLE.value).where(
    (_TABLE.series_id == bindparam("its_series")) & (_TABLE.identity == bindparam("its_identity"))
)


def _held_value(connection: Connection, number: int, identity: bytes) -> float | None:
    return connection.scalar(_HELD, {"its_series": number, "its_identity": identity})


def _disagreements(
    connection: Connection, rows: Iterable[SampleRow], found: Mapping[Series, Known]
) -> tuple[Disagreement, ...]:
    pairs = ((row, _held_value(connection, found[row.series].id, row.identity)) for row in rows)
    return tuple(
        Disagreement(row.series, row.source, value, row.value)
        for row, value in pairs
        if value is not None and not same(value, row.value)
    )


def _mark_loose(
    connection: Connection,
    rows: Iterable[SampleRow],
    found: Mapping[Series, Known],
    remembered: Mapping[int, _Remembered],
) -> None:
    loose = {found[row.series].id for row in rows if row.loose}
    unmarked = [n for n in loose if n not in remembered or not remembered[n].loose]
    if unmarked:
        table = tables.series
        connection.execute(
            update(table).where(table.c.id == bindparam("its_id")).values(loose=True),
            [{"its_id": number} for number in unmarked],
        )

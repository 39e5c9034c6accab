"""How values go in: each one once, the first word of a run stays.

Two values are the same if they are of one series and one origin: the run's UUID, whichever way the value
came, or the whole source where it names no run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select, tuple_

from measurement.archive import tables
from measurement.archive.rows import SampleRow
from measurement.archive.values import Appended, Disagreement, Refusal
from measurement.model import Series

RELATIVE = 1e-9
_AT_ONCE = 200


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
    connection: Connection, rows: Sequence[SampleRow], known: Mapping[Series, int]
) -> tuple[Appended, dict[Series, int]]:
    """Keep these values; says what became of them, and the numbers of the series they are of.

    :param known: series met before; what is returned may be added to it after the commit.
    """
    if not rows:
        return Appended(), {}
    found = _series(connection, list(dict.fromkeys(row.series for row in rows)), known)
    wanted, refused = _young_enough(connection, rows, found)
    new = insert_new(connection, tables.sample, [_columns(row, found) for row in wanted])
    disagreements = _disagreements(connection, wanted, found) if new < len(wanted) else ()
    duplicates = len(wanted) - new - len(disagreements)
    return Appended(new, duplicates, disagreements, refused), found


def _columns(row: SampleRow, found: Mapping[Series, int]) -> dict[str, Any]:
    columns = row._asdict()
    columns["series_id"] = found[columns.pop("series")]
    return columns


def _series(
    connection: Connection, wanted: Sequence[Series], known: Mapping[Series, int]
) -> dict[Series, int]:
    found = {one: known[one] for one in wanted if one in known}
    missing = [one for one in wanted if one not in known]
    insert_new(connection, tables.series, [one._asdict() for one in missing])
    for start in range(0, len(missing), _AT_ONCE):
        found |= _numbers(connection, missing[start : start + _AT_ONCE])
    return found


def _numbers(connection: Connection, wanted: Sequence[Series]) -> dict[Series, int]:
    table = tables.series
    names = (table.c.path, table.c.source, table.c.destination, table.c.metric)
    rows = connection.execute(select(table.c.id, *names).where(tuple_(*names).in_(wanted)))
    return {Series(*name): number for number, *name in rows}


def _young_enough(
    connection: Connection, rows: Sequence[SampleRow], found: Mapping[Series, int]
) -> tuple[list[SampleRow], tuple[Refusal, ...]]:
    # Where single values were dropped, nobody can tell any more whether one is new: counting it again
    # would falsify the roll-ups.  Most series are not in that case, and cost nothing.
    table, oldest = tables.series, min(row.observed_at for row in rows)
    dropped = connection.execute(select(table.c.id, table.c.raw_from).where(table.c.raw_from > oldest))
    raw_from: dict[int, float] = {row.id: row.raw_from for row in dropped}
    wanted: list[SampleRow] = []
    refused: list[Refusal] = []
    for row in rows:
        since = raw_from.get(found[row.series], -math.inf)
        if row.observed_at >= since:
            wanted.append(row)
        else:
            cause = f"only roll-ups are kept of the time before {since:.0f}"
            refused.append(Refusal(row.series, row.source, f"observed at {row.observed_at:.0f}: {cause}"))
    return wanted, tuple(refused)


_TABLE = tables.sample.c
_HELD = select(_TABLE.value).where(
    (_TABLE.series_id == bindparam("its_series")) & (_TABLE.identity == bindparam("its_identity"))
)


def _held_value(connection: Connection, number: int, identity: bytes) -> float | None:
    return connection.scalar(_HELD, {"its_series": number, "its_identity": identity})


def _disagreements(
    connection: Connection, rows: Iterable[SampleRow], found: Mapping[Series, int]
) -> tuple[Disagreement, ...]:
    pairs = ((row, _held_value(connection, found[row.series], row.identity)) for row in rows)
    return tuple(
        Disagreement(row.series, row.source, value, row.value)
        for row, value in pairs
        if value is not None and not same(value, row.value)
    )

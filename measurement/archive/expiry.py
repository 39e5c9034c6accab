"""Maintenance, second part: away with what is too old.

Ages are counted from now or from the newest value held, whichever is earlier: a clock that steps years
ahead, or a value from the future, must not empty the archive.  Where values of a series were dropped is
written down before they are (``raw_from``), so that one that comes again is not taken for new.  Work is cut
into short transactions: between two of them others may write.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    exists,
    func,
    select,
    update,
)

from measurement.archive import tables
from measurement.archive.rollups import last_rolled
from measurement.archive.values import HOUR, MINUTE, Retention

Writing = Callable[[], AbstractContextManager[Connection]]
"""Opens a transaction that writes."""

AT_ONCE = 10_000
"""Rows of one transaction."""


def drop(writing: Writing, now: float, retention: Retention) -> int:
    """Drop what is older than it may be; how many rows."""
    with writing() as connection:
        now = min(now, _newest(connection))
        in_rollups = last_rolled(connection)
        _write_down(connection, "raw_from", now - retention.raw)
        _write_down(connection, "minutes_from", now - retention.minutes)
    sample, rollup = tables.sample, tables.rollup
    before = now - retention.raw
    dropped = _drop(writing, sample, (sample.c.observed_at < before) & (sample.c.id <= in_rollups))
    for width, kept in ((MINUTE, retention.minutes), (HOUR, retention.hours)):
        dropped += _drop(writing, rollup, (rollup.c.width == width) & (rollup.c.start < now - kept - width))
    for kind, kept in retention.documents.items():
        dropped += _drop(writing, tables.document, _is_closed(kind, now - kept))
    return dropped


def _newest(connection: Connection) -> float:
    sample, rollup = tables.sample.c, tables.rollup.c
    queries = (
        select(func.max(sample.observed_at)),
        select(func.max(rollup.start)).where(rollup.width == HOUR),
    )
    found = [at for at in map(connection.scalar, queries) if at is not None]
    return max(found, default=math.inf)


def _write_down(connection: Connection, name: str, before: float) -> None:
    series, rollup, sample = tables.series, tables.rollup.c, tables.sample.c
    older: ColumnElement[bool] = (sample.series_id == series.c.id) & (sample.observed_at < before)
    if name == "minutes_from":
        older = (rollup.series_id == series.c.id) & (rollup.width == MINUTE)
        older &= rollup.start < before - MINUTE
    column: Column[float] = series.c[name]
    earlier = func.coalesce(column, -math.inf) < before
    connection.execute(update(series).where(earlier & exists().where(older)).values({name: before}))


def _is_closed(kind: str, before: float) -> ColumnElement[bool]:
    table = tables.document.c
    return (table.kind == kind) & table.open.is_(False) & (table.at < before)


def _drop(writing: Writing, table: Table, which: ColumnElement[bool]) -> int:
    keys = list(table.primary_key)
    one = delete(table)
    for key in keys:
        one = one.where(key == bindparam(f"its_{key.name}"))
    dropped = 0
    while True:
        with writing() as connection:
            found = connection.execute(select(*keys).where(which).limit(AT_ONCE)).all()
            if found:
                connection.execute(one, [{f"its_{k}": v for k, v in row._mapping.items()} for row in found])
        dropped += len(found)
        if len(found) < AT_ONCE:
            return dropped

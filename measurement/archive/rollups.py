"""Maintenance, first part: values into roll-ups.

Every value goes into the roll-up of its minute and of its hour once, in the order in which values were
kept (the mark ``rolled`` is moved in the same transaction), so that late and imported values are counted
as well as others, and nothing is counted twice if the process is killed.  A value is dropped only after that
(:mod:`measurement.archive.expiry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from measurement.archive import tables
from measurement.archive.sketch import Sketch
from measurement.archive.value_writer import upsert
from measurement.archive.values import HOUR, MINUTE, Bucket, merge_buckets, start_of

AT_ONCE = 10_000
"""Values of one transaction."""


_ROLLUP = tables.rollup.c
BUCKET = (
    *(_ROLLUP.start, _ROLLUP.width, _ROLLUP.count),
    *(_ROLLUP.minimum, _ROLLUP.mean, _ROLLUP.maximum, _ROLLUP.sketch),
)
"""The columns of a bucket, whichever series it is of."""


class Place(NamedTuple):
    """Which bucket of which series (its number)."""

    series_id: int
    width: int
    start: float


def last_rolled(connection: Connection) -> int:
    """The last value that is in the roll-ups."""
    table = tables.mark
    return int(connection.scalar(select(table.c.value).where(table.c.name == "rolled")) or 0)


def bucket(values: Iterable[Any]) -> Bucket:
    """The bucket that a row of ``rollup`` holds, of its columns :data:`BUCKET`."""
    start, width, count, minimum, mean, maximum, sketch = values
    return Bucket(start, width, count, minimum, mean, maximum, None if sketch is None else Sketch(sketch))


def by_place(samples: Sequence[Any], width: int) -> dict[Place, Bucket]:
    """Rows of ``sample`` as buckets of this width."""
    groups: dict[Place, list[float]] = {}
    for row in samples:
        place = Place(row.series_id, width, start_of(row.observed_at, width))
        groups.setdefault(place, []).append(row.value)
    return {place: Bucket.of(place.start, width, values) for place, values in groups.items()}


def roll_up(connection: Connection) -> int:
    """Put the next values into the roll-ups; how many (0: all are in)."""
    table = tables.sample
    columns = (table.c.id, table.c.series_id, table.c.observed_at, table.c.value)
    query = select(*columns).where(table.c.id > last_rolled(connection)).order_by(table.c.id).limit(AT_ONCE)
    samples = connection.execute(query).all()
    if not samples:
        return 0
    for width in (MINUTE, HOUR):
        _add(connection, by_place(samples, width))
    last = update(tables.mark).where(tables.mark.c.name == "rolled").values(value=samples[-1].id)
    connection.execute(last)
    return len(samples)


def _add(connection: Connection, fresh: Mapping[Place, Bucket]) -> None:
    held = _stored_buckets(connection, fresh)
    whole = {
        place: merge_buckets([held[place], new], place.start, place.width) if place in held else new
        for place, new in fresh.items()
    }
    upsert(connection, tables.rollup, [row(place, bucket) for place, bucket in whole.items()])


_AT_PLACE = select(*BUCKET).where(
    (_ROLLUP.series_id == bindparam("series_id"))
    & (_ROLLUP.width == bindparam("width"))
    & (_ROLLUP.start == bindparam("start"))
)


def _stored_buckets(connection: Connection, places: Iterable[Place]) -> dict[Place, Bucket]:
    # One by one: SQLite reads the whole table for (a, b, c) IN (...).
    found = ((place, connection.execute(_AT_PLACE, place._asdict()).one_or_none()) for place in places)
    return {place: bucket(row) for place, row in found if row is not None}


def row(place: Place, its: Bucket) -> dict[str, Any]:
    """A bucket as a row of ``rollup``."""
    extremes = {"minimum": its.minimum, "mean": its.mean, "maximum": its.maximum}
    sketch = None if its.sketch is None else its.sketch.data
    return {**place._asdict(), "count": its.count, **extremes, "sketch": sketch}

"""Questions about series: single values, roll-ups, and what fits a plot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, func, or_, select

from measurement.archive import tables
from measurement.archive.rollups import BUCKET, Place, bucket, by_place, last_rolled
from measurement.archive.rows import NETWORK, Value, measurement, observation
from measurement.archive.values import HOUR, MINUTE, Bucket, Held, coarser, merge_buckets
from measurement.model import Measurement, Metric, Observation, PathKey, Series

_S = tables.series.c
_V = tables.sample.c
_R = tables.rollup.c
_COLUMNS = (
    *(_S.path, _S.source, _S.destination, _S.metric),
    *(_V.value, _V.started_at, _V.observed_at, _V.source.label("origin"), _V.tool, _V.parameters),
)
_NEWEST_FIRST = (_V.observed_at.desc(), _V.id.desc())


def _values() -> Select[tuple[object, ...]]:
    return select(*_COLUMNS).join_from(tables.sample, tables.series, _V.series_id == _S.id)


def span(at: ColumnElement[float], since: float | None, until: float | None) -> Iterator[ColumnElement[bool]]:
    """The conditions of a half-open interval of time."""
    if since is not None:
        yield at >= since
    if until is not None:
        yield at < until


def query(
    connection: Connection,
    path: str | None,
    source: str | None,
    destination: str | None,
    metric: Metric | None,
    since: float | None,
    until: float | None,
    limit: int,
) -> list[Measurement]:
    """See :meth:`measurement.archive.Archive.query`."""
    wanted = ((_S.path, path), (_S.source, source), (_S.destination, destination))
    found = _values().where(*(column == value for column, value in wanted if value is not None))
    found = found.where(_S.metric.in_(NETWORK) if metric is None else _S.metric == metric.value)
    found = found.where(*span(_V.observed_at, since, until)).order_by(*_NEWEST_FIRST).limit(limit)
    return [measurement(row) for row in connection.execute(found)]


def observations(
    connection: Connection,
    key: PathKey | None,
    metric: str | None,
    since: float | None,
    until: float | None,
    limit: int,
) -> list[Observation]:
    """See :meth:`measurement.archive.Archive.observations`."""
    found = _values().where(_S.metric.not_in(NETWORK))
    if key is not None:
        found = found.where(_S.path == key.path, _S.source == key.source, _S.destination == key.destination)
    if metric is not None:
        found = found.where(_S.metric == metric)
    found = found.where(*span(_V.observed_at, since, until)).order_by(*_NEWEST_FIRST).limit(limit)
    return [observation(row) for row in connection.execute(found)]


def latest(connection: Connection) -> list[Measurement]:
    """The newest value of each network metric on each directed path."""
    newest = select(_V.id).where(_V.series_id == _S.id).order_by(*_NEWEST_FIRST).limit(1)
    newest = newest.correlate(tables.series)
    found = select(*_COLUMNS).join_from(tables.series, tables.sample, _V.id == newest.scalar_subquery())
    found = found.where(_S.metric.in_(NETWORK)).order_by(_S.path, _S.source, _S.destination, _S.metric)
    return [measurement(row) for row in connection.execute(found)]


def newest(connection: Connection) -> float | None:
    """When the newest value of a network metric was observed; None before the first."""
    last = select(func.max(_V.observed_at)).where(_V.series_id == _S.id).correlate(tables.series)
    found = select(func.max(last.scalar_subquery())).select_from(tables.series)
    at: float | None = connection.scalar(found.where(_S.metric.in_(NETWORK)))
    return at


def best(connection: Connection, keys: Iterable[PathKey], metric: Metric, since: float) -> Measurement | None:
    """See :meth:`measurement.archive.Archive.best`."""
    order = _V.value.desc() if metric.higher_is_better else _V.value
    numbers = [number(connection, Series(*key, metric.value)) for key in keys]
    known = [one for one in numbers if one is not None]
    found = _values().where(_V.series_id.in_(known), _V.observed_at >= since)
    row = connection.execute(found.order_by(order, _V.observed_at.desc()).limit(1)).one_or_none()
    return None if row is None else measurement(row)


def series(connection: Connection) -> list[Series]:
    """Every series that anything is kept of, in order."""
    kept = or_(exists().where(_V.series_id == _S.id), exists().where(_R.series_id == _S.id))
    columns = (_S.path, _S.source, _S.destination, _S.metric)
    return sorted(Series(*row) for row in connection.execute(select(*columns).where(kept)))


_NUMBER = select(_S.id).where(
    _S.path == bindparam("path"),
    _S.source == bindparam("source"),
    _S.destination == bindparam("destination"),
    _S.metric == bindparam("metric"),
)


def number(connection: Connection, wanted: Series) -> int | None:
    """A series' number; None if nothing of it was ever kept."""
    return connection.scalar(_NUMBER, wanted._asdict())


def values(
    connection: Connection, its: int, since: float | None, until: float | None, limit: int | None
) -> list[tuple[float, float]]:
    """See :meth:`measurement.archive.Archive.values`."""
    found = select(_V.observed_at, _V.value).where(_V.series_id == its, *span(_V.observed_at, since, until))
    found = found.order_by(_V.observed_at, _V.id).limit(limit)
    return [(at, value) for at, value in connection.execute(found)]


_HELD = (
    select(*BUCKET)
    .where(_R.series_id == bindparam("series_id"), _R.width == bindparam("width"))
    .where(_R.start >= bindparam("low"), _R.start < bindparam("end"))
)


def buckets(
    connection: Connection, numbers: Sequence[int], width: int, since: float | None, until: float | None
) -> dict[int, list[Bucket]]:
    """The roll-ups of series by their numbers, with what came since they were made; oldest first."""
    low = -math.inf if since is None else math.nextafter(since - width, math.inf)
    end = math.inf if until is None else until
    found: dict[int, dict[float, list[Bucket]]] = {its: {} for its in numbers}
    for its in found:
        # One at a time: for many SQLite would go by time, through all series.
        rows = connection.execute(_HELD, {"series_id": its, "width": width, "low": low, "end": end})
        found[its] = {held.start: [held] for held in map(bucket, rows.all())}
    for place, fresh in _not_rolled(connection, numbers, width):
        if low <= fresh.start < end:
            found[place.series_id].setdefault(fresh.start, []).append(fresh)
    return {
        its: [merge_buckets(parts[start], start, width) for start in sorted(parts)]
        for its, parts in found.items()
    }


def _not_rolled(connection: Connection, numbers: Sequence[int], width: int) -> Iterable[tuple[Place, Bucket]]:
    # By id, not by series: these are the last few rows of the table.  The sum keeps the databases from
    # choosing the index of the series, through which they would read all its values.
    found = select(_V.series_id, _V.observed_at, _V.value).where(
        _V.id > last_rolled(connection), (_V.series_id + 0).in_(numbers)
    )
    return by_place(connection.execute(found).all(), width).items()


def plot(
    connection: Connection, its: int, since: float | None, until: float | None, most: int
) -> list[Bucket]:
    """See :meth:`measurement.archive.Archive.plot`."""
    row = connection.execute(select(_S.raw_from, _S.minutes_from).where(_S.id == its)).one()
    if _complete(row.raw_from, since):
        found = values(connection, its, since, until, most + 1)
        if len(found) <= most:
            return [Bucket.single(at, value) for at, value in found]
    if _complete(row.minutes_from, since) and _rows(connection, its, MINUTE, since, until, most) <= most:
        minutes = buckets(connection, [its], MINUTE, since, until)[its]
        if len(minutes) <= most:
            return minutes
    return coarser(buckets(connection, [its], HOUR, since, until)[its], most)


def _complete(kept_from: float | None, since: float | None) -> bool:
    return kept_from is None or (since is not None and since >= kept_from)


def _rows(
    connection: Connection, its: int, width: int, since: float | None, until: float | None, most: int
) -> int:
    some = select(_R.start).where(_R.series_id == its, _R.width == width, *span(_R.start, since, until))
    return connection.scalar(select(func.count()).select_from(some.limit(most + 1).subquery())) or 0


def page(connection: Connection, after: int, last: int, most: int) -> tuple[list[Value], int]:
    """Values by id, from the one after ``after`` to ``last``; and where to go on."""
    found = _values().add_columns(_V.id).where(_V.id > after, _V.id <= last).order_by(_V.id).limit(most)
    rows = connection.execute(found).all()
    batch: list[Value] = [measurement(row) if row.metric in NETWORK else observation(row) for row in rows]
    return batch, rows[-1].id if rows else last


def inventory(connection: Connection) -> list[Held]:
    """How many values are held of each series, and of what time."""
    groups = select(
        _V.series_id,
        func.count().label("count"),
        func.min(_V.observed_at).label("first"),
        func.max(_V.observed_at).label("last"),
    ).group_by(_V.series_id)
    group = groups.subquery()
    columns = (_S.path, _S.source, _S.destination, _S.metric, group.c.count, group.c.first, group.c.last)
    found = select(*columns).join_from(tables.series, group, group.c.series_id == _S.id)
    return sorted(Held(Series(*row[:4]), *row[4:]) for row in connection.execute(found))

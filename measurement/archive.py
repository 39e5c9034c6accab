"""The measurement archive: every value, kept in one SQLite file.

One process writes (the collector), any number read.  Write-ahead logging lets readers go on while the
writer commits, and ``synchronous=FULL`` makes a commit wait for the disk: what :meth:`Archive.append`
has returned for is there after ``kill -9`` and after a power cut.  Values are appended, never changed;
appending the same one twice (same path, metric and origin) leaves one.

Python's own ``sqlite3`` rather than SQLAlchemy: one table, no joins, and the collector stays small.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from measurement.errors import ArchiveError
from measurement.model import Measurement, Metric, PathKey

VERSION = 1
_SCHEMA = """
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL, source TEXT NOT NULL, destination TEXT NOT NULL,
    metric TEXT NOT NULL, value REAL NOT NULL,
    started_at REAL NOT NULL, observed_at REAL NOT NULL,
    origin TEXT NOT NULL, tool TEXT NOT NULL, parameters TEXT NOT NULL,
    UNIQUE (path, source, destination, metric, origin)
) STRICT;
CREATE INDEX measurement_of_path ON measurement (path, source, destination, metric, observed_at);
CREATE INDEX measurement_by_time ON measurement (observed_at);
"""
_COLUMNS = "path, source, destination, metric, value, started_at, observed_at, origin, tool, parameters"
_BUSY = 5.0


class Archive:
    """An open archive, for one thread.

    :param file: the database file; made if missing, unless ``readonly``.
    :raises ArchiveError: when it cannot be opened or another version wrote it.
    """

    def __init__(self, file: Path, *, readonly: bool = False) -> None:
        uri = f"{file.resolve().as_uri()}?mode={'ro' if readonly else 'rwc'}"
        try:
            self._db = sqlite3.connect(uri, uri=True, timeout=_BUSY, isolation_level=None)
        except sqlite3.Error as error:
            raise ArchiveError(f"{file}: {error}") from None
        try:
            found = self._prepare(readonly)
        except sqlite3.Error as error:
            self._db.close()
            raise ArchiveError(f"{file}: {error}") from None
        if found != VERSION:
            self._db.close()
            raise ArchiveError(f"{file}: archive version {found}; this program reads version {VERSION}")

    def _prepare(self, readonly: bool) -> int:
        if not readonly:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._create()
        return self._version()

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _create(self) -> None:
        if self._version() != 0:
            return
        # One transaction, the version last inside it: a crash leaves no half-made archive.
        self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def append(self, measurements: Iterable[Measurement]) -> int:
        """Keep all of these, or none if the disk refuses; returns how many were new."""
        rows = [_row(measurement) for measurement in measurements]
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        before = self._db.total_changes
        try:
            self._db.execute("BEGIN IMMEDIATE")
            with self._db:
                self._db.executemany(
                    f"INSERT OR IGNORE INTO measurement ({_COLUMNS}) VALUES ({marks})",  # noqa: S608
                    rows,
                )
        except sqlite3.Error as error:
            raise ArchiveError(f"cannot write: {error}") from None
        return self._db.total_changes - before

    def query(
        self,
        *,
        path: str | None = None,
        source: str | None = None,
        destination: str | None = None,
        metric: Metric | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 1000,
    ) -> list[Measurement]:
        """Measurements with all the given properties, the newest first, at most ``limit``.

        :param since: observed at this time or later.
        :param until: observed before this time.
        """
        wanted = (
            ("path = ?", path),
            ("source = ?", source),
            ("destination = ?", destination),
            ("metric = ?", metric),
            ("observed_at >= ?", since),
            ("observed_at < ?", until),
        )
        given = [(clause, value) for clause, value in wanted if value is not None]
        where = " AND ".join(clause for clause, _ in given) or "TRUE"
        tail = f"WHERE {where} ORDER BY observed_at DESC, id DESC LIMIT ?"
        return self._select(tail, [*(value for _, value in given), limit])

    def latest(self) -> list[Measurement]:
        """The newest value of each metric on each directed path."""
        return self._select(
            "WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER ("
            "PARTITION BY path, source, destination, metric ORDER BY observed_at DESC, id DESC) AS place "
            "FROM measurement) WHERE place = 1) ORDER BY path, source, destination, metric",
            [],
        )

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> Measurement | None:
        """The best value of a metric seen on any of these paths since a time; None without any."""
        order = "DESC" if metric.higher_is_better else "ASC"
        found = [
            measurement
            for key in keys
            for measurement in self._select(
                "WHERE path = ? AND source = ? AND destination = ? AND metric = ? AND observed_at >= ? "
                f"ORDER BY value {order}, observed_at DESC LIMIT 1",
                [*key, metric, since],
            )
        ]
        if not found:
            return None
        choose = max if metric.higher_is_better else min
        return choose(found, key=lambda measurement: measurement.value)

    def prune(self, before: float) -> int:
        """Forget what was observed before a time; returns how many values that were."""
        try:
            return self._db.execute("DELETE FROM measurement WHERE observed_at < ?", [before]).rowcount
        except sqlite3.Error as error:
            raise ArchiveError(f"cannot write: {error}") from None

    def _select(self, tail: str, values: Sequence[object]) -> list[Measurement]:
        try:
            with closing(self._db.execute(f"SELECT {_COLUMNS} FROM measurement {tail}", values)) as rows:  # noqa: S608
                return [_measurement(row) for row in rows]
        except sqlite3.Error as error:
            raise ArchiveError(f"cannot read: {error}") from None


def _row(measurement: Measurement) -> tuple[object, ...]:
    return (
        *measurement.key,
        measurement.metric.value,
        measurement.value,
        measurement.started_at,
        measurement.observed_at,
        measurement.source,
        measurement.tool,
        json.dumps(dict(measurement.parameters)),
    )


def _measurement(row: tuple[Any, ...]) -> Measurement:
    path, source, destination, metric, value, started_at, observed_at, origin, tool, parameters = row
    key = PathKey(path, source, destination)
    return Measurement(
        key, Metric(metric), value, started_at, observed_at, origin, tool, json.loads(parameters)
    )

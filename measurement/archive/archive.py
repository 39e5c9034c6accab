"""The archive: every value, kept in one database.

What :meth:`Archive.append` has returned for is there after ``kill -9`` and after a power cut (SQLite; for
PostgreSQL as far as the server's ``synchronous_commit`` and ``fsync`` are on, as they are unless switched
off).  Values are appended, never changed; the same one given twice is kept once.  Readers go on while
somebody writes.  The theory of the parts is in their modules; formats and figures are in
docs/measurement-archive.md.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from sqlalchemy import Connection, func, select

from measurement.archive import database, documents, expiry, rollups, rows, series_queries, value_writer
from measurement.archive.tables import sample
from measurement.archive.values import Appended, Bucket, Held, Maintained, Refusal, Retention
from measurement.errors import ArchiveError, LeaseLost
from measurement.model import Measurement, Metric, Observation, PathKey, Series

T = TypeVar("T")


class Archive:
    """An open archive, for one thread.

    :param where: an SQLite file, made if missing unless ``readonly``; or a URL
        (``postgresql+psycopg://host/name``, ``sqlite:////var/lib/adon/measurements.db``).
    :raises ArchiveUnavailable: when its database does not answer.
    :raises ArchiveError: when it cannot be opened for another reason, or another version wrote it.
    """

    def __init__(self, where: Path | str, *, readonly: bool = False) -> None:
        self._engine, self.name = database.open_engine(where, readonly=readonly)
        self._readonly = readonly
        self._known: dict[Series, int] = {}
        self._leases: dict[str, str] = {}
        database.prepare(self._engine, self.name, readonly=readonly)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    # -- values in -----------------------------------------------------------------------------------

    def append(self, values: Iterable[Measurement | Observation]) -> Appended:
        """Keep all of these that can be kept, or none if the database refuses; durable on return.

        :raises ArchiveError: if the database refuses.
        :raises LeaseLost: see :meth:`lease`.
        """
        return self.append_batches([values])[0]

    def append_batches(self, batches: Iterable[Iterable[Measurement | Observation]]) -> list[Appended]:
        """Keep several batches as :meth:`append` does, all of them in one transaction."""
        sorted_out = [_sorted_out(values) for values in batches]
        found: dict[Series, int] = {}
        known, kept = ChainMap(found, self._known), []
        with self._writing() as connection:
            for samples, refused in sorted_out:
                appended, series = value_writer.append_samples(connection, samples, known)
                known.update(series)
                kept.append(appended + Appended(refused=refused))
        self._known |= found
        return kept

    # -- values out ----------------------------------------------------------------------------------

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
        with self._reading() as connection:
            return series_queries.query(connection, path, source, destination, metric, since, until, limit)

    def latest(self) -> list[Measurement]:
        """The newest value of each network metric on each directed path."""
        with self._reading() as connection:
            return series_queries.latest(connection)

    def newest(self) -> float | None:
        """When the newest value of a network metric was observed; None before the first."""
        with self._reading() as connection:
            return series_queries.newest(connection)

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> Measurement | None:
        """The best value of a metric seen on any of these paths since a time; None without any."""
        with self._reading() as connection:
            return series_queries.best(connection, keys, metric, since)

    def observations(
        self,
        key: PathKey | None = None,
        metric: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 1000,
    ) -> list[Observation]:
        """Values of custom metrics, the newest first, at most ``limit``; times as in :meth:`query`."""
        with self._reading() as connection:
            return series_queries.observations(connection, key, metric, since, until, limit)

    def series(self) -> list[Series]:
        """Every series that anything is kept of, in order."""
        with self._reading() as connection:
            return series_queries.series(connection)

    def values(
        self,
        series: Series,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[tuple[float, float]]:
        """``(observed_at, value)`` of a series, the oldest first, at most ``limit``."""
        return self._of(series, lambda db, its: series_queries.values(db, its, since, until, limit))

    def buckets(
        self,
        series: Series,
        resolution: Literal[60, 3600],
        since: float | None = None,
        until: float | None = None,
    ) -> list[Bucket]:
        """The roll-ups of the minutes or hours that overlap ``[since, until)``, the oldest first.

        Values that no maintenance has rolled up yet are in them.
        """
        return self.all_buckets([series], resolution, since, until)[0]

    def all_buckets(
        self,
        wanted: Sequence[Series],
        resolution: Literal[60, 3600],
        since: float | None = None,
        until: float | None = None,
    ) -> list[list[Bucket]]:
        """Of each of these series what :meth:`buckets` answers, all as they are at one moment."""
        with self._reading() as connection:
            numbers = [series_queries.number(connection, series) for series in wanted]
            known = [its for its in numbers if its is not None]
            found = series_queries.buckets(connection, known, resolution, since, until)
        return [[] if its is None else found[its] for its in numbers]

    def plot(
        self, series: Series, since: float | None = None, until: float | None = None, most: int = 1000
    ) -> list[Bucket]:
        """At most ``most`` buckets that show the interval, the oldest first.

        Single values if they are few and all there, else minutes, else hours, else several hours as one.
        """
        return self._of(series, lambda db, its: series_queries.plot(db, its, since, until, most))

    def _of(self, series: Series, read: Callable[[Connection, int], list[T]]) -> list[T]:
        with self._reading() as connection:
            its = series_queries.number(connection, series)
            return [] if its is None else read(connection, its)

    def inventory(self) -> list[Held]:
        """Of each series with single values, how many and of what time."""
        with self._reading() as connection:
            return series_queries.inventory(connection)

    def size(self) -> int:
        """How many values are held."""
        with self._reading() as connection:
            return connection.scalar(select(func.count()).select_from(sample)) or 0

    def contents(self, most: int) -> Iterator[list[rows.Value]]:
        """All values in the order in which they came, ``most`` at a time.

        What is added meanwhile is not among them.  No transaction is open between two batches.
        """
        with self._reading() as connection:
            last = connection.scalar(select(func.max(sample.c.id))) or 0
        after = 0
        while after < last:
            with self._reading() as connection:
                found, after = series_queries.page(connection, after, last, most)
            if found:
                yield found

    # -- maintenance ---------------------------------------------------------------------------------

    def maintain(self, now: float, retention: Retention) -> Maintained:
        """Roll up what has come since the last time, then drop what is too old.

        Meant to be called every minute or so: it does what has become due.
        """
        total = 0
        while done := self._roll_up():
            total += done
        return Maintained(total, expiry.drop(self._writing, now, retention))

    def _roll_up(self) -> int:
        with self._writing() as connection:
            return rollups.roll_up(connection)

    # -- documents, states, leases -------------------------------------------------------------------

    def put_document(
        self,
        kind: str,
        identifier: str,
        at: float,
        series: Series | None,
        document: Mapping[str, Any],
        *,
        is_open: bool = False,
    ) -> None:
        """Keep a JSON document (an alarm, an execution) in place of the one with its kind and id.

        :param at: the time by which it is looked for and, unless it is open, dropped.
        :raises ValueError: if it is not JSON.
        """
        with self._writing() as connection:
            documents.store_document(connection, kind, identifier, at, series, document, is_open)

    def document(self, kind: str, identifier: str) -> dict[str, Any] | None:
        """The document of this kind and id; None if there is none."""
        with self._reading() as connection:
            return documents.get(connection, kind, identifier)

    def documents(
        self,
        kind: str,
        *,
        series: Series | None = None,
        since: float | None = None,
        until: float | None = None,
        open_only: bool = False,
        limit: int = 1000,
    ) -> list[dict[str, Any]]:
        """Documents of a kind, the newest first, at most ``limit``."""
        with self._reading() as connection:
            return documents.find(connection, kind, series, since, until, open_only, limit)

    def delete_document(self, kind: str, identifier: str) -> bool:
        """Forget a document; whether there was one."""
        with self._writing() as connection:
            return documents.remove(connection, kind, identifier)

    def put_state(self, name: str, data: bytes) -> None:
        """Keep a small state (of a detector) in place of the last one of its name; durable on return."""
        with self._writing() as connection:
            documents.put_state(connection, name, data)

    def put_states(self, states: Mapping[str, bytes]) -> None:
        """Keep several small states, all or none; durable on return."""
        if states:
            with self._writing() as connection:
                documents.put_states(connection, states)

    def states(self, prefix: str) -> dict[str, bytes]:
        """The states whose names begin so, by name."""
        with self._reading() as connection:
            return documents.states(connection, prefix)

    def state(self, name: str) -> bytes | None:
        """The state of this name; None if there is none."""
        with self._reading() as connection:
            return documents.state(connection, name)

    def lease(self, name: str, holder: str, now: float, seconds: float) -> bool:
        """Take or renew a lease; False while another holder's runs.

        An archive that has asked for a lease is fenced: from then on it writes only as long as its holder
        was the last to get it, whatever its own clock says; else :class:`LeaseLost` is raised and nothing
        is written.  So a collector that was suspended for an hour cannot write beside its successor.
        """
        self._leases[name] = holder
        with self._writing(fenced=False) as connection:
            return documents.take_lease(connection, name, holder, now, seconds)

    # -- transactions --------------------------------------------------------------------------------

    def _reading(self) -> Any:
        return database.reading(self._engine)

    @contextmanager
    def _writing(self, *, fenced: bool = True) -> Iterator[Connection]:
        if self._readonly:
            raise ArchiveError(f"cannot write: {self.name} is opened readonly", code="read-only")
        with database.writing(self._engine) as connection:
            for name, holder in self._leases.items() if fenced else ():
                found = documents.lease_holder(connection, name)
                if found != holder:
                    raise LeaseLost(f"cannot write: the lease {name} of {holder} is now {found}'s")
            yield connection


def _sorted_out(
    values: Iterable[Measurement | Observation],
) -> tuple[list[rows.SampleRow], tuple[Refusal, ...]]:
    samples: list[rows.SampleRow] = []
    refused: list[Refusal] = []
    for value in values:
        try:
            samples.append(rows.sample_row(value))
        except ValueError as error:
            refused.append(Refusal(value.series, value.source, str(error)))
    return samples, tuple(refused)

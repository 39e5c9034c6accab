"""How the archive reaches its database: SQLite's settings, turns of writers, snapshots, errors.

SQLite: write-ahead logging lets readers go on while the writer commits, and ``synchronous=FULL`` makes a
commit wait for the disk.  A writer says BEGIN IMMEDIATE, so that a second one waits at the door.
PostgreSQL: a writer takes an advisory lock for its transaction.  Either way writers take turns, and ids are
given in the order of commits; readers see one moment of the whole archive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from measurement.archive.availability import is_unavailable, postgresql_timeouts
from measurement.archive.tables import VERSION, mark, metadata
from measurement.errors import ArchiveError, ArchiveUnavailable, shorten

WAIT_S = 5.0
"""How long a writer waits for another's transaction."""

_LOCK = 0x61646F6E  # any number that other users of the same PostgreSQL database do not take
_WRITES = "archive_writes"


def open_engine(where: Path | str, *, readonly: bool) -> tuple[Engine, str]:
    """An engine for the archive, and the archive's name for messages (without a password).

    :raises ArchiveError: for a URL of no database that is known here, or a missing driver.
    """
    url = _url(where)
    name = str(url.database) if _is_sqlite(url) else url.render_as_string(hide_password=True)
    if _is_sqlite(url):
        return _sqlite(url, readonly), name
    try:
        engine = create_engine(
            url, pool_size=1, max_overflow=0, pool_pre_ping=True, connect_args=postgresql_timeouts(url)
        )
    except ImportError as error:
        raise ArchiveError(f"{name}: PostgreSQL's driver is not installed: {error}") from None
    event.listen(engine, "connect", _configure_postgresql)
    engine = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=readonly)
    return engine, name


def _url(where: Path | str) -> URL:
    if isinstance(where, Path):
        return URL.create("sqlite", database=str(where.resolve()))
    try:
        url = make_url(where)
    except ArgumentError:
        raise ArchiveError(
            "archive: is not a database URL such as postgresql+psycopg://host/name", code="malformed"
        ) from None
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername == "postgresql+psycopg":
        return url
    if not _is_sqlite(url):
        raise ArchiveError(
            f"archive: {url.drivername}: is neither SQLite nor postgresql+psycopg", code="unknown-value"
        )
    if url.database in (None, "", ":memory:"):
        raise ArchiveError("archive: a database in memory does not survive a restart; name a file")
    return url


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _sqlite(url: URL, readonly: bool) -> Engine:
    # Opened by URI: "ro" and "rw" make no file, whose mode would be the process's default.
    path = Path(str(url.database)).resolve()
    uri = f"{path.as_uri()}?mode={'ro' if readonly else 'rw'}"

    def connect() -> sqlite3.Connection:
        if not readonly:
            _make_file(path)
        return sqlite3.connect(uri, uri=True, timeout=WAIT_S, isolation_level=None, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=0)
    event.listen(engine, "connect", partial(_configure_sqlite, readonly=readonly))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_file(path: Path) -> None:
    """Make the archive's file, which only its owner can read; SQLite gives its other files the same mode."""
    if path.exists():
        return
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise ArchiveError(f"unable to open: {error.strerror}", code="unreadable") from error


def _configure_sqlite(connection: Any, _record: object, *, readonly: bool) -> None:
    if not readonly:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _configure_postgresql(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {int(WAIT_S * 1000)}")
    connection.commit()


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one moment.

    :raises ArchiveUnavailable: if the database does not answer.
    :raises ArchiveError: if it cannot be read for another reason.
    """
    with _translate_errors("cannot read"), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction during which nobody else writes; durable when this returns.

    :raises ArchiveUnavailable: if the database does not answer, or another writer takes too long.
    :raises ArchiveError: if it refuses; in either case nothing is written.
    """
    with _translate_errors("cannot write"), engine.connect() as plain:
        postgresql = engine.dialect.name == "postgresql"
        options: dict[str, Any] = {_WRITES: True}
        if postgresql:
            # What the lock was waited for must be seen: a snapshot of the transaction's begin is too old.
            options["isolation_level"] = "READ COMMITTED"
        connection = plain.execution_options(**options)
        with connection.begin():
            if postgresql:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield connection


@contextmanager
def _translate_errors(what: str) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        kind = ArchiveUnavailable if is_unavailable(error) else ArchiveError
        raise kind(f"{what}: {shorten(str(cause))}") from error


def prepare(engine: Engine, name: str, *, readonly: bool) -> None:
    """Make the tables where there are none, and refuse those of another version.

    :raises ArchiveUnavailable: if the database does not answer.
    :raises ArchiveError: naming the archive and both versions.
    """
    try:
        with reading(engine) as connection:
            found = _version(connection)
        if found is None and not readonly:
            found = _create(engine)
    except ArchiveError as error:
        engine.dispose()
        raise type(error)(f"{name}: {error}", code=error.code) from error.__cause__
    if found == VERSION:
        return
    engine.dispose()
    if found is None:
        raise ArchiveError(f"{name}: there is no archive in it yet", code="not-found")
    raise ArchiveError(
        f"{name}: archive version {found}, this program reads version {VERSION}; it is left as it is: "
        "move it away to begin a new one",
        code="version",
    )


def _version(connection: Connection) -> int | None:
    if connection.dialect.name == "sqlite":
        return connection.exec_driver_sql("PRAGMA user_version").scalar() or None
    if not inspect(connection).has_table(mark.name):
        return None
    return connection.scalar(select(mark.c.value).where(mark.c.name == "version"))


def _create(engine: Engine) -> int:
    # Under the writers' lock, and looked at again: two processes may begin at once.  The version comes
    # last, in the same transaction: a crash leaves no half-made archive.
    with writing(engine) as connection:
        found = _version(connection)
        if found is None:
            metadata.create_all(connection)
            marks = [{"name": "version", "value": VERSION}, {"name": "rolled", "value": 0}]
            connection.execute(mark.insert(), marks)
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA user_version={VERSION}")
    return VERSION if found is None else found

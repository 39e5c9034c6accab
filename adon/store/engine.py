"""Engine of a database: URL, settings of SQLite and PostgreSQL, translated errors.

SQLite is the default.  Its settings, and why:

- ``journal_mode=WAL``: readers never wait for the writer, nor it for them.
- ``synchronous=FULL``: a commit is on disk when it returns.  ``NORMAL`` for a transaction that need not be
  (:meth:`~adon.store.store.Store.transaction`): it is written, every process sees it, and it outlives ours
  however that ends; but a power failure may take it back, with all others since the last commit on disk.
- ``foreign_keys=ON``: SQLite does not check them otherwise.
- ``busy_timeout``: another process's short write (a token made on the command line) is waited for.

The driver starts no transactions of its own, because it starts them too late for reads and never for DDL.
A transaction that will write starts with BEGIN IMMEDIATE, so that a second writer waits at the start instead
of failing in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pydantic_core import from_json
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from adon.errors import DatabaseUnavailable, InvalidInput, Unavailable
from measurement.archive.availability import is_unavailable, postgresql_timeouts

BUSY_TIMEOUT_MS = 5000
WRITES = "adon_writes"
"""The execution option of a connection that is going to write."""
DURABLE = "adon_durable"
"""The execution option that says whether its commit waits for the disk; it does without."""

POSTGRESQL = ("postgresql", "postgres")
"""The names in URLs of PostgreSQL's own programs, for which SQLAlchemy would look for psycopg2."""


def parse_url(url: str) -> URL:
    """Return the URL of a database: ``sqlite:////var/lib/adon/adon.db`` or ``postgresql://host/adon``.

    PostgreSQL is reached by psycopg, whichever of its usual names the URL has.

    :raises InvalidInput: for text that is no such URL, and for a database in memory.
    """
    try:
        parsed = make_url(url)
        if parsed.drivername in POSTGRESQL:
            parsed = parsed.set(drivername="postgresql+psycopg")
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError):
        raise InvalidInput.of(
            "store", "is not a database URL such as sqlite:////var/lib/adon/adon.db"
        ) from None
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise InvalidInput.of("store", "a database in memory does not survive a restart; name a file")
    return parsed


def shown(url: URL) -> str:
    """Return the URL for messages, without its password."""
    return url.render_as_string(hide_password=True)


def open_engine(url: URL, *, read_only: bool) -> Engine:
    """Return an engine with the settings of this module.

    :raises InvalidInput: if the database's driver is not installed.
    """
    sqlite = url.get_backend_name() == "sqlite"
    try:
        # Python's NaN and Infinity are not JSON: PostgreSQL would refuse what SQLite takes.
        # pydantic's reader is several times faster, and bodies are what reading takes longest over.
        # The ping replaces connections that broke in an outage of the server.
        engine = create_engine(
            url,
            json_serializer=partial(json.dumps, allow_nan=False),
            json_deserializer=from_json,
            pool_pre_ping=not sqlite,
            connect_args={} if sqlite else postgresql_timeouts(url),
        )
    except ImportError as error:
        raise InvalidInput.of("store", f"{shown(url)}: its driver is not installed: {error}") from error
    if sqlite:
        event.listen(engine, "connect", partial(_configure_sqlite, read_only=read_only))
        event.listen(engine, "begin", _begin_sqlite)
    elif read_only:
        engine = engine.execution_options(postgresql_readonly=True)
    else:
        event.listen(engine, "begin", _begin_postgresql)
    return engine


def _configure_sqlite(connection: Any, _record: object, *, read_only: bool) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    settings = [f"busy_timeout={BUSY_TIMEOUT_MS}", "foreign_keys=ON", "synchronous=FULL"]
    for setting in [*settings, "query_only=ON" if read_only else "journal_mode=WAL"]:
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    wanted = "FULL" if options.get(DURABLE, True) else "NORMAL"
    # A setting of the connection, to be changed between two transactions only.
    if options.get(WRITES, False) and connection.info.get(DURABLE, "FULL") != wanted:
        connection.exec_driver_sql(f"PRAGMA synchronous={wanted}")
        connection.info[DURABLE] = wanted
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITES, False) else "BEGIN")


def _begin_postgresql(connection: Connection) -> None:
    if not connection.get_execution_options().get(DURABLE, True):
        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's exceptions into ours, their cause kept.

    :raises DatabaseUnavailable: if the database does not answer now.
    :raises Unavailable: for every other error of the database or its driver.
    """
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        kind = DatabaseUnavailable if is_unavailable(error) else Unavailable
        raise kind(f"the store does not answer: {str(cause).strip()}") from error

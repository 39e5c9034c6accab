"""How the store reaches its database: engine, SQLite's settings, schema check, translated errors.

SQLite is the default.  Its settings, and why:

- ``journal_mode=WAL``: readers never wait for the writer, nor it for them.
- ``synchronous=FULL``: a commit is on disk when it returns.  ``NORMAL`` for a transaction that need not be
  (:meth:`~adon.store.store.Store.transaction`): it is written, every process sees it, and it outlives ours
  however that ends; but a power failure may take it back, with all others since the last commit on disk.
- ``foreign_keys=ON``: SQLite does not check them otherwise.
- ``busy_timeout``: another process's short write (a token made on the command line) is waited for.

The driver's own idea of when a transaction begins is switched off, since it begins one too late for
reads and never for DDL: we say BEGIN ourselves, and BEGIN IMMEDIATE where we mean to write, so that a
second writer waits at the door instead of failing in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import from_json
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from adon.errors import DatabaseUnavailable, InvalidInput, Unavailable, UnknownSchema
from adon.store.tables import SCHEMA_REVISION
from measurement.archive.availability import is_unavailable, postgresql_timeouts

BUSY_TIMEOUT_MS = 5000
WRITES = "adon_writes"
"""The execution option of a connection that is going to write."""
DURABLE = "adon_durable"
"""The execution option that says whether its commit waits for the disk; it does without."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A set of tables with migrations of its own; two of them may share one database.

    :param revision: the migration that this code's tables are at.
    :param version_table: where the database says which one it is at.
    :param module: makes or upgrades the tables when run with the database's URL.
    """

    revision: str
    version_table: str
    module: str

    def command(self, url: URL) -> str:
        """The command that makes or upgrades the tables."""
        return f"python -m {self.module} {shown(url)}"


STATE = Schema(SCHEMA_REVISION, "alembic_version", "adon.store.upgrade")
"""The controller's tables."""


POSTGRESQL = ("postgresql", "postgres")
"""How PostgreSQL's own programs call it; without a driver's name SQLAlchemy would look for psycopg2."""


def parse_url(url: str) -> URL:
    """The database's URL: ``sqlite:////var/lib/adon/adon.db`` or ``postgresql://host/adon``.

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
    """The URL for messages, without its password."""
    return url.render_as_string(hide_password=True)


def open_engine(url: URL, *, read_only: bool) -> Engine:
    """An engine with the settings of this module.

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


def check_file(url: URL, schema: Schema = STATE) -> None:
    """Refuse an SQLite file that is not there: opening it would make an empty one.

    :raises Unavailable: naming the command that makes it.
    """
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_file():
        raise Unavailable(
            f"there is no database {shown(url)}: adon serve makes it at its first start, in the folder "
            f"that it is given; by hand: {schema.command(url)}"
        )


def check_server(url: URL) -> None:
    """Connect to a database server once; SQLite has none.

    :raises DatabaseUnavailable: if it does not answer.
    """
    if url.get_backend_name() == "sqlite":
        return
    engine = open_engine(url, read_only=True)
    try:
        with translated(), engine.connect():
            pass
    finally:
        engine.dispose()


def check_schema(engine: Engine, schema: Schema = STATE) -> None:
    """Refuse a database whose schema is not the one this code was written for.

    A database without a schema counts as one that does not answer yet: it is being made or restored.

    :raises UnknownSchema: naming both revisions.
    :raises DatabaseUnavailable: if it does not answer, or has no schema.
    """
    with translated(), engine.connect() as connection:
        found = revision(connection, schema)
    if found == schema.revision:
        return
    what = "has no schema yet" if found is None else f"has schema revision {found}"
    kind = DatabaseUnavailable if found is None else UnknownSchema
    raise kind(
        f"the database {shown(engine.url)} {what}, this version of ADON needs {schema.revision}; "
        f"bring it there with: {schema.command(engine.url)}"
    )


def revision(connection: Connection, schema: Schema = STATE) -> str | None:
    """The schema revision of a database; None where there is none."""
    if not inspect(connection).has_table(schema.version_table):
        return None
    # The name is one of our constants.
    query = text(f"SELECT version_num FROM {schema.version_table}")  # noqa: S608
    found: str | None = connection.execute(query).scalar()
    return found


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

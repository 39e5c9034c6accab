"""Creation of the tables of a database, and the check of its schema.

Until the first release there is one schema and no migration: a database of another revision is refused with
the code ``database-schema``.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, func, insert, inspect, select

from adon.errors import DatabaseUnavailable, Unavailable, UnknownSchema
from adon.store.engine import WRITES, open_engine, parse_url, shown, translated
from adon.store.tables import STATE, Schema

_LOCK = 0x61646F6F  # a number that other users of the same PostgreSQL database do not lock


def make_database(url: str, schema: Schema = STATE) -> None:
    """Create the tables in a database that has none, all or nothing; else check its schema.

    :raises InvalidInput: for a URL that names no database.
    :raises UnknownSchema: for a database of another version.
    :raises Unavailable: if the database does not answer, or has tables of these names without a schema.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        _make_file(Path(str(parsed.database)))
    engine = open_engine(parsed, read_only=False)
    try:
        options = {WRITES: True}
        with translated(), engine.connect().execution_options(**options) as connection, connection.begin():
            if engine.dialect.name == "postgresql":  # standby controllers may start at the same time
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            if _read_revision(connection, schema) is None:
                schema.version.metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(schema.version).values(version_num=schema.revision))
        check_schema(engine, schema)
    finally:
        engine.dispose()


def _make_file(path: Path) -> None:
    """Create the database's file, readable by its owner only; SQLite gives its other files the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise Unavailable(f"the store's file cannot be made: {error}") from error


def open_database(url: str, schema: Schema, *, read_only: bool) -> Engine:
    """Open a database that :func:`make_database` has made.

    :raises InvalidInput: for a URL that names no database.
    :raises UnknownSchema: for a database of another version.
    :raises Unavailable: if it does not answer, or was never made.
    """
    parsed = parse_url(url)
    # SQLite would create an empty file.
    if parsed.get_backend_name() == "sqlite" and not Path(str(parsed.database)).is_file():
        raise Unavailable(
            f"there is no database {shown(parsed)}; adon serve makes it at its first start, in the folder "
            "of --data"
        )
    engine = open_engine(parsed, read_only=read_only)
    try:
        check_schema(engine, schema)
    except Unavailable:
        engine.dispose()
        raise
    return engine


def check_schema(engine: Engine, schema: Schema = STATE) -> None:
    """Refuse a database whose schema is not that of this code.

    A database without a schema counts as one that does not answer yet: it is being made or restored.

    :raises UnknownSchema: for another revision; the message names both.
    :raises DatabaseUnavailable: if it does not answer, or has no schema.
    """
    with translated(), engine.connect() as connection:
        found = _read_revision(connection, schema)
    if found == schema.revision:
        return
    database = f"the database {shown(engine.url)}"
    if found is None:
        raise DatabaseUnavailable(f"{database} has no schema yet; adon serve makes it at its first start")
    raise UnknownSchema(
        f"{database} has schema revision {found}, this version of ADON needs {schema.revision}; start the "
        "version that made it, or a new database, for example with --data NEW_FOLDER"
    )


def _read_revision(connection: Connection, schema: Schema) -> str | None:
    if not inspect(connection).has_table(schema.version.name):
        return None
    found: str | None = connection.execute(select(schema.version.c.version_num)).scalar()
    return found

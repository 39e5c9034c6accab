"""Make a database, or bring it to this version's schema: ``python -m adon.store.upgrade URL``.

A process of its own, started before the controller: Alembic and what it brings (15 MB) are imported
only inside :func:`upgrade`.  The migrations are part of the package and need no ``alembic.ini``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from adon.errors import EXIT_INPUT, AdonError, Unavailable, UnknownSchema, exit_status
from adon.store.engine import STATE, WRITES, Schema, open_engine, parse_url, revision, shown, translated

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(url: str, schema: Schema = STATE, migrations: Path = MIGRATIONS) -> str:
    """Run the migrations that a database lacks, all or none; the revision it is at then.

    :param migrations: the folder of those of this schema.

    :raises InvalidInput: for a URL that names no database.
    :raises Unavailable: if the database does not answer, or a newer version of ADON has changed it.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        _make_file(Path(str(parsed.database)))
    engine = open_engine(parsed, read_only=False)
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    try:
        with translated(), engine.connect().execution_options(**{WRITES: True}) as connection:
            config.attributes["connection"] = connection
            with connection.begin():
                found = revision(connection, schema)
                command.upgrade(config, "head")
    except CommandError as error:
        raise UnknownSchema(
            f"the database {shown(parsed)} has schema revision {found}, which this version of ADON "
            f"(schema {schema.revision}) does not know: {error}"
        ) from error
    finally:
        engine.dispose()
    return schema.revision


def _make_file(path: Path) -> None:
    """Make the database's file, which only its owner can read; SQLite gives its other files the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise Unavailable(f"the store's file cannot be made: {error}") from error


def main(arguments: list[str]) -> int:
    """The command: 0 when done, else :func:`~adon.errors.exit_status` with one line on standard error."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m adon.store.upgrade URL\n")
        return EXIT_INPUT
    try:
        done = upgrade(arguments[0])
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return exit_status(error)
    sys.stdout.write(f"schema {done}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

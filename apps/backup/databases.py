"""SQLite databases as files: copied while they are written to, checked, and asked for their schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from adon.errors import Unavailable
from adon.store.access.access_tables import ACCESS
from adon.store.tables import STATE
from apps.backup.manifest import ACCESS_FILE, STATE_FILE

WAIT_S = 30.0
_VERSION_TABLES = {STATE_FILE: STATE.version.name, ACCESS_FILE: ACCESS.version.name}


@contextmanager
def _connect(file: Path, mode: str) -> Iterator[sqlite3.Connection]:
    try:
        with closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True, timeout=WAIT_S)
        ) as made:
            yield made
    except sqlite3.Error as error:
        raise Unavailable(f"{file}: {error}") from error


def copy(source: Path, target: Path) -> None:
    """Copy a database as it is at one moment, also while others write to it.

    SQLite's online backup, in one step: it reads under one snapshot, and writers do not wait (WAL).

    :raises Unavailable: if it cannot be read, or the copy is damaged: then the original is, too.
    """
    with _connect(source, "ro") as here, _connect(target, "rwc") as there:
        here.backup(there)
        there.execute("PRAGMA journal_mode=DELETE")  # one file, without a -wal beside it
    check(target)


def check(file: Path) -> None:
    """Refuse a damaged database.

    :raises Unavailable: with what SQLite's own check found.
    """
    with _connect(file, "ro") as here:
        found = here.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise Unavailable(f"{file}: is damaged: {str(found)[:200]}")


def schema_of(name: str, file: Path) -> str | None:
    """The schema revision of a database of this role; None if it has none yet.

    :param name: ``state.db``, ``access.db`` or ``measurements.db``.
    :raises Unavailable: if it cannot be read.
    """
    with _connect(file, "ro") as here:
        table = _VERSION_TABLES.get(name)
        if table is None:
            version = here.execute("PRAGMA user_version").fetchone()[0]
            return str(version) if version else None
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if here.execute(query, (table,)).fetchone() is None:
            return None
        row = here.execute(f"SELECT version_num FROM {table}").fetchone()  # noqa: S608 - a constant of ours
        return None if row is None else str(row[0])

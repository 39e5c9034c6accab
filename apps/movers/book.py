"""What the process knows of its transfers, in a database of its own; the web side reads it.

One row per transfer; the document in it is the whole :class:`~adon.transfers.machine.Transfer`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from adon.errors import Unavailable
from adon.transfers.machine import Transfer
from adon.transfers.post import Box

NAME = "transfers.db"
"""In the data folder."""
VERSION = 2
_LETTERS = "CREATE TABLE letters (owner TEXT PRIMARY KEY, document TEXT NOT NULL);"
_TABLES = f"""
CREATE TABLE transfers (flow INTEGER PRIMARY KEY, open INTEGER NOT NULL, document TEXT NOT NULL);
CREATE INDEX transfers_open ON transfers (flow) WHERE open;
CREATE TABLE cursor (flow INTEGER NOT NULL);
{_LETTERS}
"""


@cache
def _codec() -> TypeAdapter[Transfer]:
    return TypeAdapter(Transfer)


@cache
def _letters() -> TypeAdapter[Box]:
    return TypeAdapter(Box)


class Book:
    """The writer's end; used by one thread.

    :raises Unavailable: if the file cannot be used, or is of another version.
    """

    def __init__(self, data: Path) -> None:
        try:
            self._database = sqlite3.connect(data / NAME, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            found = self._database.execute("PRAGMA user_version").fetchone()[0]
            if found == 0:
                self._database.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            elif found == 1:
                self._database.executescript(f"BEGIN; {_LETTERS} PRAGMA user_version = {VERSION}; COMMIT;")
            elif found != VERSION:
                raise Unavailable(f"{NAME} is of version {found}, and this program of {VERSION}")
        except sqlite3.Error as error:
            raise Unavailable(f"{NAME} cannot be used: {error}") from error

    def save(self, transfer: Transfer) -> None:
        """Keep a transfer as it is now; on disk when this returns."""
        row = (transfer.flow, is_open(transfer), _codec().dump_json(transfer).decode())
        self._database.execute("INSERT OR REPLACE INTO transfers VALUES (?, ?, ?)", row)

    def open_ones(self) -> list[Transfer]:
        """The transfers about which there is something left to do."""
        rows = self._database.execute("SELECT document FROM transfers WHERE open ORDER BY flow")
        return [_codec().validate_json(document) for (document,) in rows]

    @property
    def cursor(self) -> int | None:
        """The number of the last flow that was looked at; None in a new book."""
        row = self._database.execute("SELECT flow FROM cursor").fetchone()
        return None if row is None else int(row[0])

    @cursor.setter
    def cursor(self, flow: int) -> None:
        with self._database:
            self._database.execute("BEGIN")
            self._database.execute("DELETE FROM cursor")
            self._database.execute("INSERT INTO cursor VALUES (?)", (flow,))

    def knows(self, flow: int) -> bool:
        """Whether a flow's transfer is in the book."""
        return (
            self._database.execute("SELECT 1 FROM transfers WHERE flow = ?", (flow,)).fetchone() is not None
        )

    def save_box(self, box: Box) -> None:
        """Keep what waits for an owner."""
        row = (box.owner, _letters().dump_json(box).decode())
        self._database.execute("INSERT OR REPLACE INTO letters VALUES (?, ?)", row)

    def boxes(self) -> list[Box]:
        """What waits for each owner."""
        rows = self._database.execute("SELECT document FROM letters ORDER BY owner")
        return [_letters().validate_json(document) for (document,) in rows]

    def close(self) -> None:
        """Give the file back."""
        self._database.close()


def is_open(transfer: Transfer) -> bool:
    """Whether there is something left to do: to move, or to tell the controller."""
    return not transfer.phase.final or (transfer.report is not None and not transfer.over)


def read(data: Path, flow: int) -> Transfer | None:
    """A flow's transfer, for another process; None while there is none.

    :raises Unavailable: if the book cannot be read.
    """
    if not (data / NAME).exists():
        return None
    try:
        with _reading(data) as database:
            if database.execute("PRAGMA user_version").fetchone()[0] == 0:
                return None  # it is being made
            row = database.execute("SELECT document FROM transfers WHERE flow = ?", (flow,)).fetchone()
    except sqlite3.Error as error:
        raise Unavailable("what is known of transfers cannot be read") from error
    return None if row is None else _codec().validate_json(row[0])


@contextmanager
def _reading(data: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{data / NAME}?mode=ro", uri=True, timeout=1.0)) as database:
        yield database

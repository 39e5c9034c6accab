"""The way into the access database: one open database, and what is kept in it by kind."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, Update
from sqlalchemy.exc import IntegrityError

from adon.errors import Unavailable
from adon.store.access.access_tables import ACCESS
from adon.store.engine import DURABLE, WRITES, parse_url, translated
from adon.store.schema import open_database

log = logging.getLogger(__name__)

FILE = "access.db"
"""In the data folder, where the state is in SQLite too."""


def access_url(data: Path, store: str | None) -> str:
    """The URL of the access database.

    :param data: the data folder.
    :param store: the URL of the state database, if one was given: a server's takes these tables too.
    :raises InvalidInput: for a URL that names no database.
    """
    if store is not None and parse_url(store).get_backend_name() != "sqlite":
        return store
    return f"sqlite:///{data.resolve() / FILE}"


def clashed(error: Unavailable) -> bool:
    """Whether another writer was quicker by a moment: the database is well, one tries again."""
    return isinstance(error.__cause__, IntegrityError)


class AccessStore:
    """One open access database; usable from several threads and processes.

    Every method of this package raises :class:`~adon.errors.Unavailable` if the database does not answer.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Open a database that :func:`~adon.store.schema.make_database` has made.

        :raises InvalidInput: for a URL that names no database.
        :raises Unavailable: if it does not answer, or its schema is not this version's.
        """
        return cls(open_database(url, ACCESS, read_only=read_only))

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Connection]:
        """One transaction that writes; nothing of it is kept on an exception.

        :param durable: whether it is on disk when the block is left; a power failure may take it back if not.
        """
        with (
            translated(),
            self._engine.connect().execution_options(**{WRITES: True, DURABLE: durable}) as connection,
            connection.begin(),
        ):
            yield connection

    def touch(self, *statements: Update) -> None:
        """Record the last use of something; a failure does not refuse the request."""
        try:
            with self.writing(durable=False) as connection:
                for statement in statements:
                    connection.execute(statement)
        except Unavailable as error:
            log.warning("event=access.not-touched error=%r", str(error))

    @contextmanager
    def reading(self, *, snapshot: bool = False) -> Iterator[Connection]:
        """One transaction that reads.

        :param snapshot: whether all its queries must see the same state; SQLite's always do.
        """
        with translated(), self._engine.connect() as connection:
            if snapshot and self._engine.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

"""Transactions of the access database."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from sqlalchemy import Connection, Engine, Update
from sqlalchemy.exc import IntegrityError

from adon.errors import Unavailable
from adon.store.engine import DURABLE, WRITES, translated

log = logging.getLogger(__name__)


def is_clash(error: Unavailable) -> bool:
    """Whether another writer was a moment earlier: the database works, and the caller may try again."""
    return isinstance(error.__cause__, IntegrityError)


class AccessStore:
    """One open access database; usable from several threads and processes.

    Every method of this package raises :class:`~adon.errors.Unavailable` if the database does not answer.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Close the connections."""
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
        options = {WRITES: True, DURABLE: durable}
        with (
            translated(),
            self._engine.connect().execution_options(**options) as connection,
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

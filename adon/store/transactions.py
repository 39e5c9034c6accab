"""Transactions of the state database.

One process writes (the controller), any number read.  Saves inside :meth:`Transactions.transaction` become
one commit, which is on disk when the block is left.  A save outside such a block is a commit of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from sqlalchemy import Connection, Engine

from adon.errors import Unavailable
from adon.store import lease
from adon.store.engine import DURABLE, WRITES, translated
from adon.store.lease import Lease
from adon.store.schema import open_database
from adon.store.tables import STATE


class Transactions:
    """One open state database; usable from several threads, each with its own transactions.

    Every method of this class and its subclasses raises :class:`~adon.errors.Unavailable` if the database
    does not answer.
    """

    def __init__(self, engine: Engine, *, read_only: bool, fence: Lease | None = None) -> None:
        self._engine = engine
        self._read_only = read_only
        self._fence = fence
        self._thread = threading.local()

    @classmethod
    def open(cls, url: str, read_only: bool = False, fence: Lease | None = None) -> Self:
        """Open a database that :func:`~adon.store.schema.make_database` has made.

        :param fence: every save is refused (:class:`~adon.store.lease.LeaseLost`) once this lease is lost.
        :raises InvalidInput: for a URL that names no database.
        :raises Unavailable: if it does not answer, or its schema is not this version's.
        """
        engine = open_database(url, STATE, read_only=read_only)
        return cls(engine, read_only=read_only, fence=fence)

    def close(self) -> None:
        """Close the connections."""
        kept: Connection | None = getattr(self._thread, "kept", None)
        if kept is not None:
            kept.close()
            self._thread.kept = None
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Group the saves of this thread: all of them are kept, or on an exception none.

        Inside another transaction of the same thread it is part of that one.

        :param durable: whether it is on disk when the block is left.  If not, it is still written, and
            outlives this process; a power failure may take back the last seconds of such transactions.
        :raises Unavailable: if the store was opened for reading, or the commit failed.
        """
        with self._writing(durable=durable):
            yield

    @contextmanager
    def _writing(self, *, durable: bool = True, fenced: bool = True) -> Iterator[Connection]:
        """Yield the connection of this thread's transaction, which starts here if there is none."""
        if self._read_only:
            raise Unavailable("this process opened the store for reading only", code="read-only")
        current: Connection | None = getattr(self._thread, "connection", None)
        if current is not None:
            with translated():
                yield current
            return
        with translated(), self._keep_connection().execution_options(**{DURABLE: durable}).begin() as begun:
            self._thread.connection = begun.connection
            try:
                if fenced and self._fence is not None:
                    lease.check(begun.connection, self._fence)
                yield begun.connection
            finally:
                self._thread.connection = None

    def _keep_connection(self) -> Connection:
        """Return this thread's connection for writing: a new one each time would delay each move.

        SQLAlchemy replaces a broken one when the next transaction starts.
        """
        kept: Connection | None = getattr(self._thread, "kept", None)
        if kept is None:
            kept = self._thread.kept = self._engine.connect().execution_options(**{WRITES: True})
        return kept

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        # Inside a transaction of this thread, its own saves are seen.
        current: Connection | None = getattr(self._thread, "connection", None)
        if current is not None:
            with translated():
                yield current
            return
        with translated(), self._engine.connect() as connection:
            yield connection

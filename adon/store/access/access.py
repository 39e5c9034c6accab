"""The access database with its parts: users, tokens, sessions and the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from sqlalchemy import Engine

from adon.store.access.access_tables import ACCESS
from adon.store.access.audit import Audit
from adon.store.access.database import AccessStore
from adon.store.access.sessions import IDLE_S, LIFETIME_S, Sessions
from adon.store.access.tokens import Tokens
from adon.store.access.users import Users
from adon.store.engine import parse_url
from adon.store.schema import open_database

FILE = "access.db"
"""Its file in the data folder, where the state is in SQLite too."""


def access_url(data: Path, store: str | None) -> str:
    """Return the URL of the access database.

    :param data: the data folder.
    :param store: the URL of the state database, if one was given: a server's takes these tables too.
    :raises InvalidInput: for a URL that names no database.
    """
    if store is not None and parse_url(store).get_backend_name() != "sqlite":
        return store
    return f"sqlite:///{data.resolve() / FILE}"


class Access(AccessStore):
    """One open access database."""

    def __init__(self, engine: Engine, idle: float, lifetime: float) -> None:
        super().__init__(engine)
        self.users = Users(self)
        self.tokens = Tokens(self)
        self.sessions = Sessions(self, idle, lifetime)
        self.audit = Audit(self)

    @classmethod
    def open(
        cls, url: str, *, read_only: bool = False, idle: float = IDLE_S, lifetime: float = LIFETIME_S
    ) -> Self:
        """Open the database that :func:`~adon.store.schema.make_database` has made.

        :param idle: seconds without a request after which a session ends.
        :param lifetime: seconds after which every session ends.
        :raises InvalidInput: for a URL that names no database.
        :raises Unavailable: if it does not answer, or its schema is not this version's.
        """
        return cls(open_database(url, ACCESS, read_only=read_only), idle, lifetime)

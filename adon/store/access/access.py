"""The access database, with what is kept in it by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from adon.store.access.answers import Answers
from adon.store.access.audit import Audit
from adon.store.access.database import AccessStore
from adon.store.access.sessions import IDLE_S, LIFETIME_S, Sessions
from adon.store.access.tokens import Tokens
from adon.store.access.users import Users


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, and what is remembered of them."""

    store: AccessStore
    users: Users
    tokens: Tokens
    sessions: Sessions
    answers: Answers
    audit: Audit

    @classmethod
    def open(cls, url: str, *, idle: float = IDLE_S, lifetime: float = LIFETIME_S) -> Self:
        """Open the database that :func:`~adon.store.schema.make_database` has made.

        :param idle: seconds after which an unused session is over.
        :param lifetime: seconds after which every session is over.
        :raises InvalidInput: for a URL that names no database.
        :raises Unavailable: if it does not answer, or its schema is not this version's.
        """
        store = AccessStore.open(url)
        return cls(
            store,
            Users(store),
            Tokens(store),
            Sessions(store, idle, lifetime),
            Answers(store),
            Audit(store),
        )

    def close(self) -> None:
        """Give the connections back."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

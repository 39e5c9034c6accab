"""Answers to requests with an Idempotency-Key: a repeated request is carried out once.

::

    request = Request("POST", path, key, actor.name, body)
    kept = answers.claim(request, now)     # the answer to repeat; None: carry it out
    ...                                         # carry it out
    answers.keep(request, answer, now)          # or answers.forget(request): it may be tried again

``claim`` returns None to one caller, which then owns the key: a second request before its end is a
Conflict, not a second flow.  A claim without a result (the process was killed) is free again after
:data:`CLAIM_S`.  An answer that holds a secret (a new token) must not be kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, delete, insert, select, update

from adon.errors import Conflict, InvalidInput, Unavailable
from adon.store.access.access_tables import answers
from adon.store.access.database import AccessStore, is_clash

KEPT_S = 24 * 3600.0
CLAIM_S = 60.0
LONGEST = 1_000_000
"""Bytes of an answer that is kept; a longer one is forgotten."""
FIELD = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Request:
    """A request that must not be carried out twice; ``key`` is the actor's own."""

    method: str
    path: str
    key: str
    actor: str
    body: bytes = field(default=b"", repr=False)

    @property
    def fingerprint(self) -> str:
        """Digest that differs for another request with the same key."""
        body = hashlib.sha256(self.body).hexdigest()
        return hashlib.sha256(
            f"{self.method}\n{self.path}\n{body}".encode("utf-8", "surrogatepass")
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Answers:
    """The answers of the last :data:`KEPT_S` seconds."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def claim(self, request: Request, now: float) -> Answer | None:
        """Return the answer to this request; None if the caller must carry it out.

        :raises InvalidInput: if the key was used with another request.
        :raises Conflict: if this request is being carried out.
        """
        try:
            return self._claim(request, now)
        except Unavailable as error:
            if is_clash(error):
                raise _busy(request) from error
            raise

    def _claim(self, request: Request, now: float) -> Answer | None:
        mine = (answers.c.actor == request.actor) & (answers.c.key == request.key)
        with self._store.writing() as connection:
            row = connection.execute(select(answers).where(mine)).one_or_none()
            if row is not None and now - row.at >= (KEPT_S if row.status is not None else CLAIM_S):
                connection.execute(delete(answers).where(mine))
                row = None
            if row is None:
                claim = {"fingerprint": request.fingerprint, "headers": {}, "body": b"", "at": now}
                connection.execute(insert(answers).values(actor=request.actor, key=request.key, **claim))
                return None
            if row.fingerprint != request.fingerprint:
                raise InvalidInput.of(FIELD, f"{request.key!r} was used with another request")
            if row.status is None:
                raise _busy(request)
            return Answer(row.status, bytes(row.body), dict(row.headers))

    def keep(self, request: Request, answer: Answer, now: float) -> None:
        """Save the answer to a claimed request."""
        if len(answer.body) > LONGEST:
            self.forget(request)
            return
        values = {"status": answer.status, "headers": dict(answer.headers), "body": answer.body, "at": now}
        with self._store.writing() as connection:
            connection.execute(update(answers).where(_same(request)).values(**values))
            connection.execute(delete(answers).where(answers.c.at <= now - KEPT_S))

    def forget(self, request: Request) -> None:
        """Free the key of a failed request, which may be tried again."""
        with self._store.writing() as connection:
            connection.execute(delete(answers).where(_same(request)))


def _same(request: Request) -> ColumnElement[bool]:
    return (
        (answers.c.actor == request.actor)
        & (answers.c.key == request.key)
        & (answers.c.fingerprint == request.fingerprint)
    )


def _busy(request: Request) -> Conflict:
    return Conflict(FIELD, f"the request with {request.key!r} is still being carried out")

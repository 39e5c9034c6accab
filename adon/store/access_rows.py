"""Tokens, and answers kept for repeated requests, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from adon.access.identity import Token
from adon.errors import Conflict, NotFound
from adon.store.tables import idempotency, tokens


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered to a request with an Idempotency-Key."""

    request_hash: str
    answer: Mapping[str, Any]
    at: float


def save_token(connection: Connection, token: Token) -> None:
    """Keep a new token.

    :raises Conflict: if its id is taken.
    """
    if connection.execute(select(tokens.c.id).where(tokens.c.id == token.id)).one_or_none() is not None:
        raise Conflict("id", f"there is a token {token.id} already")
    row = {"id": token.id, "actor": token.actor, "roles": sorted(token.roles), "digest": token.digest}
    times = {"created": token.created, "expires": token.expires, "revoked": token.revoked}
    connection.execute(insert(tokens).values(**row, **times))


def read_tokens(connection: Connection) -> tuple[Token, ...]:
    """All tokens, oldest first."""
    return tuple(
        Token(r.id, r.actor, frozenset(r.roles), r.digest, r.created, r.expires, r.revoked)
        for r in connection.execute(select(tokens).order_by(tokens.c.created, tokens.c.id))
    )


def revoke_token(connection: Connection, identifier: str, at: float) -> None:
    """Make a token worthless from now on; the first time it is done counts.

    :raises NotFound: if there is none of this id.
    """
    if connection.execute(select(tokens.c.id).where(tokens.c.id == identifier)).one_or_none() is None:
        raise NotFound("token", identifier)
    valid = (tokens.c.id == identifier) & tokens.c.revoked.is_(None)
    connection.execute(update(tokens).where(valid).values(revoked=at))


def read_answer(connection: Connection, actor: str, key: str) -> KeptAnswer | None:
    """What was answered to this actor's request with this key; None if there was none."""
    query = select(idempotency).where((idempotency.c.actor == actor) & (idempotency.c.key == key))
    row = connection.execute(query).one_or_none()
    return None if row is None else KeptAnswer(row.request_hash, row.answer, row.at)


def save_answer(connection: Connection, actor: str, key: str, kept: KeptAnswer) -> None:
    """Keep an answer; the first one given stays.

    :raises Conflict: if the key was used with another request.
    """
    present = read_answer(connection, actor, key)
    if present is None:
        values = {"request_hash": kept.request_hash, "answer": dict(kept.answer), "at": kept.at}
        connection.execute(insert(idempotency).values(actor=actor, key=key, **values))
    elif present.request_hash != kept.request_hash:
        raise Conflict("Idempotency-Key", f"{key!r} was used with another request")


def forget_answers(connection: Connection, before: float) -> int:
    """Drop answers older than this time; how many."""
    return connection.execute(delete(idempotency).where(idempotency.c.at < before)).rowcount

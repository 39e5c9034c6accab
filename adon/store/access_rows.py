"""Answers kept for repeated requests, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from adon.errors import Conflict
from adon.store.tables import idempotency


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered to a request with an Idempotency-Key."""

    request_hash: str
    answer: Mapping[str, Any]
    at: float


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

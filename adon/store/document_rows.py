"""Values that are kept whole, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from adon.store.tables import documents as table


def save(connection: Connection, name: str, body: Mapping[str, Any], at: float) -> None:
    """Keep a value in the place of the one of this name."""
    connection.execute(delete(table).where(table.c.name == name))
    connection.execute(insert(table).values(name=name, body=dict(body), updated_at=at))


def read(connection: Connection, name: str) -> dict[str, Any] | None:
    """The value of this name; None if there is none."""
    body = connection.execute(select(table.c.body).where(table.c.name == name)).scalar()
    return None if body is None else dict(body)

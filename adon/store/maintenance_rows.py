"""Maintenance windows as rows."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from adon.broker.maintenance import Window
from adon.store.codec import decode_window, encode_window
from adon.store.reading import decoded
from adon.store.tables import maintenance


def save(connection: Connection, window: Window) -> None:
    """Keep a window as it is now."""
    connection.execute(delete(maintenance).where(maintenance.c.number == window.number))
    row = {"number": window.number, "ends": window.ends, "body": encode_window(window)}
    connection.execute(insert(maintenance).values(**row))


def listed(connection: Connection, since: float | None) -> tuple[Window, ...]:
    """Windows by number; with ``since`` those that end later than that."""
    query = select(maintenance).order_by(maintenance.c.number)
    if since is not None:
        query = query.where(maintenance.c.ends > since)
    return tuple(
        decoded(decode_window, row.body, f"window m-{row.number}") for row in connection.execute(query)
    )

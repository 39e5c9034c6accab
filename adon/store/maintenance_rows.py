"""Maintenance windows as rows."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from adon.broker.maintenance import Window
from adon.store.reading import read_value
from adon.store.tables import maintenance
from measurement.model import to_json


def save(connection: Connection, window: Window) -> None:
    """Keep a window as it is now."""
    connection.execute(delete(maintenance).where(maintenance.c.number == window.number))
    row = {"number": window.number, "ends": window.ends, "body": to_json(window)}
    connection.execute(insert(maintenance).values(**row))


def listed(connection: Connection, since: float | None) -> tuple[Window, ...]:
    """Windows by number; with ``since`` those that end later than that."""
    query = select(maintenance).order_by(maintenance.c.number)
    if since is not None:
        query = query.where(maintenance.c.ends > since)
    return tuple(read_value(Window, row.body, f"window m-{row.number}") for row in connection.execute(query))

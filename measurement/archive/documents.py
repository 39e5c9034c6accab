"""Documents, small states and leases: what parts of the measurement plane keep beside the values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json
from sqlalchemy import Connection, delete, select

from measurement.archive import tables
from measurement.archive.rows import DOCUMENT_BYTES, to_json
from measurement.archive.series_queries import span
from measurement.archive.value_writer import upsert
from measurement.model import Series

_D = tables.document.c


def store_document(
    connection: Connection,
    kind: str,
    identifier: str,
    at: float,
    series: Series | None,
    document: Mapping[str, Any],
    is_open: bool,
) -> None:
    """Keep a document in place of the one with its kind and id.

    :raises ValueError: if it is not JSON.
    """
    text = to_json("document", document, DOCUMENT_BYTES)
    its_series = None if series is None else _text(series)
    row = {"kind": kind, "id": identifier, "at": at, "series": its_series, "open": is_open, "document": text}
    upsert(connection, tables.document, [row])


def get(connection: Connection, kind: str, identifier: str) -> dict[str, Any] | None:
    """The document of this kind and id."""
    text = connection.scalar(select(_D.document).where(_D.kind == kind, _D.id == identifier))
    found: dict[str, Any] | None = None if text is None else from_json(text)
    return found


def find(
    connection: Connection,
    kind: str,
    series: Series | None,
    since: float | None,
    until: float | None,
    open_only: bool,
    limit: int,
) -> list[dict[str, Any]]:
    """Documents of a kind, the newest first."""
    found = select(_D.document).where(_D.kind == kind, *span(_D.at, since, until))
    if series is not None:
        found = found.where(_D.series == _text(series))
    if open_only:
        found = found.where(_D.open.is_(True))
    rows = connection.scalars(found.order_by(_D.at.desc(), _D.id).limit(limit))
    return [from_json(text) for text in rows]


def remove(connection: Connection, kind: str, identifier: str) -> bool:
    """Forget a document; whether there was one."""
    gone = delete(tables.document).where(_D.kind == kind, _D.id == identifier)
    return connection.execute(gone).rowcount > 0


def _text(series: Series) -> str:
    return json.dumps(list(series))


def put_state(connection: Connection, name: str, data: bytes) -> None:
    """Keep a state in place of the last one of its name."""
    upsert(connection, tables.state, [{"name": name, "data": data}])


def put_states(connection: Connection, states: Mapping[str, bytes]) -> None:
    """Keep several states, all or none."""
    upsert(connection, tables.state, [{"name": name, "data": data} for name, data in states.items()])


def states(connection: Connection, prefix: str) -> dict[str, bytes]:
    """The states whose names begin so."""
    table = tables.state.c
    found = connection.execute(
        select(table.name, table.data).where(table.name.startswith(prefix, autoescape=True))
    )
    return {row.name: row.data for row in found}


def state(connection: Connection, name: str) -> bytes | None:
    """The state of this name."""
    table = tables.state.c
    return connection.scalar(select(table.data).where(table.name == name))


def take_lease(connection: Connection, name: str, holder: str, now: float, seconds: float) -> bool:
    """Take or renew a lease; False while another holder's runs."""
    table = tables.lease
    running = select(table.c.holder, table.c.until).where(table.c.name == name)
    found = connection.execute(running).one_or_none()
    if found is not None and found.holder != holder and found.until > now:
        return False
    upsert(connection, table, [{"name": name, "holder": holder, "until": now + seconds}])
    return True


def lease_holder(connection: Connection, name: str) -> str | None:
    """Who took a lease last, be it over or not."""
    table = tables.lease.c
    return connection.scalar(select(table.holder).where(table.name == name))

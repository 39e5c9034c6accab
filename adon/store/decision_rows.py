"""Decision records, as rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select

from adon.broker.decision import Decision
from adon.errors import NotFound
from adon.store.codec import decode_decision, encode_decision, flow_number
from adon.store.reading import decoded
from adon.store.tables import decisions

# Made once: SQLAlchemy derives its cache key once per statement object, and a move waits for these (R3).
_ADD = insert(decisions)


def save(connection: Connection, decision: Decision) -> None:
    """Add a decision; a record never changes."""
    values = {
        "id": decision.id,
        "flow": flow_number(decision.flow),
        "at": decision.at,
        "outcome": decision.outcome.value,
        "digest": decision.digest(),
        "body": encode_decision(decision),
    }
    connection.execute(_ADD, values)


def read(connection: Connection, identifier: str) -> Decision:
    """One decision.

    :raises NotFound: if there is none of this id.
    """
    query = select(decisions.c.id, decisions.c.body).where(decisions.c.id == identifier)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("decision", identifier)
    return _decision(row.id, row.body)


def of_flow(connection: Connection, number: int) -> tuple[Decision, ...]:
    """All decisions about one flow, oldest first."""
    query = select(decisions.c.id, decisions.c.body).where(decisions.c.flow == number)
    ordered = query.order_by(decisions.c.at, decisions.c.id)
    return tuple(_decision(row.id, row.body) for row in connection.execute(ordered))


def _decision(identifier: str, body: Any) -> Decision:
    return decoded(decode_decision, body, f"decision {identifier}")

"""The store: the state that must survive a restart, saved before any answer or switch message.

The executor saves an event's decision, flow and pending rules in one transaction and talks to the switch
after it (R3).  The store reads no clock; the caller passes times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select

from adon.errors import Conflict
from adon.store import lease
from adon.store.compute_rows import ComputeRows
from adon.store.decision_rows import DecisionRows
from adon.store.documents import addition
from adon.store.flow_rows import FlowRows
from adon.store.lease import Held, Lease
from adon.store.network_rows import NetworkRows
from adon.store.tables import decisions, documents, flow_history, idempotency, rules, templates
from adon.store.template_rows import TemplateRows

SAVED_AT = (
    decisions.c.at,
    rules.c.updated_at,
    templates.c.saved_at,
    idempotency.c.at,
    documents.c.updated_at,
)
"""The columns with times of events, in addition to that of the flows' history."""


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """The answer to a request with an Idempotency-Key."""

    request_hash: str
    answer: Mapping[str, Any]
    at: float


class Store(FlowRows, DecisionRows, NetworkRows, TemplateRows, ComputeRows):
    """The state database of a controller."""

    def latest_time(self) -> float:
        """Return the time of the latest saved event in seconds since the epoch; 0 in a new database."""
        last = select(flow_history.c.at).order_by(flow_history.c.id.desc()).limit(1)
        queries = [last, *(select(func.max(column)) for column in SAVED_AT)]
        with self._reading() as connection:
            return max(connection.execute(query).scalar() or 0.0 for query in queries)

    def save_answer(
        self, actor: str, key: str, request_hash: str, answer: Mapping[str, Any], at: float
    ) -> None:
        """Save the answer to a request with an Idempotency-Key; the first answer stays.

        :raises Conflict: if the key was used with another request.
        """
        row = {"request_hash": request_hash, "answer": dict(answer), "at": at}
        with self._writing() as connection:
            present = _read_answer(connection, actor, key)
            if present is None:
                connection.execute(addition(idempotency), {"actor": actor, "key": key, **row})
            elif present.request_hash != request_hash:
                raise Conflict("Idempotency-Key", f"{key!r} was used with another request")

    def answer(self, actor: str, key: str) -> SavedAnswer | None:
        """Return the answer to this actor's request with this Idempotency-Key; None if there was none."""
        with self._reading() as connection:
            return _read_answer(connection, actor, key)

    def forget_answers(self, before: float) -> int:
        """Delete answers older than this time; return their number."""
        with self._writing() as connection:
            return connection.execute(delete(idempotency).where(idempotency.c.at < before)).rowcount

    # Leases are never fenced: the fence is made of them.

    def take_lease(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a free lease; None while it is held."""
        with self._writing(fenced=False) as connection:
            return lease.take(connection, name, holder, seconds)

    def renew_lease(self, held: Lease, seconds: float) -> None:
        """Renew a lease for so many seconds from now.

        :raises LeaseLost: if it has run out.
        """
        with self._writing(fenced=False) as connection:
            lease.renew(connection, held, seconds)

    def give_lease_back(self, held: Lease) -> None:
        """End a lease now; no effect if it is lost."""
        with self._writing(fenced=False) as connection:
            lease.give_back(connection, held)

    def lease(self, name: str) -> Held | None:
        """Return the present or last holder of a lease; None if there was none."""
        with self._reading() as connection:
            return lease.read(connection, name)


def _read_answer(connection: Connection, actor: str, key: str) -> SavedAnswer | None:
    query = select(idempotency.c.request_hash, idempotency.c.answer, idempotency.c.at)
    query = query.where(idempotency.c.actor == actor, idempotency.c.key == key)
    row = connection.execute(query).one_or_none()
    return None if row is None else SavedAnswer(*row)

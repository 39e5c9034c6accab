"""What the flows of a template left behind, for whoever learns from it; read only.

The table of outcomes is written elsewhere; a database that has none yet has no outcomes.
"""

from __future__ import annotations

from sqlalchemy import JSON, Connection, column, inspect, select, table

from adon.broker.outcomes import FlowOutcome
from adon.store.codec import decode_outcome
from adon.store.reading import decoded

outcomes = table(
    "outcomes", column("flow"), column("template"), column("ended_at"), column("state"), column("body", JSON)
)


def read(connection: Connection, template: str, limit: int) -> tuple[FlowOutcome, ...]:
    """The latest outcomes of a template's flows, whatever the version, the oldest first."""
    if not inspect(connection).has_table("outcomes"):
        return ()
    query = (
        select(outcomes.c.flow, outcomes.c.body)
        .where(outcomes.c.template.startswith(f"{template}@", autoescape=True))
        .order_by(outcomes.c.ended_at.desc(), outcomes.c.flow.desc())
        .limit(limit)
    )
    found = [
        decoded(decode_outcome, row.body, f"the outcome of flow f-{row.flow}")
        for row in connection.execute(query)
    ]
    return tuple(reversed(found))

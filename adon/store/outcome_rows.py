"""What flows leave behind, as rows."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, tuple_

from adon.broker.outcomes import FlowOutcome
from adon.errors import NotFound
from adon.store.reading import read_value
from adon.store.tables import flows, outcomes
from measurement.model import to_json

_ADD = insert(outcomes)

MOST_DIGITS = 9
"""Of a version: more is none of ours, and no integer of SQL."""


def save(connection: Connection, outcome: FlowOutcome) -> None:
    """Add an outcome; one never changes."""
    name, version = split(outcome.template)
    values = {
        "flow": outcome.flow,
        "template": name,
        "version": 0 if version is None else version,
        "ended_at": outcome.ended_at,
        "body": to_json(outcome),
    }
    connection.execute(_ADD, values)


def read(connection: Connection, number: int) -> FlowOutcome:
    """One flow's.

    :raises NotFound: if the flow has not ended, or never was.
    """
    row = connection.execute(select(outcomes).where(outcomes.c.flow == number)).one_or_none()
    if row is None:
        raise NotFound("outcome of flow", f"f-{number}")
    return read_value(FlowOutcome, row.body, f"outcome of flow f-{number}")


def listed(
    connection: Connection,
    template: str | None,
    since: float | None,
    requester: str | None,
    limit: int,
    before: tuple[float, int] | None,
) -> tuple[FlowOutcome, ...]:
    """Outcomes, those that ended last first.

    :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
    :param since: those of flows that ended then or later.
    :param before: when the flow ended, and its number, of the one to go on from.
    """
    query = select(outcomes.c.flow, outcomes.c.body)
    if template is not None:
        name, version = split(template)
        query = query.where(outcomes.c.template == name)
        if version is not None:
            query = query.where(outcomes.c.version == version)
    if since is not None:
        query = query.where(outcomes.c.ended_at >= since)
    if requester is not None:
        query = query.join(flows, flows.c.number == outcomes.c.flow).where(flows.c.requester == requester)
    if before is not None:
        query = query.where(tuple_(outcomes.c.ended_at, outcomes.c.flow) < before)
    ordered = query.order_by(outcomes.c.ended_at.desc(), outcomes.c.flow.desc()).limit(limit)
    return tuple(
        read_value(FlowOutcome, row.body, f"outcome of flow f-{row.flow}")
        for row in connection.execute(ordered)
    )


def split(reference: str) -> tuple[str, int | None]:
    """``soykb@3`` in its parts; without a version, or one that is no number, None."""
    name, _, version = reference.partition("@")
    known = version.isdecimal() and len(version) <= MOST_DIGITS
    return (name, int(version)) if known else (reference, None)

"""Proposals as rows."""

from __future__ import annotations

from sqlalchemy import Connection, Row, delete, func, insert, select

from adon.errors import NotFound
from adon.store.codec import decode_proposal, encode_proposal
from adon.store.reading import decoded
from adon.store.tables import proposals
from adon.templates_catalog.proposal import Proposal, ProposalState


def save(connection: Connection, proposal: Proposal) -> None:
    """Keep a proposal as it is now."""
    connection.execute(delete(proposals).where(proposals.c.number == proposal.number))
    row = {
        "number": proposal.number,
        "template": proposal.finding.template.partition("@")[0],
        "state": proposal.state.value,
        "at": proposal.at,
        "body": encode_proposal(proposal),
    }
    connection.execute(insert(proposals).values(**row))


def read(connection: Connection, number: int) -> Proposal:
    """One proposal.

    :raises NotFound: if there is none of this number.
    """
    row = connection.execute(select(proposals).where(proposals.c.number == number)).one_or_none()
    if row is None:
        raise NotFound("proposal", f"p-{number}")
    return _decoded(row)


def listed(
    connection: Connection,
    template: str | None,
    state: ProposalState | None,
    limit: int | None,
    before: int | None,
) -> tuple[Proposal, ...]:
    """Proposals, the newest first; ``before`` is the number to go on from."""
    query = select(proposals).order_by(proposals.c.number.desc())
    if template is not None:
        query = query.where(proposals.c.template == template)
    if state is not None:
        query = query.where(proposals.c.state == state.value)
    if before is not None:
        query = query.where(proposals.c.number < before)
    if limit is not None:
        query = query.limit(limit)
    return tuple(_decoded(row) for row in connection.execute(query))


def last_number(connection: Connection) -> int:
    """The highest number ever given, 0 before the first."""
    found = connection.execute(select(func.max(proposals.c.number))).scalar()
    return 0 if found is None else int(found)


def _decoded(row: Row[tuple[object, ...]]) -> Proposal:
    return decoded(decode_proposal, row.body, f"proposal p-{row.number}")

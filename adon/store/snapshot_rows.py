"""What decisions saw, as rows: a snapshot each, and the parts that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select

from adon.broker.recompute.encoded import Encoded
from adon.errors import NotFound
from adon.store.tables import snapshot_parts, snapshots


@dataclass(frozen=True, slots=True)
class SavedSnapshot:
    """What a decision saw, as text (:mod:`adon.broker.recompute.codec`).

    :param code: the version of the code that made the decision (:mod:`adon.code_version`).
    """

    decision: str
    digest: str
    code: str
    text: str


# Made once: SQLAlchemy derives its cache key once per statement object.
_ADD, _ADD_PARTS = insert(snapshots), insert(snapshot_parts)
_KNOWN = select(snapshot_parts.c.digest).where(
    snapshot_parts.c.digest.in_(bindparam("names", expanding=True))
)


def save(connection: Connection, encoded: Sequence[Encoded], code: str) -> None:
    """Add snapshots, and those of their parts that are not there yet."""
    parts = {name: text for one in encoded for name, text in one.parts.items()}
    if parts:
        known = set(connection.execute(_KNOWN, {"names": list(parts)}).scalars())
        new = [{"digest": name, "body": text} for name, text in parts.items() if name not in known]
        if new:
            connection.execute(_ADD_PARTS, new)
    rows = [
        {"decision": one.decision, "digest": one.digest, "code": code, "body": one.text} for one in encoded
    ]
    if rows:
        connection.execute(_ADD, rows)


def read(connection: Connection, decision: str) -> SavedSnapshot:
    """What a decision saw.

    :raises NotFound: if that was not kept.
    """
    row = connection.execute(select(snapshots).where(snapshots.c.decision == decision)).one_or_none()
    if row is None:
        raise NotFound("snapshot of decision", decision)
    return SavedSnapshot(row.decision, row.digest, row.code, row.body)


def part(connection: Connection, digest: str) -> str:
    """The text of one part.

    :raises NotFound: if there is none of this name.
    """
    query = select(snapshot_parts.c.body).where(snapshot_parts.c.digest == digest)
    found: str | None = connection.execute(query).scalar_one_or_none()
    if found is None:
        raise NotFound("part of a snapshot", digest)
    return found

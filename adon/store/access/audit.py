"""The audit log as rows, which are added, read and verified, and never change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, lt

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from adon.access.audit import (
    COLUMNS,
    AuditEntry,
    ChainedEntry,
    Outcome,
    Verification,
    chain_entries,
    clean_text,
    verify_chain,
)
from adon.store.access.access_tables import audit, audit_head
from adon.store.access.database import AccessStore
from adon.store.documents import where

_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filter of lines; None narrows nothing.

    :param since: seconds since the epoch, and ``until``, not itself included.
    :param before: only lines with a smaller number.
    :param after: only lines with a larger number; they come in order then, the oldest first.
    """

    actor: str | None = None
    action: str | None = None
    outcome: Outcome | None = None
    since: float | None = None
    until: float | None = None
    before: int | None = None
    after: int | None = None


class Audit:
    """The audit log; several processes may write it."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def append(self, entries: Sequence[AuditEntry], *, durable: bool = True) -> None:
        """Add entries in order."""
        with self._store.writing(durable=durable) as connection:
            # Writers wait for the row of the head on PostgreSQL; SQLite has one writer at a time.
            head = connection.execute(select(audit_head).with_for_update()).one_or_none()
            last = _last(connection) if head is None else ChainedEntry(head.number, _NOTHING, head.digest)
            lines = chain_entries(last, [entry.sanitise() for entry in entries])
            if not lines:
                return
            connection.execute(
                insert(audit), [dict(zip(COLUMNS, line.values, strict=True)) for line in lines]
            )
            values = {"number": lines[-1].number, "digest": lines[-1].digest}
            if head is None:
                connection.execute(insert(audit_head).values(id=1, **values))
            else:
                connection.execute(update(audit_head).values(**values))

    def lines(self, wanted: AuditFilter, limit: int) -> tuple[ChainedEntry, ...]:
        """Return lines, newest first; oldest first if ``after`` is given.

        :raises ValueError: for a row that was changed into something that is no line.
        """
        order = audit.c.number.desc() if wanted.after is None else audit.c.number
        query = select(*_COLUMNS).where(*_conditions(wanted)).order_by(order).limit(limit)
        with self._store.reading() as connection:
            return tuple(ChainedEntry.of(row) for row in connection.execute(query))

    def all(self) -> Iterator[ChainedEntry]:
        """Yield every line, oldest first, read in pieces, because there may be millions."""
        number = 0
        while lines := self.lines(AuditFilter(after=number), _CHUNK):
            yield from lines
            number = lines[-1].number

    def head(self) -> tuple[int, str] | None:
        """Return number and digest of the last line, as stored apart from the lines; None if gone."""
        with self._store.reading() as connection:
            row = connection.execute(select(audit_head)).one_or_none()
        return None if row is None else (row.number, row.digest)

    def count(self) -> int:
        """Return the number of lines."""
        with self._store.reading() as connection:
            return connection.execute(select(func.count()).select_from(audit)).scalar_one()

    def verify(self, expected: Mapping[int, str] | None = None) -> Verification:
        """Check the whole log at one time (:func:`adon.access.audit.verify_chain`)."""
        with self._store.reading(snapshot=True) as connection:
            head = connection.execute(select(audit_head)).one_or_none()
            query = select(*_COLUMNS).order_by(audit.c.number).execution_options(yield_per=_CHUNK)
            lines = (row for rows in connection.execute(query).partitions() for row in rows)
            return verify_chain(lines, None if head is None else (head.number, head.digest), expected)


_COLUMNS = tuple(audit.c[name] for name in COLUMNS)
_NOTHING = AuditEntry(0.0, "", "", "", "", "", "", Outcome.DONE, 0)


def _last(connection: Connection) -> ChainedEntry | None:
    row = connection.execute(select(*_COLUMNS).order_by(audit.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else ChainedEntry.of(row)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    return where(
        (audit.c.actor, eq, None if wanted.actor is None else clean_text(wanted.actor, 200)),
        (audit.c.action, eq, None if wanted.action is None else clean_text(wanted.action, 64)),
        (audit.c.outcome, eq, wanted.outcome and wanted.outcome.value),
        (audit.c.at, ge, wanted.since),
        (audit.c.at, lt, wanted.until),
        (audit.c.number, lt, wanted.before),
        (audit.c.number, gt, wanted.after),
    )

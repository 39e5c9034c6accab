"""Decision records, and the inputs of decisions as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import eq, ge, lt

from pydantic import TypeAdapter
from sqlalchemy import Text, bindparam, cast, select, tuple_
from typing_extensions import TypedDict

from adon.broker.decision import Decision, Outcome
from adon.broker.recompute.encoded import Encoded
from adon.errors import NotFound
from adon.store.documents import Documents, addition, decode, is_template, where
from adon.store.tables import decisions, flows, snapshot_parts, snapshots
from adon.store.transactions import Transactions


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Filter of decisions; None narrows nothing.  Times in seconds since the epoch.

    :param flow: number of the flow; ``requester``: the requester of the flow.
    :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
    :param site: the chosen compute site.
    :param since: made then or later; ``until``: before then.
    """

    flow: int | None = None
    requester: str | None = None
    template: str | None = None
    outcome: Outcome | None = None
    path: str | None = None
    site: str | None = None
    since: float | None = None
    until: float | None = None


class _Anything(TypedDict):
    """A part that is counted only."""


@dataclass(frozen=True, slots=True)
class DecisionInShort:
    """The part of a :class:`~adon.broker.decision.Decision` in a list; its candidates are counted only."""

    id: str
    flow: str
    at: float
    cause: str
    outcome: Outcome
    path: str | None
    previous_path: str | None
    code: str
    reason: str
    template: str
    candidates: tuple[_Anything, ...] = ()
    compute_site: str | None = None
    alarm: str | None = None
    slice: str | None = None
    trigger: str | None = None
    cause_text: str = ""


@dataclass(frozen=True, slots=True)
class SavedSnapshot:
    """The inputs of a decision as text (:mod:`adon.broker.recompute.codec`).

    :param code: the version of the code that made the decision (:mod:`adon.code_version`).
    """

    decision: str
    digest: str
    code: str
    text: str


def _decision_columns(decision: Decision) -> dict[str, object]:
    return {
        "id": decision.id,
        "flow": int(decision.flow.removeprefix("f-")),
        "at": decision.at,
        "outcome": decision.outcome.value,
        "template": decision.template,
        "path": decision.path,
        "site": decision.compute_site,
    }


DECISIONS = Documents(decisions, Decision, "decision", "", _decision_columns)
_KNOWN = select(snapshot_parts.c.digest).where(
    snapshot_parts.c.digest.in_(bindparam("digests", expanding=True))
)


@cache
def _in_short() -> TypeAdapter[DecisionInShort]:
    return TypeAdapter(DecisionInShort)


class DecisionRows(Transactions):
    """Decisions and their inputs; both never change."""

    def save_decision(self, decision: Decision) -> None:
        """Add a decision."""
        with self._writing() as connection:
            DECISIONS.add(connection, decision)

    def decision(self, identifier: str) -> Decision:
        """Return one decision.

        :raises NotFound: if there is none of this id.
        """
        with self._reading() as connection:
            return DECISIONS.read(connection, identifier)

    def decisions(self, flow: int) -> tuple[Decision, ...]:
        """Return all decisions about one flow, oldest first."""
        with self._reading() as connection:
            order = [decisions.c.at, decisions.c.id]
            return DECISIONS.find(connection, [decisions.c.flow == flow], order)

    def decisions_in_short(
        self, wanted: DecisionFilter, limit: int = 100, before: tuple[float, str] | None = None
    ) -> tuple[DecisionInShort, ...]:
        """Return decisions about all flows, newest first; of two at one time that with the later id.

        :param before: time and id of the last decision of the previous page.
        """
        requested = select(flows.c.number).where(flows.c.requester == wanted.requester)
        conditions = where(
            (decisions.c.flow, eq, wanted.flow),
            (decisions.c.flow, lambda column, _: column.in_(requested), wanted.requester),
            (decisions.c.template, is_template, wanted.template),
            (decisions.c.outcome, eq, wanted.outcome and wanted.outcome.value),
            (decisions.c.path, eq, wanted.path),
            (decisions.c.site, eq, wanted.site),
            (decisions.c.at, ge, wanted.since),
            (decisions.c.at, lt, wanted.until),
            (tuple_(decisions.c.at, decisions.c.id), lt, before),
        )
        order = (decisions.c.at.desc(), decisions.c.id.desc())
        # Two steps: the first is answered by the index alone, whatever the filter leaves out.
        chosen = select(decisions.c.id).where(*conditions).order_by(*order).limit(limit)
        with self._reading() as connection:
            found = list(connection.execute(chosen).scalars())
            text = cast(decisions.c.body, Text)
            query = select(decisions.c.id, text).where(decisions.c.id.in_(found))
            texts = {row[0]: row[1] for row in connection.execute(query)}
        # Only what is shown becomes values: the rest of a body is many times that.
        read = _in_short().validate_json
        return tuple(decode(read, texts[identifier], f"decision {identifier}") for identifier in found)

    def save_snapshots(self, encoded: Sequence[Encoded], code: str) -> None:
        """Add the inputs of decisions, with the version of the code that made these."""
        parts = {name: text for one in encoded for name, text in one.parts.items()}
        rows = [
            {"decision": one.decision, "digest": one.digest, "code": code, "body": one.text}
            for one in encoded
        ]
        with self._writing() as connection:
            known = set(connection.execute(_KNOWN, {"digests": list(parts)}).scalars()) if parts else set()
            new = [{"digest": name, "body": text} for name, text in parts.items() if name not in known]
            for table, added in ((snapshot_parts, new), (snapshots, rows)):
                if added:
                    connection.execute(addition(table), added)

    def snapshot(self, decision: str) -> SavedSnapshot:
        """Return the inputs of a decision.

        :raises NotFound: if they were not saved.
        """
        with self._reading() as connection:
            row = connection.execute(select(snapshots).where(snapshots.c.decision == decision)).one_or_none()
        if row is None:
            raise NotFound("snapshot of decision", decision)
        return SavedSnapshot(row.decision, row.digest, row.code, row.body)

    def snapshot_part(self, digest: str) -> str:
        """Return a shared part of the inputs of decisions.

        :raises NotFound: if there is none of this digest.
        """
        query = select(snapshot_parts.c.body).where(snapshot_parts.c.digest == digest)
        with self._reading() as connection:
            found: str | None = connection.execute(query).scalar_one_or_none()
        if found is None:
            raise NotFound("part of a snapshot", digest)
        return found

"""Decision records, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Text, cast, insert, select, tuple_
from typing_extensions import TypedDict

from adon.broker.decision import Decision, Outcome
from adon.errors import NotFound
from adon.store.reading import decoded, of_template, read_value
from adon.store.tables import decisions, flows
from measurement.model import to_json

# Made once: SQLAlchemy derives its cache key once per statement object, and a move waits for these (R3).
_ADD = insert(decisions)


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions; what is None is not narrowed.  Times in seconds since the epoch.

    :param requester: whose flows they are about.
    :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
    :param site: the compute site that was chosen.
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
    """A part that is counted, and not looked into."""


@dataclass(frozen=True, slots=True)
class DecisionInShort:
    """What a list shows of a :class:`~adon.broker.decision.Decision`; its candidates are counted only."""

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


@cache
def _in_short() -> TypeAdapter[DecisionInShort]:
    return TypeAdapter(DecisionInShort)


def save(connection: Connection, decision: Decision) -> None:
    """Add a decision; a record never changes."""
    values = {
        "id": decision.id,
        "flow": flow_number(decision.flow),
        "at": decision.at,
        "outcome": decision.outcome.value,
        "digest": decision.digest(),
        "body": to_json(decision),
        "template": decision.template,
        "path": decision.path,
        "site": decision.compute_site,
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


def listed(
    connection: Connection, wanted: DecisionFilter, limit: int, before: tuple[float, str] | None
) -> tuple[DecisionInShort, ...]:
    """Decisions about all flows, the newest first; of two at one time that with the later id.

    Of a body only what is shown becomes values: the rest is many times that.

    :param before: time and id of the decision to go on from.
    """
    chosen = select(decisions.c.id).where(*_conditions(wanted))
    if before is not None:
        chosen = chosen.where(tuple_(decisions.c.at, decisions.c.id) < before)
    chosen = chosen.order_by(decisions.c.at.desc(), decisions.c.id.desc()).limit(limit)
    # Two steps: the first is answered by the index alone, whatever it has to leave out.
    found = list(connection.execute(chosen).scalars())
    text = cast(decisions.c.body, Text).label("text")
    rows = connection.execute(select(decisions.c.id, text).where(decisions.c.id.in_(found)))
    texts = {row.id: row.text for row in rows}
    read = _in_short().validate_json
    return tuple(decoded(read, texts[identifier], f"decision {identifier}") for identifier in found)


def _conditions(wanted: DecisionFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.flow is not None:
        yield decisions.c.flow == wanted.flow
    if wanted.requester is not None:
        yield decisions.c.flow.in_(select(flows.c.number).where(flows.c.requester == wanted.requester))
    if wanted.template is not None:
        yield of_template(decisions.c.template, wanted.template)
    if wanted.outcome is not None:
        yield decisions.c.outcome == wanted.outcome.value
    if wanted.path is not None:
        yield decisions.c.path == wanted.path
    if wanted.site is not None:
        yield decisions.c.site == wanted.site
    if wanted.since is not None:
        yield decisions.c.at >= wanted.since
    if wanted.until is not None:
        yield decisions.c.at < wanted.until


def _decision(identifier: str, body: Any) -> Decision:
    return read_value(Decision, body, f"decision {identifier}")


def flow_number(flow: str) -> int:
    """The number in a flow's id, 17 of ``f-17``.

    :raises ValueError: for another text.
    """
    head, _, digits = flow.partition("-")
    if head != "f" or not digits.isdecimal():
        raise ValueError(f"{flow!r} is not a flow's id such as f-17")
    return int(digits)

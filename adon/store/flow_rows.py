"""Flows and their history, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, update

from adon.broker.flow import Flow, FlowState
from adon.errors import NotFound
from adon.store.reading import of_template, read_value
from adon.store.tables import flow_history, flows
from measurement.model import to_json


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a flow's state, path or reason; ``cause`` is the id of the event that led to it."""

    at: float
    state: FlowState
    path: str | None
    reason: str
    cause: str


@dataclass(frozen=True, slots=True)
class FlowFilter:
    """Which flows; what is None is not narrowed.  Times in seconds since the epoch.

    :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
    :param host: the DTN that it leads from, or to.
    :param path: the path that it is on, or was last.
    :param since: submitted then or later; ``until``: before then.
    :param text: stands somewhere in its label, reason, hosts, template or requester; in any case.
    """

    state: FlowState | None = None
    requester: str | None = None
    template: str | None = None
    host: str | None = None
    path: str | None = None
    since: float | None = None
    until: float | None = None
    text: str | None = None


EVERY_FLOW = FlowFilter()

# Made once: SQLAlchemy derives its cache key once per statement object, and a move waits for these (R3).
_SOUGHT = flows.alias("sought")
_WHICH = flows.c.number == bindparam("which")
_BEFORE = select(flows.c.state, flows.c.path, flows.c.body).where(_WHICH)
_ADD, _CHANGE, _NOTE = insert(flows), update(flows).where(_WHICH), insert(flow_history)


def save(connection: Connection, flow: Flow, cause: str, at: float) -> None:
    """Keep a flow as it is now; its history grows where state, path or reason changed."""
    before = connection.execute(_BEFORE, {"which": flow.number}).one_or_none()
    values = _values(flow)
    if before is None:
        connection.execute(_ADD, {"number": flow.number, **values})
    else:
        connection.execute(_CHANGE, {"which": flow.number, **values})
    if before is None or (before.state, before.path, before.body.get("reason")) != _told(flow):
        state, path, reason = _told(flow)
        entry = {
            "flow": flow.number,
            "at": at,
            "state": state,
            "path": path,
            "reason": reason,
            "cause": cause,
        }
        connection.execute(_NOTE, entry)


def changed_at(flow: Flow) -> float:
    """The latest time that a flow itself names: when its state or its path last changed."""
    times = (flow.submitted_at, flow.state_since, flow.path_since, flow.started_at, flow.ended_at)
    return max(time for time in times if time is not None)


def read(connection: Connection, number: int) -> Flow:
    """One flow.

    :raises NotFound: if there is none of this number.
    """
    query = select(flows.c.number, flows.c.body).where(flows.c.number == number)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("flow", f"f-{number}")
    return _flow(row.number, row.body)


def listed(connection: Connection, wanted: FlowFilter, limit: int, before: int | None) -> tuple[Flow, ...]:
    """Flows, newest first, filtered; ``before`` is the number to go on from."""
    query = select(flows.c.number, flows.c.body).where(*_conditions(wanted))
    if before is not None:
        query = query.where(flows.c.number < before)
    query = query.order_by(flows.c.number.desc()).limit(limit)
    return tuple(_flow(row.number, row.body) for row in connection.execute(query))


def _conditions(wanted: FlowFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.state is not None:
        yield flows.c.state == wanted.state.value
    if wanted.requester is not None:
        yield flows.c.requester == wanted.requester
    if wanted.template is not None:
        yield of_template(flows.c.template, wanted.template)
    if wanted.host is not None:
        yield or_(flows.c.source == wanted.host, flows.c.destination == wanted.host)
    if wanted.path is not None:
        yield flows.c.path == wanted.path
    if wanted.since is not None:
        yield flows.c.submitted_at >= wanted.since
    if wanted.until is not None:
        yield flows.c.submitted_at < wanted.until
    if wanted.text is not None:
        # Apart from the bodies: SQLite finds these numbers in an index that holds nothing else.
        found = _SOUGHT.c.sought.contains(wanted.text.casefold(), autoescape=True)
        yield flows.c.number.in_(select(_SOUGHT.c.number).where(found))


def unfinished(connection: Connection) -> tuple[Flow, ...]:
    """The flows that have not ended, oldest first."""
    final = [state.value for state in FlowState if state.final]
    query = select(flows.c.number, flows.c.body).where(flows.c.state.not_in(final))
    return tuple(_flow(row.number, row.body) for row in connection.execute(query.order_by(flows.c.number)))


def states(connection: Connection) -> dict[str, int]:
    """How many flows that have not ended are in each state."""
    final = [state.value for state in FlowState if state.final]
    query = select(flows.c.state, func.count()).where(flows.c.state.not_in(final)).group_by(flows.c.state)
    return {row[0]: row[1] for row in connection.execute(query)}


def last_number(connection: Connection) -> int:
    """The highest flow number ever saved, 0 before the first."""
    query = select(func.coalesce(func.max(flows.c.number), 0))
    return int(connection.execute(query).scalar_one())


def history(connection: Connection, number: int, last: int | None = None) -> tuple[HistoryEntry, ...]:
    """What happened to a flow, in order; the last so many steps, or all."""
    query = select(flow_history).where(flow_history.c.flow == number)
    query = query.order_by(flow_history.c.id.desc()).limit(last)
    found = [
        HistoryEntry(row.at, FlowState(row.state), row.path, row.reason, row.cause)
        for row in connection.execute(query)
    ]
    return tuple(reversed(found))


def _values(flow: Flow) -> dict[str, object]:
    return {
        "state": flow.state.value,
        "requester": flow.requester,
        "template": flow.template,
        "source": flow.request.source,
        "destination": flow.request.destination,
        "path": flow.path,
        "submitted_at": flow.submitted_at,
        "body": to_json(flow),
        "sought": sought(flow.request.label, flow.reason, *flow.hosts, flow.template, flow.requester),
    }


def sought(*texts: str) -> str:
    """What a search for text looks through: the texts a line each, without regard to case."""
    return "\n".join(texts).casefold()


def _told(flow: Flow) -> tuple[str, str | None, str]:
    return flow.state.value, flow.path, flow.reason


def _flow(number: int, body: Any) -> Flow:
    return read_value(Flow, body, f"flow f-{number}")

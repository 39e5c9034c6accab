"""Flows, their history, and the outcomes that they leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import eq, ge, lt

from sqlalchemy import ColumnElement, bindparam, or_, select, tuple_

from adon.broker.flow import Flow, FlowState
from adon.broker.outcomes import FlowOutcome
from adon.store.documents import Documents, addition, count_values, is_template, where
from adon.store.tables import flow_history, flows, outcomes
from adon.store.transactions import Transactions


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
    """Filter of flows; None narrows nothing.  Times in seconds since the epoch.

    :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
    :param host: the source or destination DTN.
    :param path: the present or last path.
    :param since: submitted then or later; ``until``: before then.
    :param text: part of the label, reason, hosts, template or requester; in any case.
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

_SEARCHED = flows.alias("searched")
_BEFORE = select(flows.c.state, flows.c.path, flows.c.body).where(flows.c.number == bindparam("which"))
"""Made once, as the statements of :mod:`adon.store.documents`."""


def _flow_columns(flow: Flow) -> dict[str, object]:
    texts = (flow.request.label, flow.reason, *flow.hosts, flow.template, flow.requester)
    return {
        "number": flow.number,
        "state": flow.state.value,
        "requester": flow.requester,
        "template": flow.template,
        "source": flow.request.source,
        "destination": flow.request.destination,
        "path": flow.path,
        "submitted_at": flow.submitted_at,
        "search_text": "\n".join(texts).casefold(),
    }


def _outcome_columns(outcome: FlowOutcome) -> dict[str, object]:
    return {
        "flow": outcome.flow,
        "name": _name_of(outcome.template),
        "template": outcome.template,
        "ended_at": outcome.ended_at,
    }


FLOWS = Documents(flows, Flow, "flow", "f-", _flow_columns)
OUTCOMES = Documents(outcomes, FlowOutcome, "outcome of flow", "f-", _outcome_columns)
_UNFINISHED = flows.c.state.not_in([state.value for state in FlowState if state.final])


class FlowRows(Transactions):
    """Flows, their history and their outcomes."""

    def save_flow(self, flow: Flow, cause: str, at: float | None = None) -> None:
        """Save a flow as it is now; its history grows if the state, path or reason changed.

        :param cause: the id of the event that led to it.
        :param at: time of the change; the latest time that the flow itself names if None.
        """
        with self._writing() as connection:
            before = connection.execute(_BEFORE, {"which": flow.number}).one_or_none()
            FLOWS.save(connection, flow)
            now = {"state": flow.state.value, "path": flow.path, "reason": flow.reason}
            if before is None or _history_values(before.state, before.path, before.body) != now:
                at = _changed_at(flow) if at is None else at
                connection.execute(
                    addition(flow_history), {"flow": flow.number, "at": at, "cause": cause, **now}
                )

    def save_outcome(self, outcome: FlowOutcome) -> None:
        """Add the outcome of a flow that has been saved; an outcome never changes."""
        with self._writing() as connection:
            OUTCOMES.add(connection, outcome)

    def flow(self, number: int) -> Flow:
        """Return one flow.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return FLOWS.read(connection, number)

    def flows(
        self, wanted: FlowFilter = EVERY_FLOW, limit: int = 100, before: int | None = None
    ) -> tuple[Flow, ...]:
        """Return flows, newest first; ``before`` is the number of the last flow of the previous page."""
        conditions = where(
            (flows.c.number, lt, before),
            (flows.c.state, eq, wanted.state and wanted.state.value),
            (flows.c.requester, eq, wanted.requester),
            (flows.c.template, is_template, wanted.template),
            (flows.c.source, _is_end, wanted.host),
            (flows.c.path, eq, wanted.path),
            (flows.c.submitted_at, ge, wanted.since),
            (flows.c.submitted_at, lt, wanted.until),
            (flows.c.number, _has_text, wanted.text),
        )
        with self._reading() as connection:
            return FLOWS.find(connection, conditions, [flows.c.number.desc()], limit)

    def unfinished_flows(self) -> tuple[Flow, ...]:
        """Return the flows that have not ended, oldest first."""
        with self._reading() as connection:
            return FLOWS.find(connection, [_UNFINISHED])

    def flow_states(self) -> Mapping[str, int]:
        """Return the number of unfinished flows in each state; states without any are left out."""
        with self._reading() as connection:
            return count_values(connection, flows.c.state, _UNFINISHED)

    def last_flow_number(self) -> int:
        """Return the highest flow number ever saved, 0 before the first."""
        with self._reading() as connection:
            return FLOWS.last_number(connection)

    def history(self, number: int, last: int | None = None) -> tuple[HistoryEntry, ...]:
        """Return the changes of a flow in order; nothing for an unknown flow.

        :param last: only this number of last changes; None for all.
        """
        query = select(flow_history).where(flow_history.c.flow == number)
        query = query.order_by(flow_history.c.id.desc()).limit(last)
        with self._reading() as connection:
            rows = reversed(connection.execute(query).all())
            return tuple(
                HistoryEntry(row.at, FlowState(row.state), row.path, row.reason, row.cause) for row in rows
            )

    def outcome(self, number: int) -> FlowOutcome:
        """Return the outcome of a flow.

        :raises NotFound: if it has not ended, or never was.
        """
        with self._reading() as connection:
            return OUTCOMES.read(connection, number)

    def outcomes(
        self,
        template: str | None = None,
        since: float | None = None,
        limit: int = 100,
        requester: str | None = None,
        before: tuple[float, int] | None = None,
    ) -> tuple[FlowOutcome, ...]:
        """Return outcomes, those of the flows that ended last first.

        :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
        :param since: of flows that ended then or later.
        :param before: end and number of the last flow of the previous page.
        """
        requested = select(flows.c.number).where(flows.c.requester == requester)
        conditions = where(
            (outcomes.c.name, eq, template and _name_of(template)),
            (outcomes.c.template, is_template, template),
            (outcomes.c.ended_at, ge, since),
            (outcomes.c.flow, lambda column, _: column.in_(requested), requester),
            (tuple_(outcomes.c.ended_at, outcomes.c.flow), lt, before),
        )
        order = [outcomes.c.ended_at.desc(), outcomes.c.flow.desc()]
        with self._reading() as connection:
            return OUTCOMES.find(connection, conditions, order, limit)


def _name_of(reference: str) -> str:
    return reference.partition("@")[0]


def _history_values(state: str, path: str | None, body: Mapping[str, object]) -> dict[str, object]:
    return {"state": state, "path": path, "reason": body.get("reason")}


def _changed_at(flow: Flow) -> float:
    times = (flow.submitted_at, flow.state_since, flow.path_since, flow.started_at, flow.ended_at)
    return max(time for time in times if time is not None)


def _is_end(source: ColumnElement[str], host: str) -> ColumnElement[bool]:
    return or_(source == host, flows.c.destination == host)


def _has_text(number: ColumnElement[int], text: str) -> ColumnElement[bool]:
    # Apart from the bodies: SQLite finds these numbers in an index that holds nothing else.
    found = _SEARCHED.c.search_text.contains(text.casefold(), autoescape=True)
    return number.in_(select(_SEARCHED.c.number).where(found))

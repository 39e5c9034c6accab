"""The store: what must survive a restart, saved before anybody is told.

One process writes (the controller), any number read.  Saves made inside :meth:`Store.transaction` become
one commit, which is on disk when the block is left: the executor saves an event's decision, flow and
pending rules in one block and talks to the switch after it (R3).  A save outside such a block is a
commit of its own.  The store reads no clock; who saves says when.

The SQL is in the ``*_rows`` modules, one per kind of thing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from sqlalchemy import Connection, Engine, func, select

from adon.broker.decision import Decision
from adon.broker.effects import RuleState
from adon.broker.flow import Flow
from adon.broker.maintenance import Window
from adon.broker.outcomes import FlowOutcome
from adon.broker.recompute.encoded import Encoded
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import SiteJob
from adon.errors import Unavailable
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.store import (
    access_rows,
    decision_rows,
    document_rows,
    flow_rows,
    job_rows,
    lease,
    maintenance_rows,
    outcome_rows,
    reservation_rows,
    rule_rows,
    snapshot_rows,
    template_rows,
)
from adon.store.access_rows import KeptAnswer
from adon.store.decision_rows import DecisionFilter, DecisionInShort
from adon.store.engine import DURABLE, WRITES, translated
from adon.store.flow_rows import EVERY_FLOW, FlowFilter, HistoryEntry
from adon.store.lease import Held, Lease
from adon.store.rule_rows import SavedRule
from adon.store.schema import open_database
from adon.store.snapshot_rows import SavedSnapshot
from adon.store.tables import STATE, decisions, documents, flow_history, idempotency, rules, templates
from adon.store.template_rows import SavedTemplate
from adon.templates_catalog.model import Template
from measurement.model import from_json, to_json

WANTED = frozenset({RuleState.PENDING, RuleState.INSTALLED, RuleState.FAILED})
"""The states of the rules that belong in the switches."""

CIRCUITS = "circuits"
"""The document of the overlays' circuits."""
SAVED_AT = (
    decisions.c.at,
    rules.c.updated_at,
    templates.c.saved_at,
    idempotency.c.at,
    documents.c.updated_at,
)
"""The columns with times of events, besides that of the flows' history."""


class Store:
    """One open database; usable from several threads, each with its own transactions.

    Every method raises :class:`~adon.errors.Unavailable` if the database does not answer.
    """

    def __init__(self, engine: Engine, *, read_only: bool, fence: Lease | None = None) -> None:
        self._engine = engine
        self._read_only = read_only
        self._fence = fence
        self._thread = threading.local()

    @classmethod
    def open(cls, url: str, read_only: bool = False, fence: Lease | None = None) -> Self:
        """Open a database that :func:`~adon.store.schema.make_database` has made.

        :param fence: every save is refused (:class:`~adon.store.lease.LeaseLost`) once this lease is lost.
        :raises InvalidInput: for a URL that names no database.
        :raises Unavailable: if it does not answer, or its schema is not this version's.
        """
        engine = open_database(url, STATE, read_only=read_only)
        return cls(engine, read_only=read_only, fence=fence)

    def close(self) -> None:
        """Give the connections back."""
        kept: Connection | None = getattr(self._thread, "kept", None)
        if kept is not None:
            kept.close()
            self._thread.kept = None
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Group the saves of this thread: all of them are kept, or on an exception none.

        Inside another transaction of the same thread it is part of that one.

        :param durable: whether it is on disk when the block is left.  If not, it is still written, and
            outlives this process; a power failure may take back the last seconds of such transactions.
        :raises Unavailable: if the store was opened for reading, or the commit failed.
        """
        with self._writing(durable=durable):
            yield

    # -- saving -----------------------------------------------------------------------------------

    def save_flow(self, flow: Flow, cause: str, at: float | None = None) -> None:
        """Keep a flow as it is now, and in its history what changed.

        :param cause: the id of the event that led to it.
        :param at: when; the latest time the flow itself names where it is None.
        """
        with self._writing() as connection:
            flow_rows.save(connection, flow, cause, flow_rows.changed_at(flow) if at is None else at)

    def save_decision(self, decision: Decision) -> None:
        """Keep a decision."""
        with self._writing() as connection:
            decision_rows.save(connection, decision)

    def save_snapshots(self, encoded: Sequence[Encoded], code: str) -> None:
        """Keep what some decisions saw, and the version of the code that made them."""
        with self._writing() as connection:
            snapshot_rows.save(connection, encoded, code)

    def save_outcome(self, outcome: FlowOutcome) -> None:
        """Keep what a flow leaves behind; the flow itself has been saved."""
        with self._writing() as connection:
            outcome_rows.save(connection, outcome)

    def save_template(self, template: Template, author: str, at: float) -> None:
        """Keep a template version; saving the same again changes nothing.

        :raises Conflict: if this version is there with other content.
        """
        with self._writing() as connection:
            template_rows.save(connection, template, author, at)

    def save_circuits(self, paths: OverlayPaths, at: float) -> None:
        """Keep the overlays' circuits."""
        with self._writing() as connection:
            document_rows.save(connection, CIRCUITS, to_json(paths), at)

    def circuits(self) -> OverlayPaths:
        """The overlays' circuits that were saved last; none if there never were any."""
        with self._reading() as connection:
            body = document_rows.read(connection, CIRCUITS)
        return OverlayPaths() if body is None else from_json(OverlayPaths, body)

    def save_rules(self, rules: Iterable[Entry], state: RuleState, error: str, at: float) -> None:
        """Keep how far some rules have come; ``error`` is the switch's own text, or empty."""
        with self._writing() as connection:
            rule_rows.save(connection, rules, state, error, at)

    def save_window(self, window: Window) -> None:
        """Keep a maintenance window as it is now."""
        with self._writing() as connection:
            maintenance_rows.save(connection, window)

    def save_job(self, job: SiteJob) -> None:
        """Keep a job at a compute site as it is now."""
        with self._writing() as connection:
            job_rows.save(connection, job)

    def save_reservation(self, reservation: Reservation) -> None:
        """Keep a reservation of resources as it is now."""
        with self._writing() as connection:
            reservation_rows.save(connection, reservation)

    def save_answer(
        self, actor: str, key: str, request_hash: str, answer: Mapping[str, Any], at: float
    ) -> None:
        """Keep what was answered to a request with an Idempotency-Key; the first answer stays.

        :raises Conflict: if the key was used with another request.
        """
        with self._writing() as connection:
            access_rows.save_answer(connection, actor, key, KeptAnswer(request_hash, answer, at))

    def forget_answers(self, before: float) -> int:
        """Drop kept answers older than this time; how many there were."""
        with self._writing() as connection:
            return access_rows.forget_answers(connection, before)

    # -- leases (never fenced: they are what the fence is made of) ---------------------------------

    def take_lease(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a free lease; None while it is held."""
        with self._transaction() as (connection, _):
            return lease.take(connection, name, holder, seconds)

    def renew_lease(self, held: Lease, seconds: float) -> None:
        """Let a lease run for so many seconds from now.

        :raises LeaseLost: if it has run out.
        """
        with self._transaction() as (connection, _):
            lease.renew(connection, held, seconds)

    def give_lease_back(self, held: Lease) -> None:
        """End a lease now, if it still runs."""
        with self._transaction() as (connection, _):
            lease.give_back(connection, held)

    def lease(self, name: str) -> Held | None:
        """The present or last holder of a lease; None if there was none."""
        with self._reading() as connection:
            return lease.read(connection, name)

    # -- reading ----------------------------------------------------------------------------------

    def flow(self, number: int) -> Flow:
        """One flow.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return flow_rows.read(connection, number)

    def flows(
        self, wanted: FlowFilter = EVERY_FLOW, limit: int = 100, before: int | None = None
    ) -> tuple[Flow, ...]:
        """Flows, newest first; ``before`` is the number to go on from."""
        with self._reading() as connection:
            return flow_rows.listed(connection, wanted, limit, before)

    def unfinished_flows(self) -> tuple[Flow, ...]:
        """The flows that have not ended, oldest first."""
        with self._reading() as connection:
            return flow_rows.unfinished(connection)

    def flow_states(self) -> Mapping[str, int]:
        """How many flows that have not ended are in each state; states without any are left out."""
        with self._reading() as connection:
            return flow_rows.states(connection)

    def rule_states(self) -> Mapping[str, int]:
        """How many rules are in each state; states without any are left out."""
        with self._reading() as connection:
            return rule_rows.states(connection)

    def latest_time(self) -> float:
        """Return the time of the latest saved event in seconds since the epoch; 0 in a new database."""
        last = select(flow_history.c.at).order_by(flow_history.c.id.desc()).limit(1)
        queries = [last, *(select(func.max(column)) for column in SAVED_AT)]
        with self._reading() as connection:
            return max(connection.execute(query).scalar() or 0.0 for query in queries)

    def last_flow_number(self) -> int:
        """The highest flow number ever saved, 0 before the first."""
        with self._reading() as connection:
            return flow_rows.last_number(connection)

    def history(self, number: int, last: int | None = None) -> tuple[HistoryEntry, ...]:
        """What happened to a flow, in order; nothing for a flow that is not known.

        :param last: only the last so many steps; None for all.
        """
        with self._reading() as connection:
            return flow_rows.history(connection, number, last)

    def snapshot(self, decision: str) -> SavedSnapshot:
        """What a decision saw.

        :raises NotFound: if that was not kept.
        """
        with self._reading() as connection:
            return snapshot_rows.read(connection, decision)

    def snapshot_part(self, digest: str) -> str:
        """A part of what decisions saw.

        :raises NotFound: if there is none of this name.
        """
        with self._reading() as connection:
            return snapshot_rows.part(connection, digest)

    def outcome(self, number: int) -> FlowOutcome:
        """What a flow has left behind.

        :raises NotFound: if it has not ended, or never was.
        """
        with self._reading() as connection:
            return outcome_rows.read(connection, number)

    def outcomes(
        self,
        template: str | None = None,
        since: float | None = None,
        limit: int = 100,
        requester: str | None = None,
        before: tuple[float, int] | None = None,
    ) -> tuple[FlowOutcome, ...]:
        """What flows have left behind, those that ended last first.

        :param template: ``soykb`` for all versions of it, ``soykb@3`` for one.
        :param since: of flows that ended then or later.
        :param before: when the flow ended, and its number, of the one to go on from.
        """
        with self._reading() as connection:
            return outcome_rows.listed(connection, template, since, requester, limit, before)

    def decision(self, identifier: str) -> Decision:
        """One decision.

        :raises NotFound: if there is none of this id.
        """
        with self._reading() as connection:
            return decision_rows.read(connection, identifier)

    def decisions(self, flow: int) -> tuple[Decision, ...]:
        """All decisions about one flow, oldest first."""
        with self._reading() as connection:
            return decision_rows.of_flow(connection, flow)

    def decisions_in_short(
        self, wanted: DecisionFilter, limit: int = 100, before: tuple[float, str] | None = None
    ) -> tuple[DecisionInShort, ...]:
        """Decisions about all flows, newest first; ``before``: time and id of the one to go on from."""
        with self._reading() as connection:
            return decision_rows.listed(connection, wanted, limit, before)

    def templates(self, name: str | None = None) -> tuple[SavedTemplate, ...]:
        """All versions of all templates, or of the one of this name; by name and version."""
        with self._reading() as connection:
            return template_rows.listed(connection, name)

    def template(self, name: str, version: int | None = None) -> SavedTemplate:
        """One version of a template, the latest if none is named.

        :raises NotFound: if there is no such template or version.
        """
        with self._reading() as connection:
            return template_rows.read(connection, name, version)

    def rules(
        self,
        dpid: int | None = None,
        owner: str | None = None,
        states: frozenset[RuleState] | None = None,
        first: str | None = None,
        limit: int | None = None,
    ) -> tuple[SavedRule, ...]:
        """Saved rules in the order of their slots; ``states=WANTED`` for those that belong in the switches.

        :param first: the slot to begin with, as text (:func:`~adon.store.entry_codec.slot_text`).
        """
        with self._reading() as connection:
            return rule_rows.listed(connection, dpid, owner, states, first, limit)

    def windows(self, since: float | None = None) -> tuple[Window, ...]:
        """Maintenance windows, by number, cancelled ones too; with ``since`` those that end after that."""
        with self._reading() as connection:
            return maintenance_rows.listed(connection, since)

    def job(self, number: int) -> SiteJob:
        """One job at a compute site.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return job_rows.read(connection, number)

    def jobs(
        self,
        site: str | None = None,
        requester: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> tuple[SiteJob, ...]:
        """Jobs at compute sites, newest first; ``before`` is the number to go on from."""
        with self._reading() as connection:
            return job_rows.listed(connection, site, requester, limit, before)

    def job_states(self, newest: int) -> Mapping[str, int]:
        """How many of so many newest jobs are in each state; states without any are left out."""
        with self._reading() as connection:
            return job_rows.states(connection, newest)

    def remembered_jobs(self, ended: int) -> tuple[SiteJob, ...]:
        """So many of the jobs that ended last, then all that have not, the oldest first in each."""
        with self._reading() as connection:
            return job_rows.remembered(connection, ended)

    def last_job_number(self) -> int:
        """The highest job number ever saved, 0 before the first."""
        with self._reading() as connection:
            return job_rows.last_number(connection)

    def reservation(self, number: int) -> Reservation:
        """One reservation, released or over as it may be.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return reservation_rows.read(connection, number)

    def reservations(self, since: float | None = None, owner: str | None = None) -> tuple[Reservation, ...]:
        """Reservations, by number, released ones too; with ``since`` those that end after that."""
        with self._reading() as connection:
            return reservation_rows.listed(connection, since, owner)

    def answer(self, actor: str, key: str) -> KeptAnswer | None:
        """What was answered to this actor's request with this Idempotency-Key; None if none was."""
        with self._reading() as connection:
            return access_rows.read_answer(connection, actor, key)

    # -- inside -----------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[Connection]:
        with self._transaction(durable=durable) as (connection, begins):
            if begins and self._fence is not None:
                lease.check(connection, self._fence)
            yield connection

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[tuple[Connection, bool]]:
        """The transaction of this thread, and whether it begins here."""
        if self._read_only:
            raise Unavailable("this process opened the store for reading only", code="read-only")
        current: Connection | None = getattr(self._thread, "connection", None)
        if current is not None:
            with translated():
                yield current, False
            return
        with translated(), self._kept().execution_options(**{DURABLE: durable}).begin() as begun:
            self._thread.connection = begun.connection
            try:
                yield begun.connection, True
            finally:
                self._thread.connection = None

    def _kept(self) -> Connection:
        """This thread's connection for writing: to get one anew each time would delay each move.

        One that broke is made anew by SQLAlchemy when the next transaction begins.
        """
        kept: Connection | None = getattr(self._thread, "kept", None)
        if kept is None:
            kept = self._thread.kept = self._engine.connect().execution_options(**{WRITES: True})
        return kept

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        # Inside a transaction of this thread, what it has saved so far is seen.
        current: Connection | None = getattr(self._thread, "connection", None)
        if current is not None:
            with translated():
                yield current
            return
        with translated(), self._engine.connect() as connection:
            yield connection

"""Tables of the state database, in types that SQLite and PostgreSQL have.

Filters have columns of their own; ``body`` has the value as JSON (:func:`measurement.model.to_json`).
Datapath ids, cookies and slots are text, because they are 64-bit *unsigned*, which SQL integers are not.
Times are seconds since the epoch.  A change here needs a new revision in :data:`STATE`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    event,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)


@dataclass(frozen=True, slots=True)
class Schema:
    """A set of tables; two of them may share one database.

    :param revision: names the present tables; a database of another revision is refused.
    :param version: the table that holds the revision of a database, in the form of Alembic's.
    """

    revision: str
    version: Table


def version_table(name: str, metadata: MetaData) -> Table:
    """Return the table that holds the revision of a database."""
    return Table(name, metadata, Column("version_num", String(32), primary_key=True))


def forbid_changes(table: Table, cause: str) -> None:
    """Let the database itself refuse every UPDATE and DELETE of a table."""
    for verb in ("UPDATE", "DELETE"):
        run_after_create(
            table,
            "sqlite",
            f"CREATE TRIGGER {table.name}_no_{verb.lower()} BEFORE {verb} ON {table.name} "
            f"BEGIN SELECT RAISE(ABORT, '{cause}'); END",
        )
    run_after_create(
        table,
        "postgresql",
        f"CREATE FUNCTION {table.name}_never_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{cause}'; END $$",
        f"CREATE TRIGGER {table.name}_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table.name}_never_change()",
    )


def run_after_create(table: Table, dialect: str | None, *statements: str) -> None:
    """Execute statements when a table has been created, in one dialect or in all."""
    for statement in statements:
        ddl = DDL(statement)  # type: ignore[no-untyped-call]
        event.listen(table, "after_create", ddl.execute_if(dialect=dialect))


RowId = BigInteger().with_variant(Integer(), "sqlite")
"""A key that the database counts up; SQLite does so only for its type INTEGER."""

templates = Table(
    "templates",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("body", JSON, nullable=False),
    Column("author", Text, nullable=False),
    Column("saved_at", Double, nullable=False),
)
"""Template versions, which never change."""
forbid_changes(templates, "a saved template version never changes")

flows = Table(
    "flows",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("state", String(16), nullable=False, index=True),
    Column("requester", Text, nullable=False, index=True),
    Column("template", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("path", Text),
    Column("submitted_at", Double, nullable=False),
    Column("body", JSON, nullable=False),
    Column("search_text", Text, nullable=False),
)
"""Every flow as last saved; ``search_text`` has the texts that a search looks through."""
Index("ix_flows_search_text", flows.c.number, flows.c.search_text).ddl_if(dialect="sqlite")

flow_history = Table(
    "flow_history",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("flow", BigInteger, ForeignKey("flows.number"), nullable=False, index=True),
    Column("at", Double, nullable=False),
    Column("state", String(16), nullable=False),
    Column("path", Text),
    Column("reason", Text, nullable=False),
    Column("cause", Text, nullable=False),
)
"""One row for each save that changed the state, path or reason of a flow; rows are only added."""

decisions = Table(
    "decisions",
    metadata,
    Column("id", Text, primary_key=True),
    # No foreign key: a decision may be saved before its flow in the same transaction.
    Column("flow", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("body", JSON, nullable=False),
    Column("template", Text),
    Column("path", Text),
    Column("site", Text),
    Index("ix_decisions_flow_at", "flow", "at"),
    # All columns of filters, so that bodies, a hundred times as large, are read for one page only.
    Index("ix_decisions_listed", "at", "id", "flow", "outcome", "template", "path", "site"),
)
"""Decision records."""

rules = Table(
    "rules",
    metadata,
    Column("slot", Text, primary_key=True),
    Column("dpid", String(16), nullable=False, index=True),
    Column("owner", Text, nullable=False, index=True),
    Column("cookie", String(18), nullable=False),
    Column("body", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)
"""Desired rules and their states (R3); one per slot, as in a switch."""

idempotency = Table(
    "idempotency",
    metadata,
    Column("actor", Text, primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("answer", JSON, nullable=False),
    Column("at", Double, nullable=False, index=True),
)
"""Answers to requests with an Idempotency-Key."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("holder", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("expires", Double, nullable=False),
)
"""Holders of roles that one process has at a time; ``expires`` is by the clock of the database."""

documents = Table(
    "documents",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("body", JSON, nullable=False),
    Column("updated_at", Double, nullable=False),
)
"""Single values by name: the circuits of overlays."""

maintenance = Table(
    "maintenance",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("ends", Double, nullable=False, index=True),
    Column("body", JSON, nullable=False),
)
"""Maintenance windows, also past and cancelled ones."""

jobs = Table(
    "jobs",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("site", Text, nullable=False, index=True),
    Column("requester", Text, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("body", JSON, nullable=False),
)
"""Jobs at compute sites, each as last saved."""

outcomes = Table(
    "outcomes",
    metadata,
    Column("flow", BigInteger, ForeignKey("flows.number"), primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("template", Text, nullable=False),
    Column("ended_at", Double, nullable=False, index=True),
    Column("body", JSON, nullable=False),
    Index("ix_outcomes_name_ended_at", "name", "ended_at"),
)
"""Outcomes of ended flows; ``name`` is that of the template, ``template`` has the version too."""

snapshots = Table(
    "snapshots",
    metadata,
    # No foreign key: a power failure may have taken back the decision.
    Column("decision", Text, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("code", Text, nullable=False),
    Column("body", Text, nullable=False),
)
"""Inputs of decisions, with the version of the code.  Text, not JSON, because a digest is of bytes."""

snapshot_parts = Table(
    "snapshot_parts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("body", Text, nullable=False),
)
"""The parts that snapshots share, by the SHA-256 of their content."""

reservations = Table(
    "reservations",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", Text, nullable=False, index=True),
    Column("ends", Double, nullable=False, index=True),
    Column("body", JSON, nullable=False),
)
"""Reservations of resources, also past and released ones."""

STATE = Schema("0014", version_table("alembic_version", metadata))
"""The controller's tables."""

"""The first schema.

Written out rather than taken from :mod:`adon.store.tables`: a migration describes what was, and that
module what is now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NEVER = "a saved template version never changes"

SQLITE = [
    f"CREATE TRIGGER templates_no_{verb.lower()} BEFORE {verb} ON templates "
    f"BEGIN SELECT RAISE(ABORT, '{NEVER}'); END"
    for verb in ("UPDATE", "DELETE")
]

POSTGRESQL = [
    (
        "CREATE FUNCTION templates_never_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{NEVER}'; END $$"
    ),
    (
        "CREATE TRIGGER templates_never_change BEFORE UPDATE OR DELETE ON templates "
        "FOR EACH ROW EXECUTE FUNCTION templates_never_change()"
    ),
]


def upgrade() -> None:
    """Make all tables of the first schema, and the triggers that keep template versions."""
    _catalog_and_flows()
    _decisions_and_rules()
    _access()
    for statement in POSTGRESQL if op.get_bind().dialect.name == "postgresql" else SQLITE:
        op.execute(statement)


def _catalog_and_flows() -> None:
    op.create_table(
        "templates",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("saved_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", "version", name="pk_templates"),
    )
    op.create_table(
        "flows",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("requester", sa.Text, nullable=False),
        sa.Column("template", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("destination", sa.Text, nullable=False),
        sa.Column("path", sa.Text),
        sa.Column("submitted_at", sa.Double, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_flows"),
    )
    op.create_index("ix_flows_state", "flows", ["state"])
    op.create_index("ix_flows_requester", "flows", ["requester"])
    op.create_table(
        "flow_history",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("flow", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("path", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_flow_history"),
        sa.ForeignKeyConstraint(["flow"], ["flows.number"], name="fk_flow_history_flow_flows"),
    )
    op.create_index("ix_flow_history_flow", "flow_history", ["flow"])


def _decisions_and_rules() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("flow", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
    )
    op.create_index("ix_decisions_flow_at", "decisions", ["flow", "at"])
    op.create_table(
        "rules",
        sa.Column("slot", sa.Text, nullable=False),
        sa.Column("dpid", sa.String(16), nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("cookie", sa.String(18), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("slot", name="pk_rules"),
    )
    op.create_index("ix_rules_dpid", "rules", ["dpid"])
    op.create_index("ix_rules_owner", "rules", ["owner"])


def _access() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("roles", sa.JSON, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("revoked", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
    )
    op.create_table(
        "idempotency",
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("actor", "key", name="pk_idempotency"),
    )
    op.create_index("ix_idempotency_at", "idempotency", ["at"])

"""The first schema of the access database; written out, as a migration describes what was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a0001"
down_revision = None
branch_labels = None
depends_on = None

NEVER = "the audit log only grows"

SQLITE = [
    f"CREATE TRIGGER access_audit_no_{verb.lower()} BEFORE {verb} ON access_audit "
    f"BEGIN SELECT RAISE(ABORT, '{NEVER}'); END"
    for verb in ("UPDATE", "DELETE")
]
# INSERT OR REPLACE deletes without the trigger of DELETE.
SQLITE.append(
    "CREATE TRIGGER access_audit_in_order BEFORE INSERT ON access_audit "
    "WHEN NEW.number <= (SELECT max(number) FROM access_audit) "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"
)

POSTGRESQL = [
    (
        "CREATE FUNCTION access_audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{NEVER}'; END $$"
    ),
    (
        "CREATE TRIGGER access_audit_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON access_audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION access_audit_only_grows()"
    ),
]


def upgrade() -> None:
    """Make all tables, and the triggers that keep the audit log."""
    _users()
    _proofs()
    _answers()
    _audit()
    for statement in POSTGRESQL if op.get_bind().dialect.name == "postgresql" else SQLITE:
        op.execute(statement)


def _users() -> None:
    op.create_table(
        "access_users",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("display", sa.Text),
        sa.Column("mail", sa.Text),
        sa.Column("groups", sa.JSON, nullable=False),
        sa.Column("roles_by_rules", sa.JSON, nullable=False),
        sa.Column("roles_granted", sa.JSON, nullable=False),
        sa.Column("roles_removed", sa.JSON, nullable=False),
        sa.Column("disabled", sa.Double),
        sa.Column("first_seen", sa.Double, nullable=False),
        sa.Column("last_seen", sa.Double),
        sa.PrimaryKeyConstraint("name", name="pk_access_users"),
        sa.UniqueConstraint("key", name="uq_access_users_key"),
    )
    op.create_index("uq_access_users_identity", "access_users", ["issuer", "subject"], unique=True)


def _proofs() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scope", sa.JSON, nullable=False),
        sa.Column("roles", sa.JSON),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("revoked", sa.Double),
        sa.Column("used", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_access_tokens"),
        sa.UniqueConstraint("digest", name="uq_access_tokens_digest"),
    )
    op.create_index("ix_access_tokens_owner", "access_tokens", ["owner"])
    op.create_table(
        "access_sessions",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("how", sa.Text, nullable=False),
        sa.Column("token", sa.String(32)),
        sa.Column("extra", sa.JSON, nullable=False),
        sa.Column("began", sa.Double, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_access_sessions"),
        sa.UniqueConstraint("id", name="uq_access_sessions_id"),
    )
    for column in ("owner", "token", "began"):
        op.create_index(f"ix_access_sessions_{column}", "access_sessions", [column])


def _answers() -> None:
    op.create_table(
        "access_answers",
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("headers", sa.JSON, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("actor", "key", name="pk_access_answers"),
    )
    op.create_index("ix_access_answers_at", "access_answers", ["at"])


def _audit() -> None:
    op.create_table(
        "access_audit",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("method", sa.String(16), nullable=False),
        sa.Column("object", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("times", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_access_audit"),
    )
    for column in ("at", "actor", "action", "outcome"):
        op.create_index(f"ix_access_audit_{column}", "access_audit", [column])
    op.create_table(
        "access_audit_head",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_access_audit_head"),
    )
    op.execute("INSERT INTO access_audit_head (id, number, digest) VALUES (1, 0, '')")

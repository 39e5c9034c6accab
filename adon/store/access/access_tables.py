"""The tables of the access database.  Times are seconds since the epoch.

Where it shares a PostgreSQL database with the state, the names tell them apart.  A change here needs a
new revision in :data:`ACCESS`.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from adon.store.tables import Schema, forbid_changes, run_after_create, version_table
from adon.store.tables import metadata as state

metadata = MetaData(naming_convention=state.naming_convention)

ACCESS = Schema("a0003", version_table("access_version", metadata))
"""The access database's tables."""

users = Table(
    "access_users",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("key", String(200), nullable=False, unique=True),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("display", Text),
    Column("mail", Text),
    Column("groups", JSON, nullable=False),
    Column("by_rules", JSON, nullable=False),
    Column("granted", JSON, nullable=False),
    Column("removed", JSON, nullable=False),
    Column("disabled", Double),
    Column("first_seen", Double, nullable=False),
    Column("last_seen", Double),
    Index("uq_access_users_identity", "issuer", "subject", unique=True),
)
"""Users; ``key`` is the name in the form for comparisons, so that no two look alike."""

tokens = Table(
    "access_tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("label", Text, nullable=False),
    Column("scope", JSON, nullable=False),
    Column("roles", JSON),
    Column("created", Double, nullable=False),
    Column("expires", Double),
    Column("revoked", Double),
    Column("used", Double),
)
"""Access tokens with their SHA-256; ``roles`` are those that a token is limited to, if any."""

sessions = Table(
    "access_sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("how", Text, nullable=False),
    Column("token", String(32), index=True),
    Column("extra", JSON, nullable=False),
    Column("began", Double, nullable=False, index=True),
    Column("seen", Double, nullable=False),
)
"""Sessions with the SHA-256 of their cookies."""

audit = Table(
    "access_audit",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False, index=True),
    Column("actor", String(200), nullable=False, index=True),
    Column("via", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("action", String(64), nullable=False, index=True),
    Column("method", String(16), nullable=False),
    Column("object", Text, nullable=False),
    Column("outcome", String(16), nullable=False, index=True),
    Column("status", Integer, nullable=False),
    Column("detail", Text, nullable=False),
    Column("times", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False),
)
"""The audit log, which only grows; each digest covers the one before it."""
forbid_changes(audit, "the audit log only grows")
run_after_create(
    audit,
    "sqlite",  # INSERT OR REPLACE deletes without the trigger of DELETE
    "CREATE TRIGGER access_audit_in_order BEFORE INSERT ON access_audit "
    "WHEN NEW.number <= (SELECT max(number) FROM access_audit) "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
)

audit_head = Table(
    "access_audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False),
)
"""The last line of the audit log in one row, so that a removal at the end is found too."""
run_after_create(audit_head, None, "INSERT INTO access_audit_head (id, number, digest) VALUES (1, 0, '')")

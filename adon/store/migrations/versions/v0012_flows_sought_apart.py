"""A search among flows goes through an index of what it looks through, not through every flow's body."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index; not to PostgreSQL, which keeps bodies elsewhere, and no such long texts in an index."""
    if op.get_bind().dialect.name == "sqlite":
        op.create_index("ix_flows_sought", "flows", ["number", "sought"])

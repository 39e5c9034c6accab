"""Maintenance windows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of the windows."""
    op.create_table(
        "maintenance",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("ends", sa.Double, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_maintenance"),
    )
    op.create_index("ix_maintenance_ends", "maintenance", ["ends"])

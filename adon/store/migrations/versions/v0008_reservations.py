"""Reservations of resources."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of the reservations."""
    op.create_table(
        "reservations",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("ends", sa.Double, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_reservations"),
    )
    op.create_index("ix_reservations_owner", "reservations", ["owner"])
    op.create_index("ix_reservations_ends", "reservations", ["ends"])

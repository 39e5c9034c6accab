"""Proposals to change the scoring of templates."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of the proposals."""
    op.create_table(
        "proposals",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("template", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_proposals"),
    )
    op.create_index("ix_proposals_template", "proposals", ["template"])
    op.create_index("ix_proposals_state", "proposals", ["state"])

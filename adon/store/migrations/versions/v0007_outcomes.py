"""What flows leave behind, and what decisions saw."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the outcomes, of what decisions saw, and of its parts."""
    op.create_table(
        "outcomes",
        sa.Column("flow", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("template", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("ended_at", sa.Double, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("flow", name="pk_outcomes"),
        sa.ForeignKeyConstraint(["flow"], ["flows.number"], name="fk_outcomes_flow_flows"),
    )
    op.create_index("ix_outcomes_ended_at", "outcomes", ["ended_at"])
    op.create_index("ix_outcomes_template_ended_at", "outcomes", ["template", "ended_at"])
    op.create_table(
        "snapshots",
        sa.Column("decision", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("decision", name="pk_snapshots"),
    )
    op.create_table(
        "snapshot_parts",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_snapshot_parts"),
    )

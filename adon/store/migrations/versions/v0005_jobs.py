"""Jobs at compute sites."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of the jobs."""
    op.create_table(
        "jobs",
        sa.Column("number", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("requester", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_jobs"),
    )
    op.create_index("ix_jobs_site", "jobs", ["site"])
    op.create_index("ix_jobs_state", "jobs", ["state"])

"""Decisions listed over all flows: what they are filtered by has columns, in the index that orders them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_ADDED = ("template", "path", "site")
_IN_BODY = {"template": "template", "path": "path", "site": "compute_site"}


def upgrade() -> None:
    """Add the columns, fill them from the records, and make the index."""
    for name in _ADDED:
        op.add_column("decisions", sa.Column(name, sa.Text))
    table = sa.table("decisions", sa.column("body", sa.JSON), *(sa.column(name, sa.Text) for name in _ADDED))
    filled = {name: table.c.body[key].as_string() for name, key in _IN_BODY.items()}
    op.execute(table.update().values(filled))
    op.create_index(
        "ix_decisions_listed", "decisions", ["at", "id", "flow", "outcome", "template", "path", "site"]
    )

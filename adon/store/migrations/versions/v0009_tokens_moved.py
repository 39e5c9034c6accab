"""The tokens are in the access database now."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from adon.errors import Unavailable

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop the table of the tokens, when they have been moved."""
    tokens = sa.table("tokens")
    left = op.get_bind().execute(sa.select(sa.func.count()).select_from(tokens)).scalar_one()
    if left:
        raise Unavailable(
            f"{left} tokens have not been moved; do first: "
            "python -m adon.store.access.upgrade ACCESS_URL STATE_URL"
        )
    op.drop_table("tokens")

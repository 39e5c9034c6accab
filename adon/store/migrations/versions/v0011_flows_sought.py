"""What a search among flows looks through has a column: every body was read for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_AT_ONCE = 1000


def upgrade() -> None:
    """Add the column, and fill it: in Python, since only that folds the case of all letters."""
    op.add_column("flows", sa.Column("sought", sa.Text, nullable=False, server_default=""))
    names = ("source", "destination", "template", "requester")
    columns = [sa.column(name, sa.Text) for name in (*names, "sought")]
    table = sa.table("flows", sa.column("number", sa.BigInteger), sa.column("body", sa.JSON), *columns)
    label, reason = table.c.body["request"]["label"].as_string(), table.c.body["reason"].as_string()
    wanted = (table.c.number, label, reason, *(table.c[name] for name in names))
    change = sa.update(table).where(table.c.number == sa.bindparam("which"))
    change = change.values(sought=sa.bindparam("texts"))
    connection, last = op.get_bind(), 0
    while rows := connection.execute(
        sa.select(*wanted).where(table.c.number > last).order_by(table.c.number).limit(_AT_ONCE)
    ).all():
        texts = {row[0]: "\n".join(text or "" for text in row[1:]).casefold() for row in rows}
        connection.execute(change, [{"which": number, "texts": text} for number, text in texts.items()])
        last = rows[-1][0]

"""What Alembic runs to get at the access database: the connection that the upgrade opened."""

from __future__ import annotations

from alembic import context

from adon.store.access.tables import ACCESS, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=ACCESS.version_table,
)
context.run_migrations()

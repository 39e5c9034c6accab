"""What Alembic runs to get at the database: the connection that :mod:`adon.store.upgrade` opened.

There is no other way in: settings, locking and error translation are that module's.
"""

from __future__ import annotations

from alembic import context

from adon.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()

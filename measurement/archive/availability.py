"""Whether an error means that a database does not answer now, and how soon that is noticed.

The error's type and code decide, never its text.  PostgreSQL's driver raises ``OperationalError`` for a
connection that cannot be made or breaks, and for a server that starts, stops, is out of resources or makes a
writer wait too long; a wrong password or database name cannot be told from these while connecting.  SQLite's
driver raises it for a missing table, too, so SQLite's result code decides there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from sqlalchemy import URL, exc

TEMPORARY_IN_SQLITE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PROTOCOL,
    }
)
"""Another process writes for too long, or the disk fails or is full."""
READ_ONLY = "25006"
"""The SQLSTATE of a PostgreSQL server that is a replica until it is promoted."""
POSTGRESQL_TIMEOUTS: Mapping[str, int] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""Parameters of libpq: a host that is gone is noticed within 15 s; without them after many minutes."""


def is_unavailable(error: exc.SQLAlchemyError) -> bool:
    """Return whether the database does not answer now, so that the same request may succeed later."""
    cause = getattr(error, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in TEMPORARY_IN_SQLITE
    if isinstance(error, exc.DBAPIError) and error.connection_invalidated:
        return True
    if getattr(cause, "sqlstate", None) == READ_ONLY:
        return True
    return isinstance(error, exc.OperationalError | exc.TimeoutError)


def postgresql_timeouts(url: URL) -> dict[str, int]:
    """Return the parameters of :data:`POSTGRESQL_TIMEOUTS` that a URL does not set itself."""
    return {name: value for name, value in POSTGRESQL_TIMEOUTS.items() if name not in url.query}

"""A state database of an earlier version."""

from __future__ import annotations

from alembic import command
from alembic.config import Config

from adon.access.identity import create_token
from adon.store.engine import WRITES, open_engine, parse_url
from adon.store.upgrade import MIGRATIONS

OLD_VERSION = "0007"
"""A schema that had its tokens in the state database, and no reservations."""


def make_old_database(url: str, now: float) -> str:
    """A state database of an earlier version; the text of the administrator's token in it."""
    engine = open_engine(parse_url(url), read_only=False)
    text, token = create_token("old-admin", now)
    marks = ", ".join(["?" if engine.dialect.name == "sqlite" else "%s"] * 6)
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, OLD_VERSION)
        connection.exec_driver_sql(
            f"INSERT INTO tokens (id, actor, roles, digest, created, expires) VALUES ({marks})",  # noqa: S608
            (token.id, "old-admin", '["admin"]', token.digest, token.created, token.expires),
        )
    engine.dispose()
    return text

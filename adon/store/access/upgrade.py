"""Make or upgrade the access database: ``python -m adon.store.access.upgrade URL [STATE_URL]``.

The second URL, of the state database, has the tokens moved over that it held in versions before this one
had a database of its own: first copied, then deleted there, so that nothing is lost whenever it stops.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, select, text

from adon.access.identity import Token
from adon.errors import EXIT_INPUT, AdonError, NotAuthenticated, exit_status
from adon.store.access.database import AccessStore
from adon.store.access.tables import ACCESS, tokens
from adon.store.access.tokens import insert_token
from adon.store.access.users import make_named
from adon.store.engine import WRITES, check_file, open_engine, parse_url, translated
from adon.store.upgrade import upgrade as upgrade_schema

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(url: str) -> str:
    """Run the migrations that an access database lacks, all or none; the revision it is at then.

    :raises InvalidInput: for a URL that names no database.
    :raises Unavailable: if the database does not answer, or a newer version of ADON has changed it.
    """
    return upgrade_schema(url, ACCESS, MIGRATIONS)


def move_tokens(state: str, access: str, now: float) -> int:
    """Move the tokens that a state database still holds to the access database; how many.

    A user is made for each name they were given to, with the roles of those tokens that are still good;
    each token stays limited to the roles it had.

    :raises Unavailable: if one of the databases does not answer.
    """
    parsed = parse_url(state)
    if parsed.get_backend_name() == "sqlite" and not Path(str(parsed.database)).is_file():
        return 0
    check_file(parsed)
    engine = open_engine(parsed, read_only=False)
    try:
        with translated(), engine.connect().execution_options(**{WRITES: True}) as old, old.begin():
            if not inspect(old).has_table("tokens"):
                return 0
            found = list(old.execute(text("SELECT * FROM tokens ORDER BY created")).mappings())
            with AccessStore.open(access) as store, store.writing() as connection:
                _keep(connection, [_token_of(dict(row)) for row in found], now)
            old.execute(text("DELETE FROM tokens"))
            return len(found)
    finally:
        engine.dispose()


def _token_of(row: Mapping[str, Any]) -> Token:
    roles = row["roles"]
    return Token(
        row["id"],
        row["actor"],
        row["digest"],
        row["created"],
        row["expires"],
        row["revoked"],
        label="made by an earlier version",
        roles=frozenset(json.loads(roles) if isinstance(roles, str) else roles),
    )


def _keep(connection: Connection, moved: Sequence[Token], now: float) -> None:
    here = frozenset(connection.execute(select(tokens.c.id)).scalars())
    for token in moved:
        good = [one for one in moved if one.owner == token.owner and _is_good(one, now)]
        roles = {role for one in good for role in one.roles or ()}
        make_named(connection, token.owner, roles, token.created)
        if token.id not in here:
            insert_token(connection, token)


def _is_good(token: Token, now: float) -> bool:
    try:
        token.check(now)
    except NotAuthenticated:
        return False
    return True


def main(arguments: list[str]) -> int:
    """The command: 0 when done, else :func:`~adon.errors.exit_status` with one line on standard error."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python -m adon.store.access.upgrade URL [URL of the state database]\n")
        return EXIT_INPUT
    try:
        done = upgrade(arguments[0])
        moved = move_tokens(arguments[1], arguments[0], time.time()) if len(arguments) == 2 else 0
    except AdonError as error:
        sys.stderr.write(f"{error}\n")
        return exit_status(error)
    sys.stdout.write(f"access schema {done}\n" + (f"tokens moved: {moved}\n" if moved else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

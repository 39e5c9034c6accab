"""Databases on the machine itself, for commands that need no server.

Changes of access are for the first user, and for when no administrator can sign in.  Each is audited as
``local``, with the name of the system's user.
"""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adon.errors import AdonError, InvalidInput

if TYPE_CHECKING:
    from adon.store.access.access import Access
    from adon.store.store import Store

STATE = "state.db"

DataOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="On the machine itself: the folder given to adon serve."),
]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="On the machine itself: the database given to adon serve."),
]


def is_local(data: Path | None, store: str | None) -> bool:
    """Return whether a command opens the database itself."""
    return data is not None or store is not None


def _check_one(data: Path | None, store: str | None) -> None:
    if (data is None) == (store is None):
        raise InvalidInput.of("store", "is required; --data DIR or --store URL")


@contextmanager
def open_state(data: Path | None, url: str | None) -> Iterator[Store]:
    """Open the state's database, read-only: the file in a data folder, or a database by URL.

    :raises InvalidInput: if neither or both are given.
    :raises Unavailable: if it cannot be opened.
    """
    from adon.store.store import Store

    _check_one(data, url)
    where = url if data is None else f"sqlite:///{data.resolve() / STATE}"
    with Store.open(str(where), read_only=True) as store:
        yield store


@contextmanager
def open_access(data: Path | None, store: str | None) -> Iterator[Access]:
    """Open the access database of a data folder, or a database by URL.

    :raises InvalidInput: if neither or both are given.
    :raises Unavailable: if it cannot be opened.
    """
    from adon.store.access.access import Access, access_url

    _check_one(data, store)
    with Access.open(access_url(data or Path(), store)) as access:
        yield access


def change_access(access: Access, action: str, obj: str, detail: str, change: Callable[[], Any]) -> Any:
    """Carry out a change and audit it, also if it fails.

    :raises AdonError: that ``change`` raises.
    """
    from adon.access.audit import AuditEntry, Outcome

    def audit(outcome: Outcome, text: str) -> None:
        entry = AuditEntry(time.time(), _system_user(), "local", "", action, "", obj, outcome, 0, text)
        access.audit.append([entry])

    try:
        done = change()
    except AdonError as error:
        audit(Outcome.FAILED, str(error))
        raise
    audit(Outcome.DONE, detail)
    return done


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid on {sys.platform}"

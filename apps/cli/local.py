"""What an administrator does on the machine itself, in the access database; no server is asked.

For the first user, and for when no administrator can sign in.  Each change is audited as ``local``, with the
name of the system's user.
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

Data = Annotated[
    Path | None, typer.Option(metavar="DIR", help="On the machine itself: the folder given to adon serve.")
]
Store = Annotated[
    str | None, typer.Option(metavar="URL", help="On the machine itself: the database given to adon serve.")
]


def is_local(data: Path | None, store: str | None) -> bool:
    """Whether a command is to open the database itself."""
    return data is not None or store is not None


@contextmanager
def opened(data: Path | None, store: str | None) -> Iterator[Access]:
    """The access database of a data folder, or of a server.

    :raises InvalidInput: if neither or both are given.
    :raises Unavailable: if it cannot be opened.
    """
    from adon.store.access.access import Access, access_url

    if (data is None) == (store is None):
        raise InvalidInput.of("store", "is required; --data DIR or --store URL")
    with Access.open(access_url(data or Path(), store)) as access:
        yield access


def audited(access: Access, action: str, obj: str, detail: str, act: Callable[[], Any]) -> Any:
    """Do something that is written down, also if it fails.

    :raises AdonError: what ``act`` raises.
    """
    from adon.access.audit import Outcome

    try:
        done = act()
    except AdonError as error:
        note(access, action, obj, Outcome.FAILED, str(error))
        raise
    note(access, action, obj, Outcome.DONE, detail)
    return done


def note(access: Access, action: str, obj: str, outcome: Any, detail: str) -> None:
    """Write a line about something done on this machine."""
    from adon.access.audit import AuditEntry

    entry = AuditEntry(time.time(), _who(), "local", "", action, "", obj, outcome, 0, detail)
    access.audit.append([entry])


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid on {sys.platform}"

"""Commands that open the databases themselves, for reading; no server is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adon.errors import InvalidInput

if TYPE_CHECKING:
    from adon.store.store import Store

STATE = "state.db"


@contextmanager
def state(data: Path | None, url: str | None) -> Iterator[Store]:
    """The state's database: the file in a data folder, or one by URL.

    :raises InvalidInput: if neither or both are given.
    :raises Unavailable: if it cannot be opened.
    """
    from adon.store.store import Store

    if (data is None) == (url is None):
        raise InvalidInput.of("store", "is required; --data DIR or --store URL")
    where = url if data is None else f"sqlite:///{data.resolve() / STATE}"
    with Store.open(str(where), read_only=True) as store:
        yield store

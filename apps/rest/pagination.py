"""Lists in pages: how many, where to go on, and the link that leads there (RFC 8288).

Every list of the API answers ``items`` and ``next``, in an order that stays.  ``next`` is null on the last
page, else what the following page is asked with: as ``before`` where the newest come first, as ``after``
elsewhere.  It is a name that is in the list (``f-17``), or text to be given back as it is.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from adon.api.base import InOrder, ListView, NewestFirst
from adon.errors import InvalidInput

MOST_SHOWN = 100_000
"""Items of one moment that pages can go through."""

GONE = "is not in this list any more; expected `next` of the page before, or no value for the first page"
"""What is told of a page that is to begin after what is not there."""

Item = TypeVar("Item")
L = TypeVar("L", bound=ListView)


def page(found: Sequence[Item], limit: int, key: Callable[[Item], str]) -> tuple[list[Item], str | None]:
    """The first ``limit`` items, and what the next page is asked with.

    :param found: one more than ``limit`` if there is a next page.
    """
    shown = list(found[:limit])
    return shown, key(shown[-1]) if len(found) > limit else None


def sliced(
    items: Sequence[Item], query: InOrder | NewestFirst, key: Callable[[Item], str]
) -> tuple[list[Item], str | None]:
    """A page of a list that is held whole; ``key`` is an item's name, which no other has.

    :raises InvalidInput: if the page is to begin after what is not in the list.
    """
    first = 0
    field, start = ("after", query.after) if isinstance(query, InOrder) else ("before", query.before)
    if start is not None:
        names = [key(item) for item in items]
        if start not in names:
            raise InvalidInput.of(field, GONE)
        first = names.index(start) + 1
    return page(items[first : first + query.limit + 1], query.limit, key)


def cut(view: L, query: InOrder | NewestFirst, key: Callable[[Any], str]) -> L:
    """A page of a list whose answer holds all of it; the rest as :func:`sliced`."""
    items = view.items  # type: ignore[attr-defined]  # every list has them, each its own kind
    shown, following = sliced(items, query, key)
    return view.model_copy(update={"items": shown, "next": following})


def numbered(items: Sequence[Item], query: InOrder) -> tuple[list[Item], str | None]:
    """A page of a list that only ever grows at its end; ``after`` is a position in it.

    :raises InvalidInput: for what is no position.
    """
    first = 0
    if query.after is not None:
        if not query.after.isascii() or not query.after.isdecimal() or len(query.after) > 9:
            raise InvalidInput.of(
                "after", "is no position in this list; expected `next` of the page before, for example 50"
            )
        first = int(query.after)
    shown = list(items[first : first + query.limit])
    following = first + len(shown)
    return shown, str(following) if shown and following < len(items) else None


class TimePage:
    """Page of a list by time, the newest first; it misses no item of several with one time.

    :param until: the time before which all items of the list are.
    :ivar until: the time before which the items of this page are; None without a bound.
    :ivar limit: how many items to read: the page, the items of its first time that were shown, and one more.
    :raises InvalidInput: for a cursor of another list.
    """

    def __init__(self, query: NewestFirst, until: float | None = None) -> None:
        self._size = query.limit
        self._at, self._shown = read_cursor(query.before, int) or (math.inf, 0)
        if not 0 <= self._shown <= MOST_SHOWN:
            raise _foreign("before")
        latest = math.nextafter(self._at, math.inf)
        bounds = [bound for bound in (latest, until) if bound is not None and bound < math.inf]
        self.until = min(bounds, default=None)
        self.limit = query.limit + 1 + self._shown

    def cut(self, found: Sequence[Item], at: Callable[[Item], float]) -> tuple[list[Item], str | None]:
        """Return the items of the page, and the cursor of the next one.

        :param found: the items that were read by ``until`` and ``limit``.
        """
        rest = found[self._shown :]
        shown = list(rest[: self._size])
        if len(rest) <= self._size:
            return shown, None
        last = at(shown[-1])
        same = sum(at(one) == last for one in shown)
        return shown, cursor(last, same + self._shown if last == self._at else same)


def cursor(at: float, name: str | int) -> str:
    """A place in a list by time, as text for an address: time and name of the last item shown."""
    return base64.urlsafe_b64encode(json.dumps([at, name]).encode()).decode().rstrip("=")


def read_cursor(text: str | None, kind: type[Item], field: str = "before") -> tuple[float, Item] | None:
    """Time and name of :func:`cursor`; None for the first page.

    :raises InvalidInput: for text that it did not make.
    """
    if text is None:
        return None
    try:
        read = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        read = None
    match read:
        case [int() | float() as at, name] if (
            type(name) is kind and not isinstance(at, bool) and abs(at) < 1e12
        ):
            return float(at), name
    raise _foreign(field)


def _foreign(field: str) -> InvalidInput:
    return InvalidInput.of(field, "is not of this list; expected `next` of the page before, unchanged")

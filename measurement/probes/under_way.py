"""Work under way at the same time: each piece when it is its turn, and all of it until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class Turns(Protocol[P]):
    """Whose turn it is."""

    def begin(self) -> Iterable[P]:
        """All that may start now; they count as under way from here on."""

    def done(self, piece: P, /) -> None:
        """One has ended."""


async def in_turn(
    turns: Turns[P], work: Callable[[P], Awaitable[R]], ended: Callable[[R], None] = lambda _: None
) -> None:
    """Do each piece as soon as nothing is in its way; if one fails, or this is cancelled, none goes on.

    :param ended: told what came of each.
    """
    under_way: dict[asyncio.Future[R], P] = {}
    try:
        while True:
            for piece in turns.begin():
                under_way[asyncio.ensure_future(work(piece))] = piece
            if not under_way:
                return
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                turns.done(under_way.pop(one))
                ended(await one)
    finally:
        for one in under_way:
            one.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def until(stop: asyncio.Event, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do something until it is done; when the event is set, what is under way of it is left."""
    if stop.is_set():
        return
    doing, waiting = asyncio.ensure_future(work()), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            doing.cancel()
        await asyncio.gather(doing, return_exceptions=stop.is_set())
    finally:
        for each in (doing, waiting):
            each.cancel()

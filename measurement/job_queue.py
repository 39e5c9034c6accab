"""Jobs that run at the same time: each as soon as nothing is in its way, and all until they are stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class JobQueue(Protocol[P]):
    """Order of jobs."""

    def begin(self) -> Iterable[P]:
        """Return all jobs that may start now; they count as running from here on."""

    def done(self, job: P, /) -> None:
        """Note that a job has ended."""


async def run_jobs(
    queue: JobQueue[P], work: Callable[[P], Awaitable[R]], ended: Callable[[R], None] = lambda _: None
) -> None:
    """Run each job as soon as it may start; if one fails, or this is cancelled, all end.

    :param ended: called with each result.
    """
    running: dict[asyncio.Future[R], P] = {}
    try:
        while True:
            for job in queue.begin():
                running[asyncio.ensure_future(work(job))] = job
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                queue.done(running.pop(one))
                ended(await one)
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def run_until_stopped(stop: asyncio.Event, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run until it is done; when the event is set, cancel the rest."""
    if stop.is_set():
        return
    working, waiting = asyncio.ensure_future(work()), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            working.cancel()
        await asyncio.gather(working, return_exceptions=stop.is_set())
    finally:
        for each in (working, waiting):
            each.cancel()

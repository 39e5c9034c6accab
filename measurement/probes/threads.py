"""Threads that wait in the kernel while the event loop goes on, and how many may load the network."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from measurement.probes.findings import Failure, ProbeError

MOST = 64
_R = TypeVar("_R")


class Threads:
    """Runs functions that take, last, an event that is set when nobody wants their result any more."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(MOST, "probe")
        self._under_way = set[threading.Event]()

    async def run(self, work: Callable[..., _R], *arguments: object) -> _R:
        """What the function returns; if this is cancelled, it is told, and waited for.

        What it works with can be closed afterwards: it is not in use any more.
        """
        ended = threading.Event()
        self._under_way.add(ended)
        future = asyncio.get_running_loop().run_in_executor(self._executor, lambda: work(*arguments, ended))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            ended.set()
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()  # nobody asks for it any more
            raise
        finally:
            self._under_way.discard(ended)

    def close(self) -> None:
        """Tell all to end, and begin none any more."""
        for ended in self._under_way:
            ended.set()
        self._executor.shutdown(wait=False, cancel_futures=True)


class Loads:
    """How many trains and transfers are under way, to or from this instance.  Of one event loop.

    :param most: more are refused.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._now = 0

    @contextlib.contextmanager
    def one(self, count: int = 1) -> Iterator[None]:
        """While one, or so many, are under way.

        :raises ProbeError: ``busy``.
        """
        self.must_be_free(count)
        self._now += count
        try:
            yield
        finally:
            self._now -= count

    def must_be_free(self, count: int = 1) -> None:
        """Whether so many could begin now.

        :raises ProbeError: ``busy``.
        """
        if self._now + count > self._most:
            raise ProbeError(
                Failure.BUSY, f"{self._now} trains and transfers are under way; {self._most} are the most"
            )

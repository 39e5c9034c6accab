"""A bounded number of threads that do one kind of work; what comes of it is taken as it comes.

Unlike :mod:`concurrent.futures` its threads are daemons, so that a server that holds an answer does not hold
a process that wants to end; and they end by themselves when there is nothing to do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Item, Result]):
    """What came of an item: a result, or what was raised."""

    item: Item
    outcome: Result | Exception

    @property
    def result(self) -> Result:
        """The result; raises what the work has raised."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Crew(Generic[Item, Result]):
    """See the module.  One thread starts and takes.

    :param work: done in one of the threads.
    :param threads: how many there are at most.
    """

    def __init__(self, work: Callable[[Item], Result], threads: int, name: str) -> None:
        self._work = work
        self._threads = threads
        self._name = name
        self._lock = threading.Lock()
        self._waiting: deque[Item] = deque()
        self._running = 0
        self._done: SimpleQueue[Done[Item, Result]] = SimpleQueue()

    def start(self, item: Item) -> None:
        """Have something done as soon as a thread is free; returns at once."""
        with self._lock:
            self._waiting.append(item)
            if self._running >= self._threads:
                return
            self._running += 1
        threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def take(self, timeout: float | None) -> Done[Item, Result] | None:
        """The next item that is done; None if none is in time.

        :param timeout: seconds; None waits as long as it takes.
        """
        try:
            return self._done.get(timeout=timeout)
        except Empty:
            return None

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running -= 1
                    return
                item = self._waiting.popleft()
            try:
                done: Done[Item, Result] = Done(item, self._work(item))
            except Exception as error:  # noqa: BLE001  # the thread's outermost guard: raised where it is taken
                done = Done(item, error)
            self._done.put(done)

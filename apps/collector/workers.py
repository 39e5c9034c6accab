"""A few threads that run tests; what they find, faults included, goes to the collector's queue."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from measurement.errors import Stopped
from measurement.poller import PathTest, PolledRun
from measurement.scheduling import Start


@dataclass(frozen=True, slots=True)
class Finished:
    """A run is over."""

    start: Start
    test: PathTest
    run: PolledRun


@dataclass(frozen=True, slots=True)
class Fault:
    """An unexpected exception of a worker: a bug."""

    start: Start
    error: Exception


class Workers:
    """Runs tests, each in a thread; threads are made as they are needed, at most ``most``.

    They are daemons: at shutdown a server that holds an answer does not hold us.

    :param run: runs one test at its planned start.
    :param report: called in a worker's thread with each :class:`Finished` and :class:`Fault`.
    """

    def __init__(
        self,
        run: Callable[[PathTest, float], PolledRun],
        report: Callable[[Finished | Fault], None],
        most: int,
    ) -> None:
        self._run = run
        self._report = report
        self._most = most
        self._orders: SimpleQueue[tuple[Start, PathTest]] = SimpleQueue()
        self._threads = 0

    def start(self, start: Start, test: PathTest, busy: int) -> bool:
        """Hand over a test; False if all threads are in use.

        :param busy: how many are under way.
        """
        if busy >= self._most:
            return False
        if busy >= self._threads:
            self._threads += 1
            name = f"worker-{self._threads}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        self._orders.put((start, test))
        return True

    def _work(self) -> None:
        while True:
            start, test = self._orders.get()
            try:
                self._report(Finished(start, test, self._run(test, start.at)))
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001  # the thread's outermost guard: the owner ends the process
                self._report(Fault(start, error))

"""A few threads that run tests; what they find, faults included, goes to one queue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from measurement.errors import Stopped
from measurement.plan import PlannedTest
from measurement.poller import Outcome


@dataclass(frozen=True, slots=True)
class Finished:
    """A test is over."""

    test: PlannedTest
    outcomes: Sequence[Outcome]


@dataclass(frozen=True, slots=True)
class Fault:
    """A bug: something was raised that nobody expected."""

    test: PlannedTest
    error: Exception


class Workers:
    """Runs at most ``most`` tests at once.

    The threads are daemons: at shutdown a server that holds an answer does not hold us.

    :param report: called in a worker's thread with each :class:`Finished` and :class:`Fault`.
    """

    def __init__(
        self,
        run: Callable[[PlannedTest], Sequence[Outcome]],
        report: Callable[[Finished | Fault], None],
        most: int,
    ) -> None:
        self._run = run
        self._report = report
        self._orders: SimpleQueue[PlannedTest] = SimpleQueue()
        for number in range(most):
            threading.Thread(target=self._work, name=f"worker-{number}", daemon=True).start()

    def start(self, test: PlannedTest) -> None:
        """Hand over a test."""
        self._orders.put(test)

    def _work(self) -> None:
        while True:
            test = self._orders.get()
            try:
                self._report(Finished(test, self._run(test)))
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001  # the thread's outermost guard: the owner ends the process
                self._report(Fault(test, error))

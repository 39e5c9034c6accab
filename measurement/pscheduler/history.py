"""Long histories, window by window: one request for the runs of an hour instead of one for each.

A window whose answer is too large is halved, down to a minute.  A run at the border of two windows is in
both answers and given once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from measurement.errors import AnswerTooLarge
from measurement.pscheduler.client import ScheduledRun

WINDOW = 3600.0
SMALLEST_WINDOW = 60.0


def runs(
    ask: Callable[[float, float], list[ScheduledRun]], start: float, end: float, window: float = WINDOW
) -> Iterator[ScheduledRun]:
    """The runs from ``start`` to ``end`` (server's time), each once, window after window.

    :param ask: :meth:`PSchedulerClient.scheduled <measurement.pscheduler.client.PSchedulerClient.scheduled>`.
    :raises AnswerTooLarge: when even a minute has too many.
    """
    before: frozenset[str] = frozenset()
    while start < end:
        until = min(start + window, end)
        try:
            found = ask(start, until)
        except AnswerTooLarge:
            if window <= SMALLEST_WINDOW:
                raise
            window = max(window / 2, SMALLEST_WINDOW)
            continue
        now = {run.run: run for run in found}
        yield from (run for name, run in now.items() if name not in before)
        before, start = frozenset(now), until

"""How long the parts of something take, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable


class Laps:
    """A stopwatch.

    :param clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self.took = dict[str, float]()
        """Seconds by part, in the order in which they ended."""

    def lap(self, part: str) -> None:
        """This part has ended; it began when the one before did."""
        now = self._clock()
        self.took[part] = now - self._last
        self._last = now

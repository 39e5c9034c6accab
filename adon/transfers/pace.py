"""How fast a transfer is, from what has arrived when.  Pure.

Rates in bits/s, times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

WINDOW_S = 10.0
"""Over so long a rate is taken: shorter, and it tells more of the tool's buffers than of the path."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is known of one run.

    :param since, base: when the window that is open now began, and what had arrived by then.
    :param rate: over the last full window; None before there was one.
    :param slow_since: since when it has been below what is expected of it; None if it is not.
    """

    since: float | None = None
    base: int = 0
    rate: float | None = None
    slow_since: float | None = None

    def seen(self, arrived: int, now: float) -> Pace:
        """With so many bytes in all by now."""
        if (
            self.since is None or now < self.since or arrived < self.base
        ):  # the clock or the count was set back
            return replace(self, since=now, base=arrived)
        if now - self.since < WINDOW_S:
            return self
        return replace(self, since=now, base=arrived, rate=(arrived - self.base) * 8 / (now - self.since))

    def judged(self, expected: float | None, share: float, now: float) -> Pace:
        """Whether it is slow.

        :param expected: None for anything.
        :param share: of what is expected; below it a run is slow.
        """
        slow = expected is not None and self.rate is not None and self.rate < share * expected
        if not slow:
            return self if self.slow_since is None else replace(self, slow_since=None)
        return self if self.slow_since is not None else replace(self, slow_since=now)


UNKNOWN = Pace()
"""Before anything has been seen."""

"""When requests are sent, and what their times are.  Values and functions only."""

from __future__ import annotations

from dataclasses import dataclass

PATIENCE = 0.2
"""Seconds that the next request waits for the answer to the last: later ones may overtake, and a target that
is silent costs one time-out, not one per request."""


@dataclass(frozen=True, slots=True)
class Trip:
    """One request and its answer, in nanoseconds.

    :param sent, received: by the clock that is never set, just around the calls to the kernel.
    :param out, back: by the kernel, since 1970; None where it did not say.
    :param resided: that the answerer says it took.
    """

    sent: int
    received: int
    out: int | None = None
    back: int | None = None
    resided: int = 0

    def seconds(self, *, stepped: bool) -> float | None:
        """The round-trip time without what the two ends took; None if the answerer's word cannot be true.

        The kernel's times leave Python's own out; where the clock was set meanwhile, or they say more than
        the clock that is never set, this one counts.

        :param stepped: whether the clock since 1970 was set meanwhile.
        """
        most = self.received - self.sent
        seen = most
        if not stepped and self.out is not None and self.back is not None:
            by_kernel = self.back - self.out
            seen = by_kernel if 0 < by_kernel <= most else most
        if not 0 <= self.resided <= most:
            return None
        # Two clocks that are read at different places of a computer may differ by some nanoseconds.
        return max(1, seen - self.resided) / 1e9


def due(
    number: int, count: int, last_sent: int, last_answered: bool, interval: float, now: int
) -> float | None:
    """Seconds until the next request is to be sent; 0 for at once, None if all were sent.

    :param number: how many were sent; :param last_sent, now: nanoseconds of a clock that is never set.
    """
    if number >= count:
        return None
    if number == 0:
        return 0.0
    wait = interval if last_answered else max(interval, PATIENCE)
    return max(0.0, wait - (now - last_sent) / 1e9)

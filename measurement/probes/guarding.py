"""Whom an agent answers: no packet twice, and each source only so often.  Values and functions only."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 1024
"""Packets that may overtake each other; what is older counts as a replay."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which numbers of a session have come (as RFC 4303, 3.4.3 guards IPsec against replays).

    :param highest: the highest number so far; -1 before the first.
    :param seen: bit i stands for ``highest - i``.
    """

    highest: int = -1
    seen: int = 0

    def has(self, number: int) -> bool:
        """Whether it came, as far back as the window reaches."""
        age = self.highest - number
        return 0 <= age < WIDTH and bool(self.seen >> age & 1)

    def accepting(self, number: int) -> Window | None:
        """The window with this number in it; None if it came before, or is too old to tell."""
        ahead = number - self.highest
        if ahead > 0:
            kept = self.seen << ahead & (1 << WIDTH) - 1 if ahead < WIDTH else 0
            return Window(number, kept | 1)
        if -ahead >= WIDTH or self.seen >> -ahead & 1:
            return None
        return Window(self.highest, self.seen | 1 << -ahead)


@dataclass(frozen=True, slots=True)
class Allowance:
    """A token bucket.

    :param rate: tokens per second; :param size: the most that gather.
    """

    rate: float
    size: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """What a source has left.

    :param tokens: at the time ``at``, in seconds of a clock that is never set.
    """

    tokens: float
    at: float

    def taking(self, allowance: Allowance, now: float, tokens: float = 1.0) -> Bucket | None:
        """What is left after taking some; None if there are not enough."""
        there = min(allowance.size, self.tokens + max(0.0, now - self.at) * allowance.rate)
        return Bucket(there - tokens, now) if there >= tokens else None

"""What to ask of an existing archive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """Results of tests between two hosts in a span of time.

    :param source: address or host name of the sending end.
    :param destination: address or host name of the receiving end.
    :param since: tests that began then or later, seconds since the epoch.
    :param until: tests that began before then.
    :param limit: most results in all; where an archive has more, the oldest are given and the last page
        says so.
    :raises ValueError: for a span or a limit that holds nothing.
    """

    source: str
    destination: str
    since: float
    until: float
    limit: int = 100_000

    def __post_init__(self) -> None:
        if not 0 <= self.since < self.until:
            raise ValueError(f"since {self.since!r} must be before until {self.until!r}, neither negative")
        if self.limit < 1:
            raise ValueError(f"limit {self.limit!r} must be above zero")

"""What waiting flows have reserved, by directed path; kept as flows come and go.

A flow that runs is not in here: what it may take counts from what it does now
(:mod:`adon.broker.queueing.calendar`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from adon.broker.queueing.booking import Booking
from adon.step_function import Span, round_up
from measurement.model import PathKey

MOST_KEPT = 10_000
"""Answers remembered; with more, all are worked out anew."""


class Bookings:
    """See the module's text.

    :ivar version: counts up with every change.
    """

    def __init__(self) -> None:
        self.version = 0
        self._of: dict[int, tuple[PathKey, Booking]] = {}
        self._on: dict[PathKey, dict[int, Booking]] = {}
        self._kept: dict[Hashable, tuple[Hashable, float]] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[tuple[int, PathKey, Booking]]:
        return iter([(number, key, booking) for number, (key, booking) in self._of.items()])

    def put(self, number: int, key: PathKey, booking: Booking) -> None:
        """A flow has reserved something; what it had before is given up."""
        if self._of.get(number) == (key, booking):
            return
        self.drop(number)
        self.version += 1
        self._of[number] = (key, booking)
        self._on.setdefault(key, {})[number] = booking

    def drop(self, number: int) -> None:
        """A flow has reserved nothing any more."""
        if number not in self._of:
            return
        self.version += 1
        key, _ = self._of.pop(number)
        del self._on[key][number]
        if not self._on[key]:
            del self._on[key]

    def on(self, key: PathKey, but: int | None = None) -> list[Span]:
        """What is reserved on a directed path.

        :param but: the number of a flow whose own does not count.
        """
        return [
            Span(booking.begins, booking.ends, round_up(booking.rate))
            for number, booking in self._on.get(key, {}).items()
            if number != but
        ]

    def any_on(self, key: PathKey) -> bool:
        """Whether anything is reserved on a directed path."""
        return key in self._on

    def over(self, now: float) -> list[int]:
        """The flows whose reserved time is over."""
        return [number for number, (_, booking) in self._of.items() if booking.ends <= now]

    def holds(self, number: int) -> bool:
        """Whether a flow has reserved something."""
        return number in self._of

    def cached(self, what: Hashable, stamp: Hashable, work_out: Callable[[], float]) -> float:
        """What was worked out before, as long as what it rests on is the same."""
        held = self._kept.get(what)
        if held is None or held[0] != stamp:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            held = self._kept[what] = (stamp, work_out())
        return held[1]

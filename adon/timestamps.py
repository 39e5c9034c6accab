"""Times in seconds since the epoch: their text, and the clock of events.

A user writes a time of RFC 3339 or a span from now (``8 h``).  :class:`Moment` keeps which of the two it was.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from adon.units import parse_duration
from measurement.errors import InvalidValue

_EXAMPLE = "write a time as for example 2026-11-21T06:00:00Z"
_A_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Moment:
    """Time in seconds since the epoch, or (``at`` None) a number of seconds from now."""

    at: float | None = None
    after: float = 0.0

    def seen_from(self, now: float) -> float:
        """Return the seconds since the epoch."""
        return now + self.after if self.at is None else self.at


def parse_moment(value: object) -> Moment:
    """Return the moment in a text such as ``2026-11-21T06:00:00Z`` or ``8 h``.

    :raises ValueError: for a time without an offset, a span without a unit, or anything else.
    """
    if isinstance(value, Moment):
        return value
    try:
        if not isinstance(value, str) or _A_DATE.match(value) is None:
            return Moment(after=parse_duration(value))
        moment = datetime.fromisoformat(value.strip())
    except InvalidValue as error:
        raise InvalidValue(f"{error}; {_EXAMPLE}", error.code) from None
    except ValueError:
        raise InvalidValue(f"{str(value)[:40]!r} is not a time; {_EXAMPLE}", "malformed") from None
    if moment.tzinfo is None:
        raise InvalidValue(f"{str(value)[:40]!r} has no offset; {_EXAMPLE}", "no-offset")
    return Moment(moment.timestamp())


def format_moment(moment: Moment) -> str:
    """Return a text that :func:`parse_moment` reads as the same moment."""
    return f"{moment.after!r} s" if moment.at is None else format_time(moment.at)


def format_time(at: float) -> str:
    """Return seconds since the epoch as RFC 3339, in UTC, with microseconds if necessary."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


LATEST = 253_402_300_799.0
"""End of the year 9999, the last year of RFC 3339."""


def format_minutes(at: float) -> str:
    """Return a time such as ``2026-11-21 06:00 UTC``; ``never`` for a time outside RFC 3339."""
    if not 0 <= at <= LATEST:
        return "never"
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


When = Annotated[
    Moment,
    BeforeValidator(parse_moment),
    PlainSerializer(format_moment),
    WithJsonSchema({"type": "string", "examples": ["2026-11-21T06:00:00Z", "8 h"]}),
]
"""Pydantic field that is read from a time or a span, and written in the same form."""


def boot_time() -> float:
    """Return the seconds since the machine started, suspended time included (CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class MonotoneClock:
    """Wall clock that never decreases; usable from any thread.

    While the wall clock is behind (it was set back, or a saved time is later), this clock runs at half the
    speed of :func:`boot_time` until the wall clock has caught up.  A step forward is followed at once.

    :param start: minimum time of the clock: the latest saved time, in seconds.
    """

    def __init__(
        self,
        start: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = boot_time,
    ) -> None:
        self._wall, self._steady, self._lock = wall, steady, threading.Lock()
        self._read_at, self._now = steady(), max(start, wall())

    def __call__(self) -> float:
        """Return the time in seconds since the epoch; at least the previous result."""
        with self._lock:
            read_at = self._steady()
            passed, self._read_at = max(0.0, read_at - self._read_at), max(read_at, self._read_at)
            self._now = max(self._wall(), self._now + passed / 2)
            return self._now

    def advance_to(self, start: float) -> float:
        """Continue at ``start`` if that is later; return the lag of the wall clock in seconds."""
        with self._lock:
            self._now = max(self._now, start)
            return max(0.0, self._now - self._wall())

"""Moments as people write them: a time of RFC 3339, or a span from now (``8 h``).

A span is a moment only once somebody says when now is; until then both are kept as they were meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from adon.errors import code_of
from adon.units import parse_duration
from measurement.errors import InvalidValue

_A_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Moment:
    """A time in seconds since the epoch, or (``at`` None) so many seconds from now."""

    at: float | None = None
    after: float = 0.0

    def seen_from(self, now: float) -> float:
        """Seconds since the epoch."""
        return now + self.after if self.at is None else self.at


def parse_moment(value: object) -> Moment:
    """A moment, from text such as ``2026-11-21T06:00:00Z`` or ``8 h``.

    :raises ValueError: for a time without an offset, a span without a unit, or anything else.
    """
    if isinstance(value, Moment):
        return value
    if not isinstance(value, str) or _A_DATE.match(value) is None:
        try:
            return Moment(after=parse_duration(value))
        except ValueError as error:
            raise InvalidValue(
                f"{error}; a time is written as 2026-11-21T06:00:00Z", code_of(error)
            ) from None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidValue(
            f"{value[:40]!r} is not a time such as 2026-11-21T06:00:00Z", "malformed"
        ) from None
    if moment.tzinfo is None:
        raise InvalidValue(
            f"{value[:40]!r} has no offset; write for example 2026-11-21T06:00:00Z", "no-offset"
        )
    return Moment(moment.timestamp())


def moment_text(moment: Moment) -> str:
    """A text that reads back as the same moment."""
    return f"{moment.after!r} s" if moment.at is None else time_text(moment.at)


def time_text(at: float) -> str:
    """Seconds since the epoch as RFC 3339, in UTC, to the microsecond where that is needed."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


LATEST = 253_402_300_799.0
"""The end of the year 9999: later times have no name."""


def minutes_text(at: float) -> str:
    """``2026-11-21 06:00 UTC``, for people; ``never`` where that is not in any year that has a name."""
    if not 0 <= at <= LATEST:
        return "never"
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


When = Annotated[
    Moment,
    BeforeValidator(parse_moment),
    PlainSerializer(moment_text),
    WithJsonSchema({"type": "string", "examples": ["2026-11-21T06:00:00Z", "8 h"]}),
]
"""A pydantic field read from a time or a span, written back so that it reads the same."""


def seconds_of(text: str) -> float:
    """A time as the API writes it, in seconds since 1970.

    :raises ValueError: if it is none.
    """
    return datetime.fromisoformat(text).timestamp()

"""Times at the border: RFC 3339, in UTC, to the millisecond."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema


def to_text(at: float) -> str:
    """Seconds since the epoch as ``2026-11-21T11:02:03.500Z``.

    :raises ValueError, OverflowError: for a time outside of the years 1 to 9999.
    """
    minute, left = divmod(round(at * 1e6) // 1000, 60_000)
    return f"{_minute(minute)}{left // 1000:02d}.{left % 1000:03d}Z"


@lru_cache(4096)
def _minute(number: int) -> str:
    # Lists hold thousands of times, many of them of the same few minutes.
    return datetime.fromtimestamp(number * 60, UTC).isoformat()[:17]


def from_text(text: str) -> float:
    """Seconds since the epoch.

    :raises ValueError: for a text that is not RFC 3339, or has no offset: ``11:02`` where?
    """
    try:
        # A "+" that nobody encoded arrives as a space in a query.
        moment = datetime.fromisoformat(text.strip().replace(" ", "+") if "T" in text else text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time such as 2026-11-21T11:02:03Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text[:40]!r} has no offset; write for example 2026-11-21T11:02:03Z")
    return moment.timestamp()


def _read(value: object) -> float:
    if isinstance(value, str):
        return from_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is no time such as 2026-11-21T06:00:00Z")
    return float(value)


Time = Annotated[
    float,
    BeforeValidator(_read),
    PlainSerializer(to_text),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A pydantic field held as seconds since the epoch, written as RFC 3339."""

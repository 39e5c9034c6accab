"""Moments as the viewer's clock shows them, or in UTC where ``--utc`` asks for it."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

UTC_WANTED: ContextVar[bool] = ContextVar("adon_utc", default=False)
"""Whether ``--utc`` was given; set by the root command at each start."""


def local(moment: float) -> datetime:
    """A moment (seconds since the epoch) in the viewer's zone (``TZ``, else the machine's), or in UTC."""
    return datetime.fromtimestamp(moment, UTC).astimezone(UTC if UTC_WANTED.get() else None)


def at(moment: float | None) -> str:
    """``2026-11-21 21:04:05 CET``; a dash for none."""
    return "-" if moment is None else f"{local(moment):%Y-%m-%d %H:%M:%S %Z}"


def clock(moment: float) -> str:
    """``21:04:05``, for what happens now."""
    return f"{local(moment):%H:%M:%S}"


def day_and_clock(moment: float) -> str:
    """``11-21 21:04:05``, for lists of what happened lately."""
    return f"{local(moment):%m-%d %H:%M:%S}"


def span(begins: float, ends: float) -> str:
    """``2026-11-21 21:04 to 22:10 CET``; with the second day where it is another one."""
    first, last = local(begins), local(ends)
    until = last.strftime("%H:%M" if first.date() == last.date() else "%Y-%m-%d %H:%M")
    return f"{first:%Y-%m-%d %H:%M} to {until} {last:%Z}"


def since(text: str, now: datetime, option: str) -> str:
    """A time as ``2026-11-21T02:00:00Z``, or how long before now, as ``7 d``; as the API takes it.

    :raises InvalidInput: for another text, naming the option.
    """
    from adon.errors import InvalidInput
    from adon.units import parse_duration

    try:
        return (now - timedelta(seconds=parse_duration(text))).isoformat()
    except (ValueError, OverflowError):
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        wanted = "is no time such as 2026-11-21T02:00:00Z, and not a duration such as '7 d'"
        raise InvalidInput.of(option, f"{text[:60]!r} {wanted}")
    return found.isoformat()

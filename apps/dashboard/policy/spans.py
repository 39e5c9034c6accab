"""How far back a list reaches, as a choice and as the moment that it begins."""

from __future__ import annotations

from datetime import UTC, datetime

SINCE: tuple[tuple[str, str], ...] = (
    ("", "at any time"),
    ("1h", "in the last hour"),
    ("1d", "in the last day"),
    ("7d", "in the last week"),
    ("30d", "in the last 30 days"),
)
_SECONDS = {"h": 3_600.0, "d": 86_400.0}


def since(chosen: str | None, now: float) -> str | None:
    """The moment (RFC 3339) that a choice begins at; a moment stays as it is; None for always."""
    if not chosen:
        return None
    number, unit = chosen[:-1], chosen[-1]
    if number.isdecimal() and len(number) <= 4 and unit in _SECONDS:
        return moment(now - int(number) * _SECONDS[unit])
    return chosen


def moment(at: float) -> str:
    """Seconds since the epoch as RFC 3339."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")

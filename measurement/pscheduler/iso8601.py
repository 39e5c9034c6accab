"""ISO 8601 durations and timestamps as pScheduler reads and writes them; knows nothing else.

Durations have weeks, days, hours, minutes and seconds only (a month has no length), each at most once,
with decimal fractions; zero is written ``P0D``.  Timestamps carry their offset from UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_NUMBER = r"(\d{1,15}(?:[.,]\d{1,15})?)"
_DURATION = re.compile(
    rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:(T)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?", re.ASCII
)
_SECONDS = (604_800, 86_400, 3600, 60, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_duration(text: str) -> float:
    """Seconds, from text such as ``PT0.0021S``, ``P1DT2H`` or ``P2W``.

    :raises ValueError: for years, months, signs, or anything that is not a duration.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a duration of weeks, days, hours, minutes and seconds")
    weeks, days, time, *rest = found.groups()
    parts = (weeks, days, *rest)
    if all(part is None for part in parts) or (time is not None and all(part is None for part in rest)):
        raise ValueError(f"{text[:40]!r} names no length")
    given = zip(parts, _SECONDS, strict=True)
    return sum(float(part.replace(",", ".")) * unit for part, unit in given if part is not None)


def format_duration(seconds: float) -> str:
    """``2.5`` as ``PT2.5S``, ``0`` as ``P0D``; to the microsecond, without an exponent.

    :raises ValueError: for a negative or not finite number.
    """
    if not 0 <= seconds < 1e15:
        raise ValueError(f"{seconds!r} s has no ISO 8601 duration")
    digits = f"{seconds:.6f}".rstrip("0").rstrip(".")
    return "P0D" if digits == "0" else f"PT{digits}S"


def parse_timestamp(text: str) -> float:
    """Seconds since the epoch, from text such as ``2030-01-02T03:04:05+00:00``.

    :raises ValueError: without an offset (whose zone?), or for anything that is not a time.
    """
    moment = datetime.fromisoformat(text[:64])
    if moment.tzinfo is None:
        raise ValueError(f"{text[:40]!r} has no offset from UTC")
    return (moment - _EPOCH) / timedelta(seconds=1)


def format_timestamp(seconds: float, *, fraction: bool = False) -> str:
    """Seconds since the epoch as a UTC timestamp, in whole seconds unless ``fraction``.

    :raises ValueError: for a time outside the years 1 to 9999.
    """
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        raise ValueError(f"{seconds!r} s is outside the calendar") from None
    return moment.isoformat(timespec="microseconds" if fraction else "seconds")

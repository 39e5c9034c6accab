"""Figures as people read them: with units."""

from __future__ import annotations

from adon.experiments.figures import Unit
from adon.units import format_duration, format_rate, format_ratio, format_size
from measurement.evaluation.intervals import Interval


def text(value: float, unit: Unit) -> str:
    """``5.5e9`` bits/s as ``5.5 Gbps``."""
    if unit is Unit.COUNT:
        return f"{value:.4g}"
    if value < 0:
        return f"-{text(-value, unit)}"
    if unit is Unit.SECONDS and 1 <= value < LONG:
        return f"{value:.4g} s"  # not in minutes: it stands beside a paper's seconds
    return _FORMATS[unit](value)


LONG = 10_000.0
"""Seconds from which a time is told in hours."""

_FORMATS = {
    Unit.SECONDS: format_duration,
    Unit.BITS_PER_SECOND: format_rate,
    Unit.BYTES: format_size,
    Unit.RATIO: format_ratio,
}


def interval_text(interval: Interval | None, unit: Unit | None) -> str:
    """``5.4 Gbps to 5.6 Gbps``; a dash where there is none.

    :param unit: None for a plain ratio of two figures.
    """
    if interval is None:
        return "-"
    ends = (interval.low, interval.high)
    return " to ".join(f"{end:.3g}" if unit is None else text(end, unit) for end in ends)

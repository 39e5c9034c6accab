"""Values of figures as text with units."""

from __future__ import annotations

from adon.units import format_duration, format_rate, format_ratio, format_size
from measurement.evaluation.intervals import Interval
from mininet_topos.experiments.document import Unit

LONG = 10_000.0
"""Seconds from which a time is written in hours; shorter times stand beside a paper's seconds."""
_FORMATS = {
    Unit.SECONDS: format_duration,
    Unit.BITS_PER_SECOND: format_rate,
    Unit.BYTES: format_size,
    Unit.RATIO: format_ratio,
}


def format_quantity(value: float, unit: Unit) -> str:
    """Return ``5.5 Gbps`` for 5.5e9 bits/s."""
    if unit is Unit.COUNT:
        return f"{value:.4g}"
    if value < 0:
        return f"-{format_quantity(-value, unit)}"
    if unit is Unit.SECONDS and 1 <= value < LONG:
        return f"{value:.4g} s"
    return _FORMATS[unit](value)


def format_interval(interval: Interval | None, unit: Unit | None) -> str:
    """Return ``5.4 Gbps to 5.6 Gbps``; a dash for None.

    :param unit: None for a plain number.
    """
    if interval is None:
        return "-"
    ends = (interval.low, interval.high)
    return " to ".join(f"{end:.3g}" if unit is None else format_quantity(end, unit) for end in ends)

"""The one text of each unit: rates, sizes, durations, ratios, numbers and counts as people read them."""

from __future__ import annotations

import math


def _scale(value: float, base: str, steps: tuple[tuple[float, str], ...]) -> str:
    for factor, prefix in steps:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{base}"
    return f"{value:.4g} {base}"


_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_rate(bits_per_second: float) -> str:
    """``7000000`` as ``7 Mbps``."""
    return _scale(bits_per_second, "bps", _DECIMAL)


def format_size(size: float) -> str:
    """``25000000000`` as ``25 GB``."""
    return _scale(size, "B", _DECIMAL)


def format_duration(seconds: float) -> str:
    """``0.02`` as ``20 ms``; ``inf`` as ``never``.

    From two days on whole days are days; other spans stay hours, which say exactly the same, as long as they
    are below a thousand.
    """
    if math.isinf(seconds):
        return "never"
    if seconds == 0:
        return "0 s"
    if abs(seconds) < 1e-3:
        return f"{seconds * 1e6:.4g} us"
    if abs(seconds) < 1:
        return f"{seconds * 1e3:.4g} ms"
    if abs(seconds) < 120:
        return f"{seconds:.4g} s"
    if abs(seconds) < 7200:
        return f"{seconds / 60:.4g} min"
    hours = seconds / 3600
    if abs(hours) < 48 or (hours % 24 and abs(hours) < 1000):
        return f"{hours:.4g} h"
    return f"{hours / 24:.4g} d"


def format_ratio(ratio: float) -> str:
    """``0.0001`` as ``0.01 %``."""
    return f"{ratio * 100:.4g} %"


def format_share(share: float) -> str:
    """``0.833`` as ``83 %``: a share in whole per cent, where more digits say nothing."""
    return f"{100 * share:.0f} %"


def format_significant(number: float, digits: int = 4) -> str:
    """``281534`` as ``281,500``: rounded to significant digits, an exponent only from 1e15 on."""
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.15g}" if abs(rounded) < 1e15 else f"{rounded:.{digits}g}"


def format_count(count: int, one: str) -> str:
    """``1`` of ``node`` as ``1 node``, ``2`` as ``2 nodes``."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"

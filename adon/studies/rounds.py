"""A round of health in short, for keeping many: of each measurement its median instead of its samples.

Scores and markers stay as they were worked out from the samples.  A round of a hundred instances has ten
thousand pairs with a hundred samples each; in short it fits in a request.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace

from measurement.health.model import Found
from measurement.health.record import RoundRecord
from measurement.health.scoring import Score

DIGITS = 6
"""Significant digits of a median; four decimals of a score."""


def in_short(record: RoundRecord) -> RoundRecord:
    """A round without its samples; in short it stays as it is."""
    return replace(
        record,
        found={pair: _found(one) for pair, one in record.found.items()},
        verified={pair: _median(values) for pair, values in record.verified.items()},
        scores={pair: _score(one) for pair, one in record.scores.items()},
    )


def _found(one: Found) -> Found:
    return replace(
        one,
        icmp=_medians(one.icmp),
        udp=_medians(one.udp),
        sandwich=_median(one.sandwich),
        connect=_median(one.connect),
        tcp=_median(one.tcp),
        throughput=_median(one.throughput),
    )


def _medians(found: Mapping[int, tuple[float, ...]]) -> Mapping[int, tuple[float, ...]]:
    return {size: _median(values) for size, values in found.items()}


def _median(values: tuple[float, ...]) -> tuple[float, ...]:
    return (float(f"{statistics.median(values):.{DIGITS}g}"),) if values else ()


def _score(one: Score) -> Score:
    total = None if one.total is None else round(one.total, 4)
    return replace(one, total=total, parts={part: round(value, 4) for part, value in one.parts.items()})

"""A round of health in short, for keeping many: of each measurement its mean instead of its samples.

Means, for they are what scores compare: whoever normalises around one place later
(:func:`measurement.health.pair_scores.around`) has what the samples had given.  Of a throughput all values
stay, a transfer's few seconds: their variance is its steadiness.  Scores and markers stay as they were worked
out from the samples.  A round of a hundred instances has ten thousand pairs with a hundred samples each; in
short it fits in a request.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace

from measurement.health.pair_scores import Score
from measurement.health.record import PairResult, RoundRecord

DIGITS = 7
"""Significant digits: of peers within a thousandth of each other the health is right to three decimals."""
DECIMALS = 4
"""Of a score."""


def in_short(record: RoundRecord) -> RoundRecord:
    """A round without its samples; in short it stays as it is."""
    return replace(record, pairs=tuple(map(_pair, record.pairs)))


def _pair(one: PairResult) -> PairResult:
    return replace(
        one,
        icmp=_means(one.icmp),
        udp=_means(one.udp),
        sandwich=_mean(one.sandwich),
        connect=_mean(one.connect),
        tcp=_mean(one.tcp),
        throughput=tuple(_short(value) for value in one.throughput),
        score=None if one.score is None else _score(one.score),
    )


def _means(found: Mapping[int, tuple[float, ...]]) -> Mapping[int, tuple[float, ...]]:
    return {size: _mean(values) for size, values in found.items()}


def _mean(values: tuple[float, ...]) -> tuple[float, ...]:
    return (_short(statistics.fmean(values)),) if values else ()


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _score(one: Score) -> Score:
    total = None if one.total is None else round(one.total, DECIMALS)
    return replace(
        one, total=total, parts={part: round(value, DECIMALS) for part, value in one.parts.items()}
    )

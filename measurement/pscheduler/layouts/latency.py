"""Results of ``latency`` and ``latencybg``: a histogram of one-way delays, its quantiles, jitter and loss.

A histogram's key counts bucket widths, not milliseconds (only with the default width are they the
same), and may be negative: clocks differ.  ``max-clock-error`` of 0.0 is no proof of good clocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from measurement.model import Metric
from measurement.pscheduler.document import Document
from measurement.pscheduler.readings import Reading, Refused, loss

DEFAULT_BUCKET = 0.001
QUANTILES = {"p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
_NTP_SECOND = 2**32
_MILLISECOND = 1e-3

Histogram = Sequence[tuple[float, int]]
"""(delay in seconds, packets above zero), by delay."""


def read(result: Document, spec: Document) -> list[Reading | Refused]:
    """Loss, one-way delay, jitter."""
    sent, lost = result.count("packets-sent"), result.count("packets-lost")
    parameters: dict[str, object] = {"packets": sent}
    if result.has("max-clock-error"):
        parameters["max_clock_error"] = result.amount("max-clock-error") * _MILLISECOND
    found = [loss(result, "packets-lost", lost, sent, parameters)]
    delays = histogram(result, spec)
    if not delays:
        return [*found, *(Refused(m, "no packet arrived") for m in (Metric.ONE_WAY_DELAY, Metric.JITTER))]
    return [*found, _delay(delays, parameters), _jitter(result, delays, parameters)]


def histogram(result: Document, spec: Document) -> Histogram:
    """The delays of a result.

    :raises BadAnswer: for a bucket that is no delay or no count.
    """
    width = spec.number("bucket-width") if spec.has("bucket-width") else DEFAULT_BUCKET
    if not 0 < width < 1:
        spec.refuse("bucket-width", "is not between 0 and 1 s")
    buckets = result.child("histogram-latency")
    found = []
    for key in buckets.fields:
        count = buckets.count(key)
        try:
            delay = float(key) * width
        except ValueError:
            buckets.refuse(key[:40], "is not a delay")
        if not -1e6 < delay < 1e6:  # also false for NaN
            buckets.refuse(key[:40], "is not a delay")
        if count:
            found.append((delay, count))
    return sorted(found)


def quantiles(delays: Histogram) -> dict[str, float]:
    """The ends, and the delays that 5, 25, 50, 75, 95, 99 % of the packets do not exceed (nearest rank)."""
    total = sum(count for _, count in delays)
    ranks = {name: _nth(delays, math.ceil(part * total) - 1) for name, part in QUANTILES.items()}
    return {"minimum": delays[0][0], **ranks, "maximum": delays[-1][0]}


def _delay(delays: Histogram, parameters: Mapping[str, object]) -> Reading | Refused:
    median = _median(delays)
    if median < 0:
        return Refused(
            Metric.ONE_WAY_DELAY, f"histogram-latency: the median is negative ({median:g} s): clocks differ"
        )
    return Reading(Metric.ONE_WAY_DELAY, median, {**parameters, "quantiles": quantiles(delays)})


def _median(delays: Histogram) -> float:
    total = sum(count for _, count in delays)
    return (_nth(delays, (total - 1) // 2) + _nth(delays, total // 2)) / 2


def _nth(delays: Histogram, rank: int) -> float:
    passed = 0
    for delay, count in delays:
        passed += count
        if rank < passed:
            return delay
    raise IndexError(rank)


def _jitter(result: Document, delays: Histogram, parameters: Mapping[str, object]) -> Reading | Refused:
    if result.has("raw-packets"):
        in_order = _raw_delays(result)
        steps = [abs(after - before) for before, after in pairwise(in_order)]
        value, origin = sum(steps) / len(steps) if steps else None, "raw packets"
    else:
        value, origin = gini_mean_difference(delays), "histogram"
    if value is None:
        return Refused(Metric.JITTER, f"{origin}: fewer than two packets arrived")
    return Reading(Metric.JITTER, value, {**parameters, "from": origin})


def _raw_delays(result: Document) -> list[float]:
    """One-way delays of the packets that arrived, in the order they were sent."""
    arrived: dict[float, float] = {}
    for packet in result.children("raw-packets"):
        received = packet.count("dst-ts")
        if received:
            # Integers below 2**64: subtract before dividing, a float has only 53 bits.
            ticks = received - packet.count("src-ts")
            arrived.setdefault(packet.number("seq-num"), ticks / _NTP_SECOND)
    return [arrived[number] for number in sorted(arrived)]


def gini_mean_difference(delays: Histogram) -> float | None:
    """E|X - Y| over two different packets, in one pass; None for fewer than two."""
    total = sum(count for _, count in delays)
    if total < 2:
        return None
    spread, below, below_sum = 0.0, 0, 0.0
    for delay, count in delays:
        spread += count * (delay * below - below_sum)
        below += count
        below_sum += count * delay
    return max(0.0, 2 * spread / (total * (total - 1)))

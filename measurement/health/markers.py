"""What a round shows to be worse than before, pair by pair: the five markers of [HEALTH] 5.2.

A marker that fires has the scores of its pair worked out anew.  A time is *over* its threshold when it
exceeds the mean of the rounds before by more than their standard deviation, times a tolerance (the paper
compares with the deviation alone, which round trips far above their spread would always exceed).

The tolerance adapts to the place ([HEALTH] 8: markers "need to adapt to the environment", with "more historic
data"): where a marker fires so often that it says nothing, it grows; where nothing fires for long, it comes
back towards 1.  A network that gets worse and stays so fires until the rounds before are like it, no longer.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from measurement.health.model import AGREED_BY, Found
from measurement.units import format_duration, format_rate

SHARE = 0.2
"""Of a round's samples that are over their threshold."""
SANDWICH_RISE = 0.5
LONG_TERM = 3
"""Rounds before, at least, for a long-term threshold of throughput."""
LEAST_DROP = 0.2
"""Of the usual volume: less of a drop is no news, however steady a path was."""
NOTICEABLE = 0.01
"""Of the mean: a smaller rise is no news; equal samples have no deviation at all."""
SANDWICH_NOTICEABLE_S = 20e-6
"""Below this a sandwich delay says more about the clocks than about a queue."""

OFTEN, SELDOM = 0.25, 0.05
"""Shares of the rounds of late in which a marker fires too often, and hardly ever."""
LATE = 0.1
"""What the newest round counts among those of late."""
WIDER, NARROWER = 1.25, 0.95
WIDEST = 8.0


class Marker(StrEnum):
    """What may fire."""

    TIMEOUT = "timeout"
    ICMP = "icmp"
    UDP = "udp"
    TCP = "tcp"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class Fired:
    """A marker that has fired, with its reason in words."""

    marker: Marker
    why: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much of a change is usual for one pair and marker.

    :param factor: times the standard deviation; at least 1.
    :param fired: the share of the rounds of late in which it fired.
    :raises ValueError: for what cannot be; it names the field.
    """

    factor: float = 1.0
    fired: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.factor <= WIDEST:
            raise ValueError(f"factor: {self.factor} is not between 1 and {WIDEST:g}")
        if not 0 <= self.fired <= 1:
            raise ValueError(f"fired: {self.fired} is no share")

    def after(self, *, fired: bool) -> Tolerance:
        """The tolerance for the next round."""
        share = (1 - LATE) * self.fired + LATE * fired
        factor = self.factor
        if fired and share > OFTEN:
            factor = min(WIDEST, factor * WIDER)
        elif not fired and share < SELDOM:
            factor = max(1.0, factor * NARROWER)
        return replace(self, factor=factor, fired=share)


Tolerances = Mapping[Marker, Tolerance]
USUAL = Tolerance()


def find_fired(now: Found, before: Sequence[Found], tolerances: Tolerances) -> tuple[Fired, ...]:
    """Which markers fire for one pair in a round.

    :param before: what was found of it in the rounds before, the newest last; the paper takes one.
    """
    if now.timed_out:
        silent = ", ".join(sorted(now.silent))
        return (Fired(Marker.TIMEOUT, f"no answer to {silent}: at least {AGREED_BY} agree"),)
    known = [one for one in before if not one.timed_out]
    return tuple(_others(now, known, tolerances)) if known else ()


def adapt_tolerances(found: Sequence[Fired], tolerances: Tolerances) -> Tolerances:
    """The tolerances for the next round, after these have fired."""
    these = {one.marker for one in found}
    return {marker: tolerances.get(marker, USUAL).after(fired=marker in these) for marker in Marker}


def _others(now: Found, before: Sequence[Found], tolerances: Tolerances) -> Iterator[Fired]:
    icmp = [(now.icmp[size], _pool_samples([one.icmp.get(size, ()) for one in before])) for size in now.icmp]
    udp = [(now.udp[size], _pool_samples([one.udp.get(size, ()) for one in before])) for size in now.udp]
    tcp = [
        (now.connect, _pool_samples([one.connect for one in before])),
        (now.tcp, _pool_samples([one.tcp for one in before])),
    ]
    for marker, compared in ((Marker.ICMP, icmp), (Marker.UDP, udp), (Marker.TCP, tcp)):
        why = _slower(compared, tolerances.get(marker, USUAL).factor)
        if marker is Marker.UDP and not why:
            why = _describe_queueing(now.sandwich, _pool_samples([one.sandwich for one in before]))
        if why:
            yield Fired(marker, why)
    volumes = [statistics.fmean(one.throughput) for one in before if one.throughput]
    why = _narrower(now.throughput, volumes, tolerances.get(Marker.THROUGHPUT, USUAL).factor)
    if why:
        yield Fired(Marker.THROUGHPUT, why)


def _pool_samples(rounds: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(value for its in rounds for value in its)


def _slower(compared: Sequence[tuple[tuple[float, ...], tuple[float, ...]]], factor: float) -> str:
    """Whether enough samples, of all sizes together, are over their thresholds."""
    over = of = 0
    for samples, before in compared:
        if len(before) > 1:
            mean = statistics.fmean(before)
            threshold = mean + max(factor * statistics.stdev(before, mean), NOTICEABLE * mean)
            over += sum(sample > threshold for sample in samples)
            of += len(samples)
    if not of or over < SHARE * of:
        return ""
    return f"{over} of {of} times exceed the mean before by more than {_deviations(factor)}"


def _deviations(factor: float) -> str:
    return "one standard deviation" if factor == 1 else f"{factor:.3g} standard deviations"


def _describe_queueing(samples: tuple[float, ...], before: tuple[float, ...]) -> str:
    if not samples or not before:
        return ""
    now, usual = statistics.fmean(samples), max(statistics.fmean(before), SANDWICH_NOTICEABLE_S)
    if now < (1 + SANDWICH_RISE) * usual:
        return ""
    return f"the sandwich delay rose from {format_duration(usual)} to {format_duration(now)}"


def _narrower(samples: tuple[float, ...], volumes: Sequence[float], factor: float) -> str:
    """Whether the volume is below what is usual in the long term."""
    if not samples or len(volumes) < LONG_TERM:
        return ""
    usual = statistics.median(volumes)
    spread = statistics.median(abs(one - usual) for one in volumes)
    threshold = usual - max(LEAST_DROP * usual, 3 * factor * spread)
    now = statistics.fmean(samples)
    return f"{format_rate(now)}, below {format_rate(threshold)}" if now < threshold else ""

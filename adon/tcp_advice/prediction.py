"""Expected gain: throughput before and after, from the model of [ADON] 4.3 and from measurements.

::

    Γ_t = min(link rate, streams · window · 8 / RTT, streams · Mathis)     (adon.broker.cost)

The interval has every input at the bad, or at the good, end of the 90 % interval in which it lies: Γ_t rises
with rate and window and falls with RTT and loss, so these two corners bound it.

Where a test gives the throughput of the *present* settings, its quotient to the formula (at most 1) is the
effect of what the formula omits: protocol overhead, processors, other traffic.  Larger windows do not remove
that, so the quotient also applies to the expectation after; the high end omits it, since tuning may remove
it.  Where the present settings are unknown, they may explain the quotient; then it bounds the low end only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adon.broker.cost.terms import theoretical_throughput
from adon.tcp_advice.buffers import format_mib
from adon.tcp_advice.facts import PathFacts
from adon.uncertain import Uncertain
from adon.units import format_duration, format_rate, format_ratio

DEVIATIONS = 1.645
"""Standard deviations on each side of the mean that hold 90 % of a normal distribution."""

SMALLEST_RTT = 0.1
"""However much RTTs vary, the smallest is at least a tenth of their mean: propagation takes time."""


@dataclass(frozen=True, slots=True)
class Range:
    """Lower limit, expected value and upper limit."""

    low: float
    expected: float
    high: float

    def over(self, other: Range) -> Range | None:
        """Quotient of two ranges; None if the other range includes zero."""
        if other.low <= 0:
            return None
        return Range(self.low / other.high, self.expected / other.expected, self.high / other.low)

    def scaled(self, factor: float) -> Range:
        """This range times a factor."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class TcpSettings:
    """The settings that limit TCP's throughput.

    :param window: largest window of one stream in bytes; None if unknown.
    :param mss: largest segment in bytes.
    """

    streams: int
    window: float | None
    mss: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """Throughput in bits/s before and after, and the quotient of the two.

    :param before: None if the present settings are unknown and there is no test.
    :param formula: computation of ``after`` with its numbers.
    :param basis: origin of the values, in words.
    """

    before: Range | None
    after: Range
    gain: Range | None
    formula: str
    basis: str


def model_throughput(path: PathFacts, settings: TcpSettings) -> Range | None:
    """Γ_t and its corners in bits/s; None if no known value bounds it."""
    best, worst = _corner(path, -DEVIATIONS), _corner(path, DEVIATIONS)
    low, expected, high = (_rate(corner, settings) for corner in (worst, path, best))
    return Range(low, expected, high) if math.isfinite(low + expected + high) else None


def _rate(path: PathFacts, settings: TcpSettings) -> float:
    return theoretical_throughput(
        math.inf if path.rate is None else path.rate,
        settings.streams,
        settings.window,
        None if path.rtt is None else path.rtt.mean,
        None if path.loss is None else path.loss.mean,
        settings.mss,
    )


def _corner(path: PathFacts, deviations: float) -> PathFacts:
    rtt, loss = path.rtt, path.loss
    return replace(
        path,
        rtt=None if rtt is None else Uncertain(max(SMALLEST_RTT * rtt.mean, _shift(rtt, deviations))),
        loss=None if loss is None else Uncertain(min(1.0, _shift(loss, deviations))),
    )


def _shift(value: Uncertain, deviations: float) -> float:
    return min(1e300, max(0.0, value.mean + deviations * value.deviation))


def predict(
    path: PathFacts, present: TcpSettings, advised: TcpSettings, *, loss_based: bool = True
) -> Prediction | None:
    """Throughput before and after; None if no known value bounds the throughput after.

    :param loss_based: whether Mathis' formula limits the recommended congestion control.  No formula here
        gives the throughput of another one (BBR) on a lossy path; that without loss is its upper limit.
    """
    after = model_throughput(path, advised)
    if after is None:
        return None
    if not loss_based and (free := model_throughput(replace(path, loss=None), advised)) is not None:
        after = replace(after, high=free.high)
    modelled = model_throughput(path, present)
    efficiency = _efficiency(path, present)
    if path.reached is None:
        before = None if present.window is None else modelled
        basis = "the formula alone; there is no throughput test"
    elif present.window is None or efficiency is None:
        before = _tested_throughput(path, present)
        basis = "a test; the present buffers are unknown and may explain its result"
        after = after if efficiency is None else replace(after, low=after.low * efficiency)
    else:
        before = None if modelled is None else modelled.scaled(efficiency)
        part = format_ratio(efficiency)
        basis = f"the formula, and a test that reached {part} of its value for the present settings"
        after = Range(after.low * efficiency, after.expected * efficiency, after.high)
    gain = None if before is None else after.over(before)
    return Prediction(before, after, gain, _formula(path, advised), basis)


def _efficiency(path: PathFacts, present: TcpSettings) -> float | None:
    """Quotient of a test and the formula, at most 1; None without a test."""
    if path.reached is None:
        return None
    model = model_throughput(path, replace(present, streams=path.reached.streams))
    if model is None or model.expected <= 0:
        return None
    return min(1.0, path.reached.rate.mean / model.expected)


def _tested_throughput(path: PathFacts, present: TcpSettings) -> Range | None:
    # Scale to the present number of streams, at most the rate of the path.
    if path.reached is None:
        return None
    factor, most = present.streams / path.reached.streams, math.inf if path.rate is None else path.rate
    low, high = path.reached.rate.interval(DEVIATIONS)
    return Range(*(min(most, factor * rate) for rate in (low, path.reached.rate.mean, high)))


def _formula(path: PathFacts, settings: TcpSettings) -> str:
    """Γ_t with its numbers; unknown terms are omitted."""
    rtt = None if path.rtt is None or path.rtt.mean <= 0 else path.rtt.mean
    terms = [] if path.rate is None else [format_rate(path.rate)]
    if rtt is not None and settings.window is not None:
        terms.append(f"{settings.streams} · {format_mib(settings.window)} · 8 / {format_duration(rtt)}")
    if rtt is not None and path.loss is not None and path.loss.mean > 0:
        root = f"√{format_ratio(path.loss.mean)}"
        terms.append(f"{settings.streams} · 8 · {settings.mss} B / ({format_duration(rtt)} · {root}) · √1.5")
    return f"min({'; '.join(terms)}) = {format_rate(_rate(path, settings))}"

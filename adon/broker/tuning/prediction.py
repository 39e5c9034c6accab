"""What is gained: throughput before and after, from the model of [ADON] 4.3 and what was measured.

::

    Γ_t = min(link rate, streams · window · 8 / RTT, streams · Mathis)     (adon.broker.cost)

The interval has every input at the bad, or at the good, end of the 90 % in which it lies: Γ_t rises with rate
and window and falls with RTT and loss, so these two corners bound it.

Where a test tells what the *present* settings reach, its quotient to the formula (at most 1) is what the
formula does not see: protocol overhead, processors, other traffic.  Tuning windows does not mend that, so it
is taken over into the expectation after; the high end leaves it out, since it may be that the tuning mends
it. Where the present settings are not known the quotient may be due to them: then it bounds the low end only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from adon.broker.cost.terms import theoretical_throughput
from adon.broker.tuning.facts import PathFacts
from adon.broker.tuning.window import SPREAD, in_mib
from adon.broker.uncertain import Uncertain
from adon.units import format_duration, format_rate, format_ratio

NEAREST = 0.1
"""However much RTTs scatter, the least is taken to be a tenth of their mean: light needs its time."""


@dataclass(frozen=True, slots=True)
class Range:
    """A low end, what is expected, and a high end."""

    low: float
    expected: float
    high: float

    def over(self, other: Range) -> Range | None:
        """The quotient of two ranges; None where the other reaches down to zero."""
        if other.low <= 0:
            return None
        return Range(self.low / other.high, self.expected / other.expected, self.high / other.low)

    def scaled(self, by: float) -> Range:
        """So many times this range."""
        return Range(self.low * by, self.expected * by, self.high * by)


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides how fast TCP is.

    :param window: the largest window of one stream in bytes; None if it is not known.
    :param segment: the largest segment in bytes.
    """

    streams: int
    window: float | None
    segment: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """Throughput in bits/s before and after, and the quotient of the two.

    :param before: None where the present settings are not known and no test tells.
    :param formula: of ``after``, with the numbers in it.
    :param basis: what the figures rest on, in words.
    """

    before: Range | None
    after: Range
    gain: Range | None
    formula: str
    basis: str


def modelled(path: PathFacts, settings: Settings) -> Range | None:
    """Γ_t with its corners; None where nothing that is known bounds it."""
    best, worst = _corner(path, -SPREAD), _corner(path, SPREAD)
    found = [_rate(one, settings) for one in (worst, path, best)]
    return Range(*found) if all(map(math.isfinite, found)) else None


def _rate(path: PathFacts, settings: Settings) -> float:
    return theoretical_throughput(
        math.inf if path.rate is None else path.rate,
        settings.streams,
        settings.window,
        None if path.rtt is None else path.rtt.mean,
        None if path.loss is None else path.loss.mean,
        settings.segment,
    )


def _corner(path: PathFacts, deviations: float) -> PathFacts:
    rtt, loss = path.rtt, path.loss
    return replace(
        path,
        rtt=None if rtt is None else Uncertain(max(NEAREST * rtt.mean, _moved(rtt, deviations))),
        loss=None if loss is None else Uncertain(min(1.0, _moved(loss, deviations))),
    )


def _moved(value: Uncertain, deviations: float) -> float:
    return min(1e300, max(0.0, value.mean + deviations * value.deviation))


def predict(
    path: PathFacts, present: Settings, advised: Settings, *, loss_driven: bool = True
) -> Prediction | None:
    """Before and after; None where nothing that is known bounds what comes after.

    :param loss_driven: whether the advised congestion control is bound by Mathis' formula.  What one that is
        not (BBR) makes of a lossy path no formula here tells: without loss is its high end.
    """
    after = modelled(path, advised)
    if after is None:
        return None
    if not loss_driven and (free := modelled(replace(path, loss=None), advised)) is not None:
        after = replace(after, high=free.high)
    now = modelled(path, present)
    seen = _efficiency(path, present)
    if path.reached is None:
        before = None if present.window is None else now
        basis = "the formula alone; no test tells what is reached"
    elif present.window is None or seen is None:
        before = _tested(path, present)
        basis = "a test; the present buffers are not known, so they may explain it"
        after = after if seen is None else replace(after, low=after.low * seen)
    else:
        before = None if now is None else now.scaled(seen)
        part = format_ratio(seen)
        basis = f"the formula, and a test that reached {part} of what it gives for the present settings"
        after = Range(after.low * seen, after.expected * seen, after.high)
    gain = None if before is None else after.over(before)
    return Prediction(before, after, gain, formula(path, advised), basis)


def _efficiency(path: PathFacts, present: Settings) -> float | None:
    """What a test reached over what the formula gives for it, at most 1; None without a test."""
    if path.reached is None:
        return None
    model = modelled(path, replace(present, streams=path.reached.streams))
    if model is None or model.expected <= 0:
        return None
    return min(1.0, path.reached.rate.mean / model.expected)


def _tested(path: PathFacts, present: Settings) -> Range | None:
    # Streams of another number than the test's are taken in proportion, up to the path's rate.
    if path.reached is None:
        return None
    by, most = present.streams / path.reached.streams, math.inf if path.rate is None else path.rate
    low, high = path.reached.rate.interval(SPREAD)
    return Range(*(min(most, by * rate) for rate in (low, path.reached.rate.mean, high)))


def formula(path: PathFacts, settings: Settings) -> str:
    """Γ_t with its numbers, terms that are not known left out."""
    rtt = None if path.rtt is None or path.rtt.mean <= 0 else path.rtt.mean
    terms = [] if path.rate is None else [format_rate(path.rate)]
    if rtt is not None and settings.window is not None:
        terms.append(f"{settings.streams} · {in_mib(settings.window)} · 8 / {format_duration(rtt)}")
    if rtt is not None and path.loss is not None and path.loss.mean > 0:
        root = f"√{format_ratio(path.loss.mean)}"
        terms.append(
            f"{settings.streams} · 8 · {settings.segment} B / ({format_duration(rtt)} · {root}) · √1.5"
        )
    return f"min({'; '.join(terms)}) = {format_rate(_rate(path, settings))}"

"""Whether the advice held: transfers after it against transfers before it, on the same path.

A gain that was predicted is a promise.  It is *confirmed* when at least :data:`FEWEST` comparable transfers
on each side differ so that chance would do it in fewer than one case of twenty (one-sided, by ranks), and the
gain is worth something.  It is *not confirmed* when they do not, *too few* when there are not enough.

Comparable is what finished, was measured, stayed on the one path, and took long enough to leave slow start.
What else has changed at the same time (other traffic, another disk) no test can tell; the more transfers
there are on both sides, the less of it is left.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from adon.broker.outcomes import FlowOutcome
from adon.broker.tuning.prediction import Range
from adon.broker.tuning.ranks import Shift, p_greater, ratio_shift, superiority
from adon.units import format_rate

FEWEST = 5
"""Transfers on each side; with five, the most extreme order of all has a p-value of 1/252."""

MOST = 200
"""Of each side the latest so many are compared."""

SIGNIFICANT = 0.05
WORTH = 1.05
"""A gain below five per cent is no reason to change two hosts."""

SHORTEST_S = 5.0
"""A shorter transfer is mostly slow start."""


class Verdict(StrEnum):
    """What outcomes say about the advice."""

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"
    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The comparison, and what it is based on.

    :param before, after: the numbers of the flows that were compared.
    :param medians: bits/s before and after; None where there are none.
    :param gain: the factor between them with its 95 % interval.
    :param p: of the one-sided rank test.
    :param effect: the probability that a transfer after beats one before; 0.5 is no difference.
    :param as_predicted: whether the gain's interval and the predicted one overlap; None without a prediction.
    """

    verdict: Verdict
    text: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    medians: tuple[float, float] | None = None
    gain: Shift | None = None
    p: float | None = None
    effect: float | None = None
    as_predicted: bool | None = None


def comparable(
    outcomes: Iterable[FlowOutcome], path: str, source: str, destination: str
) -> tuple[FlowOutcome, ...]:
    """Transfers that say something about one path between two hosts, the earliest first."""
    found = [
        one
        for one in outcomes
        if one.state == "finished"
        and (one.source, one.destination) == (source, destination)
        and one.throughput is not None
        and 0 < one.throughput < math.inf
        and {stay.path for stay in one.stays} == {path}
        and one.duration is not None
        and one.duration >= SHORTEST_S
    ]
    return tuple(sorted(found, key=lambda one: (one.ended_at, one.flow)))


def confirm(outcomes: Sequence[FlowOutcome], applied_at: float, predicted: Range | None) -> Confirmation:
    """Hold comparable transfers before and after a time against each other.

    What was under way at that time is on neither side: its connections kept their buffers.

    :param applied_at: when both hosts had the settings, seconds since the epoch.
    :param predicted: the gain that was predicted, as a factor.
    """
    before = [one for one in outcomes if one.ended_at <= applied_at][-MOST:]
    after = [one for one in outcomes if _began(one) >= applied_at][-MOST:]
    flows = tuple(one.flow for one in before), tuple(one.flow for one in after)
    if min(len(before), len(after)) < FEWEST:
        text = (
            f"{len(before)} comparable transfers before and {len(after)} after; {FEWEST} of each are needed"
        )
        return Confirmation(Verdict.TOO_FEW, text, *flows)
    rates = _rates(before), _rates(after)
    gain, p, effect = ratio_shift(*rates), p_greater(*rates), superiority(*rates)
    medians = statistics.median(rates[0]), statistics.median(rates[1])
    kept = p < SIGNIFICANT and gain.estimate >= WORTH
    expected = None if predicted is None else gain.low <= predicted.high and gain.high >= predicted.low
    text = _text(kept, medians, gain, p, effect, expected)
    verdict = Verdict.CONFIRMED if kept else Verdict.NOT_CONFIRMED
    return Confirmation(verdict, text, *flows, medians, gain, p, effect, expected)


def _began(outcome: FlowOutcome) -> float:
    began = outcome.admitted_at if outcome.started_at is None else outcome.started_at
    return -math.inf if began is None else began


def _rates(outcomes: Iterable[FlowOutcome]) -> list[float]:
    return [one.throughput for one in outcomes if one.throughput is not None]


def _text(
    kept: bool, medians: tuple[float, float], gain: Shift, p: float, effect: float, expected: bool | None
) -> str:
    head = "faster" if kept else "no gain is shown"
    said = {None: "", True: ", as predicted", False: ", outside of what was predicted"}[expected]
    return (
        f"{head}: median {format_rate(medians[0])} before, {format_rate(medians[1])} after; factor "
        f"{gain.estimate:.2f} ({gain.low:.2f} to {gain.high:.2f}, 95 %){said}; a transfer after beats one "
        f"before with probability {effect:.2f}; p = {p:.2g}"
    )

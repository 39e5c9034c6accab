"""Has the level moved?  The statistic behind the live detector.

Given the baseline's level m and spread σ, two explanations of the k newest samples are compared by their
likelihood, each with the deviation that suits it best (the generalised likelihood ratio; Siegmund,
Sequential Analysis, 1985; with an unknown variance it is a function of Student's t):

- the level moved: they scatter around their own mean, by at least σ;
- only the spread grew: they scatter around m, as widely as need be.

With t² = mean² / (s²/k + σ²/n), where the mean is taken from m, s is the larger of their own deviation and
σ, and n counts the baseline, the logarithm of the ratio is k/2 · log(1 + t²/(k - 1)): the score of k.  A
spread that would have to exceed five times σ becomes ever less likely, which adds to the score (at most as
much again), and lets a large step be seen in few samples.  Single spikes score next to nothing: they raise
s as much as the mean. A spike amid a real shift would hide it as well, so the case is also heard without
the one sample that lies farthest off, at a price of 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

CUT = 0.15
WINSORISED = 0.75
PLAUSIBLE_SPREAD = 5.0
SPREAD_EXPONENT = 4.0
SPIKE_PRICE = 1.0
OUTLYING = 3.0
ROUNDING = 1e-9
SMALLEST = 1e-150


class Level(NamedTuple):
    """Where a baseline lies: its mean and deviation, both robust, and how many samples say so.

    The deviation is above 0: at least what rounding leaves of it.
    """

    mean: float
    deviation: float
    size: int

    @property
    def constant(self) -> bool:
        """Whether all but a few stray samples are equal."""
        return self.deviation <= _rounding(self.mean)


class Shift(NamedTuple):
    """The case for a moved level: ``size`` newest samples lie ``by`` away from the baseline's level."""

    size: int
    by: float
    score: float


def level_of(values: Sequence[float]) -> Level:
    """Trimmed mean and winsorised deviation, 15 % cut off at each end (Tukey and McLaughlin, 1963).

    The deviation is divided by what winsorising leaves of a normal one (about 0.75).
    """
    count = len(values)
    cut = int(count * CUT)
    ordered = sorted(values)
    kept = ordered[cut : count - cut]
    pulled_in = [kept[0]] * cut + kept + [kept[-1]] * cut
    deviation = math.sqrt(_squares(pulled_in) / (count - 1)) / (WINSORISED if cut else 1.0)
    mean = sum(kept) / len(kept)
    return Level(mean, max(deviation, _rounding(mean)), count)


def best_shift(recent: Sequence[float], level: Level, fewest: int, least_shift: float) -> Shift | None:
    """The k newest samples with the best score, if any k from ``fewest`` on lies far enough off.

    :param recent: the samples under suspicion, oldest first.
    :param least_shift: how far the mean must lie off, in σ.
    """
    best: Shift | None = None
    total = squares = 0.0
    for count, value in enumerate(reversed(recent), 1):
        off = value - level.mean
        total += off
        squares += off * off
        if count >= fewest and abs(total) >= count * least_shift * level.deviation:
            shift = Shift(count, total / count, _score(count, total / count, squares, level))
            best = shift if best is None or shift.score > best.score else best
    return best


def _score(count: int, by: float, squares: float, level: Level) -> float:
    known = level.deviation * level.deviation
    own = max(known, (squares - count * by * by) / (count - 1))
    t_squared = by * by / (own / count + known / level.size)
    score = count / 2 * math.log1p(t_squared / (count - 1))
    needed = math.sqrt(squares / count) / (PLAUSIBLE_SPREAD * level.deviation)
    if needed <= 1 or level.constant:  # five times nothing is no measure
        return score
    return score + min(score, SPREAD_EXPONENT * math.log(needed))


def spike_in(recent: Sequence[float], level: Level) -> int | None:
    """The place of what may be a spike: the sample farthest off, if beyond 3 σ and not the newest."""
    offs = [abs(value - level.mean) for value in recent[:-1]]
    farthest = max(offs)
    return offs.index(farthest) if farthest > OUTLYING * level.deviation else None


def best_excess(recent: Sequence[float], baseline: Sequence[float], fewest: int) -> Shift | None:
    """As :func:`best_shift`, for samples of which none is negative and a baseline of 0 but for a few strays.

    There is no deviation to go by.  The score is minus the logarithm of a bound of the binomial probability
    to have so many of the k newest samples above 0, if each is so with the baseline's chance (Laplace's
    rule of succession).
    """
    if recent[-1] <= 0:
        return None
    chance = (1 + sum(value > 0 for value in baseline)) / (len(baseline) + 2)
    best: Shift | None = None
    total, above = 0.0, 0
    for count, value in enumerate(reversed(recent), 1):
        total += value
        above += value > 0
        score = -math.log(math.comb(count, above)) - above * math.log(chance)
        if above >= fewest and (best is None or score > best.score):
            best = Shift(count, total / count, score)
    return best


def return_to(level: Level, values: Sequence[float], fewest: int) -> Shift | None:
    """The newest samples that are at a constant level again, against how often those before them were."""
    at_it = [abs(value - level.mean) <= _rounding(level.mean) for value in values]
    size = next((place for place, there in enumerate(reversed(at_it)) if not there), len(at_it))
    left = len(at_it) - size
    if size < fewest or left == 0:
        return None
    chance = (1 + sum(at_it[:left])) / (left + 2)
    return Shift(size, level.mean - sum(values[:left]) / left, -size * math.log(chance))


def steps_rather_than_drifts(
    baseline: Sequence[float], level: Level, recent: Sequence[float], count: int, score: float
) -> bool:
    """Whether a step explains baseline and newest samples better than one straight line through both.

    :param count: so many of the recent samples are held to be the moved level.
    :param score: log-likelihood ratio needed.
    """
    reach = OUTLYING * level.deviation
    lower = [min(max(value, level.mean - reach), level.mean + reach) for value in baseline]
    moved, places = recent[len(recent) - count :], range(len(baseline) + len(recent))
    step = _squares(lower) + _squares(moved)
    line = _squares_about_line([*places[: len(lower)], *places[len(places) - count :]], [*lower, *moved])
    return line > step and (len(lower) + count) / 2 * math.log(line / max(step, SMALLEST)) >= score


def _rounding(mean: float) -> float:
    return max(ROUNDING * abs(mean), SMALLEST)


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum([(value - mean) * (value - mean) for value in values])


def _squares_about_line(places: Sequence[int], values: Sequence[float]) -> float:
    centre, mean = sum(places) / len(places), sum(values) / len(values)
    pairs = [(place - centre, value - mean) for place, value in zip(places, values, strict=True)]
    slope = sum([place * value for place, value in pairs]) / sum([place * place for place, _ in pairs])
    return sum([(value - slope * place) * (value - slope * place) for place, value in pairs])

"""A proposal's picture: a metric's table today and as proposed, with the outcomes as points.  Pure.

Both tables are drawn over the values that were met.  An outcome stands at its metric's value and at the score
that its response would have in the proposed table, so that the line of the proposed table runs through the
middle of the points if it is right, and how far they are from it shows what the metric does not explain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adon.templates_catalog.lookup import BEST_SCORE, WORST_SCORE, LookupTable
from adon.templates_catalog.proposal import MetricEvidence
from apps.rest.page.words import value as in_words

WIDTH, HEIGHT = 560.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 90.0, 12.0, 34.0
SCORES = (1.0, 4.0, 7.0, 10.0)
ROOM = 0.8
"""Scores above the greatest and below the least that is shown."""
OUTSIDE = 0.02
"""The share of outcomes at either end that need not be in the picture: they stand at its edge."""
LINE = 14.0
"""Scores whose words would stand nearer to each other are left out, but for 1 and 10."""
TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
AROUND = 0.03
"""Room beside the values, as a share of their width."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark at an axis with its words."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, in a box of :data:`WIDTH` by :data:`HEIGHT`.

    :param today, proposed: SVG path data.
    :param points: centres of the outcomes.
    :param across, up: ticks of the metric's values and of the scores.
    :param beside: at the right, the responses that belong to scores.
    """

    metric: str
    today: str
    proposed: str
    points: tuple[tuple[float, float], ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    beside: tuple[Tick, ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    bottom: float = HEIGHT - BOTTOM


def picture(found: MetricEvidence, response: str) -> Picture | None:
    """The picture of one metric; None for one that nothing was learnt of.

    :param response: the metric that responses are read as: ``throughput``, or ``loss`` for a share.
    """
    if found.scale is None or not found.points:
        return None
    low, high = _span(x for x, _ in found.points)
    low_response, high_response = found.scale
    per_score = (high_response - low_response) / (BEST_SCORE - WORST_SCORE)

    def across(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    def scored(response: float) -> float:
        return WORST_SCORE + (response - low_response) / per_score

    lowest, highest = _reach([scored(y) for _, y in found.points])

    def up(score: float) -> float:
        share = (min(max(score, lowest), highest) - lowest) / (highest - lowest)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    def curve(table: LookupTable) -> str:
        places = sorted({low, high, *(x for x, _ in table.points if low < x < high)})
        steps = [(across(x), up(table.score(x))) for x in places]
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in _stepped(steps, table))

    responses = (low_response + (score - WORST_SCORE) * per_score for score in (lowest, highest))
    return Picture(
        metric=found.metric,
        today=curve(found.today),
        proposed=curve(found.proposed),
        points=tuple((across(x), up(scored(y))) for x, y in found.points),
        across=tuple(Tick(across(x), in_words(x, found.metric)) for x in ticks(low, high)),
        up=tuple(Tick(up(one), f"{one:g}") for one in (SCORES if up(1) - up(4) >= LINE else SCORES[::3])),
        beside=tuple(Tick(up(scored(at)), in_words(at, response)) for at in ticks(*responses)),
    )


def ticks(low: float, high: float) -> list[float]:
    """Some round values in a range, about :data:`TICKS`."""
    wanted = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(one * power for one in STEPS if one * power >= wanted * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    # Whole multiples: adding up steps would drift away from round numbers.
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _span(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    low, high = min(found), max(found)
    around = (high - low) * AROUND or max(abs(low) * AROUND, 1e-9)
    return max(0.0, low - around), high + around


def _reach(scores: list[float]) -> tuple[float, float]:
    """The scores from which to which the picture reaches: from 1 to 10, and nearly all outcomes."""
    ranked = sorted(scores)
    left_out = int(OUTSIDE * len(ranked))
    low, high = min(WORST_SCORE, ranked[left_out]), max(BEST_SCORE, ranked[-1 - left_out])
    room = ROOM * (high - low) / (BEST_SCORE - WORST_SCORE)
    return low - room, high + room


def _stepped(steps: Sequence[tuple[float, float]], table: LookupTable) -> list[tuple[float, float]]:
    """A stepped table keeps its score until the next value."""
    if not table.step:
        return list(steps)
    drawn = [steps[0]]
    for x, y in steps[1:]:
        drawn += [(x, drawn[-1][1]), (x, y)]
    return drawn

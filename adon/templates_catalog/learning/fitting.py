"""From samples to a scoring: a monotone table per metric, and weights.

**Tables.**  The samples are put into groups of about equal size by the metric's value, and the mean
responses of the groups are made monotone in the metric's good direction by isotonic regression (pool
adjacent violators; Barlow and others, 1972).  The least fitted response scores 1 and the greatest 10, as in
[ADON] table 2.  A value beyond any that was met scores as the last one met: nothing is known there.  The
tables of several metrics are fitted in turns, each to what the others leave (backfitting; Breiman and
Friedman 1985): else what one metric moves would be noise in the table of another.

**Weights.**  With tables of one scale a weight says how far a metric moves the response from its worst to its
best.  They are the coefficients of a regression of the response on the scores that may not be negative, where
each sample is scored by tables that did not see its stretch of time (stacking; Breiman, "Stacked
regressions", 1996): a table that has only learnt noise gets nothing for it.

A metric whose values hardly differed teaches nothing: it keeps its table and its share of the weight.  One
whose values differed and nothing came of it is another thing: it gets no weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression, nnls  # type: ignore[import-untyped]

from adon.templates_catalog.lookup import BEST_SCORE, WORST_SCORE, LookupTable
from adon.templates_catalog.model import Template, normalised
from adon.templates_catalog.scoring_tables import scoring_tables
from measurement.model import Metric

Values = npt.NDArray[np.float64]

GROUPS = 12
"""Groups of values that a table is made from, at most; it has no more points."""
GROUP = 5
"""Samples in a group, at least."""
FEWEST_GROUPS = 3
TURNS = 3
STRETCHES = 4
"""Stretches of time for stacking."""
FLAT = 1e-9
"""Fitted responses that differ by less, relatively, do not differ."""


@dataclass(frozen=True, slots=True)
class Data:
    """Samples as columns, the oldest first."""

    metrics: tuple[Metric, ...]
    conditions: Mapping[Metric, Values]
    response: Values

    def __len__(self) -> int:
        return len(self.response)

    def part(self, rows: npt.NDArray[np.intp]) -> Data:
        """Some of the samples."""
        picked = {metric: values[rows] for metric, values in self.conditions.items()}
        return Data(self.metrics, picked, self.response[rows])


@dataclass(frozen=True, slots=True)
class Fitted:
    """A learnt table, and which responses score 1 and 10 in it."""

    table: LookupTable
    scale: tuple[float, float]

    def response(self, values: Values) -> Values:
        """The response that belongs to each value."""
        low, high = self.scale
        share = (scores(self.table, values) - WORST_SCORE) / (BEST_SCORE - WORST_SCORE)
        return np.asarray(low + share * (high - low))


@dataclass(frozen=True, slots=True)
class Scoring:
    """Tables and weights, as a decision would use them; weights sum to 1.

    :param learnt: the metrics whose tables were learnt.
    :param varied: the metrics whose values differed enough to learn from, whether anything came of it or not.
    """

    tables: Mapping[Metric, LookupTable]
    weights: Mapping[Metric, float]
    learnt: Mapping[Metric, Fitted]
    varied: frozenset[Metric] = frozenset()

    def q(self, data: Data) -> Values:
        """Q of each sample."""
        return np.asarray(
            sum(
                (weight * scores(self.tables[m], data.conditions[m]) for m, weight in self.weights.items()),
                np.zeros(len(data)),
            )
        )


def scores(table: LookupTable, values: Values) -> Values:
    """What :meth:`LookupTable.score` says of each value."""
    at, score = (np.array(column) for column in zip(*table.points, strict=True))
    if table.step:
        return np.asarray(score[np.clip(np.searchsorted(at, values, side="right") - 1, 0, None)])
    return np.asarray(np.interp(values, at, score))


def varies(values: Values) -> bool:
    """Whether values differ enough for a table to be made of them."""
    return len(_groups(values, values)[0]) >= FEWEST_GROUPS


def fit_table(metric: Metric, values: Values, response: Values) -> Fitted | None:
    """The table of one metric; None if its values, or what came of them, hardly differ."""
    at, mean, size = _groups(values, response)
    if len(at) < FEWEST_GROUPS:
        return None
    fitted = isotonic_regression(mean, weights=size, increasing=metric.higher_is_better).x
    low, high = float(fitted.min()), float(fitted.max())
    if high - low <= FLAT * max(abs(low), abs(high)):
        return None
    score = WORST_SCORE + (BEST_SCORE - WORST_SCORE) * (fitted - low) / (high - low)
    points = _readable(at.tolist(), score.tolist())
    return Fitted(LookupTable(points=points), (low, high)) if len(points) > 1 else None


def fit_tables(data: Data) -> dict[Metric, Fitted]:
    """The tables of all metrics together; those of which nothing comes are missing."""
    found: dict[Metric, Fitted] = {}
    moved = {metric: np.zeros(len(data)) for metric in data.metrics}
    for _ in range(TURNS):
        for metric in data.metrics:
            left = data.response - sum(part for other, part in moved.items() if other != metric)
            fitted = fit_table(metric, data.conditions[metric], left)
            found.pop(metric, None)
            moved[metric] = np.zeros(len(data))
            if fitted is not None:
                found[metric] = fitted
                part = fitted.response(data.conditions[metric])
                moved[metric] = part - part.mean()
    return {metric: found[metric] for metric in data.metrics if metric in found}


def _groups(values: Values, response: Values) -> tuple[Values, Values, Values]:
    """Per group of neighbouring values: its mean value, its mean response, its size."""
    count = min(GROUPS, len(values) // GROUP)
    if count < FEWEST_GROUPS:
        return np.empty(0), np.empty(0), np.empty(0)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)))
    # What is equal stays together, so there may be fewer groups than asked for.
    group = np.searchsorted(edges[1:-1], values, side="right")
    sizes = np.bincount(group)
    some = sizes > 0
    means = (np.bincount(group, weights=column)[some] / sizes[some] for column in (values, response))
    at, mean = means
    return at, mean, sizes[some].astype(np.float64)


def _readable(at: Sequence[float], score: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Points with few digits, without those in the middle of a level stretch; both keep it monotone."""
    rounded = [(float(f"{value:.4g}"), round(one, 2)) for value, one in zip(at, score, strict=True)]
    rising = [point for before, point in pairwise([(-1.0, 0.0), *rounded]) if point[0] > before[0]]
    return tuple(
        point
        for place, point in enumerate(rising)
        if place in (0, len(rising) - 1) or not rising[place - 1][1] == point[1] == rising[place + 1][1]
    )


def today(template: Template, data: Data) -> Scoring:
    """The template's own scoring, as far as the samples have its metrics.

    :raises ValueError: if they have none that it weighs.
    """
    best = {
        metric: float(values.max() if metric.higher_is_better else values.min())
        for metric, values in data.conditions.items()
    }
    weighed = {m: w for m, w in template.weights.items() if w > 0 and m in data.metrics}
    tables = scoring_tables(template, template.qspec, best, dict.fromkeys(data.metrics, 1.0))
    return Scoring(tables, normalised(weighed), {})


def fit(template: Template, data: Data) -> Scoring | None:
    """The scoring that these samples lead to; None if no metric explains anything."""
    before = today(template, data)
    learnt = fit_tables(data)
    varied = frozenset(metric for metric in data.metrics if varies(data.conditions[metric]))
    free = sum(before.weights.get(metric, 0.0) for metric in varied)
    shares = _shares(tuple(learnt), data)
    if not shares or free <= 0:
        return None
    fixed = {metric: weight for metric, weight in before.weights.items() if metric not in varied}
    weights = {**fixed, **{metric: free * share for metric, share in shares.items() if share > 0}}
    tables = {**before.tables, **{metric: fitted.table for metric, fitted in learnt.items()}}
    return Scoring(
        tables, {metric: weights[metric] for metric in Metric if metric in weights}, learnt, varied
    )


def _shares(metrics: tuple[Metric, ...], data: Data) -> dict[Metric, float]:
    """Per metric its share of what all of them move; nothing if none moves anything."""
    if not metrics:
        return {}
    columns = np.zeros((len(data), len(metrics)))
    for held in np.array_split(np.arange(len(data)), STRETCHES):
        others = fit_tables(data.part(np.setdiff1d(np.arange(len(data)), held)))
        for number, metric in enumerate(metrics):
            fitted = others.get(metric)
            if fitted is not None:
                columns[held, number] = scores(fitted.table, data.conditions[metric][held])
    moved = nnls(columns - columns.mean(axis=0), data.response - data.response.mean())[0]
    total = float(moved.sum())
    if total <= 0:
        return {}
    return {metric: float(one) / total for metric, one in zip(metrics, moved, strict=True)}

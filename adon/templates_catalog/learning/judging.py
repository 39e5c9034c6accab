"""Is what was learnt better than what there is?  Both foretell outcomes that neither was fitted to.

The samples are cut into stretches of time, not shuffled: neighbours in time are alike (the same hour, the
same competing flow), and a shuffled split would let a scoring be tested on what it has as good as seen.  Each
stretch is foretold from all others, by today's scoring and by one learnt from the others in the same way.  A
scoring foretells a response as a rising straight line of its Q, whose two numbers are fitted to the others
too: so both are judged as what they are for, telling better conditions from worse.

The difference of the two mean squared errors is known once per stretch.  What was learnt must be better by
more than that difference's own uncertainty: Student's t, one-sided, :data:`SURE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student  # type: ignore[import-untyped]

from adon.templates_catalog.learning.fitting import Data, Scoring, Values, fit, fit_table, scores, today
from adon.templates_catalog.model import Template
from measurement.model import Metric

FOLDS = 5
SURE = 0.99
"""A scoring that is no better is proposed once in a hundred times."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Mean squared errors of both on stretches that they did not see, and what they say.

    :param gain: the mean difference; above zero: what was learnt is better.
    :param margin: the uncertainty that the gain has to exceed.
    :param explained: per metric the share of the variance that its learnt table explains by itself.
    """

    error_today: float
    error: float
    gain: float
    margin: float
    explained: Mapping[Metric, float]

    @property
    def better(self) -> bool:
        """Whether what was learnt is better by more than its own uncertainty."""
        return self.gain > self.margin


def judge(template: Template, data: Data) -> Judgement | None:
    """Hold what can be learnt against today's scoring; None if in some stretch nothing can be learnt."""
    errors: list[tuple[float, float]] = []
    blind, alone = 0.0, dict.fromkeys(data.metrics, 0.0)
    for held in np.array_split(np.arange(len(data)), FOLDS):
        others, rest = data.part(np.setdiff1d(np.arange(len(data)), held)), data.part(held)
        learnt = fit(template, others)
        if learnt is None:
            return None
        errors.append((_error(today(template, others), others, rest), _error(learnt, others, rest)))
        blind += float(((rest.response - others.response.mean()) ** 2).sum())
        for metric in data.metrics:
            alone[metric] += _left_by(metric, others, rest)
    gains = np.array([before - after for before, after in errors])
    spread = float(gains.std(ddof=1)) / math.sqrt(FOLDS)
    before, after = (float(np.mean(column)) for column in zip(*errors, strict=True))
    return Judgement(
        before,
        after,
        float(gains.mean()),
        float(student.ppf(SURE, FOLDS - 1)) * spread,
        {metric: 1 - left / blind if blind > 0 else 0.0 for metric, left in alone.items()},
    )


def _error(scoring: Scoring, fitted_to: Data, unseen: Data) -> float:
    """The mean squared error of what a scoring foretells of unseen samples."""
    foretold = _foretold(scoring.q(fitted_to), fitted_to.response, scoring.q(unseen))
    return float(((unseen.response - foretold) ** 2).mean())


def _left_by(metric: Metric, others: Data, rest: Data) -> float:
    """The sum of squares that one metric's learnt table leaves unexplained."""
    fitted = fit_table(metric, others.conditions[metric], others.response)
    if fitted is None:
        return float(((rest.response - others.response.mean()) ** 2).sum())
    seen, unseen = (scores(fitted.table, part.conditions[metric]) for part in (others, rest))
    return float(((rest.response - _foretold(seen, others.response, unseen)) ** 2).sum())


def _foretold(q: Values, response: Values, unseen: Values) -> Values:
    """The response on a line that never falls as Q rises."""
    spread = q - q.mean()
    square = float((spread**2).sum())
    slope = max(0.0, float((spread * response).sum()) / square) if square > 0 else 0.0
    return np.asarray(response.mean() + slope * (unseen - q.mean()))

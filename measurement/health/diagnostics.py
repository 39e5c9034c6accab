"""Which health metrics predict what was observed: the diagnostics of [HEALTH] 6 and 6.1, on any data set.

Forward and backward steps by AIC with p-values (table 1; Burnham and Anderson, "Model Selection and
Multimodel Inference"), the adjusted R² of all subsets (figure 6), residuals over fitted values (figure 7) and
a Q-Q plot of the standardised residuals (figure 8).

The paper goes on to the last step and keeps all four metrics; its table shows AIC lowest at two of them (set
I) and at three (set II).  Here all steps are told, and which of them has the lowest AIC.  A metric counts as
significant where its p-value is *smaller* than 0.05 (the paper's "greater" is a slip).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

from measurement.health.regression import DataSet, Model, model

SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a selection.

    :param metric: what was added, or dropped.
    :param metrics: the model's after it.
    :param aic: of that model.
    :param p_value: of the metric, in the model that has it: after it was added, or before it was dropped.
    """

    metric: str
    metrics: tuple[str, ...]
    aic: float
    p_value: float

    @property
    def significant(self) -> bool:
        """Whether chance would seldom do as much."""
        return self.p_value < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Subset:
    """A model of some metrics."""

    metrics: tuple[str, ...]
    adjusted: float
    aic: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All of it.

    :param forward: from one metric to all.
    :param backward: from all to one.
    :param selected: the metrics of the lowest AIC on the way forward, and on the way back.
    :param subsets: all, the largest adjusted R² first.
    :param whole: the model of all metrics.
    """

    data: DataSet
    forward: tuple[Step, ...]
    backward: tuple[Step, ...]
    selected: tuple[tuple[str, ...], tuple[str, ...]]
    subsets: tuple[Subset, ...]
    whole: Model


def diagnose(data: DataSet) -> Diagnosis:
    """The diagnosis of a data set.

    :raises ValueError: if metrics say the same, or the response is made of them.
    """
    whole = model(data, data.metrics)
    ahead, back = forward(data), backward(data)
    return Diagnosis(data, ahead, back, (_lowest(ahead), _lowest_back(whole, back)), subsets(data), whole)


def forward(data: DataSet) -> tuple[Step, ...]:
    """Add the metric that leaves the lowest AIC, until all are in."""
    steps: list[Step] = []
    taken: tuple[str, ...] = ()
    while len(taken) < len(data.metrics):
        tried = [(model(data, (*taken, one)), one) for one in data.metrics if one not in taken]
        best, metric = _best(tried)
        taken = best.metrics
        steps.append(Step(metric, taken, best.aic, best.p_value(metric)))
    return tuple(steps)


def backward(data: DataSet) -> tuple[Step, ...]:
    """Drop the metric without which AIC is lowest, until one is left."""
    steps: list[Step] = []
    present = model(data, data.metrics)
    while len(present.metrics) > 1:
        tried = [
            (model(data, (each for each in present.metrics if each != one)), one) for one in present.metrics
        ]
        best, metric = _best(tried)
        steps.append(Step(metric, best.metrics, best.aic, present.p_value(metric)))
        present = best
    return tuple(steps)


def _best(tried: Iterable[tuple[Model, str]]) -> tuple[Model, str]:
    return min(tried, key=lambda each: each[0].aic)


def _lowest(steps: Sequence[Step]) -> tuple[str, ...]:
    return min(steps, key=lambda one: one.aic).metrics


def _lowest_back(whole: Model, steps: Sequence[Step]) -> tuple[str, ...]:
    least = min((step.aic for step in steps), default=whole.aic)
    return whole.metrics if whole.aic <= least else _lowest(steps)


def subsets(data: DataSet) -> tuple[Subset, ...]:
    """The adjusted R² of every set of metrics, the largest first."""
    every = (its for count in range(1, len(data.metrics) + 1) for its in combinations(data.metrics, count))
    models = (model(data, its) for its in every)
    found = [Subset(one.metrics, one.adjusted, one.aic) for one in models]
    return tuple(sorted(found, key=lambda one: -one.adjusted))


def quantiles(values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """For a Q-Q plot: each value, in order, beside the normal quantile of its rank (at (i - 1/2) / n)."""
    normal = NormalDist()
    count = len(values)
    return tuple(
        (normal.inv_cdf((rank - 0.5) / count), value) for rank, value in enumerate(sorted(values), 1)
    )

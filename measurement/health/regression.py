"""Linear models of an observed response by health metrics ([HEALTH] 6, equation 2).

The response must be *observed*: the next round's throughput, a job's transfer time.  H-ALL is made of the
very metrics (equation 3), so that regressing it on them fits exactly and says nothing: that is refused.

AIC is that of a normal linear model, n·ln(2πe·RSS/n) + 2k with k coefficients, as statsmodels has it; R's
``step`` leaves out n·ln(2πe), which is the same for all models of one data set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

EXACT = 1e-6
"""Of the response's variance: where less is left, it is made of the metrics, whatever it was rounded to."""
MOST_METRICS = 12
"""Of which all subsets are looked at: 4 095 models."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Rows by column.

    :param response: the name of what was observed, and its values.
    :param metrics: what may predict it, by name, each as long.
    :param source: where it is from, in words.
    :param left_out: rows in which something lacked.
    :raises ValueError: for columns that no model can be made of; it names the column.
    """

    response: str
    observed: tuple[float, ...]
    metrics: Mapping[str, tuple[float, ...]]
    source: str = ""
    left_out: int = 0

    def __post_init__(self) -> None:
        rows = len(self.observed)
        if not 1 <= len(self.metrics) <= MOST_METRICS:
            raise ValueError(f"metrics: {len(self.metrics)} of them are not between 1 and {MOST_METRICS}")
        if self.response in self.metrics:
            raise ValueError(f"response: {self.response} is among the metrics")
        if rows < len(self.metrics) + 3:
            raise ValueError(f"rows: {rows} are too few for {len(self.metrics)} metrics and an error")
        for name, values in {self.response: self.observed, **self.metrics}.items():
            if len(values) != rows:
                raise ValueError(f"{name}: has {len(values)} rows, {self.response} has {rows}")
            if not all(map(math.isfinite, values)):
                raise ValueError(f"{name}: holds what is no finite number")
            if min(values) == max(values):
                raise ValueError(f"{name}: is {values[0]:g} in every row, and explains nothing")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Of one metric, or of the constant.

    :param p_value: of the t-test that it is 0.
    """

    estimate: float
    error: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Model:
    """An ordinary least-squares fit with a constant.

    :param coefficients: by metric; the constant's under ``""``.
    :param standardised: residuals over their standard error, σ·√(1 - h_ii), with the leverage h_ii.
    """

    metrics: tuple[str, ...]
    coefficients: Mapping[str, Coefficient]
    aic: float
    r_squared: float
    adjusted: float
    fitted: tuple[float, ...]
    residuals: tuple[float, ...]
    standardised: tuple[float, ...]

    def p_value(self, metric: str) -> float:
        """Of a metric in this model."""
        return self.coefficients[metric].p_value


def model(data: DataSet, metrics: Iterable[str]) -> Model:
    """The model of these metrics.

    :raises ValueError: if some of them say the same, or the response is made of them; it names them.
    """
    import numpy as np
    import statsmodels.api as sm

    names = tuple(metrics)
    # By their spread, so that bits/s beside ratios do not look as if they said the same.
    spreads = [float(np.std(data.metrics[name])) for name in names]
    columns = [np.asarray(data.metrics[name]) / spread for name, spread in zip(names, spreads, strict=True)]
    design = np.column_stack([np.ones(len(data.observed)), *columns])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError(f"metrics: {', '.join(_redundant(design, names))} says what the others say")
    result = sm.OLS(np.asarray(data.observed), design).fit()
    if result.ssr <= EXACT * result.centered_tss:
        raise ValueError(
            f"response: {data.response} is made of {', '.join(names)}: the fit is exact.  It must be "
            "observed, such as the next round's throughput or a job's time"
        )
    scale = [1.0, *spreads]
    terms = zip(("", *names), result.params, result.bse, result.pvalues, scale, strict=True)
    return Model(
        names,
        {name: Coefficient(float(b) / by, float(se) / by, float(p)) for name, b, se, p, by in terms},
        float(result.aic),
        float(result.rsquared),
        float(result.rsquared_adj),
        tuple(map(float, result.fittedvalues)),
        tuple(map(float, result.resid)),
        tuple(map(float, result.get_influence().resid_studentized_internal)),
    )


def _redundant(design: object, names: Sequence[str]) -> list[str]:
    """The columns without which the rest would say as much."""
    import numpy as np

    matrix = np.asarray(design)
    rank = np.linalg.matrix_rank(matrix)
    return [
        name
        for place, name in enumerate(names, 1)
        if np.linalg.matrix_rank(np.delete(matrix, place, axis=1)) == rank
    ]

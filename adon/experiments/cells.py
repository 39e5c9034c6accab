"""A figure's values over repetitions, by what they are of: a combination of what is swept, and a policy."""

from __future__ import annotations

from adon.experiments.figures import Figure
from adon.experiments.measures import Observed, samples
from adon.experiments.parts import Scalar
from adon.experiments.results import TrialDone
from adon.experiments.sweeping import CASE, POLICY

Where = tuple[tuple[str, Scalar], ...]
"""The combination, with the policy."""


def cells(observed: Observed, figure: Figure) -> dict[Where, list[float]]:
    """The values of complete trials, in the run's order; a cell is empty where no trial of it has one."""
    found: dict[Where, list[float]] = {}
    for sample in samples(observed, figure):
        known = found.setdefault(where_of(sample.trial), [])
        if sample.value is not None:
            known.append(sample.value)
    return found


def where_of(trial: TrialDone) -> Where:
    """The cell that a trial is of."""
    return (*trial.point.items(), (POLICY, trial.policy))


def where_text(where: Where) -> str:
    """``soykb.size 25 GB, ours``."""
    return ", ".join(str(value) if key in (POLICY, CASE) else f"{key} {value}" for key, value in where)

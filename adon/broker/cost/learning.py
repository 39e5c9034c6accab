"""What finished jobs teach: Γ_c per site and template, the result ratio per template, how late a site is.

Each is a positive number that varies by factors rather than by amounts, so its logarithm is taken as normal
with unknown mean and variance.  The prior is the conjugate one, normal-inverse-gamma, centred on what the
configuration or the template says and worth :data:`PRIOR_JOBS` jobs; n jobs with mean x̄ and sum of squares
SS of their logarithms give (K. P. Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007,
section 3; Gelman et al., *Bayesian Data Analysis*, 3.3)::

    κ = κ0 + n    μ = (κ0·μ0 + n·x̄) / κ    α = α0 + n/2    β = β0 + SS/2 + κ0·n·(x̄ − μ0)² / 2κ

The next job is then Student-t distributed around μ with variance β·(κ + 1) / ((α − 1)·κ); told are e^μ and
the spread that a log-normal number of this variance has.  Spec section 3: "Γ_c is learnt from finished jobs
per site and template, with a prior".

As long as nothing was learnt the prior is told as it is, and has no spread: nobody has observed one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.uncertain import Uncertain
from adon.variation import NONE, Moments

PRIOR_JOBS = 1.0
"""κ0: what is configured counts as much as so many jobs."""

PRIOR_SHAPE = 2.0
"""α0: the least at which the prior's variance is defined, and a little more."""

PRIOR_SPREAD = 0.25
"""The spread of single jobs around their mean that is expected before any was seen, as a share."""

_LEAST = 1e-9
"""A result of nothing counts as this share of the raw data: it has no logarithm."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A number with its spread, and where both come from, in words."""

    value: Uncertain
    origin: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job that has finished.

    :param template: the name of the application's template.
    :param size: the raw data in bytes.
    :param seconds: how long it computed on its ``nodes`` worker nodes.
    :param result: the result in bytes, where that is known.
    :param waited: how long it waited in the site's queue, and ``told`` what the site had said.
    """

    site: str
    template: str
    size: int
    nodes: int
    seconds: float
    result: int | None = None
    waited: float | None = None
    told: float | None = None


class Experience:
    """What finished jobs have taught so far; only summaries are kept."""

    def __init__(self) -> None:
        self._rates: dict[tuple[str, str], Moments] = {}
        self._ratios: dict[str, Moments] = {}
        self._waits: dict[str, Moments] = {}

    def note(self, job: Job) -> None:
        """A job has finished; one without size or duration teaches nothing."""
        if job.size <= 0 or job.nodes <= 0 or not 0 < job.seconds < math.inf:
            return
        place = (job.site, job.template)
        rate = job.size * 8 / (job.nodes * job.seconds)
        self._rates[place] = self._rates.get(place, NONE).with_one(math.log(rate))
        if job.result is not None:
            ratio = max(_LEAST, job.result / job.size)
            self._ratios[job.template] = self._ratios.get(job.template, NONE).with_one(math.log(ratio))
        if job.waited is not None and job.told is not None:
            # One second more on both sides: a site may say "at once".
            late = math.log((1 + max(0.0, job.waited)) / (1 + max(0.0, job.told)))
            self._waits[job.site] = self._waits.get(job.site, NONE).with_one(late)

    def rate(self, site: str, template: str, prior: float, origin: str = "as configured") -> Learnt:
        """Γ_c in bits/s.

        :param prior: what the site offers, above zero.
        """
        return _learnt(self._rates.get((site, template), NONE), prior, origin)

    def ratio(self, template: str, prior: float) -> Learnt:
        """Result size over raw size; one that is declared to be nothing stays nothing."""
        if prior <= 0:
            return Learnt(Uncertain(0.0), "the template's")
        return _learnt(self._ratios.get(template, NONE), prior, "the template's")

    def lateness(self, site: str) -> Learnt | None:
        """The factor by which jobs have waited longer than the site had said; None before the first."""
        seen = self._waits.get(site, NONE)
        return _learnt(seen, 1.0, "") if seen.count else None


def _learnt(seen: Moments, prior: float, origin: str) -> Learnt:
    if not seen.count:
        return Learnt(Uncertain(prior), origin)
    mean, variance = updated(seen, math.log(prior))
    told = math.exp(mean)
    jobs = "1 finished job" if seen.count == 1 else f"{seen.count} finished jobs"
    return Learnt(Uncertain(told, told * math.sqrt(math.expm1(min(variance, 10.0)))), f"learnt from {jobs}")


def updated(seen: Moments, prior: float) -> tuple[float, float]:
    """Mean and variance of the next logarithm, by the module's formulas.

    :param prior: μ0.
    """
    count = seen.count
    weight = PRIOR_JOBS + count
    mean = (PRIOR_JOBS * prior + count * seen.mean) / weight
    shape = PRIOR_SHAPE + count / 2
    scale = math.log1p(PRIOR_SPREAD**2) * (PRIOR_SHAPE - 1)
    scale += seen.squares / 2 + PRIOR_JOBS * count * (seen.mean - prior) ** 2 / (2 * weight)
    return mean, scale * (weight + 1) / ((shape - 1) * weight)

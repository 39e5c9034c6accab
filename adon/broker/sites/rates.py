"""Γ_c learnt: what one worker node of a site processes, per template ([ADON] table 3; spec section 3).

Each finished job is one observation, bytes · 8 / (seconds · nodes).  Rates differ by factors, so their
logarithms are averaged, each older one weighted by 0.8 of the next, and the configured rate counts as one
job that never fades.  A site whose jobs take longer than its rate promises comes down, and up again when
they do not.  Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adon.uncertain import Uncertain
from adon.values import FrozenMap

FADING = 0.8


@dataclass(frozen=True, slots=True)
class Rate:
    """The observations of one site and template, summed up.

    :param count: how many there were.
    :param weight, logs, squares: Σ 0.8^k, and the same of ln x and ln² x.
    """

    count: int = 0
    weight: float = 0.0
    logs: float = 0.0
    squares: float = 0.0

    def observe(self, rate: float) -> Rate:
        """After one more job of so many bits/s per node; a rate that cannot be is no observation."""
        if not 0 < rate < math.inf:
            return self
        log = math.log(rate)
        return Rate(
            self.count + 1,
            FADING * self.weight + 1,
            FADING * self.logs + log,
            FADING * self.squares + log**2,
        )

    def with_prior(self, prior: float) -> Uncertain:
        """What is to be expected, in bits/s, beside one job at the configured rate."""
        log = math.log(prior)
        whole = 1 + self.weight
        mean = (self.logs + log) / whole
        variance = max(0.0, (self.squares + log**2) / whole - mean**2)
        expected = math.exp(mean)
        return Uncertain(expected, expected * math.sqrt(variance))


@dataclass(frozen=True, slots=True)
class Rates:
    """What was observed, by site and template."""

    seen: Mapping[tuple[str, str], Rate] = field(default_factory=FrozenMap)

    def with_job(self, site: str, template: str, rate: float) -> Rates:
        """After one more job."""
        key = (site, template)
        return replace(self, seen=FrozenMap({**self.seen, key: self.seen.get(key, Rate()).observe(rate)}))

    def expected_rate(self, site: str, template: str, prior: float) -> Uncertain | None:
        """Γ_c of a worker node; None where no job of this template has finished there."""
        found = self.seen.get((site, template))
        return None if found is None or not found.count else found.with_prior(prior)

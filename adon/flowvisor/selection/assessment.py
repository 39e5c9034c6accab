"""What the transit selection says about each candidate: values, scores, and the verdict with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What the selection thinks of one candidate."""

    QUALIFIED = "qualified"
    UNQUALIFIED = "unqualified"
    UNKNOWN = "unknown"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class MetricRecord:
    """One metric of one candidate: the value with its origin, or why there is none, and its score."""

    metric: str
    value: float | None
    observed_at: float | None = None
    age: float | None = None
    source: str = ""
    basis: str = ""
    unknown: str = ""
    bound: float | None = None
    bound_met: bool | None = None
    score: float | None = None
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """One candidate path as the decision saw it; ``q`` is equation 3, None while a metric is unknown.

    :param code, why: the verdict's reason (:class:`~adon.reasons.Reason`).
    """

    path: str
    layer: str
    verdict: Verdict
    code: str
    why: str
    q: float | None
    metrics: tuple[MetricRecord, ...] = ()

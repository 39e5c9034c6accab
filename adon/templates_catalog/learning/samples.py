"""Which outcomes can be learnt from, and what they are judged by.

An outcome teaches something if the flow finished, stayed on the path that its conditions are of, and its
result is known.  A TCP flow is judged by the throughput that it achieved, as one of as many streams as the
QSpec's (:mod:`adon.broker.estimates` has the same conversion); a UDP flow sends at its own rate whatever the
path gives, so it is judged by the share of its known time in which its QSpec was kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adon.frozenmap import FrozenMap
from adon.templates_catalog.model import Template
from adon.templates_catalog.proposal import Response
from measurement.model import Metric


class Experience(Protocol):
    """What is asked of a flow's outcome (:class:`adon.broker.outcomes.FlowOutcome` has all of it)."""

    @property
    def state(self) -> str:
        """How it ended."""

    @property
    def ended_at(self) -> float:
        """When."""

    @property
    def streams(self) -> int:
        """How many it had."""

    @property
    def moves(self) -> int:
        """How often it changed its path."""

    @property
    def throughput(self) -> float | None:
        """Bits/s with all its streams."""

    @property
    def quality(self) -> Mapping[str, float]:
        """Seconds in each quality."""

    @property
    def conditions(self) -> Mapping[str, float]:
        """Per metric, the value on its path when it was admitted."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one flow met, and what it then got."""

    at: float
    conditions: Mapping[Metric, float]
    response: float


@dataclass(frozen=True, slots=True)
class Samples:
    """What can be learnt from, the oldest first.

    :param metrics: those that every sample has.
    :param left_out: outcomes that teach nothing, by reason.
    """

    response: Response
    metrics: tuple[Metric, ...]
    found: tuple[Sample, ...]
    left_out: Mapping[str, int] = field(default_factory=FrozenMap)


COMMON = 0.8
"""A metric that fewer of the outcomes have is left out, rather than the outcomes without it."""


def response_of(template: Template) -> Response:
    """What the flows of a template are judged by."""
    return "throughput" if template.protocol == "tcp" else "kept"


def samples(template: Template, outcomes: Iterable[Experience]) -> Samples:
    """What the outcomes of a template's flows teach.

    :param template: the version whose scoring is to be improved.
    """
    judged = response_of(template)
    usable: list[Sample] = []
    left_out: Counter[str] = Counter()
    for outcome in outcomes:
        response = _response(template, judged, outcome)
        if isinstance(response, str):
            left_out[response] += 1
        else:
            usable.append(Sample(outcome.ended_at, _conditions(outcome), response))
    metrics = tuple(metric for metric in _asked(template) if _common(metric, usable))
    kept = [sample for sample in usable if all(metric in sample.conditions for metric in metrics)]
    if len(kept) < len(usable):
        left_out["a metric was not known when it was admitted"] = len(usable) - len(kept)
    kept.sort(key=lambda sample: sample.at)
    return Samples(judged, metrics, tuple(kept), FrozenMap(left_out))


def _asked(template: Template) -> list[Metric]:
    weighted = {metric for metric, weight in template.weights.items() if weight > 0}
    return [metric for metric in Metric if metric in weighted or metric in template.qspec.metrics]


def _common(metric: Metric, usable: list[Sample]) -> bool:
    return bool(usable) and sum(metric in one.conditions for one in usable) >= COMMON * len(usable)


def _conditions(outcome: Experience) -> dict[Metric, float]:
    return {metric: outcome.conditions[metric] for metric in Metric if metric in outcome.conditions}


def _response(template: Template, judged: Response, outcome: Experience) -> float | str:
    """The response, or why the outcome teaches nothing."""
    if outcome.state != "finished":
        return "did not finish"
    if outcome.moves:
        return "changed its path"
    if judged == "kept":
        kept = outcome.quality.get("met", 0.0) + outcome.quality.get("degraded", 0.0)
        known = kept + outcome.quality.get("violated", 0.0)
        return kept / known if known > 0 else "nobody knows whether its QSpec was kept"
    if outcome.throughput is None or outcome.throughput <= 0:
        return "nobody knows its throughput"
    return outcome.throughput * template.qspec.streams / max(1, outcome.streams)

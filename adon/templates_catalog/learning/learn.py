"""Propose a template's scoring from what its flows met and got, or say why there is nothing to propose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from adon.errors import Conflict
from adon.frozenmap import FrozenMap
from adon.templates_catalog.learning.fitting import Data, Scoring, fit, today
from adon.templates_catalog.learning.judging import FOLDS, Judgement, judge
from adon.templates_catalog.learning.samples import Experience, Samples, samples
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import Template, normalised
from adon.templates_catalog.proposal import Evidence, Finding, MetricEvidence, Response
from adon.units import format_rate, format_ratio
from measurement.model import Metric

FEWEST = 60
"""Outcomes, at least: twelve to a stretch of time, so that its error means something."""
WORTH = 0.05
"""A share of today's error; who gains less than that does not ask a person to look."""
SHOWN = 300
"""Outcomes that are kept for the picture."""
DIGITS = 3


@dataclass(frozen=True, slots=True)
class _Learnt:
    found: Samples
    data: Data
    before: Scoring
    after: Scoring
    verdict: Judgement


def learn(template: Template, outcomes: Iterable[Experience]) -> Finding:
    """What the outcomes of a template's flows say about its scoring.

    :param outcomes: of the template's flows, whatever version they were served by.
    :raises Conflict: if there is nothing to propose, saying why: too few outcomes, nothing that explains
        them, or nothing that is better than today's scoring by more than its own uncertainty.
    """
    found = samples(template, outcomes)
    if len(found.found) < FEWEST:
        raise _nothing(template, _too_few(found))
    data = _columns(found)
    if not any(template.weights.get(metric, 0.0) > 0 for metric in data.metrics):
        raise _nothing(template, "its outcomes do not tell any of the metrics that it weighs")
    verdict, after = judge(template, data), fit(template, data)
    if verdict is None or after is None:
        raise _nothing(template, "none of its metrics explains what its flows got")
    _insist(template, found.response, verdict)
    return _finding(template, _Learnt(found, data, today(template, data), after, verdict))


def _too_few(found: Samples) -> str:
    unusable = "; ".join(f"{number}: {why}" for why, number in found.left_out.items())
    others = f" (not usable are {unusable})" if unusable else ""
    return f"{len(found.found)} usable outcomes, and {FEWEST} are needed{others}"


def _insist(template: Template, response: Response, verdict: Judgement) -> None:
    """Refuse what is not better by more than its own uncertainty, or by too little to look at."""
    before, after = math.sqrt(verdict.error_today), math.sqrt(verdict.error)
    figures = (
        f"error {_figure(before, response)} with today's scoring, "
        f"{_figure(after, response)} with the learnt one"
    )
    if not verdict.better:
        raise _nothing(template, f"{figures}: not better by more than its own uncertainty")
    if after > before * (1 - WORTH):
        raise _nothing(template, f"{figures}: less than {format_ratio(WORTH)} better")


def _figure(error: float, response: Response) -> str:
    return format_rate(error) if response == "throughput" else format_ratio(error)


def _nothing(template: Template, why: str) -> Conflict:
    return Conflict("template", f"nothing to propose for {template.reference}: {why}")


def _columns(found: Samples) -> Data:
    return Data(
        found.metrics,
        {metric: np.array([one.conditions[metric] for one in found.found]) for metric in found.metrics},
        np.array([one.response for one in found.found]),
    )


def _finding(template: Template, learnt: _Learnt) -> Finding:
    weights = _weights(template, learnt)
    evidence = Evidence(
        response=learnt.found.response,
        outcomes=len(learnt.found.found),
        since=learnt.found.found[0].at,
        until=learnt.found.found[-1].at,
        folds=FOLDS,
        error_today=math.sqrt(learnt.verdict.error_today),
        error=math.sqrt(learnt.verdict.error),
        gain=learnt.verdict.gain,
        margin=learnt.verdict.margin,
        left_out=learnt.found.left_out,
        metrics=tuple(_of_metric(metric, template, learnt, weights) for metric in learnt.data.metrics),
    )
    found = learnt.after.learnt.items()
    tables: dict[str, LookupTable] = {m.value: one.table for m, one in found if m.value in weights}
    return Finding(template.reference, FrozenMap(weights), FrozenMap(tables), evidence)


def _weights(template: Template, learnt: _Learnt) -> dict[str, float]:
    """The new weights, and today's of the metrics that outcomes do not tell."""
    now = normalised(template.weights)
    told = sum(now.get(metric, 0.0) for metric in learnt.data.metrics)
    found = {
        **{metric: weight for metric, weight in now.items() if metric not in learnt.data.metrics},
        **{metric: told * weight for metric, weight in learnt.after.weights.items()},
    }
    rounded = {metric.value: round(found[metric], DIGITS) for metric in Metric if metric in found}
    return {metric: weight for metric, weight in rounded.items() if weight > 0}


def _of_metric(
    metric: Metric, template: Template, learnt: _Learnt, weights: Mapping[str, float]
) -> MetricEvidence:
    fitted = learnt.after.learnt.get(metric)
    values, response = learnt.data.conditions[metric], learnt.data.response
    # Evenly over time, the same ones each time.
    rows = np.unique(np.linspace(0, len(values) - 1, min(SHOWN, len(values))).astype(int))
    return MetricEvidence(
        metric=metric.value,
        varied=metric in learnt.after.varied,
        explained=learnt.verdict.explained[metric],
        weight_today=normalised(template.weights).get(metric, 0.0),
        weight=weights.get(metric.value, 0.0),
        today=learnt.before.tables[metric],
        proposed=learnt.before.tables[metric] if fitted is None else fitted.table,
        scale=None if fitted is None else fitted.scale,
        points=tuple((float(values[row]), float(response[row])) for row in rows),
    )

"""What templates need to know of every path, for whoever plans the measurements ([ADON] 3.1).

A metric is needed if a QSpec bounds it or it has a weight; how fresh, is the template's ``max_age``.  Of
several templates the most demanding counts: the youngest age and the tightest bound.  A throughput test has
as many streams as the fewest that a bound is meant for, because no stream of a flow is promised more than a
tested stream got (:mod:`adon.flowvisor.performance`).
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.templates_catalog.model import Template
from measurement.model import Metric
from measurement.psconfig.mesh import Need


def needs(templates: Iterable[Template]) -> dict[Metric, Need]:
    """Per metric what these templates need together; metrics that none needs are missing."""
    found: dict[Metric, Need] = {}
    for template in templates:
        for metric in _looked_at(template):
            need = _need(template, metric)
            found[metric] = need if metric not in found else _both(found[metric], need, metric)
    return found


def _looked_at(template: Template) -> Iterable[Metric]:
    weighed = {Metric(name) for name, weight in template.weights.items() if weight > 0}
    return [metric for metric in Metric if metric in weighed or metric in template.qspec.metrics]


def _need(template: Template, metric: Metric) -> Need:
    streams = template.qspec.streams if metric is Metric.THROUGHPUT else 1
    return Need(template.selection.max_age, streams, template.qspec.bound(metric))


def _both(one: Need, other: Need, metric: Metric) -> Need:
    bounds = [need.bound for need in (one, other) if need.bound is not None]
    tightest = max if metric.higher_is_better else min
    return Need(
        min(one.max_age, other.max_age),
        min(one.streams, other.streams),
        tightest(bounds) if bounds else None,
    )

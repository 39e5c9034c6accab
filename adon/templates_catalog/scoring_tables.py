"""Which table scores each metric of one decision ([ADON] 3.3; spec section 2).

The template's own table comes first; for a weighted metric without one it is generated as in table 2.
A generated table depends on what was seen on the candidates, so it belongs to the decision it was
made for and never changes the template.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.templates_catalog.lookup import LookupTable, generate
from adon.templates_catalog.model import QSpec, Template
from measurement.model import Metric


def scoring_tables(
    template: Template,
    qspec: QSpec,
    best_seen: Mapping[Metric, float],
    weights: Mapping[Metric, float] | None = None,
) -> dict[Metric, LookupTable]:
    """A table for every weighted metric, in the order of :class:`Metric`.

    :param qspec: the QSpec of this flow: the template's, with what the request overrides.
    :param best_seen: per metric the best value seen on the candidates over the archive's window, or the
        propagation limit, in the metric's unit; a metric that nothing is known of is absent.
    :param weights: the flow's own weights; the template's if None.
    """
    weighted = template.weights if weights is None else weights
    return {
        metric: template.tables[metric]
        if metric in template.tables
        else generate(metric, qspec.bound(metric), best_value(template, qspec, best_seen, metric))
        for metric in Metric
        if metric in weighted
    }


def best_value(
    template: Template, qspec: QSpec, best_seen: Mapping[Metric, float], metric: Metric
) -> float | None:
    """What scores 10 in a generated table: the target, else the ceiling, else the best value seen."""
    target = qspec.target(metric)
    if target is not None:
        return target
    if metric is Metric.THROUGHPUT and template.rspec.bandwidth_ceiling is not None:
        return template.rspec.bandwidth_ceiling
    return best_seen.get(metric)

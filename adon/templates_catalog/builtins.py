"""The templates that ADON brings (spec section 10b), and how a testbed scales them.

The files state real values.  A testbed that is a hundred times slower multiplies every rate by 0.01
and nothing else: delays, loss and the shape of each scoring table stay.
"""

from __future__ import annotations

import math

from adon import yamlfile
from adon.brought import SUFFIX, Brought
from adon.frozenmap import FrozenMap
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec, RSpec, Template
from measurement.model import Metric


def builtin_templates() -> tuple[Template, ...]:
    """The built-in templates, by name.

    :raises InvalidInput: if an installed file was damaged.
    """
    brought = Brought("built-in template", "adon.templates_catalog")
    return tuple(
        yamlfile.parse_model(brought.text(name), Template, f"{name}{SUFFIX}") for name in brought.names()
    )


def scaled(template: Template, factor: float) -> Template:
    """A copy with every rate multiplied: throughput bound, target and table, and the ceiling.

    :param factor: above zero; 0.01 for a 1:100 testbed.
    :raises ValueError: for a factor that is not a positive number.
    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"factor: must be above zero, not {factor!r}")
    return template.model_copy(
        update={
            "qspec": scaled_qspec(template.qspec, factor),
            "rspec": _scaled_rspec(template.rspec, factor),
            "tables": FrozenMap(
                {
                    metric: _scaled_table(table, factor) if metric is Metric.THROUGHPUT else table
                    for metric, table in template.tables.items()
                }
            ),
        }
    )


def scaled_qspec(qspec: QSpec, factor: float) -> QSpec:
    """A QSpec with its throughput bound and target multiplied."""
    bound = qspec.throughput
    if bound is None:
        return qspec
    target = None if bound.target is None else bound.target * factor
    throughput = bound.model_copy(update={"min": bound.min * factor, "target": target})
    return qspec.model_copy(update={"throughput": throughput})


def _scaled_rspec(rspec: RSpec, factor: float) -> RSpec:
    if rspec.bandwidth_ceiling is None:
        return rspec
    return rspec.model_copy(update={"bandwidth_ceiling": rspec.bandwidth_ceiling * factor})


def _scaled_table(table: LookupTable, factor: float) -> LookupTable:
    points = tuple((value * factor, score) for value, score in table.points)
    return table.model_copy(update={"points": points})

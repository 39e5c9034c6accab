"""From which value on a measured path is shown as worth a look, or as bad: ``policy.thresholds``.

For whoever looks at the mesh; what is decided by is in the templates, what raises an alarm in the detectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from adon.config.parts import Section
from adon.errors import InvalidFields, Problem, problems_of
from adon.frozenmap import FrozenMap
from adon.templates_catalog.lookup import PARSERS, UNITS
from adon.templates_catalog.model import MetricName, known_metric
from measurement.model import Metric


class Threshold(Section):
    """Values in the metric's unit; for throughput what is below, for the others what is above them."""

    warning: float
    critical: float


def _read(written: object) -> object:
    if not isinstance(written, Mapping):
        return written
    read: dict[Metric, Threshold] = {}
    wrong: list[Problem] = []
    for name, pair in written.items():
        try:
            metric = known_metric(name)
            read[metric] = pair if isinstance(pair, Threshold) else _pair(metric, pair)
        except ValueError as error:
            wrong += problems_of(error, str(name))
    if wrong:
        raise InvalidFields(wrong)
    return read


def _pair(metric: Metric, pair: object) -> Threshold:
    if not isinstance(pair, Mapping) or set(pair) != {"warning", "critical"}:
        raise ValueError("is a value for warning and one for critical")
    values: dict[str, float] = {}
    for name, text in pair.items():
        try:
            values[name] = PARSERS[metric](text)
        except ValueError as error:
            raise InvalidFields(problems_of(error, name)) from None
    found = Threshold(**values)
    worse = found.critical > found.warning if metric.higher_is_better else found.critical < found.warning
    if worse:
        raise ValueError("critical: is reached before warning")
    return found


def _write(thresholds: Mapping[Metric, Threshold]) -> dict[str, Any]:
    return {
        metric.value: {
            "warning": f"{pair.warning!r} {UNITS[metric]}",
            "critical": f"{pair.critical!r} {UNITS[metric]}",
        }
        for metric, pair in thresholds.items()
    }


Thresholds = Annotated[
    Mapping[MetricName, Threshold],
    BeforeValidator(_read),
    AfterValidator(FrozenMap),
    PlainSerializer(_write),
]
"""By metric; a metric without an entry is held against the templates' bounds."""

"""This host's custom metrics (:mod:`measurement.custom`) as the test ``adon-metric``.

A run samples one metric every so many seconds ([ADON] 4.2: every five) and reports each sample as a result of
its own, so that it is pulled or pushed like any other result.  It ends with its duration, or with the metric:
a workflow that is done has no more values.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from measurement.custom.model import CustomMetric
from measurement.errors import MeasurementError
from measurement.model import Observation, to_json
from measurement.point.children import ToolFailed
from measurement.point.specs import MetricSpec

LOG = logging.getLogger(__name__)


def next_time(due: float, period: float, now: float) -> float:
    """The first time after ``now`` of a series that ``due`` belongs to: late samples do not pile up."""
    if now < due:
        return due
    return due + period * (math.floor((now - due) / period) + 1)


def result(observations: Sequence[Observation]) -> dict[str, Any]:
    """A sample as the result of a run."""
    return {
        "schema": 1,
        "succeeded": True,
        "observations": [to_json(observation) for observation in observations],
    }


class Metrics:
    """The metrics of this host; each is sampled by one thread at a time."""

    def __init__(self, metrics: Mapping[str, CustomMetric]) -> None:
        self._metrics = dict(metrics)
        self._locks = {name: threading.Lock() for name in metrics}

    def observe(
        self, spec: MetricSpec, pause: Callable[[float], None], report: Callable[[dict[str, Any]], None]
    ) -> None:
        """Sample a metric for as long as its specification says.

        :raises ToolFailed: when there is no such metric, or it never had a value.
        """
        metric = self._metrics.get(spec.metric)
        if metric is None:
            raise ToolFailed(f"no metric {spec.metric!r} here; there are {', '.join(self._metrics)}")
        period = metric.period if spec.interval is None else spec.interval
        due = time.monotonic()
        ends = due + spec.duration
        reported, failing = 0, ""
        while due < ends:
            values, cause = self._sample(spec.metric, metric)
            if cause and not failing:  # once, not at each sample
                LOG.warning('event=no_value metric=%s cause="%s"', spec.metric, cause)
            failing = cause
            if values:
                report(result(values))
                reported += 1
                if metric.is_final(values):
                    return
            due = next_time(due, period, time.monotonic())
            pause(max(0.0, min(due, ends) - time.monotonic()))
        if not reported:
            raise ToolFailed(f"{spec.metric}: {failing or 'it had no value'}")

    def _sample(self, name: str, metric: CustomMetric) -> tuple[list[Observation], str]:
        """Its values now, or none and why."""
        try:
            with self._locks[name]:
                return metric.sample(time.time()), ""
        except MeasurementError as error:
            return [], str(error)

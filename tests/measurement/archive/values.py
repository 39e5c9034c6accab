"""Values to keep."""

from __future__ import annotations

import uuid

from measurement.model import Measurement, Metric, Observation, PathKey, Series
from tests.support.factories import make_measurement

L2 = PathKey("al2s", "mu", "osu")
L3 = PathKey("internet", "mu", "osu")
LOAD = Series("", "mu-dtn", "", "host.load")


def run_url(identifier: uuid.UUID | None = None, host: str = "mu.example") -> str:
    """A run's URL; of a run of its own if none is named."""
    identifier = uuid.uuid4() if identifier is None else identifier
    return f"https://{host}/pscheduler/tasks/{uuid.UUID(int=7)}/runs/{identifier}"


def measured(
    value: float,
    at: float,
    key: PathKey = L2,
    metric: Metric = Metric.THROUGHPUT,
    source: str | None = None,
    took: float = 1.0,
) -> Measurement:
    """A value observed ``at``, of a run of its own unless ``source`` is given."""
    run = {"source": run_url() if source is None else source, "parameters": {"streams": 4}}
    return make_measurement(key=key, metric=metric, value=value, observed_at=at, lasted=took, **run)


def observed(value: float, at: float, series: Series = LOAD, source: str = "urn:host") -> Observation:
    """A value of a host."""
    return Observation(series.key, series.metric, value, at, source, "psutil", {"unit": "1"})

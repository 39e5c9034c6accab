"""The one normalised form of a measurement, whichever way it came in.

Units: throughput in bits/s, delays and jitter in seconds, loss as a ratio 0..1.  Times are seconds
since the Unix epoch, UTC.  Metric meanings follow RFC 7679 (one-way delay), RFC 7680 (one-way loss),
RFC 3393 (delay variation; reported here as the mean absolute difference of consecutive one-way
delays) and perfSONAR's words for tasks, runs and results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Metric(StrEnum):
    """What is measured on a transit path; ``higher_is_better`` tells its good direction."""

    THROUGHPUT = "throughput"
    RTT = "rtt"
    ONE_WAY_DELAY = "one_way_delay"
    JITTER = "jitter"
    LOSS = "loss"

    @property
    def higher_is_better(self) -> bool:
        """True for throughput only: the others are better the smaller they are."""
        return self is Metric.THROUGHPUT


class PathKey(NamedTuple):
    """One direction of one transit path: its configured name, and the sites it leads from and to."""

    path: str
    source: str
    destination: str

    def __str__(self) -> str:
        return f"{self.path}:{self.source}>{self.destination}"


NO_PARAMETERS: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value of one metric on one directed path.

    :param key: the directed path it was measured on.
    :param metric: which metric.
    :param value: in the units of this module; finite and not negative.
    :param started_at: when the test began.
    :param observed_at: when the test ended: the age of a value counts from here.
    :param source: where it came from, precise enough to find it again (a run's URL).
    :param tool: the program that measured (``iperf3``, ``ping``).
    :param parameters: the test's own parameters that change its meaning (``streams``, ``protocol``).
    :raises ValueError: for a value no network can have (NaN, negative, a loss above 1) or a test that
        ends before it begins.
    """

    key: PathKey
    metric: Metric
    value: float
    started_at: float
    observed_at: float
    source: str
    tool: str = ""
    parameters: Mapping[str, object] = field(default_factory=lambda: NO_PARAMETERS)

    def __post_init__(self) -> None:
        if not math.isfinite(self.value) or self.value < 0:
            raise ValueError(f"{self.metric}: {self.value!r} is not a measurable value")
        if self.metric is Metric.LOSS and self.value > 1:
            raise ValueError(f"loss: {self.value!r} is above 1")
        if not (math.isfinite(self.started_at) and math.isfinite(self.observed_at)):
            raise ValueError("observed_at: not a time")
        if self.observed_at < self.started_at:
            raise ValueError("observed_at: the test ends before it begins")

    def age(self, now: float) -> float:
        """Seconds since the test ended; never negative, a clock that steps back makes nothing younger."""
        return max(0.0, now - self.observed_at)

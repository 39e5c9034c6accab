"""What is watched how: by metric, since a millisecond and a per cent of loss are not the same news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from measurement.anomaly.absence import MISSES
from measurement.anomaly.live import LevelShift, Settings
from measurement.anomaly.model import Detector, Direction
from measurement.anomaly.threshold import Threshold
from measurement.model import Metric, Series

DETECTORS: Mapping[str, Detector[Any]] = MappingProxyType(
    {
        Metric.THROUGHPUT.value: LevelShift(Settings(relative=0.05)),
        Metric.RTT.value: LevelShift(Settings(relative=0.05, least=0.0005)),
        Metric.ONE_WAY_DELAY.value: LevelShift(Settings(relative=0.05, least=0.0005)),
        Metric.JITTER.value: LevelShift(Settings(relative=0.2, least=0.0005)),
        Metric.LOSS.value: LevelShift(Settings(least=0.001)),
    }
)
BAD: Mapping[str, Direction] = MappingProxyType(
    {metric.value: Direction.DOWN if metric.higher_is_better else Direction.UP for metric in Metric}
)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the watch goes by.

    :param detectors: who looks for plateaus, by metric; of other metrics nobody does.
    :param bad: in which direction a change is bad, by metric; where it is not said, each is.
    :param limits: static thresholds, by series.
    :param periods: seconds between values, by series, where it is known; else it is learnt.
    :param misses: so many values missing make an absence.
    :param ahead: seconds that a value may come from the future, for clocks that differ.
    :param doze: seconds without a tick after which the watch itself was away and starts waiting anew.
    :param accepted_after: seconds after which a plateau counts as the normal level.
    """

    detectors: Mapping[str, Detector[Any]] = field(default_factory=lambda: DETECTORS)
    bad: Mapping[str, Direction] = field(default_factory=lambda: BAD)
    limits: Mapping[Series, Threshold] = field(default_factory=dict)
    periods: Mapping[Series, float] = field(default_factory=dict)
    misses: float = MISSES
    ahead: float = 60.0
    doze: float = 300.0
    accepted_after: float = 7 * 86400.0

    def is_bad(self, metric: str, direction: Direction) -> bool:
        """Whether a change of this metric in this direction is for the worse."""
        return self.bad.get(metric, direction) is direction

"""What was measured, with a count of how often that changed: what rests on it can tell if it still holds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adon.flowvisor.selection.performance import PathChange, PerformanceView
from adon.running_statistics import RunningStatistics
from measurement.model import Measurement, Metric, PathKey

_HOUR_S = 3600.0


class Heard(PerformanceView):
    """The performance view of the broker.

    :ivar version: counts up with every result and every change.
    """

    def __init__(self) -> None:
        super().__init__()
        self.version = 0
        self._versions: dict[PathKey, int] = {}
        self._best_of: dict[tuple[PathKey, Metric, bool], tuple[int, int, float | None]] = {}
        self._seen_of: dict[tuple[PathKey, Metric], tuple[int, int, RunningStatistics]] = {}

    def of(self, key: PathKey) -> int:
        """How often what is known of one directed path has changed."""
        return self._versions.get(key, 0)

    def record(self, measurement: Measurement, now: float | None = None, beside: float = 0.0) -> bool:
        """As :meth:`PerformanceView.record`."""
        self._mark_changed(measurement.key)
        return super().record(measurement, now, beside)

    def supersede(self, key: PathKey, metric: Metric, changed: PathChange | None) -> None:
        """As :meth:`PerformanceView.supersede`."""
        self._mark_changed(key)
        super().supersede(key, metric, changed)

    def note_test_load(self, tested: Measurement, beside: float, streams: float) -> None:
        """As :meth:`PerformanceView.note_test_load`."""
        self._mark_changed(tested.key)
        super().note_test_load(tested, beside, streams)

    def note_beside(self, tested: Measurement, streams: float) -> None:
        """As :meth:`PerformanceView.note_beside`."""
        self._mark_changed(tested.key)
        super().note_beside(tested, streams)

    def best(self, keys: Iterable[PathKey], metric: Metric, since: float) -> float | None:
        """As :meth:`PerformanceView.best`; the hours of each path are gone through once per change."""
        found = [self._best_on(key, metric, since) for key in keys]
        values = [value for value in found if value is not None]
        if not values:
            return None
        return max(values) if metric.higher_is_better else min(values)

    def summarise_results(self, key: PathKey, metric: Metric, since: float) -> RunningStatistics:
        """As :meth:`PerformanceView.summarise_results`; reads the hours of a path once per change."""
        version, hour = self.of(key), math.floor(since / _HOUR_S)
        held = self._seen_of.get((key, metric))
        if held is None or held[:2] != (version, hour):
            held = (version, hour, super().summarise_results(key, metric, since))
            self._seen_of[key, metric] = held
        return held[2]

    def _best_on(self, key: PathKey, metric: Metric, since: float) -> float | None:
        version, hour = self.of(key), math.floor(since / _HOUR_S)
        place = (key, metric, hour > 0)  # the best ever, and the best of a window, are asked for in turns
        held = self._best_of.get(place)
        if held is None or held[:2] != (version, hour):
            held = (version, hour, super().best([key], metric, since))
            self._best_of[place] = held
        return held[2]

    def _mark_changed(self, key: PathKey) -> None:
        self.version += 1
        self._versions[key] = self._versions.get(key, 0) + 1

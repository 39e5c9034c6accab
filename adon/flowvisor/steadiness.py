"""How much the results of a path vary: count, mean and variance per directed path, metric and hour.

[CEEM] and [ADON] 3.1 compare candidates by their coefficient of variation (COV).  Results are summed up by
the hour of the clock, so that a window of days takes bounded memory.  Reads no clock.
"""

from __future__ import annotations

import math

from adon.variation import NONE, Moments
from measurement.model import Metric, PathKey

_HOUR_S = 3600.0


class Steadiness:
    """See the module's text.

    :param hours: so many are kept per directed path and metric.
    """

    def __init__(self, hours: int) -> None:
        self._hours = hours
        self._seen: dict[tuple[PathKey, Metric], dict[int, Moments]] = {}

    def note(self, key: PathKey, metric: Metric, value: float, observed_at: float) -> None:
        """Take in one result."""
        seen = self._seen.setdefault((key, metric), {})
        hour = math.floor(observed_at / _HOUR_S)
        seen[hour] = seen.get(hour, NONE).with_one(value)
        if len(seen) > self._hours:
            del seen[min(seen)]

    def since(self, key: PathKey, metric: Metric, since: float) -> Moments:
        """What has been seen since then; up to one hour before that may be included."""
        first = math.floor(since / _HOUR_S)
        found = NONE
        for hour, moments in self._seen.get((key, metric), {}).items():
            if hour >= first:
                found = found.joined(moments)
        return found

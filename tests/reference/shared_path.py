"""End times of transfers that share one path, by the shares of :mod:`adon.fluid`.

The reference for the fluid model of completion forecasts.  No other transfer comes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.fluid import Demand, max_min_rates

PATH = "path"


@dataclass(frozen=True, slots=True)
class Job:
    """A transfer on the path.

    :param bits: what is left of it; infinite for other people's traffic, which does not end.
    :param limit: bits/s that one of its streams can use.
    """

    bits: float
    streams: int = 1
    limit: float = math.inf


def finish(capacity: float, jobs: Sequence[Job]) -> list[float]:
    """Seconds until each is over; infinite for one that never is.

    :param capacity: bits/s that the path carries altogether.
    """
    left = {number: job.bits for number, job in enumerate(jobs)}
    ends, now = [math.inf] * len(jobs), 0.0
    while left:
        numbers = list(left)
        demands = [Demand((PATH,), jobs[n].streams, jobs[n].limit) for n in numbers]
        rates = [
            r * jobs[n].streams
            for n, r in zip(numbers, max_min_rates({PATH: capacity}, demands), strict=True)
        ]
        step = min((left[n] / r for n, r in zip(numbers, rates, strict=True) if r > 0), default=math.inf)
        if math.isinf(step):
            break
        now += step
        for number, rate in zip(numbers, rates, strict=True):
            left[number] -= rate * step
            if math.isfinite(left[number]) and left[number] <= max(1.0, jobs[number].bits * 1e-12):
                ends[number] = now
                del left[number]
    return ends

"""When transfers that share one path will be over, if nobody else comes: what can be said at admission.

The time that a new transfer takes is not its size over its share of now: those beside it end, and leave it
their part.  Their sizes and what they have sent are known, so that can be worked out, by the same shares as
everywhere (:mod:`adon.simulation.fairness`) on one link.  Who comes later is not known and makes it later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.simulation.fairness import Demand, max_min

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
            r * jobs[n].streams for n, r in zip(numbers, max_min({PATH: capacity}, demands), strict=True)
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

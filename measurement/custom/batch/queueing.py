"""How long a job would wait in a queue that is served in order: pure.

For batch systems that do not say themselves when a job would start.  The pool is taken as one heap of
cores, so what is lost by cores being on different hosts is not seen: the estimate is a lower bound in this
respect, and an upper bound in that no job overtakes another.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple


class Demand(NamedTuple):
    """A job that runs or waits: its cores, and the seconds it has them, from now or from its start."""

    cores: int
    seconds: float


def first_come_first_served(
    cores: int, total: int, running: Iterable[Demand], waiting: Iterable[Demand]
) -> float | None:
    """Seconds until a job of ``cores`` starts that joins the queue now; None when it never does.

    :param total: cores of the pool.
    :param running: jobs that hold cores now, with what remains of their time.
    :param waiting: jobs before ours, in order; those larger than the pool never start and are passed over.
    """
    if cores > total:
        return None
    ends = [(max(0.0, job.seconds), job.cores) for job in running]
    heapq.heapify(ends)
    free = total - sum(job[1] for job in ends)
    now = 0.0
    for demand in [*(job for job in waiting if job.cores <= total), Demand(cores, 0.0)]:
        while free < demand.cores and ends:
            now, released = heapq.heappop(ends)
            free += released
        free -= demand.cores
        heapq.heappush(ends, (now + max(0.0, demand.seconds), demand.cores))
    return now

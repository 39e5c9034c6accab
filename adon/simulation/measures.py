"""Results of a simulation: completion times, deadlines, violations.

- A *completion time* lasts from the request to the last byte, so waiting costs.  A transfer that was
  rejected, or had not ended at the end of the simulation, counts as ended at :data:`UNSERVED` times that end.
- *Deadlines* are the share of the transfers with a deadline that met it; None if no transfer has one.
- *Violations* are the share of a transfer's time on a path in which its QSpec was missed (by the true state
  of the network, not by measurements): the mean over all transfers that ever had a path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.simulation.engine import TransferRecord
from adon.simulation.workload import Workload

UNSERVED = 2.0


@dataclass(frozen=True, slots=True)
class Measures:
    """See the module's text; times in seconds, shares from 0 to 1.

    :param mean, p95: completion time.
    :param unserved: number of transfers that were rejected or had not ended.
    :param moves: of all transfers together.
    """

    mean: float
    p95: float
    deadlines: float | None
    violations: float
    unserved: int
    moves: int


def summarize(workload: Workload, records: Sequence[TransferRecord]) -> Measures:
    """Return the measures of one run."""
    penalty = UNSERVED * workload.end
    times = sorted((penalty if one.ended is None else one.ended) - one.transfer.at for one in records)
    due = [one for one in records if one.transfer.deadline is not None]
    violations = [one.violated / one.running for one in records if one.running > 0]
    return Measures(
        mean=math.fsum(times) / len(times),
        p95=_percentile(times, 0.95),
        deadlines=sum(_in_time(one) for one in due) / len(due) if due else None,
        violations=math.fsum(violations) / len(violations) if violations else 0.0,
        unserved=sum(one.ended is None for one in records),
        moves=sum(one.moves for one in records),
    )


def _in_time(record: TransferRecord) -> bool:
    deadline = record.transfer.deadline
    return record.ended is not None and deadline is not None and record.ended <= deadline


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the percentile of sorted values, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])

"""What a run came to, in four numbers: completion times (mean and 95th percentile), deadlines, violations.

- A *completion time* runs from the request to the last byte, so waiting costs.  A transfer that was refused,
  or had not ended when the simulation did, counts with a stated *penalty*: from its request to twice the
  simulation's end.  Nobody gains by not serving.
- *Deadlines* are the share of those transfers that have one which met it; None where none has one.
- *Violations* are the share of a transfer's time on a path in which its QSpec was missed (the truth, not
  what was measured), the mean over all transfers that ever had a path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.simulation.engine import Record
from adon.simulation.workload import Workload

MISSED = 2.0
"""Times the simulation's end: when a transfer that never ended counts as over."""


@dataclass(frozen=True, slots=True)
class Measures:
    """See the module's text; times in seconds, shares 0 to 1.

    :param unserved: how many transfers were refused or had not ended.
    :param moves: of all transfers together.
    """

    mean: float
    p95: float
    deadlines: float | None
    violations: float
    unserved: int
    moves: int

    def as_good(self, other: Measures, slack: float = 1e-9) -> bool:
        """Whether it is at least as good on all four measures."""
        pairs = zip(self._costs, other._costs, strict=True)
        return all(mine <= theirs + slack * max(1.0, abs(theirs)) for mine, theirs in pairs)

    def dominates(self, other: Measures) -> bool:
        """Whether it is as good on all four measures, and better on one (by more than a thousandth)."""
        pairs = zip(self._costs, other._costs, strict=True)
        better = any(mine < theirs - 1e-3 * max(1.0, abs(theirs)) for mine, theirs in pairs)
        return better and self.as_good(other)

    @property
    def _costs(self) -> tuple[float, float, float, float]:
        late = 0.0 if self.deadlines is None else 1.0 - self.deadlines
        return self.mean, self.p95, late, self.violations


def completion(record: Record, end: float) -> float:
    """Seconds from the request to the last byte, or the penalty."""
    over = MISSED * end if record.ended is None else record.ended
    return over - record.transfer.at


def measured(workload: Workload, records: Sequence[Record]) -> Measures:
    """The measures of one run."""
    times = sorted(completion(record, workload.end) for record in records)
    bound = [record for record in records if record.transfer.deadline is not None]
    ran = [record.violated / record.running for record in records if record.running > 0]
    return Measures(
        mean=math.fsum(times) / len(times),
        p95=percentile(times, 0.95),
        deadlines=math.fsum(_in_time(record) for record in bound) / len(bound) if bound else None,
        violations=math.fsum(ran) / len(ran) if ran else 0.0,
        unserved=sum(record.ended is None for record in records),
        moves=sum(record.moves for record in records),
    )


def _in_time(record: Record) -> bool:
    deadline = record.transfer.deadline
    return record.ended is not None and deadline is not None and record.ended <= deadline


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of sorted ones does not exceed, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])

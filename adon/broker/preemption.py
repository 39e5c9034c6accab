"""Who gives way on a full layer-2 path ([ADON] algorithm 2: P_min; spec section 3).

A new application of higher priority may take the place of the *one* of lowest priority among those on
layer 2, where the path is full.  Full means: the path misses the newcomer's throughput bound and nothing
else, and would carry it without the other.  What it would carry is the best rate seen there less the
bounds of those that stay: the last test counts the flow that would leave, so it cannot say.

Values and functions only; what becomes of the flow that gives way is the broker's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adon.flowvisor.assessment import CandidateRecord, Verdict
from measurement.model import Metric


@dataclass(frozen=True, slots=True)
class Holder:
    """A running flow on a layer-2 path.

    :param bound: its QSpec's throughput bound in bits/s, 0 if it has none.
    """

    number: int
    priority: int
    path: str
    bound: float


def gives_way(
    priority: int,
    bound: float,
    holders: Iterable[Holder],
    records: Iterable[CandidateRecord],
    best: dict[str, float],
) -> Holder | None:
    """The holder whose place a newcomer may take; None if nobody's.

    :param priority: the newcomer's; only a strictly lower one gives way.
    :param bound: its throughput bound in bits/s.
    :param records: what was found about each candidate path for the newcomer.
    :param best: per path name, the best single-stream rate seen, in bits/s.
    """
    present = tuple(holders)
    number = preemption_candidate(priority, [(holder.number, holder.priority) for holder in present])
    found = next((holder for holder in present if holder.number == number), None)
    if found is None or found.path not in best:
        return None
    record = next((one for one in records if one.path == found.path), None)
    if record is None or not _only_full(record):
        return None
    stay = sum(one.bound for one in present if one.path == found.path and one is not found)
    return found if best[found.path] - stay >= bound else None


def preemption_candidate(new_priority: int, running: Sequence[tuple[int, int]]) -> int | None:
    """The flow that a new one of ``new_priority`` may push off the full layer-2 path (P_min rule).

    :param running: number and priority of each flow on layer 2; a larger priority is more urgent.
    :returns: the flow of lowest priority, the youngest of several; None unless it is strictly below.
    """
    lower = [(priority, -number) for number, priority in running if priority < new_priority]
    return -min(lower)[1] if lower else None


def _only_full(record: CandidateRecord) -> bool:
    """Whether throughput is all that the path lacks; what is unknown or unusable does not become better."""
    if record.verdict is not Verdict.UNQUALIFIED or any(metric.unknown for metric in record.metrics):
        return False
    return [m.metric for m in record.metrics if m.bound_met is False] == [Metric.THROUGHPUT]

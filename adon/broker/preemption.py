"""Who gives way on a full layer-2 path ([ADON] algorithm 2: P_min; spec section 3).

A new application of higher priority may take the place of the *one* of lowest priority among those on
layer 2, where the path is full.  Full means: the path misses the newcomer's throughput bound and nothing
else, and would carry it without the other.  What it would carry is the best rate seen there less the
bounds of those that stay: the last test counts the flow that would leave, so it cannot say.

Values and functions only; what becomes of the flow that gives way is the broker's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adon.broker.edge import preemption_candidate
from adon.flowvisor.assessment import CandidateRecord, Verdict
from measurement.model import Metric


@dataclass(frozen=True, slots=True)
class Holder:
    """A running flow on a layer-2 path.

    :param bound: its QSpec's throughput bound in bits/s, 0 if it has none.
    :param may_go: whether it may lose its place at all.
    """

    number: int
    priority: int
    path: str
    bound: float
    may_go: bool = True


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
    number = preemption_candidate(priority, [(one.number, one.priority) for one in present if one.may_go])
    found = next((holder for holder in present if holder.number == number), None)
    if found is None or found.path not in best:
        return None
    record = next((one for one in records if one.path == found.path), None)
    if record is None or not only_full(record):
        return None
    stay = sum(one.bound for one in present if one.path == found.path and one is not found)
    return found if best[found.path] - stay >= bound else None


def only_full(record: CandidateRecord) -> bool:
    """Whether room is all that a path lacks: throughput is missed, and nothing else is missed or unknown."""
    if record.verdict is not Verdict.UNQUALIFIED or any(metric.unknown for metric in record.metrics):
        return False
    return [m.metric for m in record.metrics if m.bound_met is False] == [Metric.THROUGHPUT]

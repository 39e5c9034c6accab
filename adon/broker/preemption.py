"""Who gives way on a full layer-2 path ([ADON] algorithm 2: P_min; spec section 3).

A new application of higher priority may take the place of the *one* of lowest priority among those on
layer 2, where the path is full.  Full means: the path misses the newcomer's throughput bound and nothing
else, and would carry it without the other.  What it would carry is the best rate seen there less the
bounds of those that stay: the last test counts the flow that would leave, so it cannot say.

Values and functions only; what becomes of the flow that gives way is the broker's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adon.broker.edge import preemption_candidate
from adon.flowvisor.assessment import CandidateRecord, Verdict
from measurement.model import Metric

STAYS = 1000
"""Above every priority: who has it gives way to nobody."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A running flow on a path.

    :param bound: its QSpec's throughput bound in bits/s, 0 if it has none.
    """

    number: int
    priority: int
    path: str
    bound: float


@dataclass(frozen=True, slots=True)
class Rivals:
    """Those whose place a newcomer might take, as they were when it asked.

    :param fallen: the one that would lose its rung of the queue ladder to it.
    :param holders: those on layer-2 paths that it could be on, as far as they matter (:func:`summed_up`).
    :param best: per path name, the best single-stream rate seen, in bits/s.
    :param decided: the numbers of those that the same event has led to a decision about.
    """

    fallen: Holder | None
    holders: tuple[Holder, ...]
    best: Mapping[str, float]
    decided: frozenset[int] = frozenset()


def summed_up(holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """The same to :func:`gives_way` as all holders: the one that would go, and who stays beside it as one."""
    present = tuple(holders)
    if not present:
        return ()
    lowest = min(present, key=lambda one: (one.priority, -one.number))
    stay = sum(one.bound for one in present if one.path == lowest.path and one is not lowest)
    return lowest, Holder(0, STAYS, lowest.path, stay)


def gives_way(
    priority: int,
    bound: float,
    holders: Iterable[Holder],
    records: Iterable[CandidateRecord],
    best: Mapping[str, float],
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


def _only_full(record: CandidateRecord) -> bool:
    """Whether throughput is all that the path lacks; what is unknown or unusable does not become better."""
    if record.verdict is not Verdict.UNQUALIFIED or any(metric.unknown for metric in record.metrics):
        return False
    return [m.metric for m in record.metrics if m.bound_met is False] == [Metric.THROUGHPUT]

"""Who gives way on a full layer-2 path ([ADON] algorithm 2: P_min; spec section 3).

A new application of higher priority may take the place of the *one* of lowest priority among those on
layer 2, where the path is full.  Full means: the path misses the newcomer's throughput bound and nothing
else, and would carry it without the other.  What it would carry is the best rate seen there less the
bounds of those that stay: the last test counts the flow that would leave, so it cannot say.

Values and functions only; what becomes of the flow that gives way is the broker's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from adon.values import FrozenMap
from measurement.model import Metric

STAYS = 1000
"""Above every priority."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A running flow on a path.

    :param bound: its QSpec's throughput bound in bits/s, 0 if it has none.
    :param may_go: whether it may lose its place at all.
    """

    number: int
    priority: int
    path: str
    bound: float
    may_go: bool = True


@dataclass(frozen=True, slots=True)
class Rivals:
    """Those whose place a newcomer might take, as they were when it asked.

    :param fallen: the one that would lose its rung of the queue ladder to it.
    :param holders: those on layer-2 paths that it could be on, as far as they matter (:func:`summed_up`).
    :param best: per path name, the best single-stream rate seen, in bits/s.
    :param decided: the numbers of those that the same event has led to a decision about.
    """

    fallen: Holder | None = None
    holders: tuple[Holder, ...] = ()
    best: Mapping[str, float] = FrozenMap()
    decided: frozenset[int] = frozenset()


def summed_up(holders: Iterable[Holder]) -> tuple[Holder, ...]:
    """The same to :func:`gives_way` as all holders: the one that would go, and who stays beside it as one."""
    present = tuple(holders)
    lowest = min(
        (one for one in present if one.may_go), key=lambda one: (one.priority, -one.number), default=None
    )
    if lowest is None:
        return ()
    stay = sum(one.bound for one in present if one.path == lowest.path and one is not lowest)
    return lowest, Holder(0, STAYS, lowest.path, stay, may_go=False)


def gives_way(
    priority: int,
    bound: float,
    holders: Iterable[Holder],
    records: Iterable[CandidateRecord],
    best: Mapping[str, float],
) -> Holder | None:
    """Return the holder that gives way to a new flow; None if no holder does.

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


def preemption_candidate(new_priority: int, running: Sequence[tuple[int, int]]) -> int | None:
    """The flow that a new one of ``new_priority`` may push off the full layer-2 path (P_min rule).

    :param running: number and priority of each flow on layer 2; a larger priority is more urgent.
    :returns: the flow of lowest priority, the youngest of several; None unless it is strictly below.
    """
    lower = [(priority, -number) for number, priority in running if priority < new_priority]
    return -min(lower)[1] if lower else None


def only_full(record: CandidateRecord) -> bool:
    """Whether room is all that a path lacks: throughput is missed, and nothing else is missed or unknown."""
    if record.verdict is not Verdict.UNQUALIFIED or any(metric.unknown for metric in record.metrics):
        return False
    return [m.metric for m in record.metrics if m.bound_met is False] == [Metric.THROUGHPUT]

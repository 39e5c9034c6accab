"""From tasks to a schedule or the reasons why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.edf import Miss, place_round
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.hyperperiod import (
    DAY,
    MOST_JOBS,
    HyperperiodTooLong,
    divisors,
    harmonise_periods,
    hyperperiod,
    with_period,
)
from measurement.scheduling.proofs import infeasible
from measurement.scheduling.task import Task
from measurement.scheduling.ticks import Ticks, seconds
from measurement.scheduling.values import Job, NoSchedule, Schedule

UNLIMITED = Agreement()
_EFFORT = 1_000_000
"""Jobs placed in search of a period that fits; then the search is given up."""


def schedule(
    tasks: Iterable[Task],
    agreement: Agreement = UNLIMITED,
    *,
    longest: float = DAY,
    most_jobs: int = MOST_JOBS,
    harmonise: bool = False,
    explain: bool = True,
) -> Schedule | NoSchedule:
    """EDF-CE for one hyperperiod.

    :param longest: seconds that the hyperperiod may have.
    :param most_jobs: jobs that it may hold.
    :param harmonise: shorten the periods where they repeat together too late.
    :param explain: if there is none, look for a proof and for a period that fits.
    :raises HyperperiodTooLong: if the periods do not go together within the limits.
    :raises ValueError: if two tasks have the same id, or are not tasks.
    """
    known, length = _round(list(tasks), (longest, most_jobs), harmonise)
    by_id = {task.id: task for task in known}
    graph = ConflictGraph.of(known)
    placed = place_round(known, agreement, graph, length)
    if not isinstance(placed, Miss):
        return Schedule(length, by_id, agreement, placed)
    return NoSchedule(
        placed.task,
        placed.number,
        placed.release,
        placed.deadline,
        placed.instant,
        placed.blocked_until,
        _in_the_way(placed, by_id, agreement, graph),
        _smallest_period(known, placed, agreement, graph, length) if explain else None,
        infeasible(known, agreement, graph) if explain else None,
    )


def _round(tasks: list[Task], limits: tuple[float, int], harmonise: bool) -> tuple[list[Task], Ticks]:
    longest, most_jobs = limits
    try:
        return tasks, hyperperiod(tasks, longest, most_jobs)
    except HyperperiodTooLong:
        if not harmonise:
            raise
    shorter = harmonise_periods(tasks, longest)
    return shorter, hyperperiod(shorter, longest, most_jobs)


def _in_the_way(
    miss: Miss, known: dict[str, Task], agreement: Agreement, graph: ConflictGraph
) -> tuple[str, ...]:
    """Who ran since the job's release and conflicts with it, or spends of an allowance that it needs."""
    mine = agreement.count_limited(known[miss.task].load).keys()

    def concerned(job: Job) -> bool:
        theirs = agreement.count_limited(known[job.task].load).keys()
        return job.task in graph.neighbours[miss.task] or not mine.isdisjoint(theirs)

    ran = {job.task for job in miss.placed if job.finish > miss.release and concerned(job)}
    return tuple(sorted(ran))


def _smallest_period(
    tasks: Sequence[Task], miss: Miss, agreement: Agreement, graph: ConflictGraph, length: Ticks
) -> float | None:
    """The smallest longer divisor of the hyperperiod that, as the task's period, lets EDF-CE succeed.

    Divisors, so that the hyperperiod stays.  All are tried in order, as a longer period can be worse: who
    releases earlier blocks others differently (Graham's anomalies).
    """
    others = [task for task in tasks if task.id != miss.task]
    (late,) = (task for task in tasks if task.id == miss.task)
    effort = 0
    for interval in divisors(length):
        if interval <= late.interval:
            continue
        placed = place_round([*others, with_period(late, interval)], agreement, graph, length)
        if not isinstance(placed, Miss):
            return seconds(interval)
        effort += len(placed.placed)
        if effort > _EFFORT:
            break
    return None

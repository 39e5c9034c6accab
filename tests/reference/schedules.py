"""Schedules to compare EDF-CE with: the exact answer of CP-SAT, and WNP-EDF.

The exact model: each job is an interval of fixed length within its window, jobs of conflicting tasks do not
overlap, and the load of the running jobs never exceeds the agreement.  WNP-EDF is non-preemptive EDF with
the whole network as one processor: one test at a time.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from ortools.sat.python import cp_model

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.edf import Miss, place_round
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.hyperperiod import DAY, MOST_JOBS, hyperperiod
from measurement.scheduling.planner import UNLIMITED
from measurement.scheduling.proofs import cliques, infeasible
from measurement.scheduling.task import Task
from measurement.scheduling.ticks import Ticks
from measurement.scheduling.values import Job, Proof, Schedule

_EFFORT = 20.0  # of the solver's own deterministic unit, about a second each: not of the machine's speed


def exact(
    tasks: Iterable[Task], agreement: Agreement = UNLIMITED, *, effort: float = _EFFORT
) -> Schedule | Proof | None:
    """Return a schedule, a proof that there is none, or None if the effort did not suffice.

    :param effort: in CP-SAT's deterministic time.
    """
    known = {task.id: task for task in tasks}
    length = hyperperiod(list(known.values()), DAY, MOST_JOBS)
    graph = ConflictGraph.of(known.values())
    proof = infeasible(list(known.values()), agreement, graph)
    if proof is not None:
        return proof
    model = cp_model.CpModel()
    windows = list(_windows(known, length))
    starts = {
        job: model.new_int_var(job.release, job.deadline - known[job.task].execution_time, "")
        for job in windows
    }
    intervals = {
        job: model.new_fixed_size_interval_var(start, known[job.task].execution_time, "")
        for job, start in starts.items()
    }
    _exclude(model, intervals, graph)
    _limit(model, intervals, known, agreement)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = effort
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Proof(
            tuple(sorted(known)), "no arrangement of the runs meets all deadlines (exhaustive search)"
        )
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    jobs = [_started(job, solver.value(start), known[job.task]) for job, start in starts.items()]
    return Schedule(length, known, agreement, tuple(sorted(jobs, key=lambda job: (job.start, job.task))))


def one_processor(tasks: Iterable[Task], agreement: Agreement = UNLIMITED) -> Schedule | None:
    """Return the schedule of WNP-EDF, or None for a missed deadline."""
    known = {task.id: task for task in tasks}
    length = hyperperiod(list(known.values()), DAY, MOST_JOBS)
    everything = ConflictGraph({name: frozenset(known) - {name} for name in known})
    placed = place_round(list(known.values()), agreement, everything, length)
    return None if isinstance(placed, Miss) else Schedule(length, known, agreement, placed)


def _windows(known: dict[str, Task], length: Ticks) -> Iterator[Job]:
    """Each job, as if it took its whole window from release to deadline."""
    for name, task in known.items():
        for number, release in enumerate(range(0, length, task.interval)):
            deadline = release + task.relative_deadline
            yield Job(name, number, release, release, deadline, deadline)


def _started(window: Job, start: Ticks, task: Task) -> Job:
    return window._replace(start=start, finish=start + task.execution_time)


def _exclude(model: Any, intervals: dict[Job, Any], graph: ConflictGraph) -> None:
    by_task: defaultdict[str, list[Job]] = defaultdict(list)
    for job in intervals:
        by_task[job.task].append(job)
    for one, other in graph.edges():
        for a in by_task[one]:
            for b in by_task[other]:
                if a.release < b.deadline and b.release < a.deadline:
                    model.add_no_overlap([intervals[a], intervals[b]])
    # Says nothing new, but lets the solver reason about all that has to share one point's time.
    for clique in sorted({tuple(found) for found in cliques(graph, dict.fromkeys(by_task, 1.0))}):
        model.add_no_overlap([intervals[job] for name in clique for job in by_task[name]])


def _limit(model: Any, intervals: dict[Job, Any], known: dict[str, Task], agreement: Agreement) -> None:
    loads = {name: agreement.count_limited(task.load) for name, task in known.items()}
    for where, limit in sorted(agreement.limits.items()):
        jobs = [job for job in intervals if loads[job.task].get(where, 0) > 0]
        rates = [loads[job.task][where] for job in jobs]
        unit = max(1, math.gcd(*rates))  # the solver multiplies rates by times, in 64 bits
        model.add_cumulative(
            [intervals[job] for job in jobs], [rate // unit for rate in rates], limit // unit
        )

"""What scheduling results in: a schedule that is proved by being one, or why there is none.

Times in here are whole milliseconds (:data:`~measurement.scheduling.ticks.Ticks`) since the beginning of
the round; :func:`~measurement.scheduling.horizon.timetable` turns them into wall times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from measurement.scheduling.agreement import Agreement, Spend, spend_of
from measurement.scheduling.task import Task
from measurement.scheduling.ticks import Ticks, seconds


class Job(NamedTuple):
    """One run of a task within a round, τ_ij.

    :param task: the task's id.
    :param number: j, from 0 in each round.
    :param release: when it may start at the earliest.
    :param start: st_ij.
    :param finish: ft_ij = st_ij + e_i: the first instant at which its points are free again.
    :param deadline: when it must be over.
    """

    task: str
    number: int
    release: Ticks
    start: Ticks
    finish: Ticks
    deadline: Ticks


@dataclass(frozen=True, slots=True)
class Schedule:
    """One round that is repeated for ever.

    :param hyperperiod: its length.
    :param tasks: what is scheduled, by id; with the periods in effect, if they were harmonised.
    :param agreement: ψ, which is kept.
    :param jobs: every job of the round, by start, then in EDF order.
    """

    hyperperiod: Ticks
    tasks: Mapping[str, Task]
    agreement: Agreement
    jobs: tuple[Job, ...]

    @property
    def utilisation(self) -> float:
        """Σ e_i / p_i: above 1 only what runs at the same time makes it possible."""
        return sum(task.execution_time / task.interval for task in self.tasks.values())

    def spend(self) -> dict[str, Spend]:
        """What it spends of the agreement, per link or domain."""
        limits = self.agreement.limits
        loads = {name: self.agreement.count_limited(task.load) for name, task in self.tasks.items()}
        return {
            where: spend_of(
                (
                    (job.start, job.finish, loads[job.task][where])
                    for job in self.jobs
                    if where in loads[job.task]
                ),
                limits[where],
                self.hyperperiod,
            )
            for where in sorted(limits)
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """Why no algorithm whatever can schedule these tasks.

    :param tasks: the tasks that cannot be together.
    :param text: the proof, one line.
    """

    tasks: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class NoSchedule:
    """EDF-CE found no schedule; that there is none is said only with a proof.

    :param task: the task whose job misses its deadline.
    :param number: which of its jobs.
    :param release: when the job was released.
    :param deadline: when it should have been over.
    :param instant: the scheduling point at which it was certain that it would not be.
    :param blocked_until: until then what is under way at the instant keeps it from starting; None: for ever.
    :param conflicting: the tasks that kept it from starting since its release.
    :param smallest_period: seconds; the smallest period (a divisor of the hyperperiod) of this task with
        which EDF-CE finds a schedule, the others unchanged; None: none is known.
    :param infeasible: a proof that nobody finds one, or None.
    """

    task: str
    number: int
    release: Ticks
    deadline: Ticks
    instant: Ticks
    blocked_until: Ticks | None
    conflicting: tuple[str, ...]
    smallest_period: float | None
    infeasible: Proof | None

    @property
    def text(self) -> str:
        """All of it in one line."""
        told = (
            f"EDF-CE found no schedule: run {self.number} of {self.task}, released at "
            f"{seconds(self.release):g} s, cannot be over by {seconds(self.deadline):g} s"
        )
        told += f" (certain at {seconds(self.instant):g} s"
        if self.blocked_until is not None and self.blocked_until > self.instant:
            told += f", when it was blocked until {seconds(self.blocked_until):g} s"
        told += f"); in its way: {_names(self.conflicting)}" if self.conflicting else ")"
        if self.smallest_period is not None:
            told += f"; it would fit with a period of {self.smallest_period:g} s"
        return told if self.infeasible is None else f"{told}; infeasible: {self.infeasible.text}"


def _names(tasks: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(tasks[:most])
    return shown if len(tasks) <= most else f"{shown} and {len(tasks) - most} more"

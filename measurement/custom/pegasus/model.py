"""What is known about a workflow: the columns of ``pegasus-status``, its statistics, its failures.

Words are Pegasus' own.  A workflow is a DAG of jobs, which may themselves be workflows (sub-DAGs).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Of a DAG, as ``pegasus-status`` says it."""

    RUNNING = "Running"
    SUCCESS = "Success"
    FAILURE = "Failure"

    @property
    def over(self) -> bool:
        """True when the workflow does not go on by itself: done, or failed."""
        return self is not State.RUNNING


@dataclass(frozen=True, slots=True)
class Counts:
    """Jobs by state, one line of ``pegasus-status``.

    :param unready: blocked by dependencies.
    :param ready: ready for submission.
    :param pre: their PRE script runs.
    :param queued: submitted (IN_Q): waiting in the batch queue or running.
    :param post: their POST script runs.
    :param done: completed with success.
    :param failed: completed with failure.
    :param percent_done: success percentage, 0..100, as Pegasus computes it.
    """

    unready: int
    ready: int
    pre: int
    queued: int
    post: int
    done: int
    failed: int
    percent_done: float

    @property
    def total(self) -> int:
        """Jobs in all."""
        return self.unready + self.ready + self.pre + self.queued + self.post + self.done + self.failed


@dataclass(frozen=True, slots=True)
class Dag:
    """One DAG of a workflow.

    ``state`` is as Pegasus says it: Failure as soon as a job has failed for good; None where there is none.
    """

    name: str
    counts: Counts
    state: State | None


@dataclass(frozen=True, slots=True)
class WorkflowStatus:
    """A workflow with its sub-workflows.

    :param counts: over all of them.
    :param state: of the workflow as a whole, Failure only once DAGMan has ended; None when it has none yet.
    :param dags: one by one, where the output had them.
    """

    counts: Counts
    state: State | None
    dags: tuple[Dag, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """One line of the table of ``pegasus-statistics``; ``incomplete`` may be negative."""

    succeeded: int
    failed: int
    incomplete: int
    total: int
    retries: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """The summary of ``pegasus-statistics``; times in seconds, None where it prints none.

    Pegasus prints the two largest units of a time only: of 3 days the minutes are not known.
    """

    tasks: Tally
    jobs: Tally
    sub_workflows: Tally
    wall_time: float | None
    job_wall_time: float | None
    job_wall_time_submit_side: float | None
    badput_wall_time: float | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that ``pegasus-analyzer`` names; what it does not say is None."""

    name: str
    last_state: str | None = None
    site: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What ``pegasus-analyzer`` found."""

    total: int
    succeeded: int
    failed: int
    held: int
    unsubmitted: int
    unknown: int
    failures: tuple[FailedJob, ...]

"""What leaves the host of a workflow: numbers of jobs and times, names of jobs; no paths, users, outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from measurement.custom.model import Origin
from measurement.custom.pegasus.model import Analysis, State, Statistics, WorkflowStatus
from measurement.model import Observation

STATE = "pegasus.state"
_NUMBER = {None: -1, State.RUNNING: 0, State.SUCCESS: 1, State.FAILURE: 2}
_NAMED = 20


def of_status(origin: Origin, workflow: str, status: WorkflowStatus) -> list[Observation]:
    """The columns of ``pegasus-status``; of each sub-workflow its state and percentage, as parameters.

    ``pegasus.state`` is -1 none said, 0 running, 1 success, 2 failure.
    """
    counts = asdict(status.counts)
    percent = counts.pop("percent_done")
    state = None if status.state is None else status.state.value
    dags = [
        {"name": dag.name, "state": dag.state and dag.state.value, "percent_done": dag.counts.percent_done}
        for dag in status.dags[:_NAMED]
    ]
    return [
        *(origin.value(f"pegasus.jobs_{name}", count, of=workflow) for name, count in counts.items()),
        origin.value("pegasus.jobs_total", status.counts.total, of=workflow),
        origin.value("pegasus.percent_done", percent, "%", of=workflow),
        origin.value(STATE, _NUMBER[status.state], of=workflow, extra={"state": state, "dags": dags}),
    ]


def of_statistics(origin: Origin, workflow: str, statistics: Statistics) -> list[Observation]:
    """The times of ``pegasus-statistics``, and how often jobs were tried again."""
    times = {
        "wall_time": statistics.wall_time,
        "job_wall_time": statistics.job_wall_time,
        "job_wall_time_submit_side": statistics.job_wall_time_submit_side,
        "badput_wall_time": statistics.badput_wall_time,
    }
    found = [
        origin.value(f"pegasus.{name}", seconds, "s", of=workflow)
        for name, seconds in times.items()
        if seconds is not None
    ]
    tasks = asdict(statistics.tasks)
    retries = origin.value(
        "pegasus.job_retries", statistics.jobs.retries, of=workflow, extra={"tasks": tasks}
    )
    return [*found, retries]


def of_analysis(origin: Origin, workflow: str, analysis: Analysis) -> list[Observation]:
    """How many jobs ``pegasus-analyzer`` finds failed, held and in an unknown state; which, as parameters."""
    failures = [asdict(job) for job in analysis.failures[:_NAMED]]
    return [
        origin.value("pegasus.analysis_failed", analysis.failed, of=workflow, extra={"failures": failures}),
        origin.value("pegasus.analysis_held", analysis.held, of=workflow),
        origin.value("pegasus.analysis_unsubmitted", analysis.unsubmitted, of=workflow),
        origin.value("pegasus.analysis_unknown", analysis.unknown, of=workflow),
    ]


def is_over(observations: Sequence[Observation]) -> bool:
    """True when the workflow these are of is done or failed."""
    over = {_NUMBER[state] for state in State if state.over}
    return any(found.metric == STATE and found.value in over for found in observations)

"""What the API answers about workflows and batch systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from apps.rest.models import ListView, View
from apps.rest.times import Time
from apps.rest.workflows import STALE_S, Told

_JOBS = "jobs_"
_TIMES = ("wall_time", "job_wall_time", "job_wall_time_submit_side", "badput_wall_time")


class WorkflowView(View):
    """A workflow as its host told it last."""

    host: str
    name: str
    state: Literal["running", "success", "failure", "unknown"]
    percent_done: float | None
    jobs: dict[str, int] = Field(description="by state: ready, queued, done, failed, ..., total")
    retries: int | None = Field(description="of jobs; of a workflow that has ended")
    times_seconds: dict[str, float] = Field(description="of a workflow that has ended")
    parts: list[dict[str, Any]] = Field(description="its DAGs, each with name, state and percent_done")
    failures: list[dict[str, Any]] = Field(description="jobs that failed, as pegasus-analyzer names them")
    observed_at: Time
    age_seconds: float
    stale: bool = Field(description="it runs, by what was told, but nothing has been told for a while")

    @classmethod
    def of(cls, told: Told, now: float) -> Self:
        """As it is answered."""
        values, retries = told.values, told.values.get("job_retries")
        running = told.state in ("running", "unknown")
        return cls(
            host=told.host,
            name=told.name,
            state=told.state,
            percent_done=values.get("percent_done"),
            jobs=_counts(values, _JOBS),
            retries=None if retries is None else int(retries),
            times_seconds={name: values[name] for name in _TIMES if name in values},
            parts=_records(told.extra.get("dags")),
            failures=_records(told.extra.get("failures")),
            observed_at=told.at,
            age_seconds=told.age(now),
            stale=running and told.age(now) > STALE_S,
        )


class WorkflowUserView(View):
    """How many workflows one user's list holds, by state."""

    host: str
    name: str
    workflows: dict[str, int]
    observed_at: Time
    age_seconds: float

    @classmethod
    def of(cls, told: Told, now: float) -> Self:
        """As it is answered."""
        return cls(
            host=told.host,
            name=told.name,
            workflows=_counts(told.values, "workflows_"),
            observed_at=told.at,
            age_seconds=told.age(now),
        )


class BatchView(View):
    """A batch system as a host told it last."""

    host: str
    name: str
    system: str = Field(description="slurm or htcondor")
    values: dict[str, float] = Field(description="cores_total, cores_free, jobs_running, jobs_pending, ...")
    queue_wait_seconds: float | None = Field(description="null: never, or not known")
    observed_at: Time
    age_seconds: float
    stale: bool

    @classmethod
    def of(cls, told: Told, now: float) -> Self:
        """As it is answered."""
        return cls(
            host=told.host,
            name=told.name,
            system=told.tool,
            values={name: value for name, value in told.values.items() if name != "queue_wait"},
            queue_wait_seconds=told.values.get("queue_wait"),
            observed_at=told.at,
            age_seconds=told.age(now),
            stale=told.age(now) > STALE_S,
        )


class WorkflowList(ListView):
    """Workflows by host and name, with the batch systems they run on; none if no host tells of any."""

    items: list[WorkflowView]
    users: list[WorkflowUserView]
    batch_systems: list[BatchView]


def _counts(values: Mapping[str, float], prefix: str) -> dict[str, int]:
    chosen = {name: value for name, value in values.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): int(value) for name, value in chosen.items()}


def _records(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list | tuple) else []

"""Documents of workflows and batch systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.sites import BatchView, WorkflowUserView, WorkflowView
from apps.rest.workflows import STALE_S, Told

_JOBS = "jobs_"


_TIMES = ("wall_time", "job_wall_time", "job_wall_time_submit_side", "badput_wall_time")


def to_workflow_view(told: Told, now: float) -> WorkflowView:
    """As it is answered."""
    values, retries = told.values, told.values.get("job_retries")
    running = told.state in ("running", "unknown")
    return WorkflowView(
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


def to_workflow_user_view(told: Told, now: float) -> WorkflowUserView:
    """As it is answered."""
    return WorkflowUserView(
        host=told.host,
        name=told.name,
        workflows=_counts(told.values, "workflows_"),
        observed_at=told.at,
        age_seconds=told.age(now),
    )


def to_batch_view(told: Told, now: float) -> BatchView:
    """As it is answered."""
    return BatchView(
        host=told.host,
        name=told.name,
        system=told.tool,
        values={name: value for name, value in told.values.items() if name != "queue_wait"},
        queue_wait_seconds=told.values.get("queue_wait"),
        observed_at=told.at,
        age_seconds=told.age(now),
        stale=told.age(now) > STALE_S,
    )


def _counts(values: Mapping[str, float], prefix: str) -> dict[str, int]:
    chosen = {name: value for name, value in values.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): int(value) for name, value in chosen.items()}


def _records(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list | tuple) else []

"""Schedule of measurements, its runs and their overlaps."""

from __future__ import annotations

from flask import Response, g

from adon.api import routes
from adon.api.measurements import (
    ExecutionList,
    ExecutionQuery,
    OverlapList,
    OverlapQuery,
    OverlapView,
    PsconfigTemplate,
    ScheduleView,
)
from adon.errors import Forbidden, NotFound
from apps.rest import measurement_access
from apps.rest.dispatch import handles
from apps.rest.pagination import TimePage
from apps.rest.responses import answer
from apps.rest.services import ask_collector, services

GANTT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The page of the plan carries its styles with it, and nothing else."""


@handles(routes.GET_SCHEDULE)
def get_schedule() -> ScheduleView:
    """Return the conflict-free plan of tests, its next runs and its use of the budget."""
    found = ScheduleView.model_validate(ask_collector("schedule", {}))
    visible = measurement_access.tasks_seen_by(services(), g.actor)
    tasks = [task for task in found.tasks if visible(task.task)]
    upcoming = [start for start in found.upcoming if visible(start.task)]
    return found.model_copy(update={"tasks": tasks, "upcoming": upcoming})


@handles(routes.GET_GANTT)
def get_gantt() -> Response:
    """Return the plan of tests as a Gantt chart: one HTML page without other files."""
    parts = services()
    visible = measurement_access.tasks_seen_by(parts, g.actor)
    if not all(visible(task["task"]) for task in ask_collector("schedule", {})["tasks"]):
        raise Forbidden("the chart shows tests that you may not see; read /schedule instead")
    response = answer(parts.gantt().encode(), "text/html")
    response.headers["Content-Security-Policy"] = GANTT_POLICY
    return response


@handles(routes.GET_PSCONFIG)
def get_psconfig(network: str) -> PsconfigTemplate:
    """Return the plan of tests as a pSConfig template, if the configuration publishes it."""
    configuration = services().configuration
    if not configuration.measurements.publish_psconfig or network != configuration.network:
        raise NotFound("network", network)
    return PsconfigTemplate.model_validate(ask_collector("psconfig", {}))


@handles(routes.LIST_EXECUTIONS)
def list_executions(query: ExecutionQuery) -> ExecutionList:
    """Return the results of planned runs, the newest first."""
    page = TimePage(query, query.until)
    found = measurement_access.executions(
        services(),
        g.actor,
        since=query.since,
        until=page.until,
        limit=page.limit,
    )
    shown, following = page.cut(found, lambda one: one.planned_start)
    return ExecutionList(items=shown, next=following)


LAST_S = 3600.0
MOST = 500


@handles(routes.GET_OVERLAPS)
def get_overlaps(query: OverlapQuery) -> OverlapList:
    """Return pairs of conflicting runs that overlapped."""
    parts = services()
    since = parts.clock() - LAST_S if query.since is None else query.since
    items = [
        OverlapView(first=one, second=other)
        for one, other in measurement_access.overlaps(parts, g.actor, since)[:MOST]
    ]
    return OverlapList(items=items)

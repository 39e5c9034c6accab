"""The schedule of measurements: when is measured, and what became of it."""

from __future__ import annotations

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.measurements import ExecutionList, PsconfigTemplate, ScheduleView
from adon.api.times import Time
from adon.errors import Forbidden, NotFound
from apps.rest import seen
from apps.rest.answers import answer, json_answer
from apps.rest.api.common import Address, answers, blueprint
from apps.rest.guard import action
from apps.rest.measurement_views import to_execution_view
from apps.rest.paging import Moment, NewestFirst, by_time, listed, until, wanted
from apps.rest.services import ask_collector, services

api = blueprint("schedule", "When is measured, and what became of it")
open_api = blueprint("psconfig", "The plan of tests for perfSONAR testpoints", anonymous=True)

GANTT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The page of the plan carries its styles with it, and nothing else."""


@api.get("/schedule", responses=answers(200, ScheduleView))
@action(Action.MEASUREMENT_READ)
def get_schedule() -> Response:
    """The conflict-free plan, its next runs, and what it spends of the measurement level agreement."""
    return json_answer(schedule_view())


def schedule_view() -> ScheduleView:
    """The plan as it is being carried out, with the tests that this actor may see.

    :raises Unavailable: if the collector does not answer.
    """
    found = ScheduleView.model_validate(ask_collector("schedule", {}))
    visible = seen.tasks_seen_by(services(), g.actor)
    tasks = [task for task in found.tasks if visible(task.task)]
    upcoming = [start for start in found.upcoming if visible(start.task)]
    return found.model_copy(update={"tasks": tasks, "upcoming": upcoming})


@api.get(
    "/schedule/gantt",
    responses=answers(200, {"content": {"text/html": {"schema": {"type": "string"}}}}),
)
@action(Action.MEASUREMENT_READ)
def get_gantt() -> Response:
    """A round of the plan as a picture: one page that needs nothing else."""
    return gantt_page()


def gantt_page() -> Response:
    """A round of the plan.

    :raises Forbidden: for an actor who may not see every test of it: the picture cannot leave any out.
    :raises Unavailable: if the collector does not answer, or has drawn no plan yet.
    """
    parts = services()
    visible = seen.tasks_seen_by(parts, g.actor)
    if not all(visible(task["task"]) for task in ask_collector("schedule", {})["tasks"]):
        raise Forbidden("the picture shows tests that you may not see; ask for the schedule instead")
    response = answer(parts.gantt().encode(), "text/html")
    response.headers["Content-Security-Policy"] = GANTT_POLICY
    return response


class NetworkAddress(Address):
    """Which network."""

    network: str = Field(max_length=200, description="the name of the network in the configuration")


@open_api.get("/psconfig/<network>", responses=answers(200, PsconfigTemplate, 404))
@action(Action.PSCONFIG_READ)
def get_psconfig(path: NetworkAddress) -> Response:
    """The plan of tests as a pSConfig template, if the configuration publishes it."""
    configuration = services().configuration
    if not configuration.measurements.publish_psconfig or path.network != configuration.network:
        raise NotFound("network", path.network)
    return json_answer(PsconfigTemplate.model_validate(ask_collector("psconfig", {})))


class ExecutionQuery(NewestFirst):
    """Which runs."""

    since: Time | None = Field(default=None, description="planned then or later")
    until: Time | None = Field(default=None, description="planned before then")
    limit: int = Field(default=200, ge=1, le=5000)


@api.get("/executions", responses=answers(200, ExecutionList))
@action(Action.MEASUREMENT_READ)
def list_executions(query: ExecutionQuery) -> Response:
    """What became of planned runs, the newest first."""
    moment = Moment.of(query)
    found = seen.executions(
        services(),
        g.actor,
        since=query.since,
        until=until(moment, query.until),
        limit=wanted(moment, query.limit),
    )
    shown, following = by_time(found, query.limit, moment, lambda one: one.planned_start)
    return listed(ExecutionList(items=[to_execution_view(one) for one in shown], next=following))

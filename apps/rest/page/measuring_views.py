"""Measurements on the page: series with small pictures, the plan, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Response, g, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action
from adon.errors import Unavailable
from apps.rest.api.alarms import acknowledge_alarm
from apps.rest.api.network import path_list
from apps.rest.api.schedule import gantt_page, schedule_view
from apps.rest.guard import action
from apps.rest.measuring_models import ScheduleView
from apps.rest.models import EstimateView
from apps.rest.page import frame
from apps.rest.page.executed import last_hour
from apps.rest.page.series import Direction, directions
from apps.rest.services import services

MOST_UPCOMING = 12

page = frame.blueprint("measured")


@page.get("/measurements")
@action(Action.MEASUREMENT_READ)
def measurements() -> str:
    """Every series of every path, the schedule, and the runs of the last hour."""
    parts = services()
    now = parts.clock()
    plan, trouble = _schedule()
    slots = {} if plan is None else {task.task: task.slot_seconds for task in plan.tasks}
    try:
        found, hour = directions(parts, g.actor, now), last_hour(parts, g.actor, now, slots)
    except Unavailable:
        found, hour = None, None
    return render_template(
        "measurements.html",
        groups=None if found is None else _by_path(found),
        estimates=_estimates(),
        plan=plan,
        upcoming=[] if plan is None else plan.upcoming[:MOST_UPCOMING],
        trouble=trouble,
        hour=hour,
        refresh=30,
    )


@page.get("/measurements/plan")
@action(Action.MEASUREMENT_READ)
def plan_page() -> Response:
    """A round of the plan as a picture."""
    return gantt_page()


@page.post("/alarms/<id_>/acknowledge")
@action(Action.ALARM_ACKNOWLEDGE)
def acknowledge(id_: str) -> AnyResponse:
    """Say that an alarm has been seen."""
    acknowledge_alarm(id_)
    return redirect(url_for("page.overview"), 303)


def _schedule() -> tuple[ScheduleView | None, str]:
    try:
        return schedule_view(), ""
    except Unavailable as error:
        return None, str(error)


def _estimates() -> list[EstimateView]:
    try:
        return path_list().estimates
    except Unavailable:
        return []  # the overview says that the controller is away


def _by_path(found: Iterable[Direction]) -> dict[str, list[Direction]]:
    groups: dict[str, list[Direction]] = {}
    for direction in found:
        groups.setdefault(direction.key.path, []).append(direction)
    return groups

"""``/schedule`` and ``/runtimes``: what is planned here, and when there is room."""

from __future__ import annotations

from flask import Blueprint, Response, request

from measurement.point import views
from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import Refusal, as_json, base, instant, task_named
from measurement.point.engine import Engine
from measurement.point.scheduler import Slot


def routes(engine: Engine, guard: Guard) -> Blueprint:
    """The resources."""
    found = Blueprint("schedule", __name__)
    store = engine.store

    @found.get("/schedule")
    def schedule() -> Response:
        earliest, latest, only = instant("start"), instant("end"), request.args.get("task")
        lines = [
            (run.start, views.schedule_view(task, run, base()))
            for task in store.tasks()
            if (only is None or task.uuid == only) and guard.sees(task)
            for run in store.runs(task.uuid)
            if (earliest is None or run.end >= earliest) and (latest is None or run.start <= latest)
        ]
        return as_json([line for _, line in sorted(lines, key=lambda item: item[0])])

    @found.get("/tasks/<name>/runtimes")
    def runtimes(name: str) -> Response:
        task = task_named(engine, name)
        guard.check_sees(task)
        earliest, latest = instant("start"), instant("end")
        if earliest is None or latest is None or not earliest < latest:
            raise Refusal(400, "start and end are needed, in this order.")
        return as_json(views.slot_view(engine.free(task, Slot(earliest, latest))))

    return found

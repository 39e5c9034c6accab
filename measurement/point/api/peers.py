"""What other points ask of this one when they lead a task (:mod:`measurement.point.peers`)."""

from __future__ import annotations

from flask import Blueprint, Response, request

from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import (
    Refusal,
    a_uuid,
    as_json,
    base,
    body,
    plain,
    read_or_refuse,
    run_named,
    task_named,
)
from measurement.point.api.tasks import new_task
from measurement.point.children import ToolFailed
from measurement.point.engine import Engine
from measurement.point.model import Task
from measurement.point.store import Full
from measurement.point.trust import Right
from measurement.pscheduler.iso8601 import parse_timestamp
from measurement.pscheduler.states import RunState


def routes(engine: Engine, guard: Guard) -> Blueprint:
    """The resources."""
    found = Blueprint("peers", __name__)

    @found.post("/tasks/<name>")
    def take_part(name: str) -> Response:
        guard.check(Right.TAKE_PART)
        if request.args.get("participant") != "1":
            raise Refusal(400, "participant must be 1.")
        document = body()
        named = document.pop("participants", None)
        if not isinstance(named, list) or len(named) != 2:
            raise Refusal(400, "participants must be two.")
        task = new_task(document, a_uuid(name), guard.owner(), 1, tuple(map(str, named)))
        guard.check_task(Right.TAKE_PART, task)
        try:
            engine.accept(task)
        except (ValueError, Full) as error:
            raise Refusal(409, f"Cannot take part: {error}") from None
        return as_json(f"{base()}/tasks/{name}")

    @found.post("/tasks/<name>/runs")
    def reserve(name: str) -> Response:
        task, asked = _led_by_caller(engine, guard, name), body()
        start = read_or_refuse(lambda: parse_timestamp(str(asked.get("start-time"))))
        run = a_uuid(str(asked.get("uuid")))
        if not engine.reserve(task, run, start):
            raise Refusal(409, "The slot is taken, or the task is cancelled.")
        return as_json(f"{base()}/tasks/{name}/runs/{run}")

    @found.delete("/tasks/<name>/runs/<run>")
    def drop(name: str, run: str) -> Response:
        if not engine.drop_run(_led_by_caller(engine, guard, name), run):
            raise Refusal(404, "Resource not found.")
        return plain("OK\n", 200)

    @found.post("/tasks/<name>/runs/<run>/server")
    def serve(name: str, run: str) -> Response:
        task = _led_by_caller(engine, guard, name)
        planned = run_named(engine, name, run)
        if planned.state is not RunState.PENDING:
            raise Refusal(409, f"The run is {planned.state}.")
        try:
            return as_json({"port": engine.serve(task, planned)})
        except ToolFailed as error:
            raise Refusal(500, str(error)) from None

    return found


def _led_by_caller(engine: Engine, guard: Guard, name: str) -> Task:
    guard.check(Right.TAKE_PART)
    task = task_named(engine, name)
    if task.participant == 0:
        raise Refusal(400, "This host leads that task.")
    guard.check_owner(Right.TAKE_PART, task)
    return task

"""``/tasks/UUID/runs``: the runs of a task and their results."""

from __future__ import annotations

import time

from flask import Blueprint, Response, request

from measurement.point import views
from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import (
    Refusal,
    as_json,
    base,
    flag,
    instant,
    integer,
    run_named,
    task_named,
    wait,
)
from measurement.point.engine import Engine
from measurement.point.model import Run, Task


def routes(engine: Engine, guard: Guard) -> Blueprint:
    """The resources."""
    found = Blueprint("runs", __name__)
    store = engine.store

    def seen(name: str) -> Task:
        task = task_named(engine, name)
        guard.check_sees(task)
        return task

    def over(name: str, run: str) -> bool:
        known = store.run(name, run)
        return known is None or known.state.terminal

    @found.get("/tasks/<name>/runs")
    def runs(name: str) -> Response:
        if store.task(name) is not None:  # an unknown task has no runs, and is no 404
            seen(name)
        chosen = _between(store.runs(name), instant("start"), instant("end"))
        if "limit" in request.args:
            chosen = chosen[: max(1, integer("limit", 1))]
        return as_json([f"{base()}/tasks/{name}/runs/{run.uuid}" for run in chosen])

    @found.get("/tasks/<name>/runs/<any(first, next):which>")
    def some_run(name: str, which: str) -> Response:
        task = seen(name)

        def candidates() -> list[Run]:
            not_before = time.time() if which == "next" else 0.0
            return [run for run in store.runs(name) if run.start >= not_before]

        store.wait(lambda: bool(candidates()), wait(default=30))
        there = candidates()
        if not there:
            raise Refusal(404, "No run yet.")
        return as_json(views.run_view(task, there[0], base()))

    @found.get("/tasks/<name>/runs/<run>")
    def one(name: str, run: str) -> Response:
        task = seen(name)
        local, merged = flag("wait-local"), flag("wait-merged")
        if local and merged:
            raise Refusal(400, "wait-local and wait-merged exclude each other.")
        if local or merged:
            store.wait(lambda: over(name, run), wait(default=30))
        return as_json(views.run_view(task, run_named(engine, name, run), base()))

    @found.get("/tasks/<name>/runs/<run>/result")
    def result(name: str, run: str) -> Response:
        seen(name)
        if request.args.get("format", "application/json") != "application/json":
            raise Refusal(400, "This point formats results as application/json only.")
        if flag("wait"):
            store.wait(lambda: over(name, run), wait(default=30))
        merged = run_named(engine, name, run).merged
        if merged is None:
            raise Refusal(404, "No result.")
        return as_json(merged)

    return found


def _between(runs: list[Run], earliest: float | None, latest: float | None) -> list[Run]:
    return [
        run
        for run in runs
        if (earliest is None or run.start >= earliest) and (latest is None or run.end <= latest)
    ]

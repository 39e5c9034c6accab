"""``/tasks``: posting, seeing and cancelling what this point leads."""

from __future__ import annotations

import secrets
import time
import uuid
from typing import Any

from flask import Blueprint, Response, request

from measurement.point import views
from measurement.point.api.guard import Guard
from measurement.point.api.request_answers import (
    Refusal,
    an_object,
    argument,
    as_json,
    base,
    body,
    check_api_level,
    flag,
    participants,
    plain,
    read_or_refuse,
    same,
    spec_of,
    task_named,
    test_named,
)
from measurement.point.engine import Engine, Refused
from measurement.point.model import Task
from measurement.point.specs import parse_schedule, parse_task, without_comments
from measurement.point.store import Full
from measurement.point.trust import Right


def routes(engine: Engine, guard: Guard) -> Blueprint:
    """The resources."""
    found = Blueprint("tasks", __name__)
    store = engine.store

    def view(task: Task, *, detail: bool, reveal: bool = False) -> dict[str, Any]:
        return views.task_view(task, store.runs(task.uuid), base(), detail=detail, reveal=reveal)

    @found.post("/tasks")
    def post() -> Response:
        check_api_level()
        guard.check(Right.START)
        task = new_task(body(), str(uuid.uuid4()), guard.owner())
        guard.check_task(Right.START, task)
        return _post_task(engine, task)

    @found.get("/tasks")
    def tasks() -> Response:
        pattern = argument("json") if "json" in request.args else {}
        visible = [
            task
            for task in store.tasks()
            if guard.sees(task) and (not pattern or views.contains(view(task, detail=True), pattern))
        ]
        if flag("expanded"):
            return as_json([view(task, detail=flag("detail")) for task in visible])
        return as_json([f"{base()}/tasks/{task.uuid}" for task in visible])

    @found.get("/tasks/<name>")
    def task(name: str) -> Response:
        known = task_named(engine, name)
        guard.check_sees(known)
        key = request.args.get("key")
        if key is not None and not same(key, known.key):
            raise Refusal(403, "Key is incorrect.")
        return as_json(view(known, detail=flag("detail"), reveal=key is not None))

    @found.delete("/tasks/<name>")
    def cancel(name: str) -> Response:
        known = task_named(engine, name)
        _check_may_cancel(guard, known)
        if known.enabled:
            engine.cancel(known)
        return plain("OK\n", 200)

    return found


def new_task(
    document: dict[str, Any],
    name: str,
    owner: str,
    participant: int = 0,
    taking_part: tuple[str, ...] | None = None,
) -> Task:
    """The task that a body describes.

    :param participant: this host's number in it.
    :param taking_part: the participants, if the lead has named them.
    """
    document = an_object(without_comments(document))
    now = time.time()
    parsed = read_or_refuse(lambda: parse_task(document))
    test = test_named(parsed.test.type)
    spec = spec_of(test.name, parsed.test.spec)
    if parsed.tools is not None and test.tool not in parsed.tools:
        offered = ", ".join(parsed.tools)[:200]
        raise Refusal(
            422, f"Unable to complete request: no tool accepted: wanted {offered}, offered {test.tool}."
        )
    if parsed.archives:
        raise Refusal(
            422,
            "Unable to complete request: archives: this point sends no results; "
            "post the task without archives and read its runs.",
        )
    return Task(
        uuid=name,
        document=document,
        test=test,
        spec=spec,
        schedule=read_or_refuse(lambda: parse_schedule(parsed.schedule, now)),
        participants=taking_part if taking_part is not None else participants(test, spec),
        participant=participant,
        lasts=spec.lasts,
        added=now,
        requester=request.remote_addr or "",
        key=parsed.key if parsed.key is not None else secrets.token_urlsafe(24),
        owner=owner,
    )


def _post_task(engine: Engine, task: Task) -> Response:
    try:
        engine.accept(task)
    except Refused as error:
        raise Refusal(500, str(error)) from None
    except Full:
        raise Refusal(422, "Unable to complete request: too many tasks.") from None
    url = f"{base()}/tasks/{task.uuid}"
    if not flag("expanded"):
        return as_json(url)
    moved = plain("See the task.", 303)
    moved.headers["Location"] = url + ("?detail" if flag("detail") else "")
    return moved


def _check_may_cancel(guard: Guard, task: Task) -> None:
    guard.check_known()
    alone = len(task.participants) == 1 and guard.owns(task)
    if not alone and not same(request.args.get("key", ""), task.key):
        raise Refusal(403, "Forbidden by key or requester.")

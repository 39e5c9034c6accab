"""Tasks, runs and slots as pScheduler's JSON.  Pure.

Keys that start with ``_`` are private: they are answered as null unless the task's key was given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from measurement.point.model import Run, Task, TestType
from measurement.point.scheduler import Slot
from measurement.pscheduler.iso8601 import format_duration, format_timestamp


def test_view(test: TestType, base: str) -> dict[str, Any]:
    """A test this point knows."""
    return {
        "name": test.name,
        "description": test.description,
        "version": "1.0",
        "scheduling-class": test.scheduling.value,
        "href": f"{base}/tests/{test.name}",
    }


def tool_view(test: TestType, base: str) -> dict[str, Any]:
    """The tool of a test."""
    return {
        "name": test.tool,
        "description": f"{test.tool} for {test.name}",
        "version": "1.0",
        "tests": [test.name],
        "preference": 0,
        "href": f"{base}/tools/{test.tool}",
    }


def hidden(value: Any) -> Any:
    """JSON with the values of private keys replaced by null."""
    if isinstance(value, Mapping):
        return {key: None if key.startswith("_") else hidden(item) for key, item in value.items()}
    return [hidden(item) for item in value] if isinstance(value, list) else value


def task_view(task: Task, runs: Iterable[Run], base: str, *, detail: bool, reveal: bool) -> dict[str, Any]:
    """A task; with ``detail`` what this host knows about it; with ``reveal`` its private items."""
    document = dict(task.document) if reveal else hidden(task.document)
    document |= {"tool": task.test.tool, "href": f"{base}/tasks/{task.uuid}"}
    return document | ({"detail": _detail(task, list(runs), base)} if detail else {})


def _detail(task: Task, runs: list[Run], base: str) -> dict[str, Any]:
    href = f"{base}/tasks/{task.uuid}"
    return {
        "enabled": task.enabled,
        "participant": task.participant,
        "participants": participant_names(task),
        "multi-result": task.test.scheduling == "background-multi",
        "anytime": task.test.scheduling.anytime,
        "exclusive": task.test.scheduling == "exclusive",
        "duration": format_duration(task.lasts),
        "post": "P0D",
        "slip": format_duration(task.schedule.slip),
        "start": format_timestamp(task.schedule.start),
        "runs": len(runs),
        "runs-started": sum(1 for run in runs if run.state != "pending"),
        "added": format_timestamp(task.added),
        "hints": {"requester": task.requester},
        "runs-href": f"{href}/runs",
        "first-run-href": f"{href}/runs/first",
        "next-run-href": f"{href}/runs/next",
    }


def participant_names(task: Task) -> list[str | None]:
    """The participants; null is the host that was asked."""
    return [name if name else None for name in task.participants]


def run_view(task: Task, run: Run, base: str) -> dict[str, Any]:
    """A run."""
    href = f"{base}/tasks/{task.uuid}/runs/{run.uuid}"
    lead = task.participant == 0
    return {
        "href": href,
        "task-href": f"{base}/tasks/{task.uuid}",
        "result-href": f"{href}/result",
        "state": run.state.value,
        "state-display": run.state.value.capitalize(),
        "start-time": format_timestamp(run.start),
        "end-time": format_timestamp(run.end),
        "duration": format_duration(max(0.0, run.end - run.start)),
        "added": format_timestamp(run.added),
        "priority": None,
        "participant": task.participant,
        "participants": participant_names(task),
        "errors": run.errors,
        "result": run.result,
        "result-full": [run.result] if lead and run.result is not None else None,
        "result-merged": run.merged if lead else None,
    }


def schedule_view(task: Task, run: Run, base: str) -> dict[str, Any]:
    """A run as a line of the point's schedule."""
    seen = run_view(task, run, base)
    names = ("start-time", "end-time", "href", "result-href", "state", "errors")
    return {
        **{name: seen[name] for name in names},
        "task": {"href": f"{base}/tasks/{task.uuid}"},
        "test": {"type": task.test.name},
        "tool": {"name": task.test.tool},
    }


def slot_view(slots: Iterable[Slot]) -> list[dict[str, str]]:
    """Free ranges, rounded inwards to the whole seconds in which the API speaks."""
    rounded = (Slot(math.ceil(slot.start), math.floor(slot.end)) for slot in slots)
    return [
        {"lower": format_timestamp(slot.start), "upper": format_timestamp(slot.end)}
        for slot in rounded
        if slot.start < slot.end
    ]


def contains(value: Any, pattern: Any) -> bool:
    """Whether JSON contains a pattern, as PostgreSQL's ``@>`` has it."""
    if isinstance(pattern, Mapping):
        return isinstance(value, Mapping) and all(
            name in value and contains(value[name], part) for name, part in pattern.items()
        )
    if isinstance(pattern, list):
        return isinstance(value, list) and all(
            any(contains(item, part) for item in value) for part in pattern
        )
    return type(value) is type(pattern) and bool(value == pattern)

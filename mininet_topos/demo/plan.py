"""The plan of the tests and what became of it: read from ADON, held against the tests' conflicts.

The schedule (EDF-CE) promises that no two conflicting tests overlap.  Here the promise is checked on what was
executed: the points' own times of when their runs began and ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from adon.api.measurements import ExecutionView, ScheduleView
from measurement.scheduling import Execution, Task, overlaps
from mininet_topos.demo.record import Plan

MOST = 5000
ON_DEMAND = "/on demand"
"""What separates the name of a planned test from the number of an extra run of it."""


class Api(Protocol):
    """The REST calls that tell about the plan."""

    def schedule(self) -> ScheduleView:
        """GET /schedule."""

    def schedule_page(self) -> str:
        """GET /schedule/gantt."""

    def executions(self, since: str | None, limit: int) -> Sequence[ExecutionView]:
        """GET /executions."""


def read(api: Api, tasks: Mapping[str, Task], since: str) -> Plan:
    """The plan, its picture, what was executed since then, and what of that overlapped though it must not.

    :param tasks: the plan's tests, by name.
    """
    runs = sorted(api.executions(since=since, limit=MOST), key=lambda run: run.planned_start)
    bodies = [run.body() for run in runs]
    return Plan(api.schedule().body(), api.schedule_page(), bodies, overlapping(runs, tasks))


def overlapping(runs: Iterable[ExecutionView], tasks: Mapping[str, Task]) -> list[str]:
    """The conflicting tests that ran at the same time, in words."""
    executed = [_execution(number, run) for number, run in enumerate(runs)]
    on_demand = {run.task for run in executed} - set(tasks)
    tests = [*tasks.values(), *(replace(tasks[name.split(ON_DEMAND)[0]], id=name) for name in on_demand)]
    return [
        f"{found.first.task} and {found.second.task} for {found.seconds:.1f} s"
        for found in overlaps(executed, tests)
    ]


def checked(name: str, plan: Plan) -> tuple[str, bool, str]:
    """The check that the plan was kept: its text, whether it held, and what was found."""
    ran = sum(run["started"] is not None for run in plan.executions)
    text = f"measurements ({name}): no two conflicting tests overlapped"
    found = f"{ran} of {len(plan.executions)} planned runs were carried out; "
    found += "; ".join(plan.overlaps) if plan.overlaps else "none overlapped"
    return text, ran > 0 and not plan.overlaps, found


def _execution(number: int, run: ExecutionView) -> Execution:
    return Execution(run.task, number, run.planned_start, run.started, run.ended, run.outcome)

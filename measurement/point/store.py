"""The tasks and runs a point knows, in memory, shared by its threads.

In memory because a run that is not under way has no value after a restart: a client that finds its task
gone (404) posts a new one.  Finished ones are forgotten after :data:`KEPT`, as pScheduler does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from measurement.point.model import Run, Task
from measurement.point.scheduler import Booking
from measurement.pscheduler.states import RunState

KEPT = 2 * 86_400.0
MOST_TASKS = 10_000
MOST_RESULTS = 2000


class Full(Exception):
    """So many tasks are known that no more are taken."""


class Store:
    """Tasks and runs; every method is atomic, and :meth:`wait` wakes up on each change."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._tasks: dict[str, Task] = {}
        self._runs: dict[str, dict[str, Run]] = {}

    def add_task(self, task: Task) -> None:
        """Know a task.

        :raises Full: when there are too many.
        :raises ValueError: when there is one of this name.
        """
        with self._changed:
            self._purge(task.added - KEPT)
            if len(self._tasks) >= MOST_TASKS:
                raise Full
            if task.uuid in self._tasks:
                raise ValueError(f"task {task.uuid} exists")
            self._tasks[task.uuid] = task
            self._runs[task.uuid] = {}

    def forget(self, task: str) -> None:
        """Drop a task and its runs."""
        with self._changed:
            self._tasks.pop(task, None)
            self._runs.pop(task, None)
            self._changed.notify_all()

    def task(self, uuid: str) -> Task | None:
        """A task by name."""
        with self._changed:
            return self._tasks.get(uuid)

    def tasks(self) -> list[Task]:
        """All tasks in the order they came."""
        with self._changed:
            return list(self._tasks.values())

    def disable(self, uuid: str, now: float) -> None:
        """Cancel: no more runs; a run under way is marked, one that has not begun is deleted."""
        with self._changed:
            self._tasks[uuid] = replace(self._tasks[uuid], enabled=False)
            runs = self._runs[uuid]
            for run in list(runs.values()):
                if run.state is RunState.PENDING:
                    del runs[run.uuid]
                elif not run.state.terminal:
                    runs[run.uuid] = run.in_state(RunState.CANCELED, end=max(run.start, min(run.end, now)))
            self._changed.notify_all()

    def add_run(self, run: Run, allowed: Callable[[list[Booking]], bool] | None = None) -> bool:
        """Put a run on the schedule, if ``allowed`` says so of the bookings there are; one atomic step.

        :returns: False when it was not allowed, or the task is gone or cancelled.
        """
        with self._changed:
            task = self._tasks.get(run.task)
            if task is None or not task.enabled:
                return False
            if allowed is not None and not allowed(self._bookings()):
                return False
            self._runs[run.task][run.uuid] = run
            self._changed.notify_all()
            return True

    def change_run(self, task: str, run: str, change: Callable[[Run], Run]) -> Run | None:
        """Replace a run by what ``change`` makes of it, unless it has ended or is gone."""
        with self._changed:
            found = self._runs.get(task, {}).get(run)
            if found is None or found.state.terminal:
                return None
            changed = self._runs[task][run] = change(found)
            self._changed.notify_all()
            return changed

    def add_result(self, run: Run) -> bool:
        """Add one of many results of a task (:attr:`SchedulingClass.BACKGROUND_MULTI`).

        The oldest make way for the newest.
        :returns: False when the task is gone or cancelled.
        """
        with self._changed:
            if not self.add_run(run):
                return False
            results = [known for known in self.runs(run.task) if known.merged is not None]
            for old in results[:-MOST_RESULTS]:
                del self._runs[run.task][old.uuid]
            return True

    def drop_run(self, task: str, run: str) -> Run | None:
        """Take a run off the schedule."""
        with self._changed:
            found = self._runs.get(task, {}).pop(run, None)
            self._changed.notify_all()
            return found

    def run(self, task: str, run: str) -> Run | None:
        """A run by name."""
        with self._changed:
            return self._runs.get(task, {}).get(run)

    def runs(self, task: str) -> list[Run]:
        """A task's runs by start time."""
        with self._changed:
            return sorted(self._runs.get(task, {}).values(), key=lambda run: run.start)

    def bookings(self) -> list[Booking]:
        """Every slot that is taken."""
        with self._changed:
            return self._bookings()

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until ``condition``, looked at after each change, holds; False at the time-out."""
        with self._changed:
            return self._changed.wait_for(condition, timeout)

    def _bookings(self) -> list[Booking]:
        return [
            Booking(run.start, run.end, self._tasks[task].test.scheduling)
            for task, runs in self._runs.items()
            for run in runs.values()
            if run.holds_slot
        ]

    def _purge(self, before: float) -> None:
        for uuid, task in list(self._tasks.items()):
            runs = self._runs[uuid]
            for run in list(runs.values()):
                if run.end < before:
                    del runs[run.uuid]
            repeat = task.schedule.repeat
            rests = task.enabled and repeat is not None and repeat >= KEPT  # between two of its runs
            if not runs and not rests and max(task.added, task.schedule.start) < before:
                del self._tasks[uuid], self._runs[uuid]

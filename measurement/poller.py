"""One test through the client, from asking to values; every failure comes back as a value.

Each test is a task of a single run.  A repeating task would save a request or two, but would put the
order of tests into the servers' hands: with single runs the plan decides, quiet paths stay quiet at
once, nothing accumulates on a shared host, and a collector that is killed leaves at most one run behind,
which ends by itself.  A planned run is posted ahead with its absolute start; one that a point would
rather start at another time is cancelled, because it could meet a test that the plan keeps it from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from measurement.errors import BadAnswer, PointError, PointTimeout
from measurement.model import Metric, PathKey
from measurement.outcomes import MeasurementFailed, Outcome, Seen, outcome
from measurement.pscheduler import results, validation
from measurement.pscheduler.client import PSchedulerClient, Run, Schedule, ServerClock, TaskDetail
from measurement.pscheduler.post_times import PostingTimes
from measurement.pscheduler.specs import Kind, PostedTask, TestRequest
from measurement.pscheduler.states import RunState
from measurement.units import format_share

SLIP = 60.0
PLANNED_SLIP = 1.0
"""Seconds that a planned run may start late: points start runs on whole seconds of their own clocks."""
PATIENCE = 120.0
AVAILABILITY_S = 3600.0
_BEGAN = frozenset(
    {
        RunState.RUNNING,
        RunState.CLEANUP,
        RunState.FINISHED,
        RunState.FAILED,
        RunState.OVERDUE,
        RunState.CANCELED,
    }
)


__all__ = ["MeasurementFailed", "Outcome", "PathTest", "Point", "PolledRun", "Poller"]


@dataclass(frozen=True, slots=True)
class PathTest:
    """A test of one directed path.

    :param metrics: what it is done for; further values of its result are not kept.
    """

    key: PathKey
    request: TestRequest
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class PolledRun:
    """What has become of one run; times by our clock.

    :param outcomes: per metric wanted a measurement, or why there is none.
    :param started: when it began; as planned, if it was lost sight of after that; None if it never did.
    :param ended: when it ended, to the second; None if it never began or was lost sight of.
    :param failure: why there is no result at all; None if there is one.
    :param slot: seconds that the points keep free for such a run; None if they did not report it.
    :param late: whether it failed because it was posted too late.
    """

    outcomes: tuple[Outcome, ...]
    started: float | None = None
    ended: float | None = None
    failure: str | None = None
    slot: float | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A measurement point: its client, and the name by which other points reach it."""

    client: PSchedulerClient
    node: str


class Poller:
    """Runs tests at the points; several threads may run different tests at once.

    :param points: the points by name; a test runs from the point named like its source site.
    :param clock: our time, seconds since the epoch.
    """

    def __init__(self, points: Mapping[str, Point], clock: Callable[[], float] = time.time) -> None:
        self._points = points
        self._clock = clock
        self._open: dict[str, tuple[PathTest, PSchedulerClient, PostedTask]] = {}
        self._lock = threading.Lock()
        self._posting = PostingTimes()

    def posting_time(self) -> float:
        """Seconds that posting has recently taken at the slowest point; to be added to the notice."""
        return self._posting.longest

    def run(self, test: PathTest, start_at: float | None = None) -> PolledRun:
        """Run a test once and wait for its end.

        :param start_at: when it must start, by our clock, to the whole second; call some seconds ahead
            (the points need about 5, with two participants 10, to agree).  None: as soon as possible.
        :raises Stopped: at shutdown.
        :raises ValueError: for a test without an end of its own: :mod:`measurement.fleet` reads those.
        """
        if test.request.kind == Kind.LATENCYBG:
            raise ValueError(f"{test.key}: {test.request.kind} has many results, not one")
        wrong = validation.problems(test.request)
        if wrong:
            return self._failed_run(test, _Attempt(), "; ".join(wrong), "invalid")
        attempt = _Attempt(called_at=self._clock())
        try:
            client = self._lead(test)
            run = self._execute(client, test, start_at, attempt)
            return self._read(test, run, attempt)
        except PointError as error:
            return self._failed_run(test, attempt, str(error), error.code)

    def cancel(self, test: PathTest) -> list[PointError]:
        """Cancel what is open of a test; its :meth:`run` ends as failed.  Returns what went wrong."""
        return self._cancel(lambda open_test: open_test == test)

    def cancel_all(self) -> list[PointError]:
        """Cancel every task still open, as far as the points can be reached; returns what went wrong."""
        return self._cancel(lambda _: True)

    def _cancel(self, wanted: Callable[[PathTest], bool]) -> list[PointError]:
        with self._lock:
            chosen = [uuid for uuid, (test, _, _) in self._open.items() if wanted(test)]
            tasks = [self._open.pop(uuid) for uuid in chosen]
        found = []
        for _, client, task in tasks:
            try:
                client.cancel(task)
            except PointError as error:
                found.append(error)
        return found

    def _lead(self, test: PathTest) -> PSchedulerClient:
        """The client of the point that must be given the task: participant 0, the source's point."""
        asked = self._points[test.key.source]
        name = asked.client.lead(test.request)
        if name is None or name == asked.node:
            return asked.client
        for point in self._points.values():
            if point.node == name:
                return point.client
        raise BadAnswer(asked.client.host, f"participants: the lead {name!r} is no configured point")

    def _execute(
        self, client: PSchedulerClient, test: PathTest, start_at: float | None, attempt: _Attempt
    ) -> Run:
        task = self._post(client, test, start_at, attempt)
        with self._lock:
            self._open[task.uuid] = (test, client, task)
        try:
            first = attempt.run = client.first_run(task)
            self._check_start(client, first, start_at, attempt)
            lasts, ahead = test.request.lasts, max(0.0, (start_at or 0.0) - attempt.posted_at)
            patience = ahead + SLIP + lasts + PATIENCE
            run = attempt.run = client.wait_for_run(
                task, first, attempt.clock, lasts=lasts, patience=patience
            )
            attempt.detail = client.read_detail(task)
            if run.state is RunState.NONSTART:
                attempt.free = client.read_availability(AVAILABILITY_S)
            return run
        finally:
            with self._lock:
                still_ours = self._open.pop(task.uuid, None) is not None
            if still_ours and (attempt.run is None or not attempt.run.state.terminal):
                _give_up(client, task)

    def _post(
        self, client: PSchedulerClient, test: PathTest, start_at: float | None, attempt: _Attempt
    ) -> PostedTask:
        with self._posting.turn(client.host):
            clock = attempt.clock = client.server_clock()
            now = attempt.posted_at = self._clock()
            attempt.asked_at = clock.at_server(now)
            if start_at is not None and now > start_at:
                attempt.late = True
                self._posting.note(client.host, now - attempt.called_at)
                cause = f"its planned start was {now - start_at:.1f} s ago when it could be posted"
                raise PointTimeout(client.host, cause)
            task = client.post(test.request, _schedule(clock, start_at))
        attempt.posted_at = self._clock()
        attempt.late = start_at is not None and attempt.posted_at > start_at
        self._posting.note(client.host, attempt.posted_at - attempt.called_at)
        return task

    def _check_start(
        self, client: PSchedulerClient, run: Run, start_at: float | None, attempt: _Attempt
    ) -> None:
        if start_at is None or run.state.terminal:
            return
        off = attempt.clock.ours(run.start) - start_at
        if abs(off) <= PLANNED_SLIP + 1:
            return
        if off > 0:  # posting was over in time, but not early enough for the points to agree
            attempt.late = True
            self._posting.note(client.host, attempt.posted_at - attempt.called_at + off)
        run.document.refuse("start-time", f"is {off:+.0f} s off the plan")

    def _read(self, test: PathTest, run: Run, attempt: _Attempt) -> PolledRun:
        now = self._clock()
        clock, tool = attempt.clock, attempt.detail.tool
        readings = results.read(run, test.request, attempt.asked_at, clock.at_server(now))
        wanted = [results.by_tool(each, tool) for each in readings if each.metric in test.metrics]
        seen = Seen(run, tool, clock, now)
        outcomes = tuple(outcome(test.key, reading, seen) for reading in wanted)
        started, ended = attempt.times(now)
        return PolledRun(outcomes, started, ended, slot=attempt.slot(test))

    def _failed_run(self, test: PathTest, attempt: _Attempt, cause: str, code: str) -> PolledRun:
        now = self._clock()
        if attempt.free is not None:
            cause = (
                f"{cause}; {format_share(attempt.free)} of the point's next hour is free of exclusive tests"
            )
        outcomes = tuple(MeasurementFailed(test.key, metric, cause, now, code) for metric in test.metrics)
        started, ended = attempt.times(now)
        return PolledRun(outcomes, started, ended, cause, attempt.slot(test), attempt.late)


@dataclass(slots=True)
class _Attempt:
    """How far a run has got.

    :param called_at: when it was to be posted, by our clock.
    :param posted_at: when it was posted; until then, when posting started.
    :param late: whether it was posted too late for its planned start.
    :param free: the part of the point's next hour without exclusive tests, where no time was available.
    """

    clock: ServerClock = field(default_factory=lambda: ServerClock(0.0, False))
    asked_at: float = 0.0
    called_at: float = 0.0
    posted_at: float = 0.0
    late: bool = False
    run: Run | None = None
    detail: TaskDetail = field(default_factory=TaskDetail)
    free: float | None = None

    def slot(self, test: PathTest) -> float | None:
        """What the points keep free; None if that is shorter than the test, and so wrong."""
        slot = self.detail.slot
        return slot if slot and slot >= test.request.lasts else None

    def times(self, now: float) -> tuple[float | None, float | None]:
        """When the run began and ended, as far as is known."""
        if self.run is None:
            return None, None
        started = self.clock.ours(self.run.start)
        if self.run.state not in _BEGAN:
            lost_sight = not self.run.state.terminal and started <= now
            return (started if lost_sight else None), None
        ended = min(now, self.clock.ours(self.run.end)) if self.run.state.terminal else None
        return (started if ended is None else min(started, ended)), ended


def _schedule(clock: ServerClock, start_at: float | None) -> Schedule:
    if start_at is None:
        return Schedule(slip=SLIP)
    return Schedule(slip=PLANNED_SLIP, start_at=clock.at_server(start_at))


def _give_up(client: PSchedulerClient, task: PostedTask) -> None:
    # What nobody waits for any more must not load the network later.
    try:
        client.cancel(task)
    except PointError:
        # The reason why it was given up is the one to report, and it is already on its way.
        return

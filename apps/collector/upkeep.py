"""Maintenance of long-lived tasks at the points: background tests, metrics of hosts (:mod:`.standing`).

A bounded pool of threads sends the requests, so a point that hangs does not delay the others.  :class:`Open`
knows every posted task, so that all are cancelled when this collector ends or loses its lease.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.collector.task_standing import (
    AHEAD,
    LASTS,
    Held,
    Standing,
    Todo,
    Wanted,
    after_loss,
    after_refusal,
    after_result,
    silent,
    todo,
    verdict,
    without_ended,
)
from measurement.crew import Crew
from measurement.errors import PointError
from measurement.fleet import Fleet, Host, Watched
from measurement.poller import Point
from measurement.pscheduler.client import PSchedulerClient, Schedule
from measurement.pscheduler.specs import PostedTask

LOG = logging.getLogger(__name__)
SLIP = 60.0
THREADS = 16
CANCEL_WITHIN = 2.0


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be done at one point.

    :param term: of :class:`Open`, in which it was given.
    :param work: per wanted test, by its number, how it stands and what is to be done.
    """

    point: str
    term: int
    work: Mapping[int, tuple[Standing, Todo]]


class Open:
    """Every task that may be at a point, so that a stop cancels all of them, during a post too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[str, tuple[PSchedulerClient, PostedTask]] = {}
        self._term = 0
        self._closed = False

    @property
    def term(self) -> int:
        """Counts how often everything was ended."""
        return self._term

    def add(self, term: int, client: PSchedulerClient, task: PostedTask) -> bool:
        """Remember a task; False if its term is over, and it must be cancelled."""
        with self._lock:
            open_still = term == self._term and not self._closed
            if open_still:
                self._tasks[task.uuid] = (client, task)
            return open_still

    def drop(self, task: PostedTask) -> None:
        """Forget a task that has ended."""
        with self._lock:
            self._tasks.pop(task.uuid, None)

    def end(self, *, for_good: bool = False) -> list[tuple[PSchedulerClient, PostedTask]]:
        """Begin a new term, or none any more; what was open in the one before."""
        with self._lock:
            self._term += 1
            self._closed = self._closed or for_good
            found, self._tasks = list(self._tasks.values()), {}
            return found


class Upkeep:
    """See the module.  For one thread; points are asked in others.

    :param clock: seconds since the epoch; ``monotonic`` of a clock that never steps.
    :param chance: uniform in [0, 1).
    """

    def __init__(
        self,
        wanted: Sequence[Wanted],
        points: Mapping[str, Point],
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._wanted = wanted
        self._clients = {each.point: points[each.point].client for each in wanted}
        self._clock = clock
        self._monotonic = monotonic
        self._chance = chance
        self._standings = [Standing() for _ in wanted]
        self._open = Open()
        self._busy: set[str] = set()
        self._crew: Crew[Errand, Mapping[int, Standing]] = Crew(self._see_to, THREADS, "standing")

    @property
    def hosts(self) -> list[Host]:
        """The hosts to read; which tasks, :meth:`refresh` says."""
        return [Host(client, ()) for client in self._clients.values()]

    def refresh(self, fleet: Fleet) -> None:
        """Hand due work to the workers and posted tasks to the fleet; sends no request itself."""
        while (done := self._crew.take(0)) is not None:
            self._busy.discard(done.item.point)
            self._settle(done.item, done.result)
        now = self._monotonic()
        for number, standing in enumerate(self._standings):
            kept = without_ended(standing, now)
            for held in set(standing.tasks) - set(kept.tasks):
                self._open.drop(held.task)
            self._standings[number] = kept
        for point in self._clients.keys() - self._busy:
            self._start(point, now)
        for number, point in enumerate(self._clients):
            fleet.watch(number, self._watched_tasks(point), self._clock() - SLIP)

    def record_result(self, task: str) -> None:
        """A result of a task was kept."""
        number = self._number(task)
        if number is not None:
            self._standings[number] = after_result(
                self._wanted[number], self._standings[number], self._monotonic()
            )

    def place(self, task: str) -> str | None:
        """The point that a task is at; None for one that is no longer ours."""
        number = self._number(task)
        return None if number is None else self._wanted[number].point

    def rest(self, fleet: Fleet) -> None:
        """Cancel everything and read nothing, until :meth:`refresh` is called again."""
        self._standings = [Standing() for _ in self._wanted]
        for number in range(len(self._clients)):
            fleet.watch(number, (), self._clock())
        _cancel_all(self._open.end())

    def close(self) -> None:
        """Cancel everything; what is just being posted is cancelled by its thread."""
        _cancel_all(self._open.end(for_good=True))

    def _number(self, task: str) -> int | None:
        for number, standing in enumerate(self._standings):
            if any(held.task.uuid == task for held in standing.tasks):
                return number
        return None

    def _start(self, point: str, now: float) -> None:
        found = {
            number: (standing, what)
            for number, (wanted, standing) in enumerate(zip(self._wanted, self._standings, strict=True))
            if wanted.point == point and (what := todo(wanted, standing, now)) is not Todo.NOTHING
        }
        if found:
            self._busy.add(point)
            self._crew.start(Errand(point, self._open.term, found))

    def _settle(self, errand: Errand, standings: Mapping[int, Standing]) -> None:
        if errand.term != self._open.term:
            return  # all that it has posted was cancelled
        for number, standing in standings.items():
            self._standings[number] = replace(
                standing, heard=max(standing.heard, self._standings[number].heard)
            )

    def _watched_tasks(self, point: str) -> list[Watched]:
        return [
            Watched(held.task, wanted.test, held.tool)
            for wanted, standing in zip(self._wanted, self._standings, strict=True)
            if wanted.point == point
            for held in standing.tasks
        ]

    # -- in the crew's threads -----------------------------------------------------------------------

    def _see_to(self, errand: Errand) -> Mapping[int, Standing]:
        return {
            number: self._done(errand, self._wanted[number], standing, what)
            for number, (standing, what) in errand.work.items()
        }

    def _done(self, errand: Errand, wanted: Wanted, standing: Standing, what: Todo) -> Standing:
        client = self._clients[errand.point]
        try:
            if what is Todo.ASK:
                return self._check_task(client, wanted, standing)
            return self._post_task(client, errand.term, wanted, standing)
        except PointError as error:
            after = after_refusal(standing, error, self._monotonic(), self._chance())
            LOG.warning(
                'event=%s point=%s test=%s key=%s again_in_s=%.0f cause="%s"',
                "not_asked" if what is Todo.ASK else "not_posted",
                *(wanted.point, wanted.test.request.kind, wanted.test.key),
                after.resume - self._monotonic(),
                error,
            )
            return after

    def _post_task(self, client: PSchedulerClient, term: int, wanted: Wanted, standing: Standing) -> Standing:
        now = self._monotonic()
        begins = max([now, *(held.ends for held in standing.tasks[-1:])])
        start_at = None
        if begins > now:
            start_at = client.server_clock().at_server(self._clock() + begins - now)
        task = client.post(wanted.test.request, Schedule(slip=SLIP, start_at=start_at))
        if not self._open.add(term, client, task):
            _cancel((client, task))
            return standing
        held = Held(task, begins, begins + LASTS, _tool(client, task))
        return replace(standing, tasks=(*standing.tasks, held), failures=0, resume=0.0)

    def _check_task(self, client: PSchedulerClient, wanted: Wanted, standing: Standing) -> Standing:
        there = client.server_clock().at_server(self._clock())
        earliest, latest = there - LASTS - AHEAD, there + LASTS + AHEAD
        cause = verdict(
            run for held in standing.tasks for run in client.scheduled_runs(earliest, latest, held.task)
        )
        LOG.warning(
            'event=silent point=%s test=%s key=%s cause="%s"',
            *(wanted.point, wanted.test.request.kind, wanted.test.key),
            "its run goes on without results" if cause is None else cause,
        )
        now = self._monotonic()
        if cause is None:
            return silent(wanted, standing, now)
        for held in standing.tasks:
            _cancel((client, held.task))
            self._open.drop(held.task)
        return after_loss(standing, now)


def _cancel_all(tasks: Sequence[tuple[PSchedulerClient, PostedTask]]) -> None:
    """Cancel tasks; a point that hangs is given up."""
    cancelling: Crew[tuple[PSchedulerClient, PostedTask], None] = Crew(_cancel, THREADS, "canceller")
    for each in tasks:
        cancelling.start(each)
    give_up = time.monotonic() + CANCEL_WITHIN
    for _ in tasks:
        if cancelling.take(max(0.0, give_up - time.monotonic())) is None:
            LOG.warning('event=not_cancelled cause="a point does not answer"')
            return


def _tool(client: PSchedulerClient, task: PostedTask) -> str:
    try:
        return client.read_detail(task).tool
    except PointError as error:
        LOG.info('event=tool_not_known cause="%s"', error)
        return ""


def _cancel(open_task: tuple[PSchedulerClient, PostedTask]) -> None:
    client, task = open_task
    try:
        client.cancel(task)
    except PointError as error:
        LOG.warning('event=not_cancelled cause="%s"', error)

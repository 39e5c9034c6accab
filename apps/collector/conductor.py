"""Carries the schedule out: hands jobs to the points ahead of their starts, and checks what was executed.

The plan says that no two conflicting tests overlap; the points say when their runs began and ended.  Both
are compared after every run: an overlap is a fault of the plan, of a point or of a clock, and is reported,
never passed over.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from adon.errors import Conflict, NotFound, Unavailable
from adon.measurement_plan import MeasurementPlan
from adon.units import format_duration
from apps.collector.timeline import LeftOut, Standing, Timeline, left_out
from apps.collector.workers import Finished
from measurement.archive import Archive
from measurement.errors import shorten
from measurement.model import Measurement, PathKey, to_json
from measurement.outcomes import MeasurementFailed
from measurement.poller import PathTest
from measurement.scheduling import Execution, Footprint, Overlap, Placed, Refused, Request, Start, overlaps
from measurement.scheduling.ticks import seconds

LOG = logging.getLogger(__name__)
EXECUTION = "execution"
"""The kind of document under which the archive keeps what became of planned runs."""
SHOWN = 30
"""Upcoming runs in the read-out."""
WITHIN_S = 600.0
"""Seconds within which an on-demand test must end; a later one is refused."""
OVERLAP = "overlap"
"""The kind of document that tells of two conflicting runs that ran at the same time."""
RECENT_S = 900.0
"""Seconds for which executed runs are held against new ones."""

COLLECT_SLOTS_S = 60.0
"""Seconds from the first report of a time slot that differs from the plan to a new plan."""


class Tell(Protocol):
    """What is needed of :class:`apps.link.LinkClient`."""

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one message for the controller."""


class Hands(Protocol):
    """What is needed of :class:`apps.collector.workers.Workers`."""

    def start(self, start: Start, test: PathTest, busy: int) -> bool:
        """Hand over a test; False if all threads are in use."""


@dataclass(slots=True)
class Book:
    """What has been handed over and what came of it.

    :param running: the runs handed over that have not ended, by the run's own name.
    :param demanded: on-demand tests of which a run may still be held against others.
    """

    running: dict[str, Start] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    demanded: dict[str, tuple[Request, PathTest]] = field(default_factory=dict)
    executed: list[Execution] = field(default_factory=list)


class Conductor:
    """See the module.  For one thread, the collector's.

    :ivar plan: what is carried out.
    :ivar quiet: paths that no test may load now.
    :param cancel: ends what is open at the points, without waiting.
    :param clock: seconds since the epoch.
    :param posting_time: seconds that posting a test takes, in addition to ``notice``.
    :param plan_slots: starts to plan with the time slots that points have reported, and does not wait.
    """

    def __init__(
        self,
        plan: MeasurementPlan,
        hands: Hands,
        archive: Archive,
        tell: Tell,
        *,
        notice: float,
        cancel: Callable[[], None],
        clock: Callable[[], float],
        posting_time: Callable[[], float] = lambda: 0.0,
        plan_slots: Callable[[Mapping[str, float]], None] = lambda _: None,
    ) -> None:
        self.plan = plan
        self._hands = hands
        self._archive = archive
        self._tell = tell
        self._notice = notice
        self._cancel = cancel
        self._clock = clock
        self._tests: dict[str, Footprint] = dict(plan.schedule.tasks)
        self._timeline: Timeline | None = None
        self.quiet: frozenset[str] = frozenset()
        self._book = Book()
        self._numbers = itertools.count(1)
        self._posting_time = posting_time
        self._plan_slots = plan_slots
        self._slots: dict[str, float] = {}
        self._plan_slots_at = math.inf

    def schedule(self) -> dict[str, Any]:
        """The plan as it is being carried out, as JSON: its tasks, the next runs, and what it spends."""
        plan, now = self.plan.schedule, self._clock()
        upcoming = [] if self._timeline is None else self._timeline.horizon.upcoming(now, SHOWN)
        return {
            "measures": self._timeline is not None,
            "round_seconds": seconds(plan.hyperperiod),
            "tasks": [
                {
                    "task": task.id,
                    "source": task.source,
                    "destination": task.destination,
                    "tool": task.tool,
                    "period_seconds": task.period,
                    "slot_seconds": task.duration,
                }
                for task in plan.tasks.values()
            ],
            "upcoming": [{"task": start.task, "start": start.at} for start in upcoming],
            "spend": {
                where: {"allowed_bps": spend.allowed, "peak_bps": spend.peak, "mean_bps": spend.mean}
                for where, spend in plan.spend().items()
            },
        }

    @property
    def measures(self) -> bool:
        """Whether this collector is the one that measures."""
        return self._timeline is not None

    @property
    def under_way(self) -> int:
        """How many runs were handed over whose results have not been handled."""
        return len(self._book.running)

    def begin(self) -> None:
        """Begin the first round."""
        self._timeline = Timeline.begin(self.plan.schedule, self._clock(), self._notice)
        LOG.info(
            "event=schedule tests=%d round_s=%g first=%.0f",
            len(self.plan.tests),
            seconds(self.plan.schedule.hyperperiod),
            self._timeline.considered,
        )

    def replan(self, plan: MeasurementPlan) -> None:
        """Go over to another plan, as soon as what was handed over by the present one is over."""
        for note in plan.notes:
            LOG.warning('event=not_planned cause="%s"', shorten(note))
        before, self.plan = self.plan, plan
        self._tests |= plan.schedule.tasks
        if self._timeline is None or plan.schedule == before.schedule:
            return
        waiting = [each for each in self._timeline.horizon.on_demand if self._waits(each)]
        longest = max((task.execution_time for task in before.schedule.tasks.values()), default=0)
        over = self._timeline.considered + seconds(longest)
        self._timeline = Timeline.begin(plan.schedule, over - self._notice, self._notice)
        LOG.info("event=replanned tests=%d from=%.0f", len(plan.tests), self._timeline.considered)
        for placed in waiting:
            answer = self._timeline.admit(placed.request, self._clock())
            if isinstance(answer, Refused):
                LOG.warning('event=dropped task=%s cause="%s"', placed.request.id, answer.reason)
            else:
                self._timeline, _ = answer

    def _waits(self, placed: Placed) -> bool:
        timeline = self._timeline
        return timeline is not None and timeline.horizon.wall(placed.start) >= timeline.considered

    def halt(self) -> None:
        """Another collector measures now: end what we have under way."""
        self._timeline = None
        self._cancel()

    def be_quiet(self, paths: frozenset[str]) -> None:
        """Load these paths no more, until told otherwise."""
        LOG.info("event=quiet paths=%s", ",".join(sorted(paths)))
        self.quiet = paths

    def start_due(self) -> None:
        """Hand over the jobs whose time has come."""
        if self._timeline is None:
            return
        now = self._clock()
        if now >= self._plan_slots_at:
            self._plan_slots_at = math.inf
            self._plan_slots(dict(self._slots))
        notice = self._notice + self._posting_time()
        self._timeline, starts = replace(self._timeline, notice=notice).starts(now)
        for start in starts:
            demanded = self._book.demanded.get(start.task)
            if demanded is not None:
                self._hand_over(start, demanded[1])
                continue
            reason = left_out(
                start,
                now,
                loads=self.plan.loads.get(start.task),
                quiet=self.quiet,
                running=self._overdue(now),
                standings=self._book.standings,
            )
            if reason is not None:
                LOG.info('event=left_out task=%s cause="%s"', start.task, reason)
                self._record(Execution(start.task, start.number, start.at, None, None, str(reason)))
            else:
                self._hand_over(start, self.plan.tests[start.task])

    def demand(self, test: PathTest, why: str) -> Start:
        """Have a test done beside the plan, in its slack.

        :param why: shown with the run.
        :return: when it starts.
        :raises Unavailable: while another collector measures.
        :raises Conflict: if it fits nowhere, with the earliest time at which it would.
        """
        if self._timeline is None:
            raise Unavailable("another collector measures")
        now = self._clock()
        request = self.plan.request(test, next(self._numbers), now + self._notice + WITHIN_S)
        answer = self._timeline.admit(request, now)
        if isinstance(answer, Refused):
            raise Conflict("test", _refusal(answer, now))
        self._timeline, start = answer
        self._book.demanded[request.id] = (request, test)
        LOG.info('event=demanded task=%s at=%.0f why="%s"', request.id, start.at, shorten(why))
        return start

    def test_of(self, key: PathKey, kind: str) -> PathTest:
        """The configured test of this kind on a directed path.

        :raises NotFound: if none is configured.
        """
        name = f"{key}/{kind}"
        if name not in self.plan.tests:
            raise NotFound("test", name)
        return self.plan.tests[name]

    def record_finish(self, message: Finished, keep: Callable[[list[Measurement]], object]) -> None:
        """Note what became of a run, once its values are kept.

        :param keep: archives values; what it raises is raised here, and nothing is noted.
        """
        start, run = message.start, message.run
        self._book.running.pop(_name(start), None)
        good = [found for found in run.outcomes if isinstance(found, Measurement)]
        if not run.late:  # the task is as good as before
            self._stand(start, succeeded=bool(good))
        self._note_slot(start.task, run.slot)
        for outcome in run.outcomes:
            if isinstance(outcome, MeasurementFailed):
                self._record_failure(outcome)
        keep(good)
        said = "measured" if good else str(LeftOut.POSTED_LATE) if run.late else run.failure or "no value"
        self._record(Execution(start.task, start.number, start.at, run.started, run.ended, said))

    def _note_slot(self, task: str, slot: float | None) -> None:
        planned = self.plan.schedule.tasks.get(task)
        if planned is None or slot is None or self._slots.get(task) == slot:
            return
        self._slots[task] = slot
        if math.ceil(slot) != planned.duration:
            self._plan_slots_at = min(self._plan_slots_at, self._clock() + COLLECT_SLOTS_S)

    def _overdue(self, now: float) -> set[str]:
        """The planned tasks of which a run should have ended, and its result be here, and has not.

        One that has just been handed over is no reason to leave out the next: periods may be shorter than
        ``notice`` and a test together.
        """
        tasks = self.plan.schedule.tasks
        return {
            start.task
            for start in self._book.running.values()
            if start.task in tasks and now >= start.at + tasks[start.task].duration + self._notice
        }

    def _hand_over(self, start: Start, test: PathTest) -> None:
        if self._hands.start(start, test, len(self._book.running)):
            self._book.running[_name(start)] = start
        else:
            LOG.error("event=no_worker task=%s", start.task)
            self._record(Execution(start.task, start.number, start.at, None, None, str(LeftOut.NO_WORKER)))

    def _stand(self, start: Start, *, succeeded: bool) -> None:
        if start.task not in self.plan.tests:
            return
        standing = self._book.standings.get(start.task, Standing())
        period = self.plan.schedule.tasks[start.task].period
        self._book.standings[start.task] = (
            standing.after_success() if succeeded else standing.after_failure(self._clock(), period)
        )

    def _record(self, execution: Execution) -> None:
        book, document = self._book, to_json(execution)
        self._archive.put_document(EXECUTION, execution.id, execution.planned_start, None, document)
        since = self._clock() - RECENT_S
        book.executed = [*(old for old in book.executed if old.planned_start > since), execution]
        recent = {old.task for old in book.executed} | {start.task for start in book.running.values()}
        upcoming = () if self._timeline is None else self._timeline.horizon.on_demand
        kept = recent | {placed.request.id for placed in upcoming}
        book.demanded = {name: what for name, what in book.demanded.items() if name in kept}
        for overlap in overlaps(book.executed, self._known_runs()):
            if execution in (overlap.first, overlap.second):
                self._report(overlap)

    def _report(self, overlap: Overlap) -> None:
        first, second = overlap.first, overlap.second
        LOG.error("event=overlap first=%s second=%s seconds=%.1f", first.id, second.id, overlap.seconds)
        document = {
            "first": to_json(first),
            "second": to_json(second),
            "seconds": overlap.seconds,
        }
        self._archive.put_document(OVERLAP, f"{first.id} {second.id}", self._clock(), None, document)

    def _known_runs(self) -> list[Footprint]:
        return [*self._tests.values(), *(each for each, _ in self._book.demanded.values())]

    def _record_failure(self, failure: MeasurementFailed) -> None:
        LOG.warning(
            'event=measurement_failed key=%s metric=%s code=%s cause="%s"',
            failure.key,
            failure.metric,
            failure.code,
            failure.cause,
        )
        self._tell.send("measurement_failed", to_json(failure))


def _refusal(refused: Refused, now: float) -> str:
    if refused.earliest is None:
        return refused.reason
    wait = format_duration(math.ceil(refused.earliest - now))
    return f"{refused.reason}; the earliest possible start is in {wait}"


def _name(start: Start) -> str:
    return f"{start.task}@{start.at}"

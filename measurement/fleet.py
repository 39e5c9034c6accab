"""Many hosts with repeating tasks of ours, read in rounds from a bounded pool of threads.

Where tests are pushed to points as repeating tasks (a mesh that the points run by themselves), reading
is one request per host for what ran (``/schedule``) and one per new result.  Tests of class
background-multi are asked for by task, since each of their results is a run of its own.

What is read is handed over in batches.  Only after a batch was taken does a host's place move on, so an
error in taking it, or a crash, loses nothing: it is read again, and the archive knows duplicates.  A round
with a bound in time leaves behind who is slow: what that host says is handed over in a later round.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from measurement.crew import Crew
from measurement.errors import PointError, Rejected
from measurement.outcomes import MeasurementFailed, Outcome, Seen, outcome, report_of
from measurement.poller import PathTest
from measurement.pscheduler import history, results, retry
from measurement.pscheduler.client import PSchedulerClient, Run, ScheduledRun, ServerClock
from measurement.pscheduler.document import Document
from measurement.pscheduler.specs import HOST_METRIC, WITHOUT_END, PostedTask
from measurement.pscheduler.states import RunState
from measurement.sources.received import Report

LOG = logging.getLogger(__name__)
CLOCK_HOLDS = 600.0
LOOK_BACK = 60.0
"""Seconds before the newest run read that are looked at again: NTP may correct the clock of a point."""
LONGEST_RUN = 86_400.0
MOST_RUNS = 1000
"""Results read from one host in one round; what is over is read in the next."""
AGAIN_AT_MOST = 3600.0

Value = Outcome | Report
"""A report: what a point has observed on its own host."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A repeating task at a host, and what it is done for."""

    task: PostedTask
    test: PathTest
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """A host and our tasks there."""

    client: PSchedulerClient
    watched: Sequence[Watched]


@dataclass(frozen=True, slots=True)
class Place:
    """How far a host has been read; times by the server's clock, except ``resume`` and ``clock_at``.

    :param since: everything before has been read.  It follows the runs, not the clock: a clock that
        steps makes nothing be skipped.
    :param seen: the runs after ``since`` that have been read, and when they ended.
    :param failures: how often in a row the host could not be read.
    :param resume: not to be asked before this time.
    """

    since: float
    seen: Mapping[str, float] = field(default_factory=dict)
    clock: ServerClock | None = None
    clock_at: float = 0.0
    failures: int = 0
    resume: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """A run of a task.

    :param read: the run with its result, where finding it has shown that too.
    """

    watched: Watched
    run: ScheduledRun
    read: Run | None = None


@dataclass(frozen=True, slots=True)
class Errand:
    """Read one host, from its place on."""

    number: int
    host: Host
    place: Place


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one host gave in one round."""

    errand: Errand
    place: Place
    values: tuple[Value, ...]
    error: PointError | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """How a round went.

    :param asked: hosts that were asked; the others are left alone for a while after errors.
    :param values: how many values and failures were handed over.
    """

    asked: int
    values: int
    errors: tuple[PointError, ...] = field(default=())


class Fleet:
    """See the module.  One thread calls :meth:`poll`.

    :param take: is given the values, in the thread that polls; when it returns they count as kept.
    :param since: where reading begins, seconds since the epoch.
    :param threads: how many hosts are read at once.
    :param batch: how many values are handed over at once, about.
    :param clock: our time; ``chance`` uniform in [0, 1).
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        take: Callable[[Sequence[Value]], object],
        *,
        since: float,
        threads: int = 16,
        batch: int = 500,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._hosts = list(hosts)
        self._take = take
        self._batch = batch
        self._clock = clock
        self._chance = chance
        self._places = [Place(since) for _ in hosts]
        self._crew: Crew[Errand, Harvest] = Crew(self._harvest, threads, "fleet")
        self._out: set[int] = set()

    def watch(self, number: int, watched: Sequence[Watched], since: float) -> None:
        """From now on read other tasks at a host.  With a task that is new, the host is due at once.

        :param number: the host's place in ``hosts``.
        :param since: results of new tasks are read from then on (server's clock); others may be read twice.
        """
        known = {each.task.uuid for each in self._hosts[number].watched}
        self._hosts[number] = replace(self._hosts[number], watched=tuple(watched))
        if any(each.task.uuid not in known for each in watched):
            place = self._places[number]
            since = min(since, place.since) if known else since
            self._places[number] = replace(place, since=since, failures=0, resume=0.0)

    def poll(self, patience: float = math.inf) -> Round:
        """Read every host that has tasks and is due, once.

        :param patience: seconds; after them the round is over, and hosts still being read belong to a
            later one.
        :raises Stopped: at shutdown; what was read and not yet handed over is read again next time.
        """
        due = self._due()
        for number in due:
            self._out.add(number)
            self._crew.start(Errand(number, self._hosts[number], self._places[number]))
        values, errors = 0, []
        for batch in self._batches(self._harvests(patience)):
            found = [value for harvest in batch for value in harvest.values]
            if found:
                self._take(found)
            for harvest in batch:
                self._move_on(harvest)
                if harvest.error is not None:
                    errors.append(harvest.error)
            values += len(found)
        return Round(len(due), values, tuple(errors))

    def _due(self) -> list[int]:
        now = self._clock()
        return [
            number
            for number, (host, place) in enumerate(zip(self._hosts, self._places, strict=True))
            if host.watched and number not in self._out and not now < place.resume <= now + AGAIN_AT_MOST
        ]

    def _move_on(self, harvest: Harvest) -> None:
        number = harvest.errand.number
        # Unless its place has been moved back meanwhile, for a task that is new.
        if self._places[number] is harvest.errand.place:
            self._places[number] = harvest.place

    def _harvests(self, patience: float) -> Iterator[Harvest]:
        give_up = time.monotonic() + patience
        while self._out:
            left = None if math.isinf(give_up) else max(0.0, give_up - time.monotonic())
            done = self._crew.take(left)
            if done is None:
                return
            self._out.discard(done.item.number)
            yield done.result

    def _batches(self, harvests: Iterable[Harvest]) -> Iterator[list[Harvest]]:
        held: list[Harvest] = []
        for harvest in harvests:
            held.append(harvest)
            if sum(len(each.values) for each in held) >= self._batch:
                yield held
                held = []
        if held:
            yield held

    def _harvest(self, errand: Errand) -> Harvest:
        host, place = errand.host, errand.place
        values: list[Value] = []
        seen = dict(place.seen)
        try:
            now = self._clock()
            clock, clock_at = self._server_clock(host, place, now)
            there = clock.at_server(now)
            runs = list(_runs(host, place, there))
            for found in _unread(runs, seen)[:MOST_RUNS]:
                values += self._values(host.client, found, clock)
                seen[found.run.run] = min(found.run.end, there)
        except PointError as error:
            place = self._after_error(replace(place, seen=seen), error)
            return Harvest(errand, place, tuple(values), error)
        since = _since(runs, seen, place.since, there)
        kept = {run: end for run, end in seen.items() if end >= since - LOOK_BACK}
        return Harvest(errand, Place(since, kept, clock, clock_at), tuple(values))

    def _server_clock(self, host: Host, place: Place, now: float) -> tuple[ServerClock, float]:
        if place.clock is not None and 0 <= now - place.clock_at < CLOCK_HOLDS:
            return place.clock, place.clock_at
        return host.client.server_clock(), now

    def _values(self, client: PSchedulerClient, found: Found, clock: ServerClock) -> list[Value]:
        """The values of a run; what is wrong with it alone is a failure of its metrics, and settled."""
        watched, test = found.watched, found.watched.test
        try:
            ended = found.read if found.read is not None else _fetch_document(client, found.run)
            now = self._clock()
            seen = Seen(ended, watched.tool, clock, now)
            readings = results.read(ended, test.request, 0.0, clock.at_server(now))
        except PointError as error:
            if error.temporary:
                raise
            at, cause, code = self._clock(), str(error), error.code
            return [MeasurementFailed(test.key, metric, cause, at, code) for metric in test.metrics]
        if test.request.kind == HOST_METRIC:
            return [report_of(test.request, seen)]
        wanted = (each for each in readings if each.metric in test.metrics)
        return [outcome(test.key, results.by_tool(each, watched.tool), seen) for each in wanted]

    def _after_error(self, place: Place, error: PointError) -> Place:
        failures = place.failures + 1
        wait = retry.before_next(error, failures, self._chance())
        wait = AGAIN_AT_MOST if wait is None else min(wait, AGAIN_AT_MOST)
        LOG.warning('event=host_not_read again_in_s=%.0f cause="%s"', wait, error)
        return replace(place, failures=failures, resume=self._clock() + wait, clock=None)


def _fetch_document(client: PSchedulerClient, run: ScheduledRun) -> Run:
    """A run with as much of its document as is needed."""
    fields: dict[str, object] = {"errors": run.errors}
    if run.state is RunState.FINISHED:
        fields["result-merged"] = client.merged_result(run)
    document = Document(client.host, "run", fields)
    return Run(run.run, client.run_url(run), run.state, run.start, run.end, document)


def _runs(host: Host, place: Place, until: float) -> Iterator[Found]:
    """The runs of our tasks since the host's place, read or not."""
    several = [each for each in host.watched if each.test.request.kind in WITHOUT_END]
    single = {each.task.uuid: each for each in host.watched if each.test.request.kind not in WITHOUT_END}
    if single:
        for run in history.runs(host.client.scheduled_runs, place.since, until):
            if run.task in single:
                yield Found(single[run.task], run)
    for watched in several:
        for name in host.client.runs_since(watched.task, place.since)[:MOST_RUNS]:
            if name not in place.seen:
                yield from _of_several(host.client, watched, name)


def _of_several(client: PSchedulerClient, watched: Watched, name: str) -> Iterator[Found]:
    try:
        run = client.run(watched.task, name)
    except Rejected as error:
        if error.status != 404:
            raise
        return  # it has been forgotten since it was listed
    if run.end == run.start:  # the parent run takes time, and never has a result
        line = ScheduledRun(name, watched.task.uuid, run.state, run.start, run.end)
        yield Found(watched, line, run if run.state is RunState.FINISHED else None)


def _unread(runs: Iterable[Found], seen: Mapping[str, float]) -> list[Found]:
    """The runs to read, oldest first."""
    found = [each for each in runs if each.run.state.terminal and each.run.run not in seen]
    return sorted(found, key=lambda each: each.run.start)


def _since(runs: Sequence[Found], seen: Mapping[str, float], since: float, now: float) -> float:
    """Where to read on: at the first run that is still to be read, else a little before the newest."""
    oldest = now - LONGEST_RUN
    known = [each.run for each in runs]
    newest = max((run.start for run in known if run.run in seen), default=since)
    waiting = [
        run.start for run in known if run.run not in seen and (run.state.terminal or run.start > oldest)
    ]
    return min([max(since, oldest, min(newest, now) - LOOK_BACK), *waiting])

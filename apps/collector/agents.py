"""Finds the tests that other agents (pSConfig) have pScheduler hosts run between our measurement addresses.

Agents renew their tasks each day, so the list is asked for again every few minutes.  A host is asked for the
tasks between two addresses at a time, and only for those that it leads: the lead has the results.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.collector.orders import METRICS
from measurement.crew import Crew
from measurement.errors import PointError
from measurement.fleet import AGAIN_AT_MOST, Fleet, Host, Watched
from measurement.model import Metric, PathKey
from measurement.poller import PathTest
from measurement.pscheduler import results, retry
from measurement.pscheduler.client import FoundTask, PSchedulerClient
from measurement.pscheduler.specs import WITHOUT_END, Kind, TestRequest

LOG = logging.getLogger(__name__)
REFRESH = 300.0
"""Seconds between two looks at a host's tasks."""
BACK = 3600.0
"""Seconds that reading goes back at most, at the start too: who wants more reads the site's archive."""
EARLY = 60.0
WAIT = 5.0
MOST = 500
"""Tasks watched at one host."""
THREADS = 16


@dataclass(frozen=True, slots=True)
class Interest:
    """What is wanted of the tasks of others.

    :param paths: per pair of measurement addresses the directed path that they are pinned to.
    :param one_way: directed paths whose loss is measured one-way: a ping's, of both directions, is not kept.
    :param own: what the owners of our own tasks begin with; their results come in elsewhere.
    """

    paths: Mapping[tuple[str, str], PathKey]
    one_way: Collection[PathKey]
    own: str

    def watched(self, found: FoundTask) -> Watched | None:
        """A task as something to read; None if there is nothing in it for us."""
        known = found.known
        if known.owner.startswith(self.own) or not (known.repeats or known.test in WITHOUT_END):
            return None
        source, dest = str(known.spec.get("source")), str(known.spec.get("dest"))
        backwards = results.reverses(known.test, known.spec)
        key = self.paths.get((dest, source) if backwards else (source, dest))
        metrics = () if key is None else self._metrics(known.test, key)
        if key is None or not metrics:
            return None
        request = TestRequest(known.test, known.spec, 0.0)
        return Watched(found.task, PathTest(key, request, metrics), known.tool)

    def _metrics(self, test: str, key: PathKey) -> tuple[Metric, ...]:
        if test == Kind.RTT and key not in self.one_way:
            return (Metric.RTT, Metric.LOSS)
        return METRICS.get(Kind.LATENCY if test == Kind.LATENCYBG else test, ())


@dataclass(frozen=True, slots=True)
class Looked:
    """How looking for a host's tasks goes.

    :param at: when they were found last.
    :param due: when they are looked for next.
    """

    at: float
    due: float = 0.0
    failures: int = 0


class Agents:
    """See the module.  For one thread; hosts are asked in others.

    :param clients: by the name of the host.
    :param clock: seconds since the epoch; ``monotonic`` of a clock that never steps.
    :param chance: uniform in [0, 1).
    """

    def __init__(
        self,
        clients: Mapping[str, PSchedulerClient],
        interest: Interest,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._names = list(clients)
        self._clients = list(clients.values())
        self._interest = interest
        self._clock = clock
        self._monotonic = monotonic
        self._chance = chance
        self._looked = [Looked(float("-inf")) for _ in clients]
        self._busy: set[int] = set()
        self._crew: Crew[int, list[Watched]] = Crew(self._find, THREADS, "agents")

    @property
    def hosts(self) -> list[Host]:
        """The hosts to read; which tasks, :meth:`refresh` says."""
        return [Host(client, ()) for client in self._clients]

    def refresh(self, fleet: Fleet) -> None:
        """Have tasks looked for where it is time, and have read what was found.

        Hosts that do not answer within :data:`WAIT` seconds are seen to the next time.
        """
        now = self._monotonic()
        for number, looked in enumerate(self._looked):
            if number not in self._busy and looked.due <= now:
                self._busy.add(number)
                self._crew.start(number)
        give_up = time.monotonic() + WAIT
        while self._busy and (done := self._crew.take(max(0.0, give_up - time.monotonic()))) is not None:
            self._busy.discard(done.item)
            try:
                self._found(fleet, done.item, done.result)
            except PointError as error:
                self._failed(done.item, error)

    def heard(self, task: str, /) -> None:
        """A result of a task was kept: nothing follows from it."""

    def place(self, _task: str, /) -> str | None:
        """No task that is read here observes its own host."""
        return None

    def rest(self, fleet: Fleet) -> None:
        """Read nothing until :meth:`refresh` is called again; then from here on."""
        for number, looked in enumerate(self._looked):
            fleet.watch(number, (), self._clock())
            self._looked[number] = replace(looked, due=0.0)

    def close(self) -> None:
        """Nothing of ours is there."""

    def _find(self, number: int) -> list[Watched]:
        found = [
            self._interest.watched(task)
            for source, dest in self._interest.paths
            for task in self._clients[number].tasks_between(source, dest)
        ]
        return [watched for watched in found if watched is not None]

    def _found(self, fleet: Fleet, number: int, found: Sequence[Watched]) -> None:
        if len(found) > MOST:
            LOG.warning("event=tasks_left_out agent=%s tasks=%d", self._names[number], len(found) - MOST)
        since = max(self._looked[number].at - EARLY, self._clock() - BACK)
        fleet.watch(number, found[:MOST], since)
        self._looked[number] = Looked(self._clock(), self._monotonic() + REFRESH)

    def _failed(self, number: int, error: PointError) -> None:
        failures = self._looked[number].failures + 1
        wait = retry.before_next(error, failures, self._chance())
        pause = AGAIN_AT_MOST if wait is None else wait
        self._looked[number] = replace(self._looked[number], due=self._monotonic() + pause, failures=failures)
        LOG.warning(
            'event=tasks_not_found agent=%s again_in_s=%.0f cause="%s"', self._names[number], pause, error
        )

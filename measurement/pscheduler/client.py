"""A client of pScheduler's REST API (5.2, API level 6): tasks, runs, results.

What it relies on, and the server's pitfalls it goes around, are pScheduler's own: a task goes to
participant 0; ``schedule`` is always sent; a repeat interval is never zero; every task carries a
random ``_key`` (without one a task of two participants can never be cancelled) and a unique
``reference``; posting is not idempotent, so after a time-out the reference is looked for before the
task is posted again; waits are short and bounded, and a run's plan is followed by the server's clock.
Links in answers are not followed: only the identifiers at their ends are used, under the base URL that
was configured, so an answer cannot lead this client to another host.
"""

from __future__ import annotations

import json
import random
import re
import secrets
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer, PointError, PointTimeout, Rejected
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import format_duration, format_timestamp
from measurement.pscheduler.specs import PostedTask, TestRequest
from measurement.pscheduler.states import RunState
from measurement.pscheduler.transport import DEFAULT_TIMEOUTS, Answer, Timeouts, Transport, Verify

FIRST_RUN_WAIT = 5
RUN_WAIT = 5
VISIBLE_WITHIN = 60.0
OVERTIME = 60.0
_LAST_PART = re.compile(r"/([0-9A-Fa-f-]{36})/?$")


@dataclass(frozen=True, slots=True)
class ServerClock:
    """A point's clock, read at an instant of ours.

    :param offset: server's time minus ours, seconds.
    :param synchronized: whether the server says that its clock is disciplined.
    """

    offset: float
    synchronized: bool

    def at_server(self, ours: float) -> float:
        """An instant of our clock, by the server's."""
        return ours + self.offset

    def ours(self, at_server: float) -> float:
        """An instant of the server's clock, by ours."""
        return at_server - self.offset


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a task as the server describes it; times by the server's clock."""

    uuid: str
    url: str
    state: RunState
    start: float
    end: float
    document: Document


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a task runs.

    :param slip: seconds a run may start late; without slip a conflict kills it.
    :param start: seconds from posting; None means as soon as possible.
    :param repeat: seconds between runs; None means one run.
    :param until: absolute end of a repeating task.
    :raises ValueError: for a repeat interval of zero, which stops a real server's scheduler.
    """

    slip: float = 300.0
    start: float | None = None
    repeat: float | None = None
    until: float | None = None
    max_runs: int | None = None

    def __post_init__(self) -> None:
        if self.repeat is not None and not self.repeat > 0:
            raise ValueError(f"repeat: {self.repeat!r} must be above zero")

    @property
    def document(self) -> dict[str, object]:
        """The ``schedule`` object of a task."""
        fields: dict[str, object] = {"slip": format_duration(self.slip)}
        if self.start is not None:
            fields["start"] = format_duration(self.start)
        if self.repeat is not None:
            fields["repeat"] = format_duration(self.repeat)
        if self.until is not None:
            fields["until"] = format_timestamp(self.until)
        if self.max_runs is not None:
            fields["max-runs"] = self.max_runs
        return fields


class PSchedulerClient:
    """One pScheduler host.  Threads may share a client; it keeps no state between calls.

    Every method raises :class:`~measurement.errors.PointError` (which names the host) when the host
    refuses, hangs, or answers what it may not.

    :param pause: sleeps; may raise :class:`~measurement.errors.Stopped` to end waits at shutdown.
    """

    def __init__(
        self,
        base_url: str,
        verify: Verify = True,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        *,
        owner: str = "adon",
        attempts: int = 2,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._http = Transport(base_url, verify, timeouts, attempts=attempts, pause=pause, chance=chance)
        self._owner = owner
        self._clock = clock
        self._pause = pause

    @property
    def host(self) -> str:
        """``host[:port]``, as configured."""
        return self._http.host

    def api(self) -> int:
        """The API level: 6 for pScheduler 5."""
        level = self._http.get("/api").json()
        if isinstance(level, bool) or not isinstance(level, int):
            raise BadAnswer(self.host, f"/api: {level!r} is not an API level: is this pScheduler?")
        return level

    def hostname(self) -> str:
        """The name the host knows itself by."""
        name = self._http.get("/hostname").json()
        if not isinstance(name, str):
            raise BadAnswer(self.host, "/hostname: expected text")
        return name

    def server_clock(self) -> ServerClock:
        """The host's clock against ours, to half the time the question takes."""
        before = self._clock()
        document = Document.of(self.host, "clock", self._http.get("/clock").json())
        middle = (before + self._clock()) / 2
        synchronized = document.fields.get("synchronized") is True
        return ServerClock(document.time("time") - middle, synchronized)

    def lead(self, test: TestRequest) -> str | None:
        """Participant 0, where the task must be posted; None for the host that is asked."""
        spec = json.dumps(dict(test.spec))
        answer = self._http.get(f"/tests/{test.kind}/participants", {"spec": spec}).json()
        names = Document.of(self.host, "participants", answer).fields.get("participants")
        if not isinstance(names, list) or not names or not isinstance(names[0], str | None):
            raise BadAnswer(self.host, "participants: names no lead")
        return names[0]

    def post(self, test: TestRequest, schedule: Schedule) -> PostedTask:
        """Post a task; it exists once when this returns, and also when a first answer got lost."""
        key = secrets.token_urlsafe(24)
        reference = {"owner": self._owner, "id": uuid.uuid4().hex}
        body: dict[str, object] = {
            "schema": 1,
            "test": test.document,
            "schedule": schedule.document,
            "reference": reference,
            "_key": key,
        }
        try:
            return self._posted(self._http.post("/tasks", body), key)
        except PointError as error:
            if not error.temporary:
                raise
        found = self._find(reference, key)
        return found if found is not None else self._posted(self._http.post("/tasks", body), key)

    def first_run(self, task: PostedTask) -> Run:
        """The task's first run, once the participants have agreed on it."""
        return self._awaited(task, "first")

    def next_run(self, task: PostedTask) -> Run:
        """The first run of a repeating task that does not start before now."""
        return self._awaited(task, "next")

    def run(self, task: PostedTask, run: str, *, wait: int = 0) -> Run:
        """A run by its identifier; with ``wait`` the server holds the answer for up to so many seconds."""
        # wait=0 together with wait-merged is a 500 on real servers.
        params = {"wait-merged": "1", "wait": str(wait)} if wait else {}
        answer = self._http.get(f"/tasks/{task.uuid}/runs/{run}", params, wait=wait)
        return self._read_run(task, answer, run)

    def runs_since(self, task: PostedTask, start: float) -> list[str]:
        """Identifiers of the runs that start at or after ``start`` (server's clock), by time."""
        params = {"start": format_timestamp(start)}
        return [
            self._last_part(url)
            for url in self._urls(self._http.get(f"/tasks/{task.uuid}/runs", params).json())
        ]

    def ended(self, task: PostedTask, run: Run, clock: ServerClock, *, lasts: float, patience: float) -> Run:
        """Wait for a run to reach a final state and give it back as it then is.

        :param clock: the server's clock, by which the plan is followed.
        :param lasts: how long the test measures; before that nothing is asked.
        :param patience: seconds from now beyond which not to wait, whatever the run's plan says.
        :raises PointTimeout: when it has not ended a minute after its planned end, or in ``patience``.
        """
        give_up = min(self._clock() + patience, clock.ours(run.end) + OVERTIME)
        while not run.state.terminal:
            now = self._clock()
            if now >= give_up:
                raise PointTimeout(self.host, f"the run is still {run.state} after its time")
            # Not the planned end: a slot is longer than its test, and some servers end with the test.
            measuring = min(clock.ours(run.start) + lasts, give_up) - now
            if measuring > 0:
                self._pause(measuring)
            run = self.run(task, run.uuid, wait=RUN_WAIT)
            if not run.state.terminal:
                self._pause(0.5)  # a server that ignores the wait is not asked in a tight loop
        return run

    def tool(self, task: PostedTask) -> str:
        """The tool that the participants agreed on; empty when the host does not say."""
        document = Document.of(self.host, "task", self._http.get(f"/tasks/{task.uuid}").json())
        return document.text("tool") if document.has("tool") else ""

    def cancel(self, task: PostedTask) -> None:
        """Cancel a task.  Also succeeds when it is already cancelled or long forgotten."""
        try:
            self._http.delete(f"/tasks/{task.uuid}", {"key": task.key})
        except Rejected as error:
            if error.status != 404:
                raise

    def _find(self, reference: Mapping[str, str], key: str) -> PostedTask | None:
        pattern = {"reference": dict(reference), "detail": {"enabled": True}}
        urls = self._urls(self._http.get("/tasks", {"json": json.dumps(pattern)}).json())
        return self._task(urls[0], key) if urls else None

    def _posted(self, answer: Answer, key: str) -> PostedTask:
        url = answer.json()
        if not isinstance(url, str):
            raise BadAnswer(self.host, "/tasks: expected the task's URL")
        return self._task(url, key)

    def _task(self, url: str, key: str) -> PostedTask:
        name = self._last_part(url)
        return PostedTask(name, f"{self._http.url}/tasks/{name}", key)

    def _awaited(self, task: PostedTask, which: str) -> Run:
        give_up = self._clock() + VISIBLE_WITHIN
        path, params = f"/tasks/{task.uuid}/runs/{which}", {"wait": str(FIRST_RUN_WAIT)}
        while True:
            try:
                # A real server holds this one for twice the wait.
                return self._read_run(task, self._http.get(path, params, wait=2 * FIRST_RUN_WAIT))
            except Rejected as error:
                if error.status != 404:
                    raise
            if self._clock() >= give_up:
                raise PointTimeout(self.host, f"no run was scheduled in {VISIBLE_WITHIN:.0f} s")
            self._pause(1.0)

    def _read_run(self, task: PostedTask, answer: Answer, asked: str | None = None) -> Run:
        document = Document.of(self.host, "run", answer.json())
        name = self._last_part(document.text("href"))
        if asked is not None and name != asked:
            document.refuse("href", "is another run than the one asked for")
        try:
            state = RunState(document.text("state"))
        except ValueError:
            document.refuse("state", "is unknown")
        start, end = document.time("start-time"), document.time("end-time")
        if end < start:
            document.refuse("end-time", "is before start-time")
        return Run(name, f"{task.url}/runs/{name}", state, start, end, document)

    def _urls(self, value: object) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(url, str) for url in value):
            raise BadAnswer(self.host, "expected a list of URLs")
        return value

    def _last_part(self, url: str) -> str:
        found = _LAST_PART.search(url)
        if found is None:
            raise BadAnswer(self.host, f"{url[:80]!r} does not end in an identifier")
        return found[1]

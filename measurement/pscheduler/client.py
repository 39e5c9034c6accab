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
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from measurement.errors import BadAnswer, PointError, PointTimeout, Rejected
from measurement.pscheduler import retry
from measurement.pscheduler.document import Document
from measurement.pscheduler.iso8601 import format_duration, format_timestamp
from measurement.pscheduler.specs import PostedTask, TestRequest
from measurement.pscheduler.states import RunState
from measurement.pscheduler.tasks import Schedule, body, new_key
from measurement.pscheduler.transport import (
    CONCURRENT,
    DEFAULT_TIMEOUTS,
    NO_CREDENTIALS,
    Answer,
    Credentials,
    Timeouts,
    Transport,
    Verify,
)

__all__ = ["PSchedulerClient", "Run", "Schedule", "ScheduledRun", "ServerClock"]

FIRST_RUN_WAIT = 5
RUN_WAIT = 5
VISIBLE_WITHIN = 60.0
OVERTIME = 60.0
LONGEST_POST_WAIT = 10.0
_TASK_AND_RUN = re.compile(r"/tasks/([0-9A-Fa-f-]{36})/runs/([0-9A-Fa-f-]{36})/?$")
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
class ScheduledRun:
    """A run as a line of the host's schedule; times by the server's clock."""

    run: str
    task: str
    state: RunState
    start: float
    end: float
    errors: str = ""


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """What the participants of a task agreed on.

    :param tool: empty when the host does not report it.
    :param slot: seconds that they keep free for a run; None where they keep nothing free or do not report it.
    """

    tool: str = ""
    slot: float | None = None


@dataclass(frozen=True, slots=True)
class OwnTask:
    """A task of ours that the host still holds.

    :param reference: what it was posted with; its key was made from this.
    """

    task: PostedTask
    reference: str


class PSchedulerClient:
    """One pScheduler host.  Threads may share a client; it keeps no state between calls but connections.

    Every method raises :class:`~measurement.errors.PointError` (which names the host) when the host
    refuses, hangs, or answers what it may not.

    :param owner: put into every task's reference; unique among those who task this host, because what
        is left over from a run that crashed is found by it.
    :param secret: source of the tasks' keys; None: random keys, which are lost at a restart.
    :param concurrent: how many requests may be under way at once.
    :param pause: sleeps; may raise :class:`~measurement.errors.Stopped` to end waits at shutdown.
    """

    def __init__(
        self,
        base_url: str,
        verify: Verify = True,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        *,
        owner: str = "adon",
        secret: bytes | None = None,
        credentials: Credentials = NO_CREDENTIALS,
        concurrent: int = CONCURRENT,
        attempts: int = 2,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._http = Transport(
            base_url,
            verify,
            timeouts,
            attempts=attempts,
            credentials=credentials,
            concurrent=concurrent,
            pause=pause,
            chance=chance,
        )
        self._owner = owner
        self._secret = secret
        self._clock = clock
        self._pause = pause
        self._chance = chance

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
        reference = {"owner": self._owner, "id": uuid.uuid4().hex}
        key = new_key(self._secret, reference["id"])
        document = body(test, schedule, reference, key)
        try:
            return self._parse_posted(self._http.post("/tasks", document), key)
        except PointError as error:
            wait = retry.before_next(error, 1, self._chance())
            if wait is None or wait > LONGEST_POST_WAIT:
                raise
        self._pause(wait)
        found = self._find(reference, key)
        return found if found is not None else self._parse_posted(self._http.post("/tasks", document), key)

    def first_run(self, task: PostedTask) -> Run:
        """The task's first run, once the participants have agreed on it."""
        give_up = self._clock() + VISIBLE_WITHIN
        path, params = f"/tasks/{task.uuid}/runs/first", {"wait": str(FIRST_RUN_WAIT)}
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

    def scheduled_runs(self, start: float, end: float, task: PostedTask | None = None) -> list[ScheduledRun]:
        """The runs in a window of the server's time, of one task or of everybody's, in one answer.

        :raises AnswerTooLarge: when the window has too many; ask for less (:mod:`.history`).
        """
        params = {"start": format_timestamp(start), "end": format_timestamp(end)}
        if task is not None:
            params["task"] = task.uuid
        lines = self._http.get("/schedule", params).json()
        if not isinstance(lines, list):
            raise BadAnswer(self.host, "schedule: expected a list")
        return [self._line(Document.of(self.host, f"schedule[{n}]", line)) for n, line in enumerate(lines)]

    def merged_result(self, run: ScheduledRun) -> Mapping[str, object]:
        """The merged result of a finished run, and nothing else of it."""
        answer = self._http.get(f"/tasks/{run.task}/runs/{run.run}/result").json()
        return Document.of(self.host, "result", answer).fields

    def run_url(self, run: ScheduledRun) -> str:
        """Where a person can look at a run."""
        return f"{self._http.url}/tasks/{run.task}/runs/{run.run}"

    def wait_for_run(
        self, task: PostedTask, run: Run, clock: ServerClock, *, lasts: float, patience: float
    ) -> Run:
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

    def read_detail(self, task: PostedTask) -> TaskDetail:
        """What the participants agreed on for a task."""
        answer = self._http.get(f"/tasks/{task.uuid}", {"detail": "1"}).json()
        document = Document.of(self.host, "task", answer)
        tool, slot = document.text("tool") if document.has("tool") else "", None
        if document.has("detail"):
            detail = document.child("detail")
            if detail.has("duration") and detail.fields.get("anytime") is not True:
                slot = detail.duration("duration")
        return TaskDetail(tool, slot)

    def read_availability(self, seconds: float) -> float | None:
        """The part of the next ``seconds`` that is free of exclusive tests; None before pScheduler 5.3."""
        try:
            answer = self._http.get("/schedule/availability", {"next": format_duration(seconds)}).json()
            found = Document.of(self.host, "availability", answer).amount("availability")
        except PointError:
            return None
        return found if found <= 1 else None

    def own_tasks(self) -> list[OwnTask]:
        """The tasks with this client's owner in their reference that are not cancelled."""
        pattern = {"reference": {"owner": self._owner}, "detail": {"enabled": True}}
        answer = self._http.get("/tasks", {"json": json.dumps(pattern), "expanded": "1"}).json()
        if not isinstance(answer, list):
            raise BadAnswer(self.host, "tasks: expected a list")
        return [self._own(Document.of(self.host, "tasks", task)) for task in answer]

    def cancel(self, task: PostedTask) -> None:
        """Cancel a task.  Also succeeds when it is already cancelled or long forgotten."""
        try:
            self._http.delete(f"/tasks/{task.uuid}", {"key": task.key})
        except Rejected as error:
            if error.status != 404:
                raise

    def close(self) -> None:
        """Close the connections that are open; a later call opens anew."""
        self._http.close()

    def _own(self, task: Document) -> OwnTask:
        reference = task.child("reference").text("id")
        return OwnTask(self._task(task.text("href"), self._key(reference)), reference)

    def _key(self, reference: str) -> str:
        # Without a secret the key is lost; one participant's task is cancelled by the poster's address.
        return "" if self._secret is None else new_key(self._secret, reference)

    def _line(self, line: Document) -> ScheduledRun:
        found = _TASK_AND_RUN.search(line.text("href"))
        if found is None:
            line.refuse("href", "is not a run's")
        return ScheduledRun(found[2], found[1], _state(line), *_span(line), _errors(line))

    def _find(self, reference: Mapping[str, str], key: str) -> PostedTask | None:
        pattern = {"reference": dict(reference), "detail": {"enabled": True}}
        urls = self._urls(self._http.get("/tasks", {"json": json.dumps(pattern)}).json())
        return self._task(urls[0], key) if urls else None

    def _parse_posted(self, answer: Answer, key: str) -> PostedTask:
        url = answer.json()
        if not isinstance(url, str):
            raise BadAnswer(self.host, "/tasks: expected the task's URL")
        return self._task(url, key)

    def _task(self, url: str, key: str) -> PostedTask:
        name = self._last_part(url)
        return PostedTask(name, f"{self._http.url}/tasks/{name}", key)

    def _read_run(self, task: PostedTask, answer: Answer, asked: str | None = None) -> Run:
        document = Document.of(self.host, "run", answer.json())
        name = self._last_part(document.text("href"))
        if asked is not None and name != asked:
            document.refuse("href", "is another run than the one asked for")
        state = _state(document)
        start, end = _span(document)
        return Run(name, f"{task.url}/runs/{name}", state, start, end, document)

    def _urls(self, value: object) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(url, str) for url in value):
            raise BadAnswer(self.host, "expected a list of URLs")
        return value

    def _last_part(self, url: str) -> str:
        found = _LAST_PART.search(url)
        if found is None:
            raise BadAnswer(self.host, f"href: {url[:80]!r} does not end in an identifier")
        return found[1]


def _state(run: Document) -> RunState:
    try:
        return RunState(run.text("state"))
    except ValueError:
        run.refuse("state", "is unknown")


def _span(run: Document) -> tuple[float, float]:
    start, end = run.time("start-time"), run.time("end-time")
    if end < start:
        run.refuse("end-time", "is before start-time")
    return start, end


def _errors(run: Document) -> str:
    return run.text("errors") if run.has("errors") else ""

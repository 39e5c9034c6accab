"""What makes a point act: it negotiates slots, starts runs on time, and ends what was cancelled.

Each task that this host leads has a thread of its own, which sleeps most of the time: a participant that
does not answer delays that task and no other.  A repeating task has one run on the schedule at a time;
the next is put there when the one before has ended.
"""

from __future__ import annotations

import logging
import math
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from measurement.errors import PointError
from measurement.point.children import Children, RunCanceled, ToolFailed
from measurement.point.metrics import Metrics
from measurement.point.model import Run, Task
from measurement.point.peers import Peer, PeerSettings
from measurement.point.run_execution import Workplace, measure
from measurement.point.scheduler import Booking, Slot, first_fit, free, intersect, occurrence
from measurement.point.store import Store
from measurement.point.tools import iperf3
from measurement.pscheduler.states import RunState

LOG = logging.getLogger(__name__)
HORIZON = 86_400.0
NOTICE = 0.2
TRIES = 5
SERVER_READY = 5.0
PORTS = range(5201, 5300)


class Refused(Exception):
    """A participant does not take part; its text says why."""


class Engine:
    """The acting part of a point.

    :param metrics: this host's custom metrics.
    :param ports: ports of test servers: TCP and UDP for iperf3, UDP for one-way delay.
    """

    def __init__(
        self,
        store: Store,
        peers: PeerSettings,
        metrics: Metrics,
        ports: range = PORTS,
        probe_key: Path | None = None,
    ) -> None:
        self.store = store
        self._peers = peers
        self._metrics = metrics
        self.test_ports = ports
        self._probe_key = probe_key
        self._lock = threading.Lock()
        self._children: dict[str, Children] = {}
        self._ports_in_use: set[int] = set()

    def accept(self, task: Task) -> None:
        """Take on a task: get the other participant's consent, then lead it, or wait to be told.

        :raises Refused: when the other participant does not take part.
        """
        self.store.add_task(task)
        if task.participant != 0:
            return
        try:
            for node in task.participants[1:]:
                self._peer(node).take_part(task.uuid, task.document, task.participants)
        except (PointError, ValueError) as error:
            self.store.forget(task.uuid)
            raise Refused(f"Error while tasking {task.participants[1]}: {error}") from None
        # Made here, not in the thread: a cancel that comes before the thread runs must find them.
        self._thread(self._lead, task, f"task-{task.uuid[:8]}", self._children_of(task.uuid))

    def cancel(self, task: Task) -> None:
        """End a task and what it is doing, here and at the other participant."""
        self.store.disable(task.uuid, time.time())
        self._cancel_children(task.uuid, *(run.uuid for run in self.store.runs(task.uuid)))
        if task.participant == 0:
            for node in task.participants[1:]:
                try:
                    self._peer(node).cancel(task.uuid, task.key)
                except PointError as error:
                    LOG.warning('event=cancel_not_passed_on task=%s cause="%s"', task.uuid, error)

    def free(self, task: Task, window: Slot) -> list[Slot]:
        """When the task could run here."""
        return free(self.store.bookings(), task.test.scheduling, window)

    def reserve(self, task: Task, run: str, start: float) -> bool:
        """Put a run on this host's schedule unless its slot is taken."""
        planned = Run(run, task.uuid, start, start + task.lasts, time.time())
        return self.store.add_run(planned, lambda bookings: _fits(task, planned, bookings))

    def drop_run(self, task: Task, run: str) -> bool:
        """Take a run off this host's schedule and end what it is doing; False when there is none."""
        found = self.store.drop_run(task.uuid, run)
        self._cancel_children(run)
        return found is not None

    def serve(self, task: Task, run: Run) -> int:
        """Start the server of a run; returns its port once it listens.

        :raises ToolFailed: when it does not.
        """
        ready, told = threading.Event(), list[str]()

        def on_line(line: str) -> None:
            told.append(line)
            if iperf3.READY in line:
                ready.set()

        port = self._take_port()
        self._thread(self._serve, task, f"server-{port}", run, port, on_line, ready)
        if not ready.wait(SERVER_READY) or not any(iperf3.READY in line for line in told):
            raise ToolFailed(f"the iperf3 server does not listen: {''.join(told).strip()}")
        return port

    def stop(self) -> None:
        """End every child."""
        with self._lock:
            children = list(self._children.values())
        for found in children:
            found.cancel()

    def _serve(
        self, task: Task, run: Run, port: int, on_line: Callable[[str], None], ready: threading.Event
    ) -> None:
        children = self._children_of(run.uuid)
        try:
            if self._change(task, run, lambda found: found.in_state(RunState.RUNNING)) is None:
                children.cancel()  # it was cancelled before we began
            done = children.execute(iperf3.server_argv(task.spec, port), task.lasts + 5, on_line)
        except (ToolFailed, RunCanceled) as error:
            cause = str(error) or "the run was cancelled"
            on_line(cause)
            self._finish(task, run, RunState.FAILED, errors=cause)
        else:
            state = RunState.FINISHED if done.status == 0 else RunState.FAILED
            self._finish(task, run, state, result={"succeeded": done.status == 0, "diags": done.stdout})
        finally:
            ready.set()
            with self._lock:
                self._ports_in_use.discard(port)
                self._children.pop(run.uuid, None)

    def _lead(self, task: Task, children: Children) -> None:
        done = 0
        try:
            while (nominal := occurrence(task.schedule, time.time(), done)) is not None:
                children.pause(max(0.0, nominal - HORIZON - time.time()))
                run = self._schedule(task, nominal)
                done += 1
                if run is not None:
                    children.pause(max(0.0, run.start - time.time()))
                    self._execute(task, run, children)
        except RunCanceled:
            LOG.info("event=task_canceled task=%s", task.uuid)
        finally:
            with self._lock:
                self._children.pop(task.uuid, None)

    def _schedule(self, task: Task, nominal: float) -> Run | None:
        """Agree with the other participant on a slot; a run that finds none is a ``nonstart``."""
        now = time.time()
        # Starts are on whole seconds: one that is given to the second is kept to, any other has one of grace.
        earliest = float(math.ceil(max(nominal, now + NOTICE)))
        latest = max(earliest, nominal + task.schedule.slip)
        cause = "no free slot within the slip"
        try:
            for _ in range(TRIES):
                start = self._common_start(task, earliest, latest)
                if start is None:
                    break
                run = self._negotiate(task, start)
                if run is not None:
                    return run
        except PointError as error:
            cause = str(error)
        self._nonstart(task, earliest, cause)
        return None

    def _common_start(self, task: Task, earliest: float, latest: float) -> float | None:
        window = Slot(earliest, math.ceil(latest + task.lasts))
        ranges = self.free(task, window)
        for node in task.participants[1:]:
            # Asked for whole seconds, it may answer a little more than the window: intersect.
            ranges = intersect(ranges, self._peer(node).free(task.uuid, window))
        return first_fit(ranges, earliest, latest, task.lasts)

    def _negotiate(self, task: Task, start: float) -> Run | None:
        name = str(uuid.uuid4())
        agreed = []
        for node in task.participants[1:]:
            peer = self._peer(node)
            if not peer.reserve(task.uuid, name, start):
                return None
            agreed.append(peer)
        if not self.reserve(task, name, start):
            for peer in agreed:
                peer.drop_run(task.uuid, name)
            return None
        return self.store.run(task.uuid, name)

    def _nonstart(self, task: Task, start: float, cause: str) -> None:
        LOG.warning('event=nonstart task=%s cause="%s"', task.uuid, cause)
        run = Run(str(uuid.uuid4()), task.uuid, start, start + task.lasts, time.time())
        self.store.add_run(replace(run, state=RunState.NONSTART, errors=cause))

    def _execute(self, task: Task, run: Run, children: Children) -> None:
        if self._change(task, run, lambda found: found.in_state(RunState.RUNNING)) is None:
            return
        LOG.info("event=run_begins task=%s run=%s test=%s", task.uuid, run.uuid, task.test.name)
        try:
            place = Workplace(
                children,
                self._peer,
                self._metrics,
                lambda result: self._report(task, result),
                self._probe_key,
            )
            result = measure(task, run, place)
        except ToolFailed as error:
            LOG.warning('event=run_failed task=%s run=%s cause="%s"', task.uuid, run.uuid, error)
            failure = {"schema": 1, "succeeded": False, "error": str(error)}
            self._finish(task, run, RunState.FAILED, result=failure, merged=failure, errors=str(error))
        else:
            self._finish(task, run, RunState.FINISHED, result=result, merged=result)

    def _report(self, task: Task, result: dict[str, Any]) -> None:
        """One of many results of a run: a run of its own, of the moment, as pScheduler has it."""
        now = time.time()
        at = float(math.floor(now))
        run = Run(str(uuid.uuid4()), task.uuid, at, at, now, RunState.FINISHED, merged=result)
        self.store.add_result(run)

    def _finish(self, task: Task, run: Run, state: RunState, **results: Any) -> None:
        ended = max(run.start, math.floor(time.time()))
        self._change(task, run, lambda found: found.in_state(state, end=min(found.end, ended), **results))

    def _change(self, task: Task, run: Run, change: Callable[[Run], Run]) -> Run | None:
        return self.store.change_run(task.uuid, run.uuid, change)

    def _children_of(self, owner: str) -> Children:
        """The children of a task that is led here, or of a run that is served here."""
        with self._lock:
            return self._children.setdefault(owner, Children())

    def _cancel_children(self, *owners: str) -> None:
        with self._lock:
            found = [self._children[owner] for owner in owners if owner in self._children]
        for children in found:
            children.cancel()

    def _peer(self, node: str) -> Peer:
        return Peer(node, self._peers)

    def _take_port(self) -> int:
        with self._lock:
            for port in self.test_ports:
                if port not in self._ports_in_use and _bindable(port):
                    self._ports_in_use.add(port)
                    return port
        raise ToolFailed("every port for tests is in use")

    def _thread(self, work: Callable[..., None], task: Task, name: str, *more: Any) -> None:
        def guarded() -> None:
            try:
                work(task, *more)
            except Exception:  # a thread's outermost guard: one task's fault must not pass in silence
                LOG.exception("event=fault thread=%s task=%s", name, task.uuid)

        threading.Thread(target=guarded, name=name, daemon=True).start()


def _fits(task: Task, run: Run, bookings: list[Booking]) -> bool:
    window = Slot(run.start, run.end)
    return free(bookings, task.test.scheduling, window) == [window]


def _bindable(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True

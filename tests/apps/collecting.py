"""What the tests of the collector share: a plan, far ends that are the test itself, and workers that wait."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from adon.config import Configuration, load
from adon.measurement_plan import MeasurementPlan, task_id
from adon.timestamps import MonotoneClock
from apps.collector.collector import Collector, CollectorFault, Inbox
from apps.collector.conductor import Conductor
from apps.collector.keeper import Keeper
from apps.collector.workers import Workers
from measurement.anomaly.watch import Watch
from measurement.archive import Archive, Retention
from measurement.errors import ArchiveUnavailable
from measurement.model import Metric, PathKey
from measurement.poller import PathTest, PolledRun
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.scheduling import Agreement, Schedule, Start, Task, schedule
from tests.support.factories import make_measurement
from tests.support.network_factories import NETWORK

KEY = PathKey("al2s", "mu", "osu")
HEAVY = PathTest(KEY, TestRequest(Kind.THROUGHPUT, {}, 5), (Metric.THROUGHPUT,))
PING = PathTest(KEY, TestRequest(Kind.RTT, {}, 1), (Metric.RTT,))
EPOCH = 1_000_000.0


def plan(*tests: tuple[PathTest, float, float]) -> MeasurementPlan:
    """A plan of tests with their periods and slots."""
    tasks = [
        Task(
            id=task_id(test),
            source=test.key.source,
            destination=test.key.destination,
            tool=str(test.request.kind),
            period=period,
            duration=slot,
            deadline=None,
            points=frozenset({"mu", "osu"}),
            links=frozenset({"al2s"}),
            loads=test.request.kind == Kind.THROUGHPUT,
        )
        for test, period, slot in tests
    ]
    found = schedule(tasks, Agreement())
    assert isinstance(found, Schedule)
    return MeasurementPlan(
        found,
        {task_id(test): test for test, _, _ in tests},
        {task_id(test): test.key.path for test, _, _ in tests if test.request.kind == Kind.THROUGHPUT},
    )


@dataclass
class Clock:
    """Tells what it is told."""

    now: float = EPOCH

    def __call__(self) -> float:
        return self.now


@dataclass
class Told:
    """Keeps what is sent to the controller."""

    sent: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        self.sent.append((kind, payload))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.sent]


@dataclass
class Hands:
    """Workers that take what they are given, and never finish by themselves."""

    free: int = 10
    taken: list[tuple[Start, PathTest]] = field(default_factory=list)

    def start(self, start: Start, test: PathTest, busy: int) -> bool:
        if busy >= self.free:
            return False
        self.taken.append((start, test))
        return True


def measured(test: PathTest, started: float, ended: float, value: float = 1.0) -> PolledRun:
    """A run that gave a value."""
    url = f"https://ps-a.example.net/pscheduler/tasks/{uuid.uuid4()}/runs/{uuid.uuid4()}"
    times = {"started_at": started, "observed_at": ended}
    found = make_measurement(key=test.key, metric=test.metrics[0], value=value, source=url, **times)
    return PolledRun((found,), started, ended)


QUICK = plan((PING, 1, 0.5))
PATIENCE_S = 120.0
"""The longest that a test waits for what must come, on a machine that has much else to do."""


class CollectorThread:
    """A collector in a thread of its own."""

    def __init__(
        self, file: Path, run: Callable[[PathTest, float], PolledRun], holder: str, clock: MonotoneClock
    ) -> None:
        self.told, self.raised, self.cancelled = Told(), list[BaseException](), 0
        self.inbox, self._run, self._file, self._holder = Inbox(), run, file, holder
        self._clock = clock
        self._made: SimpleQueue[Collector] = SimpleQueue()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()
        self.collector = self._made.get(timeout=PATIENCE_S)

    def _work(self) -> None:
        with Archive(self._file) as archive:
            keeper = Keeper(archive, Watch(), self.told, lambda _: None, self._clock)
            workers = Workers(self._run, self.inbox.put, 8)
            conductor = Conductor(
                QUICK, workers, archive, self.told, notice=1.5, cancel=self._cancel, clock=self._clock
            )
            collector = Collector(
                self.inbox,
                archive,
                keeper,
                conductor,
                holder=self._holder,
                retention=Retention(),
                clock=self._clock,
            )
            self._made.put(collector)
            try:
                collector.run()
            except (CollectorFault, ArchiveUnavailable) as error:
                self.raised.append(error)

    def _cancel(self) -> None:
        self.cancelled += 1

    def stop(self) -> None:
        self.collector.stop()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


@contextmanager
def run_collector(
    file: Path,
    run: Callable[[PathTest, float], PolledRun],
    holder: str = "one",
    clock: MonotoneClock | None = None,
) -> Iterator[CollectorThread]:
    """Run a collector until the context ends."""
    running = CollectorThread(file, run, holder, MonotoneClock() if clock is None else clock)
    try:
        yield running
    finally:
        running.stop()


def succeed(test: PathTest, start: float) -> PolledRun:
    """Return a run that gave a value."""
    return measured(test, start, start + 0.4)


def write_and_load(folder: Path, **measurements: Any) -> Configuration:
    """The example's, with further keys of ``measurements``."""
    lines = "".join(f"  {key}: {json.dumps(value)}\n" for key, value in measurements.items())
    file = folder / "network.yaml"
    file.write_text(NETWORK.read_text().replace("measurements:\n", f"measurements:\n{lines}"))
    return load(file)

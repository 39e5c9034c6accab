"""What the tests of the collector share: a plan, far ends that are the test itself, and workers that wait."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.collector.orders import Plan, task_id
from measurement.model import Metric, PathKey
from measurement.poller import PathTest, PolledRun
from measurement.pscheduler.specs import Kind, TestRequest
from measurement.scheduling import Agreement, Schedule, Start, Task, schedule
from tests.support.factories import make_measurement

KEY = PathKey("al2s", "mu", "osu")
HEAVY = PathTest(KEY, TestRequest(Kind.THROUGHPUT, {}, 5), (Metric.THROUGHPUT,))
PING = PathTest(KEY, TestRequest(Kind.RTT, {}, 1), (Metric.RTT,))
EPOCH = 1_000_000.0


def plan(*tests: tuple[PathTest, float, float]) -> Plan:
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
    return Plan(
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

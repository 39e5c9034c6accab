from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from apps.collector.agents import BACK, REFRESH, Agents, Interest
from measurement.fleet import Fleet, Value
from measurement.model import Measurement, Metric, PathKey
from measurement.pscheduler.client import FoundTask
from measurement.pscheduler.discovery import KnownTask
from measurement.pscheduler.specs import PostedTask
from tests.apps.collecting import BACK as THERE
from tests.apps.collecting import KEY, Clock
from tests.apps.lasting import Holder, hang, holder
from tests.measurement.standin import RTT, reply

MU, OSU = "10.1.0.11", "10.2.0.11"
INTEREST = Interest({(MU, OSU): KEY, (OSU, MU): THERE}, frozenset({KEY}), "adon/me/")
PING = {
    "test": {"type": "rtt", "spec": {"source": MU, "dest": OSU}},
    "schedule": {"repeat": "PT5M"},
    "tool": "ping",
    "reference": {"psconfig": {"created-by": {"uuid": "x"}}},
}


def found(test: str, *, repeats: bool = True, owner: str = "", **spec: Any) -> FoundTask:
    known = KnownTask("", test, {"source": MU, "dest": OSU, **spec}, "tool", repeats, owner)
    return FoundTask(PostedTask("t", "", ""), known)


@pytest.mark.parametrize(
    ("task", "key", "metrics"),
    [
        (found("throughput"), KEY, (Metric.THROUGHPUT,)),
        (found("throughput", reverse=True), THERE, (Metric.THROUGHPUT,)),
        (found("latency"), KEY, (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)),
        (found("latencybg", repeats=False), KEY, (Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)),
        (found("rtt"), KEY, (Metric.RTT,)),
        (found("rtt", source=OSU, dest=MU), THERE, (Metric.RTT, Metric.LOSS)),
        (found("rtt", owner="adon/another/3"), KEY, (Metric.RTT,)),
    ],
)
def test_what_a_task_of_an_agent_gives(task: FoundTask, key: PathKey, metrics: tuple[Metric, ...]) -> None:
    watched = INTEREST.watched(task)
    assert watched is not None
    assert (watched.test.key, watched.test.metrics, watched.tool) == (key, metrics, "tool")


@pytest.mark.parametrize(
    "task",
    [
        found("rtt", owner="adon/me/7"),  # our own: it comes in elsewhere
        found("rtt", repeats=False),  # somebody's test by hand
        found("trace"),
        found("dns"),
        found("rtt", dest="192.0.2.1"),
        found("rtt", dest=["10.2.0.11"]),
    ],
)
def test_what_is_left_to_others(task: FoundTask) -> None:
    assert INTEREST.watched(task) is None


class Setting:
    def __init__(self, holders: dict[str, Holder], clock: Clock) -> None:
        self.clock, self.taken = clock, list[Value]()
        clients = {name: each.client for name, each in holders.items()}
        self.agents = Agents(
            clients, INTEREST, clock=clock, monotonic=lambda: clock.now - 1000, chance=lambda: 0.5
        )
        self.fleet = Fleet(self.agents.hosts, self.take, since=clock.now, clock=clock)

    def take(self, values: Sequence[Value]) -> None:
        self.taken += values

    def round(self) -> list[str]:
        """The runs that are read."""
        self.taken.clear()
        self.agents.refresh(self.fleet)
        self.fleet.poll()
        return sorted({value.source[-36:] for value in self.taken if isinstance(value, Measurement)})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(clock: Clock) -> Iterator[Holder]:
    with holder(clock) as running:
        yield running


def run_id(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


def test_tasks_are_asked_for_by_pair_never_all_and_only_where_they_are_led(
    host: Holder, clock: Clock
) -> None:
    Setting({"ps": host}, clock).round()
    assert [pattern["test"]["spec"] for pattern in host.patterns] == [
        {"source": MU, "dest": OSU},
        {"source": OSU, "dest": MU},
    ]
    assert all(pattern["detail"] == {"enabled": True, "participant": 0} for pattern in host.patterns)


def test_a_task_that_is_renewed_is_found_and_nothing_of_it_is_missed(host: Holder, clock: Clock) -> None:
    setting = Setting({"ps": host}, clock)
    old = host.hold(PING)
    host.server.ran(old, run_id(1), clock.now - BACK + 100, RTT)
    host.server.ran(old, run_id(2), clock.now - BACK - 100, RTT)  # before our time
    assert setting.round() == [run_id(1)]
    assert [value.tool for value in setting.taken if isinstance(value, Measurement)] == ["ping"]
    assert setting.round() == []
    asked = len(host.patterns)
    clock.now += 60
    host.tasks.clear()
    new = host.hold(PING)
    host.server.ran(new, run_id(3), clock.now, RTT)
    clock.now += 60
    assert setting.round() == []
    assert len(host.patterns) == asked
    clock.now += REFRESH
    assert run_id(3) in setting.round()


def test_a_host_that_fails_is_one_line_and_asked_less_and_less(
    host: Holder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with holder(clock) as bad:
        bad.server.misbehave["GET /tasks"] = lambda handler: reply(handler, 503, "down", "text/plain")
        setting = Setting({"bad": bad, "ps": host}, clock)
        task = host.hold(PING)
        for number in range(60):
            host.server.ran(task, run_id(number), clock.now, RTT)
            assert run_id(number) in setting.round()
            clock.now += 1
    lines = [r.message for r in caplog.records if "event=tasks_not_found agent=bad" in r.message]
    assert len(lines) == 6  # 1, 2, 4, 8, 16, 32 s apart
    assert "503" in lines[0]


def test_an_answer_that_is_no_task_is_refused_with_its_reason(
    host: Holder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    host.server.misbehave["GET /tasks"] = lambda handler: reply(handler, 200, [{"href": "x", "test": []}])
    Setting({"ps": host}, clock).round()
    assert "tasks[0].test: expected an object" in caplog.text


def test_a_host_that_hangs_is_seen_to_the_next_time(
    host: Holder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.collector.agents.WAIT", 0.5)
    with holder(clock) as slow:
        slow.server.misbehave["GET /tasks"] = hang(slow.server)
        setting = Setting({"slow": slow, "ps": host}, clock)
        host.server.ran(host.hold(PING), run_id(1), clock.now - 10, RTT)
        assert setting.round() == [run_id(1)]


def test_at_rest_nothing_is_read_and_afterwards_it_goes_on(host: Holder, clock: Clock) -> None:
    setting = Setting({"ps": host}, clock)
    task = host.hold(PING)
    assert setting.round() == []
    setting.agents.rest(setting.fleet)
    assert setting.fleet.poll().asked == 0
    clock.now += 100
    host.server.ran(task, run_id(1), clock.now - 50, RTT)
    assert setting.round() == [run_id(1)]

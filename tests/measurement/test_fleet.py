from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement import fleet as module
from measurement.errors import Stopped
from measurement.fleet import Fleet, Host, Value, Watched
from measurement.model import Measurement, Metric, PathKey
from measurement.outcomes import MeasurementFailed
from measurement.poller import PathTest
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.specs import PostedTask, TestRequest
from measurement.sources.received import Report
from tests.depth import DEPTH
from tests.measurement.standin import RTT, StandIn, reply, stand_in

ENDS = specs.Ends("192.0.2.1", "192.0.2.2", "a", "b")
PING = PathTest(PathKey("al2s", "mu", "osu"), specs.rtt(ENDS, 3), (Metric.RTT, Metric.LOSS))
TASK = str(uuid.UUID(int=1))
NOW = 2_000_000_000.0


def run_id(number: int) -> str:
    return str(uuid.UUID(int=1000 + number))


class Setting:
    """A fleet of stand-ins, one time for all of them, and what was taken."""

    def __init__(self, stack: ExitStack, hosts: int, test: PathTest = PING, **more: Any) -> None:
        self.now = NOW
        self.servers = [stack.enter_context(stand_in()) for _ in range(hosts)]
        self.taken: list[list[Value]] = []
        for server in self.servers:
            server.misbehave["GET /clock"] = self.clock
        self.full = False
        self.hosts = [
            Host(self.client(server), [Watched(PostedTask(TASK, "", ""), test)]) for server in self.servers
        ]
        self.fleet = self.new_fleet(**more)

    def new_fleet(self, **more: Any) -> Fleet:
        """A fleet that has read nothing yet."""
        return Fleet(
            self.hosts,
            self.take,
            since=NOW - 3000,
            clock=lambda: self.now,
            chance=lambda: 0.5,
            **{"threads": 4, **more},
        )

    def client(self, server: StandIn) -> PSchedulerClient:
        return PSchedulerClient(server.url, attempts=1, pause=lambda _: None, clock=lambda: self.now)

    def clock(self, handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 200, {"time": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(self.now))})

    def take(self, values: Sequence[Value]) -> None:
        if self.full:
            raise OSError("the disk is full")
        self.taken.append(list(values))

    def values(self) -> list[Value]:
        """What has been taken since this was last asked."""
        found = [value for batch in self.taken for value in batch]
        self.taken.clear()
        return found


@pytest.fixture
def stack() -> Any:
    with ExitStack() as opened:
        yield opened


def test_each_result_of_each_host_is_taken_once(stack: ExitStack) -> None:
    setting = Setting(stack, 3)
    for number, server in enumerate(setting.servers):
        server.ran(TASK, run_id(number), NOW - 100, RTT)
        server.ran(str(uuid.UUID(int=9)), run_id(50 + number), NOW - 100, RTT)  # somebody else's
    told = setting.fleet.poll()
    assert (told.asked, told.values, told.errors) == (3, 6, ())
    found = setting.values()
    assert all(isinstance(value, Measurement) for value in found)
    assert {value.source[-36:] for value in found if isinstance(value, Measurement)} == {
        run_id(n) for n in range(3)
    }
    setting.now += 30
    setting.servers[1].ran(TASK, run_id(7), setting.now - 1, RTT)
    assert setting.fleet.poll().values == 2
    assert all(
        value.source.endswith(run_id(7)) for value in setting.values() if isinstance(value, Measurement)
    )
    assert setting.fleet.poll().values == 0


def test_one_request_per_host_and_one_per_new_result(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    setting.fleet.poll()
    server.asked.clear()
    for number in range(5):
        server.ran(TASK, run_id(number), NOW - 10 + number, RTT)
    setting.fleet.poll()
    assert sorted(asked.split("/")[1].split("?")[0] for asked in server.asked) == ["schedule"] + ["tasks"] * 5


def test_a_run_that_ends_long_after_its_plan_is_read_though_others_were_since(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    server.ran(TASK, run_id(1), NOW - 1000, RTT, state="overdue", lasts=5)
    for number in range(2, 20):
        server.ran(TASK, run_id(number), NOW - 10, RTT)
    assert setting.fleet.poll().values == 36
    setting.now += 1
    server.runs[0]["state"] = "finished"
    assert setting.fleet.poll().values == 2


@pytest.mark.parametrize(
    ("result", "state", "cause"),
    [
        ({**RTT, "loss": -1.0}, "finished", "loss:"),
        ({"succeeded": False, "error": "unknown host"}, "finished", "unknown host"),
        ([1], "finished", "result:"),
        (None, "nonstart", "nonstart:"),
    ],
)
def test_a_run_without_a_usable_result_is_a_failure_once(
    stack: ExitStack, result: Any, state: str, cause: str
) -> None:
    setting = Setting(stack, 1)
    setting.servers[0].ran(TASK, run_id(1), NOW - 10, result, state=state, errors="no free slot")
    setting.fleet.poll()
    found = setting.values()
    assert [value.metric for value in found if isinstance(value, MeasurementFailed)] == [
        Metric.RTT,
        Metric.LOSS,
    ]
    assert all(isinstance(value, MeasurementFailed) and cause in value.cause for value in found)
    assert setting.fleet.poll().values == 0


def test_a_run_from_the_future_is_refused_and_the_place_does_not_follow_it(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    server.misbehave["GET /schedule"] = lambda handler: reply(handler, 200, server.runs)
    server.ran(TASK, run_id(1), NOW + 1e8, RTT)
    setting.fleet.poll()
    assert all(isinstance(value, MeasurementFailed) for value in setting.values())
    del server.misbehave["GET /schedule"]
    setting.now += 30
    server.ran(TASK, run_id(2), NOW + 20, RTT)
    assert setting.fleet.poll().values == 2


def test_the_same_run_listed_twice_is_read_once(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    for _ in range(2):
        setting.servers[0].ran(TASK, run_id(1), NOW - 10, RTT)
    assert setting.fleet.poll().values == 2


def test_a_host_that_fails_does_not_hold_the_others_and_is_left_alone_for_longer_each_time(
    stack: ExitStack,
) -> None:
    setting = Setting(stack, 2)
    bad, _ = setting.servers
    bad.misbehave["GET /schedule"] = lambda handler: reply(handler, 503, "down", "text/plain")
    for server in setting.servers:
        server.ran(TASK, run_id(1), NOW - 10, RTT)
    told = setting.fleet.poll()
    assert [error.host in bad.url for error in told.errors] == [True]
    assert told.values == 2
    asked = []
    for _ in range(40):
        setting.now += 1
        asked.append(setting.fleet.poll().asked)
    assert asked.count(2) == 5  # 1, 2, 4, 8, 16 s apart
    del bad.misbehave["GET /schedule"]
    setting.now += 60
    assert setting.fleet.poll().values == 2


def test_a_clock_of_ours_that_steps_skips_nothing_and_shuts_nobody_out(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    server.ran(TASK, run_id(1), NOW - 10, RTT)
    setting.fleet.poll()
    setting.now += 500  # our clock alone steps: the server's runs go on where they were
    setting.fleet.poll()
    server.ran(TASK, run_id(2), NOW + 1, RTT)
    assert setting.fleet.poll().values == 2
    server.misbehave["GET /schedule"] = lambda handler: reply(handler, 403, "no", "text/plain")
    setting.fleet.poll()
    setting.now -= 86_400
    assert setting.fleet.poll().asked == 1


def test_what_could_not_be_kept_is_read_again(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    setting.servers[0].ran(TASK, run_id(1), NOW - 10, RTT)
    setting.full = True
    with pytest.raises(OSError, match="full"):
        setting.fleet.poll()
    setting.full = False
    assert setting.fleet.poll().values == 2


def test_values_are_handed_over_in_batches(stack: ExitStack) -> None:
    setting = Setting(stack, 6, batch=4)
    for server in setting.servers:
        server.ran(TASK, run_id(1), NOW - 10, RTT)
    setting.fleet.poll()
    assert [len(batch) for batch in setting.taken] == [4, 4, 4]


def test_a_host_with_endless_results_is_read_a_part_at_a_time(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 3)
    setting = Setting(stack, 1)
    for number in range(7):
        setting.servers[0].ran(TASK, run_id(number), NOW - 1000 + 100 * number, RTT)
    assert [setting.fleet.poll().values for _ in range(4)] == [6, 6, 2, 0]


def test_each_result_of_a_test_in_the_background_is_a_run_of_its_own(stack: ExitStack) -> None:
    request = specs.latency_in_background(ENDS, 600, 0.1, 86_400)
    setting = Setting(stack, 1, PathTest(PING.key, request, (Metric.ONE_WAY_DELAY,)))
    (server,) = setting.servers
    merged = {"succeeded": True, "packets-sent": 2, "packets-lost": 0, "histogram-latency": {"50.00": 2}}
    server.ran(TASK, run_id(0), NOW - 150, None, state="running", lasts=86_400)
    for number in (1, 2):
        server.ran(TASK, run_id(number), NOW - 100 + number, merged)
    assert setting.fleet.poll().values == 2
    assert [value.value for value in setting.values() if isinstance(value, Measurement)] == [0.005] * 2
    setting.now += 60
    server.ran(TASK, run_id(3), NOW + 30, merged)
    assert setting.fleet.poll().values == 1
    assert setting.fleet.poll().values == 0
    server.runs[0]["state"] = "finished"
    assert setting.new_fleet().poll().values == 3  # the first run of all has no result of its own


def test_what_a_point_observes_on_its_host_is_handed_over_as_its_report(stack: ExitStack) -> None:
    setting = Setting(stack, 1, PathTest(PING.key, specs.host_metric("host", 5, 60), ()))
    setting.servers[0].ran(TASK, run_id(1), NOW - 10, {"succeeded": True, "observations": []})
    setting.fleet.poll()
    (report,) = setting.values()
    assert isinstance(report, Report)
    assert (report.test, report.result) == ("adon-metric", {"succeeded": True, "observations": []})


def test_a_test_that_is_not_read_gives_nothing(stack: ExitStack) -> None:
    setting = Setting(stack, 1, PathTest(PING.key, TestRequest("dns", {"query": "x"}, 1), ()))
    setting.servers[0].ran(TASK, run_id(1), NOW - 10, {"succeeded": True, "record": []})
    assert setting.fleet.poll().values == 0


def test_a_stop_ends_a_round(stack: ExitStack) -> None:
    setting = Setting(stack, 1)

    def stop(_: float) -> None:
        raise Stopped

    (server,) = setting.servers
    server.misbehave["GET /clock"] = lambda handler: reply(handler, 503, "down", "text/plain")
    hosts = [Host(PSchedulerClient(server.url, pause=stop), setting.hosts[0].watched)]
    with pytest.raises(Stopped):
        Fleet(hosts, setting.take, since=NOW).poll()


def held(server: StandIn) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answers when it is released."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        server.released.wait(60)
        reply(handler, 200, server.runs)

    return answer


def test_a_host_that_hangs_keeps_back_its_own_results_only(stack: ExitStack) -> None:
    setting = Setting(stack, 2)
    slow, _ = setting.servers
    for server in setting.servers:
        server.ran(TASK, run_id(1), NOW - 10, RTT)
    slow.misbehave["GET /schedule"] = held(slow)
    told = setting.fleet.poll(patience=1)
    assert told.asked == 2
    values = told.values
    for _ in range(30):  # a busy machine may need longer for the other
        values += 0 if values == 2 else setting.fleet.poll(patience=1).values
    assert values == 2
    assert setting.fleet.poll(patience=0).asked == 1  # it is being asked still
    slow.released.set()
    assert setting.fleet.poll().values == 2


def test_a_task_that_is_new_is_read_from_when_it_was_found_to_be_missing(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    other = str(uuid.UUID(int=2))
    server.ran(TASK, run_id(1), NOW - 10, RTT)
    server.ran(other, run_id(2), NOW - 500, RTT)
    server.ran(other, run_id(3), NOW - 900, RTT)
    assert setting.fleet.poll().values == 2
    known = list(setting.hosts[0].watched)
    setting.fleet.watch(0, [*known, Watched(PostedTask(other, "", ""), PING)], NOW - 600)
    assert setting.fleet.poll().values == 2
    assert [v.source[-36:] for v in setting.values() if isinstance(v, Measurement)][-1] == run_id(2)
    setting.fleet.watch(0, known, NOW - 3000)  # nothing new: the place stays
    server.asked.clear()
    assert setting.fleet.poll().values == 0
    setting.fleet.watch(0, [], NOW)
    assert setting.fleet.poll().asked == 0


def test_a_task_found_while_its_host_is_read_is_not_passed_over(stack: ExitStack) -> None:
    setting = Setting(stack, 1)
    (server,) = setting.servers
    other = str(uuid.UUID(int=2))
    server.ran(TASK, run_id(1), NOW - 10, RTT)
    server.ran(other, run_id(2), NOW - 500, RTT)
    server.misbehave["GET /schedule"] = held(server)
    assert setting.fleet.poll(patience=0.2).values == 0
    watched = [*setting.hosts[0].watched, Watched(PostedTask(other, "", ""), PING)]
    setting.fleet.watch(0, watched, NOW - 600)
    server.released.set()
    assert setting.fleet.poll().values == 2
    assert setting.fleet.poll().values == 4  # what was read before is read again; the archive knows it


def test_a_result_that_is_forgotten_between_listing_and_reading_is_passed_over(stack: ExitStack) -> None:
    request = specs.latency_in_background(ENDS, 600, 0.1, 86_400)
    setting = Setting(stack, 1, PathTest(PING.key, request, (Metric.ONE_WAY_DELAY,)))
    (server,) = setting.servers
    server.ran(TASK, run_id(1), NOW - 100, RTT)
    server.misbehave[f"GET /tasks/{TASK}/runs/"] = lambda handler: reply(handler, 404, "gone", "text/plain")
    assert setting.fleet.poll().errors == ()


@settings(max_examples=15 * DEPTH)
@given(st.lists(st.tuples(st.floats(0, 400), st.integers(0, 120)), max_size=12), st.integers(5, 90))
def test_whenever_runs_start_and_end_each_is_taken_once(plan: list[tuple[float, int]], every: int) -> None:
    with ExitStack() as opened:
        setting = Setting(opened, 1)
        (server,) = setting.servers
        for number, (start, lasts) in enumerate(plan):
            server.ran(TASK, run_id(number), NOW + start, RTT, lasts=lasts)
        ends = {run_id(number): NOW + int(start) + lasts + 2 for number, (start, lasts) in enumerate(plan)}
        taken = 0
        while setting.now < NOW + 600 + every:
            setting.now += every
            for line in server.runs:
                line["state"] = "finished" if ends[line["href"][-36:]] <= setting.now else "running"
            taken += setting.fleet.poll().values
        assert taken == 2 * len(plan)

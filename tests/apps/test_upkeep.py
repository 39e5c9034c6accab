from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler

import pytest

from apps.collector import upkeep as module
from apps.collector.standing import AHEAD, LASTS, Wanted
from apps.collector.upkeep import Upkeep
from measurement.fleet import Fleet, Value
from measurement.model import Measurement
from measurement.poller import Point
from measurement.pscheduler.iso8601 import parse_timestamp
from tests.apps.collecting import Clock
from tests.apps.lasting import Holder, hang, holder
from tests.apps.test_standing import WANTED
from tests.measurement.standin import reply

RESULT = {"succeeded": True, "packets-sent": 2, "packets-lost": 0, "histogram-latency": {"50.00": 2}}


class Setting:
    """Wanted tests at points, one time for all of them, and what was read."""

    def __init__(
        self, holders: dict[str, Holder], clock: Clock, wanted: Sequence[Wanted] = (WANTED,)
    ) -> None:
        self.clock = clock
        points = {name: Point(each.client, name) for name, each in holders.items()}
        self.upkeep = Upkeep(
            wanted, points, clock=clock, monotonic=lambda: clock.now - 1000, chance=lambda: 0.5
        )
        self.fleet = Fleet(self.upkeep.hosts, self.take, since=clock.now, clock=clock)
        self.taken: list[Value] = []

    def take(self, values: Sequence[Value]) -> None:
        self.taken += values
        for value in values:
            if isinstance(value, Measurement):
                self.upkeep.heard(value.source.split("/")[-3])

    def refresh(self, done: Callable[[], object] = lambda: True) -> None:
        """Look, and wait for what the points' threads do about it."""
        deadline = time.monotonic() + 5
        while True:
            self.upkeep.refresh(self.fleet)
            if not self.upkeep._busy and done():
                return
            assert time.monotonic() < deadline, "not in time"
            time.sleep(0.01)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def point(clock: Clock) -> Iterator[Holder]:
    with holder(clock) as running:
        yield running


def test_it_is_posted_once_read_and_followed_by_the_next_when_it_ends(point: Holder, clock: Clock) -> None:
    setting, begun = Setting({"mu": point}, clock), clock.now
    setting.refresh(lambda: point.tasks)
    (first,) = point.tasks
    while clock.now < begun + LASTS - AHEAD + 30:
        clock.now += 50
        point.gives(first, RESULT)
        setting.fleet.poll()
        setting.refresh()
    assert len({value.source for value in setting.taken if isinstance(value, Measurement)}) >= 60
    assert isinstance(setting.taken[0], Measurement)
    assert (setting.taken[0].tool, setting.taken[0].value) == ("adon-owd", 0.005)
    first, second = point.tasks
    starts = parse_timestamp(point.tasks[second]["schedule"]["start"])
    assert starts == pytest.approx(begun + LASTS, abs=1)
    point.gives(second, RESULT)
    assert setting.fleet.poll().values > 0
    assert point.cancelled == []


def test_a_point_that_was_restarted_gets_it_again(
    point: Holder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    setting = Setting({"mu": point}, clock)
    setting.refresh(lambda: point.tasks)
    (first,) = point.tasks
    point.tasks.clear()
    point.server.runs.clear()
    clock.now += WANTED.patience + 1
    setting.refresh(lambda: point.tasks)
    (second,) = point.tasks
    assert first != second
    assert point.cancelled == [first]
    assert [r.message for r in caplog.records if "event=silent" in r.message] == [
        'event=silent point=mu test=latencybg key=al2s:mu>osu cause="the point does not know it any more"'
    ]


def test_what_runs_without_results_is_said_and_left(
    point: Holder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    setting = Setting({"mu": point}, clock)
    setting.refresh(lambda: point.tasks)
    for _ in range(20):
        clock.now += 30
        setting.refresh()
    assert len(point.tasks) == 1
    assert len([r for r in caplog.records if "goes on without results" in r.message]) == 4


def test_a_point_that_refuses_is_one_line_and_left_alone(
    point: Holder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def no(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, 403, "you may not", "text/plain")

    point.server.misbehave["POST /tasks"] = no
    setting = Setting({"mu": point}, clock)
    for _ in range(10):
        clock.now += 100
        setting.refresh()
    (line,) = (r.message for r in caplog.records if r.levelno == logging.WARNING)
    assert "event=not_posted point=mu test=latencybg" in line
    assert "again_in_s=3600" in line
    assert "you may not" in line


def test_a_point_that_hangs_holds_nobody_up(point: Holder, clock: Clock) -> None:
    there = Wanted("osu", WANTED.test, 20.0)
    with holder(clock) as slow:
        slow.server.misbehave["POST /tasks"] = hang(slow.server)
        setting = Setting({"mu": point, "osu": slow}, clock, [WANTED, there])
        setting.upkeep.refresh(setting.fleet)
        deadline = time.monotonic() + 5
        while setting.upkeep._busy != {"osu"}:
            assert time.monotonic() < deadline
            setting.upkeep.refresh(setting.fleet)
            time.sleep(0.01)
        assert len(point.tasks) == 1


def test_at_rest_everything_is_cancelled_and_afterwards_posted_anew(point: Holder, clock: Clock) -> None:
    setting = Setting({"mu": point}, clock)
    setting.refresh(lambda: point.tasks)
    (first,) = point.tasks
    setting.upkeep.rest(setting.fleet)
    assert point.cancelled == [first]
    assert setting.fleet.poll().asked == 0
    setting.refresh(lambda: point.tasks)
    assert setting.upkeep.place(first) is None
    assert setting.upkeep.place(next(iter(point.tasks))) == "mu"


@pytest.mark.parametrize("end", ["rest", "close"])
def test_what_is_being_posted_when_everything_ends_is_cancelled_too(
    point: Holder, clock: Clock, end: str
) -> None:
    post = point.server.misbehave["POST /tasks"]

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        point.server.released.wait(5)
        post(handler)

    point.server.misbehave["POST /tasks"] = slowly
    setting = Setting({"mu": point}, clock)
    setting.upkeep.refresh(setting.fleet)
    if end == "rest":
        setting.upkeep.rest(setting.fleet)
    else:
        setting.upkeep.close()
    point.server.released.set()
    deadline = time.monotonic() + 5
    while not point.cancelled:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert point.tasks == {}


def test_what_was_posted_before_a_rest_is_not_taken_for_standing_after_it(
    point: Holder, clock: Clock
) -> None:
    get = point.server.misbehave["GET /tasks/"]

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        point.server.released.wait(5)
        get(handler)

    point.server.misbehave["GET /tasks/"] = slowly  # the tool is asked for when the task is there
    setting = Setting({"mu": point}, clock)
    setting.upkeep.refresh(setting.fleet)
    deadline = time.monotonic() + 5
    while not point.tasks:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (first,) = point.tasks
    time.sleep(0.1)
    setting.upkeep.rest(setting.fleet)
    assert point.cancelled == [first]
    point.server.released.set()
    setting.refresh(lambda: point.tasks)
    assert setting.upkeep.place(first) is None


def test_a_point_that_hangs_does_not_hold_the_end(
    point: Holder, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "CANCEL_WITHIN", 0.1)
    setting = Setting({"mu": point}, clock)
    setting.refresh(lambda: point.tasks)
    point.server.misbehave["DELETE /tasks/"] = hang(point.server)
    setting.upkeep.close()
    assert "event=not_cancelled" in caplog.text

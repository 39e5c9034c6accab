from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from adon.errors import Conflict, NotFound, Unavailable
from adon.measurement_plan import MeasurementPlan
from apps.collector.conductor import EXECUTION, OVERLAP, Conductor
from apps.collector.timeline import LeftOut
from apps.collector.workers import Finished
from measurement.archive import Archive
from measurement.errors import ArchiveError, shorten
from measurement.model import Metric
from measurement.outcomes import MeasurementFailed
from measurement.poller import PathTest, PolledRun
from measurement.scheduling import Start
from tests.apps.collecting import EPOCH, HEAVY, KEY, PING, Clock, Hands, Told, measured, plan
from tests.support.refusals import refused

PLAN = plan((PING, 10, 2), (HEAVY, 30, 6))


class Bench:
    """A conductor whose world is the test."""

    def __init__(self, archive: Archive, free: int = 10, planned: MeasurementPlan = PLAN) -> None:
        self.clock, self.told, self.hands = Clock(), Told(), Hands(free)
        self.archive, self.cancelled = archive, 0
        self.posting_time = 0.0
        self.slots: list[Mapping[str, float]] = []
        self.conductor = Conductor(
            planned,
            self.hands,
            archive,
            self.told,
            notice=5.0,
            cancel=self.cancel,
            clock=self.clock,
            plan_slots=self.slots.append,
            posting_time=lambda: self.posting_time,
        )

    def cancel(self) -> None:
        self.cancelled += 1

    def until(self, at: float) -> None:
        """Let time pass in half seconds; every run ends as planned."""
        while self.clock.now < EPOCH + at:
            self.clock.now += 0.5
            self.conductor.start_due()

    def outcomes(self) -> list[str]:
        return [document["outcome"] for document in reversed(self.archive.documents(EXECUTION))]

    def finish(self, start: Start, test: PathTest, run: PolledRun) -> None:
        self.conductor.record_finish(Finished(start, test, run), self.archive.append)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Archive(tmp_path / "m.db") as archive:
        yield Bench(archive)


def test_slots_that_differ_from_the_plan_are_planned_with_once(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(30)
    for number in range(2):
        for start, test in bench.hands.taken[:6]:
            slot = 9.0 if test is HEAVY else 2.0  # the plan keeps 6 s and 2 s
            run = replace(measured(test, start.at, start.at + 1), slot=slot)
            bench.finish(start._replace(number=number), test, run)
    assert bench.slots == []  # others may follow
    bench.until(200)
    assert bench.slots == [{"al2s:mu>osu/rtt": 2.0, "al2s:mu>osu/throughput": 9.0}]


def test_jobs_are_handed_over_earlier_by_the_time_that_posting_takes(bench: Bench) -> None:
    bench.conductor.begin()

    def ahead(since: int, until: int) -> set[float]:
        """How long before their starts jobs are handed over, to the second."""
        found = set()
        for at in range(since, until):
            bench.until(at)
            for start, test in bench.hands.taken:
                found.add(start.at - bench.clock.now)
                bench.finish(start, test, measured(test, start.at, start.at + 1))
            bench.hands.taken.clear()
        return found

    assert max(ahead(1, 40)) <= 5
    bench.posting_time = 8.0
    ahead(40, 60)
    assert min(ahead(60, 120)) >= 5 + 8 - 1
    bench.posting_time = 0.0
    assert min(ahead(120, 200)) <= 5


def test_run_that_was_posted_too_late_is_counted_and_starts_no_back_off(bench: Bench) -> None:
    bench.conductor.begin()
    for at in range(1, 60):
        bench.until(at)
        for start, test in bench.hands.taken:
            bench.finish(start, test, PolledRun((), failure="its planned start was 1.0 s ago", late=True))
        bench.hands.taken.clear()
    assert set(bench.outcomes()) == {LeftOut.POSTED_LATE}


def test_while_another_measures_nothing_is_started(bench: Bench) -> None:
    bench.until(60)
    assert bench.hands.taken == []
    assert bench.conductor.schedule()["measures"] is False
    with pytest.raises(Unavailable):
        bench.conductor.demand(PING, "now")


def test_jobs_are_handed_over_ahead_of_their_starts(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(30)
    assert bench.hands.taken
    assert all(start.at == int(start.at) for start, _ in bench.hands.taken)
    assert bench.hands.taken[0][0].at == EPOCH + 5
    # A run that has not ended keeps the next one of its task away.
    assert LeftOut.STILL_RUNNING in bench.outcomes()


def test_a_period_may_be_shorter_than_notice_and_test_together(tmp_path: Path) -> None:
    """Notice 5 s, test 3 s, period 4 s: each run is handed over while the one before is under way."""
    with Archive(tmp_path / "m.db") as archive:
        bench = Bench(archive, planned=plan((PING, 4, 3)))
        bench.conductor.begin()
        finished = 0
        while bench.clock.now < EPOCH + 60:
            bench.until(bench.clock.now - EPOCH + 0.5)
            for start, test in bench.hands.taken[finished:]:
                if bench.clock.now >= start.at + 3:
                    bench.finish(start, test, measured(test, start.at, start.at + 2.5))
                    finished += 1
        starts = [start.at for start, _ in bench.hands.taken]
        assert {later - earlier for earlier, later in pairwise(starts)} == {4}
        assert set(bench.outcomes()) == {"measured"}


def test_a_run_is_kept_with_plan_and_truth_and_its_values_go_on(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(1)
    start, test = bench.hands.taken[0]
    values: list[Any] = []
    run = measured(test, start.at + 0.2, start.at + 1.2)
    bench.conductor.record_finish(Finished(start, test, run), values.extend)
    assert [value.series.metric for value in values] == [test.metrics[0]]
    (document,) = bench.archive.documents(EXECUTION)
    assert (document["planned_start"], document["started"]) == (start.at, start.at + 0.2)
    assert document["outcome"] == "measured"


def test_runs_of_conflicting_tests_that_overlapped_are_reported(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.conductor.begin()
    bench.until(30)
    ping = next(start for start, test in bench.hands.taken if test is PING)
    heavy = next(start for start, test in bench.hands.taken if test is HEAVY)
    bench.finish(heavy, HEAVY, measured(HEAVY, heavy.at, heavy.at + 6))
    with caplog.at_level(logging.ERROR):
        bench.finish(ping, PING, measured(PING, heavy.at + 5, heavy.at + 7))
    assert "event=overlap" in caplog.text
    assert "seconds=1.0" in caplog.text
    (document,) = bench.archive.documents(OVERLAP)
    assert {document["first"]["task"], document["second"]["task"]} == {heavy.task, ping.task}


@pytest.mark.parametrize("shared", [0.0, 0.004, 0.4])
def test_overlap_that_is_shorter_than_the_clocks_resolve_is_not_reported(
    bench: Bench, caplog: pytest.LogCaptureFixture, shared: float
) -> None:
    """Runs that touch at a second of the server's clock, seen through two readings of that clock."""
    bench.conductor.begin()
    bench.until(30)
    ping = next(start for start, test in bench.hands.taken if test is PING)
    heavy = next(start for start, test in bench.hands.taken if test is HEAVY)
    bench.finish(heavy, HEAVY, measured(HEAVY, heavy.at, heavy.at + 6))
    bench.finish(ping, PING, measured(PING, heavy.at + 6 - shared, heavy.at + 8))
    assert "event=overlap" not in caplog.text
    assert bench.archive.documents(OVERLAP) == []


def test_as_planned_nothing_is_reported(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.conductor.begin()
    for second in range(90):
        bench.until(second)
        for start, test in bench.hands.taken:
            lasts = 6 if test is HEAVY else 2
            if start.at + lasts <= bench.clock.now:
                bench.finish(start, test, measured(test, start.at, start.at + lasts))
        bench.hands.taken = [
            (start, test)
            for start, test in bench.hands.taken
            if start.at + (6 if test is HEAVY else 2) > bench.clock.now
        ]
    assert "event=overlap" not in caplog.text
    assert set(bench.outcomes()) == {"measured"}
    assert len(bench.outcomes()) >= 10


def test_a_failure_is_told_and_a_task_that_keeps_failing_backs_off(bench: Bench) -> None:
    bench.conductor.begin()
    failure = MeasurementFailed(KEY, Metric.RTT, "ps-a: refused", EPOCH, "point-refused")
    failed = PolledRun((failure,), failure="ps-a: refused")
    for second in range(60):
        bench.until(second)
        for start, test in bench.hands.taken:
            bench.finish(start, test, failed)
        bench.hands.taken = []
    assert bench.told.sent[0] == (
        "measurement_failed",
        {
            "key": {"path": "al2s", "source": "mu", "destination": "osu"},
            "metric": "rtt", "cause": "ps-a: refused", "at": EPOCH, "code": "point-refused",
        },
    )  # fmt: skip
    assert LeftOut.BACKING_OFF in bench.outcomes()
    assert shorten("ps-a: refused") in bench.outcomes()


def test_a_quiet_path_is_not_loaded_but_still_pinged(bench: Bench) -> None:
    bench.conductor.begin()
    bench.conductor.be_quiet(frozenset({"al2s"}))
    bench.until(60)
    assert {str(test.request.kind) for _, test in bench.hands.taken} == {"rtt"}
    assert LeftOut.QUIET in bench.outcomes()


def test_without_a_free_worker_a_run_is_recorded_as_such(tmp_path: Path) -> None:
    with Archive(tmp_path / "m.db") as archive:
        bench = Bench(archive, free=0)
        bench.conductor.begin()
        bench.until(10)
        assert any("worker" in outcome for outcome in bench.outcomes())


def test_on_demand_in_the_slack_then_refused_when_there_is_none(bench: Bench) -> None:
    bench.conductor.begin()
    start = bench.conductor.demand(PING, "a test")
    bench.until(start.at - EPOCH)
    assert start in [taken for taken, _ in bench.hands.taken]
    with refused(Conflict, field="test"):
        _demand_many(bench)


def _demand_many(bench: Bench) -> None:
    for _ in range(100):
        bench.conductor.demand(HEAVY, "too many")


def test_only_configured_tests_can_be_demanded(bench: Bench) -> None:
    assert bench.conductor.test_of(KEY, "rtt") is PING
    with pytest.raises(NotFound):
        bench.conductor.test_of(KEY, "trace")


def test_when_another_takes_over_what_is_open_is_cancelled(bench: Bench) -> None:
    bench.conductor.begin()
    bench.conductor.halt()
    assert bench.cancelled == 1
    bench.until(60)
    assert bench.hands.taken == []


def test_another_plan_begins_when_the_old_one_is_over_and_keeps_what_was_promised(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(8)
    promised = bench.conductor.demand(PING, "a test")
    bench.conductor.replan(plan((PING, 4, 1)))
    changed = bench.clock.now
    bench.until(60)
    assert promised.task in [start.task for start, _ in bench.hands.taken]
    new = [
        document["planned_start"]
        for document in reversed(bench.archive.documents(EXECUTION))
        if document["planned_start"] > changed + 5 and document["task"].endswith("/rtt")
    ]
    assert new[0] >= changed + 5 + 6 - 1  # the notice, and the longest slot of the old plan
    assert {later - earlier for earlier, later in pairwise(new)} == {4.0}


def test_the_same_plan_again_changes_nothing(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(8)
    before = bench.conductor.schedule()
    bench.conductor.replan(PLAN)
    assert bench.conductor.schedule() == before


def test_what_could_not_be_kept_is_not_noted_as_measured(bench: Bench) -> None:
    bench.conductor.begin()
    bench.until(1)
    start, test = bench.hands.taken[0]

    def full(_: object) -> None:
        raise ArchiveError("the disk is full")

    with pytest.raises(ArchiveError):
        bench.conductor.record_finish(Finished(start, test, measured(test, start.at, start.at + 1)), full)
    assert bench.outcomes() == []

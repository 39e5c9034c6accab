from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.model import Metric, PathKey
from measurement.plan import LONGEST_BACKOFF, History, PlannedTest, due_at, to_start
from measurement.pscheduler.specs import Kind, TestRequest


def planned(kind: Kind, path: str = "l2", points: str = "ab", period: float = 60.0) -> PlannedTest:
    key = PathKey(path, points[0], points[1])
    return PlannedTest(key, TestRequest(kind, {}, 5.0), (Metric.RTT,), frozenset(points), period)


HEAVY = planned(Kind.THROUGHPUT)
HEAVY_BACK = planned(Kind.THROUGHPUT, points="ba")
ELSEWHERE = planned(Kind.THROUGHPUT, points="cd")
PING = planned(Kind.RTT, period=10)
DELAY = planned(Kind.LATENCY, period=20)


def test_light_tests_start_together_and_a_load_alone() -> None:
    assert to_start([PING, DELAY], 0, {}, set()) == [PING, DELAY]
    assert to_start([HEAVY, HEAVY_BACK], 0, {}, set()) == [HEAVY]
    assert to_start([HEAVY, ELSEWHERE], 0, {}, set()) == [HEAVY, ELSEWHERE]


@pytest.mark.parametrize("running", [HEAVY, PING])
def test_a_load_waits_for_what_runs_on_its_points(running: PlannedTest) -> None:
    assert to_start([running, HEAVY_BACK], 0, {}, {running.name}) == []


def test_a_load_that_waits_keeps_later_tests_off_its_points() -> None:
    history = {HEAVY.name: History(-10.0), PING.name: History(100.0), DELAY.name: History(105.0)}
    # DELAY runs; HEAVY is due since 50, PING is due since 110 and must not slip in before it.
    assert to_start([HEAVY, PING, DELAY], 120, history, {DELAY.name}) == []
    assert to_start([HEAVY, PING, DELAY], 120, history, set()) == [HEAVY]


def test_nothing_starts_before_its_time() -> None:
    assert to_start([PING], 109.9, {PING.name: History(100.0)}, set()) == []
    assert to_start([PING], 110, {PING.name: History(100.0)}, set()) == [PING]


def test_on_a_quiet_path_only_light_tests_start() -> None:
    assert to_start([HEAVY, PING], 0, {}, set(), quiet={"l2"}) == [PING]
    assert to_start([HEAVY, PING], 0, {}, set(), quiet={"l3"}) == [PING]
    assert to_start([HEAVY], 0, {}, set(), quiet={"l3"}) == [HEAVY]


@pytest.mark.parametrize(("failures", "wait"), [(0, 10), (1, 10), (2, 20), (3, 40), (99, LONGEST_BACKOFF)])
def test_failures_in_a_row_delay_the_next_attempt_up_to_a_limit(failures: int, wait: float) -> None:
    assert due_at(PING, History(100.0, failures)) == 100 + wait


TESTS = st.lists(
    st.builds(
        planned,
        st.sampled_from(Kind),
        st.sampled_from(["l2", "l3"]),
        st.sampled_from(["ab", "ba", "bc", "cd"]),
        st.floats(1, 100),
    ),
    unique_by=lambda test: test.name,
)


@settings(max_examples=100)
@given(TESTS, st.data())
def test_no_two_conflicting_tests_ever_run_together(tests: list[PlannedTest], data: st.DataObject) -> None:
    history = {test.name: History(data.draw(st.floats(0, 100))) for test in tests if data.draw(st.booleans())}
    running: list[PlannedTest] = []
    for now in (50.0, 100.0, 200.0):
        started = to_start(tests, now, history, {test.name for test in running})
        running += started
        assert not any(a.conflicts(b) for i, a in enumerate(running) for b in running[:i])
        if tests and not running:
            assert all(due_at(test, history.get(test.name)) > now for test in tests)

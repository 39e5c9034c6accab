"""Metrics sampled in the background."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.errors import MetricFailed
from measurement.custom.model import Origin
from measurement.custom.sampler import Progress, Sampler, next_time
from measurement.errors import ArchiveError
from measurement.model import Observation

SHORT = 0.01
LONG = 3600.0
WAIT = 20.0


class Counting:
    """Gives 1, 2, 3, ...; ends after ``last``; ``before`` is called first, with the number."""

    def __init__(
        self, period: float, last: int = 10**9, before: Callable[[int], None] = lambda number: None
    ) -> None:
        self.name = "counting"
        self.period = period
        self.last = last
        self.before = before
        self.number = 0

    def sample(self, now: float) -> list[Observation]:
        self.number += 1
        self.before(self.number)
        return [Origin("h", self.name, now, "test").value("count.value", self.number)]

    def ended(self, observations: Sequence[Observation]) -> bool:
        return observations[0].value == self.last


class Kept:
    """What was kept, to be waited for."""

    def __init__(self) -> None:
        self._values: queue.Queue[float] = queue.Queue()

    def __call__(self, values: Sequence[Observation]) -> None:
        for value in values:
            self._values.put(value.value)

    def next(self) -> float:
        return self._values.get(timeout=WAIT)

    def nothing(self) -> bool:
        return self._values.empty()


def reached(reach: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(2000):
        if reach():
            return
        waiting.wait(0.01)
    pytest.fail("never reached")


def test_every_period_until_it_is_stopped() -> None:
    kept, metric = Kept(), Counting(SHORT)
    with Sampler({"m": metric}, kept, lambda: 7.0) as sampler:
        assert [kept.next() for _ in range(3)] == [1, 2, 3]
        assert sampler.progress()["m"].last_at == 7.0
    assert not [thread for thread in threading.enumerate() if thread.name == "metric m"]


def test_until_it_ends_and_again_when_asked() -> None:
    kept, metric = Kept(), Counting(SHORT, last=2)
    with Sampler({"m": metric}, kept, lambda: 7.0) as sampler:
        assert [kept.next(), kept.next()] == [1, 2]
        reached(lambda: sampler.progress()["m"].ended)
        assert kept.nothing()
        assert sampler.progress()["m"] == Progress(2, 7.0, "", ended=True)
        metric.last = 4  # the workflow was restarted
        sampler.run_now("m")
        assert [kept.next(), kept.next()] == [3, 4]


def test_run_now_does_not_wait_for_the_period() -> None:
    kept = Kept()
    with Sampler({"m": Counting(LONG)}, kept) as sampler:
        assert kept.next() == 1
        sampler.run_now("m")
        assert kept.next() == 2
        with pytest.raises(KeyError):
            sampler.run_now("other")


def test_one_that_hangs_delays_no_other() -> None:
    free = threading.Event()
    kept = Kept()

    def hang(number: int) -> None:
        free.wait(WAIT)

    hanging = Counting(SHORT, before=hang)
    with Sampler({"hanging": hanging, "m": Counting(SHORT)}, kept) as sampler:
        assert [kept.next() for _ in range(3)] == [1, 2, 3]
        assert sampler.progress()["hanging"].samples == 0
        free.set()


def test_failures_are_told_once_and_do_not_end_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def fail(number: int) -> None:
        if 2 <= number <= 4:
            raise MetricFailed("it ended with status 1", "password hunter2")

    kept = Kept()
    with Sampler({"m": Counting(SHORT, before=fail)}, kept) as sampler:
        assert [kept.next(), kept.next()] == [1, 5]
        assert "hunter2" not in repr(sampler.progress())
    said = [record.getMessage() for record in caplog.records]
    assert said == ["metric m: it ended with status 1 (password hunter2)", "metric m: has values again"]


def test_values_that_cannot_be_kept_are_a_failure() -> None:
    wanted = threading.Event()

    def keep(values: Sequence[Observation]) -> None:
        if values[0].value < 3:
            raise ArchiveError("the disk is full")
        wanted.set()

    with Sampler({"m": Counting(SHORT)}, keep) as sampler:
        assert wanted.wait(WAIT)
        reached(lambda: sampler.progress()["m"].failing == "")


def test_a_fault_of_ours_ends_it_loudly(caplog: pytest.LogCaptureFixture) -> None:
    def fault(number: int) -> None:
        raise ZeroDivisionError

    with Sampler({"m": Counting(SHORT, before=fault), "n": Counting(SHORT)}, kept := Kept()) as sampler:
        reached(lambda: sampler.progress()["m"].ended)
        assert "fault of this program" in sampler.progress()["m"].failing
        assert kept.next() == 1
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("due", "period", "now", "following"),
    [(10.0, 5.0, 9.0, 10.0), (10.0, 5.0, 10.0, 15.0), (10.0, 5.0, 14.9, 15.0), (10.0, 5.0, 31.0, 35.0)],
)
def test_next_time(due: float, period: float, now: float, following: float) -> None:
    assert next_time(due, period, now) == following


@given(st.integers(0, 1000), st.integers(1, 100), st.integers(0, 5000))
def test_next_time_keeps_its_phase(due: int, period: int, now: int) -> None:
    following = next_time(due, period, now)
    assert (following - due) % period == 0
    assert following == due or now < following <= now + period

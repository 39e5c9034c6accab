from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from measurement.custom.errors import MetricFailed
from measurement.model import Observation, from_json, host_key
from measurement.point.children import RunCanceled, ToolFailed
from measurement.point.metrics import Metrics, next_time
from measurement.point.specs import MetricSpec, parse_spec
from tests.support.refusals import refused


def observation(value: float, at: float) -> Observation:
    return Observation(host_key("h"), "queue.length", value, at, "custom:h/queue")


class Queue:
    """A metric that gives what it is told to: values, nothing, or a failure."""

    name, period = "queue", 0.001

    def __init__(self, *samples: list[float] | MetricFailed, ends_at: float | None = None) -> None:
        self._samples = list(samples)
        self._ends_at = ends_at
        self.taken = 0
        self.at_once = 0
        self._inside = threading.Lock()

    def sample(self, now: float) -> list[Observation]:
        if not self._inside.acquire(blocking=False):
            self.at_once += 1
            return []
        with_value = self._samples[min(self.taken, len(self._samples) - 1)]
        self.taken += 1
        self._inside.release()
        if isinstance(with_value, MetricFailed):
            raise with_value
        return [observation(value, now) for value in with_value]

    def is_final(self, observations: Sequence[Observation]) -> bool:
        return any(one.value == self._ends_at for one in observations)


def spec(**fields: Any) -> MetricSpec:
    found = parse_spec("adon-metric", {"metric": "queue", "duration": "PT1S", **fields})
    assert isinstance(found, MetricSpec)
    return found


def observed(queue: Queue, spec_: MetricSpec, pauses: int) -> list[list[float]]:
    """The values reported until the run is cancelled in its ``pauses``-th pause, or ends by itself."""
    reported: list[list[float]] = []
    left = [pauses]

    def pause(_: float) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise RunCanceled

    def report(result: dict[str, Any]) -> None:
        assert result["succeeded"] is True
        reported.append([from_json(Observation, item).value for item in result["observations"]])

    Metrics({"queue": queue}).observe(spec_, pause, report)
    return reported


def test_each_sample_is_a_result_until_the_metric_ends():
    assert observed(Queue([1.0], [2.0, 3.0], [9.0], [4.0], ends_at=9.0), spec(), 100) == [[1], [2, 3], [9]]


def test_a_sample_without_values_or_a_failure_is_no_result_and_not_the_end(caplog):
    failed = MetricFailed("silent")
    queue = Queue(failed, failed, [], [1.0], failed, [9.0], ends_at=9.0)
    assert observed(queue, spec(), 100) == [[1], [9]]
    logged = [record.getMessage().split() for record in caplog.records]
    assert logged == [["event=no_value", "metric=queue", 'cause="silent"']] * 2


def test_a_run_that_is_cancelled_ends_at_once():
    queue = Queue([1.0])
    with pytest.raises(RunCanceled):
        observed(queue, spec(), 3)
    assert queue.taken == 3


def test_a_metric_that_never_had_a_value_is_a_failed_run():
    with pytest.raises(ToolFailed):
        Metrics({"queue": Queue(MetricFailed("no answer"))}).observe(
            spec(interval="PT10S"), threading.Event().wait, lambda _: None
        )


def test_one_that_is_not_there_names_those_that_are():
    with pytest.raises(ToolFailed):
        Metrics({"queue": Queue([1.0])}).observe(spec(metric="other"), lambda _: None, lambda _: None)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"metric": ""}, "metric"),
        ({"metric": 5}, "metric"),
        ({"duration": "PT0.5S"}, "duration"),
        ({"duration": "P2D"}, "duration"),
        ({"interval": "P0D"}, "interval"),
        ({"dest": "192.0.2.1"}, "dest"),
    ],
)
def test_a_bad_specification_names_its_field(fields, field):
    with refused(ValueError, field):
        spec(**fields)


@pytest.mark.parametrize(
    ("due", "period", "now", "following"),
    [(10.0, 5.0, 9.0, 10.0), (10.0, 5.0, 10.0, 15.0), (10.0, 5.0, 14.9, 15.0), (10.0, 5.0, 31.0, 35.0)],
)
def test_late_samples_do_not_pile_up(due: float, period: float, now: float, following: float) -> None:
    assert next_time(due, period, now) == following

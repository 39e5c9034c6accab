from __future__ import annotations

from adon.broker.heard import Heard
from adon.flowvisor.performance import Changed
from measurement.model import Measurement, Metric, PathKey

A, B = PathKey("a", "x", "y"), PathKey("b", "x", "y")


def result(key: PathKey, value: float, at: float) -> Measurement:
    return Measurement(key, Metric.THROUGHPUT, value, at - 1, at, "t", "iperf3")


def test_what_is_heard_is_counted_per_path() -> None:
    heard = Heard()
    heard.record(result(A, 1e6, 100.0), 100.0)
    assert (heard.version, heard.of(A), heard.of(B)) == (1, 1, 0)
    heard.supersede(B, Metric.THROUGHPUT, Changed(50.0, "alarm"))
    assert (heard.version, heard.of(A), heard.of(B)) == (2, 1, 1)


def test_the_best_is_that_of_now() -> None:
    heard = Heard()
    assert heard.best([A, B], Metric.THROUGHPUT, 0.0) is None
    heard.record(result(A, 1e6, 100.0))
    heard.record(result(B, 3e6, 10_000.0))
    assert heard.best([A, B], Metric.THROUGHPUT, 0.0) == 3e6
    assert heard.best([A], Metric.THROUGHPUT, 0.0) == 1e6
    heard.record(result(A, 5e6, 101.0))
    assert heard.best([A, B], Metric.THROUGHPUT, 0.0) == 5e6
    assert heard.best([A, B], Metric.THROUGHPUT, 9_000.0) == 3e6


def test_a_result_of_later_is_told() -> None:
    heard = Heard()
    heard.record(result(A, 1e6, 104.0), 100.0)
    assert not heard.ahead(100.0)
    assert heard.ahead(80.0)


def test_the_spread_is_that_of_now() -> None:
    heard = Heard()
    for at, value in enumerate((1e6, 2e6)):
        heard.record(result(A, value, 100.0 + at))
    assert heard.seen(A, Metric.THROUGHPUT, 0.0).mean == 1.5e6
    heard.record(result(A, 6e6, 102.0))
    assert heard.seen(A, Metric.THROUGHPUT, 0.0).mean == 3e6
    heard.supersede(A, Metric.THROUGHPUT, Changed(20_000.0, "alarm"))
    assert heard.seen(A, Metric.THROUGHPUT, 0.0).count == 0

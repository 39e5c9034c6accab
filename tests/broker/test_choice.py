from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.choice import Need, own_throughput
from adon.broker.counters import FlowCounters
from adon.flowvisor.rules.cookie import Kind
from adon.flowvisor.selection.performance import FlowLoad
from adon.flowvisor.topology.path import Basis
from measurement.model import Measurement, Metric
from tests.support.counters import DESTINATION, SOURCE, make_reported_rule
from tests.support.factories import make_catalog, make_measurement, make_request

CAPACITY = 60e6


def counted(rate: float, until: float = 100.0) -> FlowCounters:
    """A flow of a steady rate, read every five seconds."""
    counters = FlowCounters()
    for at in range(0, int(until) + 1, 5):
        rules = [make_reported_rule(1, Kind.FLOW_INGRESS, int(rate * at / 8))]
        counters.report(float(at), 1, rules, SOURCE, DESTINATION)
    return counters


def result_of(rate: float, start: float = 50.0, end: float = 60.0) -> Measurement:
    return make_measurement(value=rate, started_at=start, observed_at=end)


def own(
    rate: float, tested: Measurement | None, streams: int = 1, others: int = 0, now: float = 100.0
) -> Any:
    loads = [FlowLoad(others, 0.0)] if others else []
    return own_throughput(counted(rate), tested, streams, loads, CAPACITY, now, 300.0)


@pytest.mark.parametrize(
    ("rate", "tested", "streams", "others", "expected"),
    [
        (29e6, 29e6, 1, 0, 58e6),  # alone: the test's share comes back as a whole
        (29e6, 29e6, 1, 1, 43.5e6),  # half of it goes to the other flow
        (10e6, 8e6, 1, 3, 12e6),  # a quarter
        (50e6, 29e6, 1, 0, CAPACITY),  # never more than the path carries
        (0.0, 5e6, 1, 0, 5e6),  # silent during the test: it could have had what the test got
    ],
)
def test_the_tests_share_comes_back(
    rate: float, tested: float, streams: int, others: int, expected: float
) -> None:
    found = own(rate, result_of(tested), streams, others)
    assert found.value == pytest.approx(expected, rel=0.01)
    assert found.basis is Basis.OWN


@given(st.floats(0, 1e8), st.floats(0, 1e8), st.integers(1, 16), st.integers(0, 64))
def test_it_is_between_the_own_rate_and_the_capacity(
    rate: float, tested: float, streams: int, others: int
) -> None:
    value = own(rate, result_of(tested), streams, others).value
    assert min(rate, CAPACITY) * 0.99 - 10 <= value <= CAPACITY


@pytest.mark.parametrize(
    "tested",
    [None, result_of(5e6, 200.0, 210.0), result_of(5e6, -20.0, -10.0)],
    ids=["none", "later", "before"],
)
def test_without_a_test_that_the_counters_cover_the_latest_rate_stands(tested: Measurement | None) -> None:
    found = own(29e6, tested)
    assert (found.value, found.observed_at) == (pytest.approx(29e6, rel=0.01), 100.0)


@pytest.mark.parametrize(("rate", "now"), [(0.0, 100.0), (29e6, 401.0)], ids=["silent", "old"])
def test_a_rate_that_says_nothing_is_no_value(rate: float, now: float) -> None:
    assert own(rate, None, now=now) is None


@pytest.mark.parametrize(
    ("since", "value"),
    [(0.0, 58e6), (60.0, 58e6), (61.0, 29e6), (100.0, 29e6), (101.0, None)],
)
def test_nothing_from_before_a_change_counts(since: float, value: float | None) -> None:
    """The test ends at 60, the latest rate is of 100."""
    tested = result_of(29e6, 50.0, 60.0)
    found = own_throughput(counted(29e6), tested, 1, (), CAPACITY, 100.0, 300.0, since)
    assert (None if found is None else found.value) == (
        value if value is None else pytest.approx(value, rel=0.01)
    )


def test_a_need_is_the_template_with_what_the_request_changes() -> None:
    template = make_catalog().get("soykb")
    plain = Need.of(template, make_request())
    assert (plain.qspec, plain.streams) == (template.qspec, template.streams)
    asked = {"weights": {"rtt": 3, "throughput": 1}, "streams": 4, "qspec": {"jitter": {"max": "1 ms"}}}
    changed = Need.of(template, make_request(**asked))
    assert changed.weights == {Metric.RTT: 0.75, Metric.THROUGHPUT: 0.25}
    assert changed.streams == 4
    assert changed.qspec.throughput == template.qspec.throughput
    assert Metric.JITTER in changed.metrics

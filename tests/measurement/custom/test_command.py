"""Commands as metrics: what they print becomes numbers, or one line says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.answer import MOST_VALUES, read_answer
from measurement.custom.command import CommandMetric, MetricCommand, run
from measurement.custom.execute import Limits
from measurement.model import host_key
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("42\n", {"": 42.0}),
        ("  -1.5e3 ", {"": -1500.0}),
        ('{"": 1, "é": {"": 2}}', {"_": 1.0, "_._": 2.0}),
        (
            '{"used": 3, "by": {"Long Queue": 2, "short": 1.5}}',
            {"used": 3, "by.long_queue": 2, "by.short": 1.5},
        ),
        ('{"user": "soykb", "token": "x", "list": [1, 2], "none": null, "n": true}', {"n": 1.0}),
    ],
)
def test_numbers(text: str, values: dict[str, float]) -> None:
    assert read_answer(text) == values


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("12 MB", "malformed"),
        ("[1]", "malformed"),
        ("nan", "out-of-range"),
        ("inf", "out-of-range"),
        ("1e999", "out-of-range"),
        ("1" * 5000, "out-of-range"),
        ("{", "malformed"),
        ('{"secret": ', "malformed"),
        ('{"a":' * 100_000, "malformed"),
        ('{"a":' * 400 + "1" + "}" * 400, "wrong-type"),
        ('{"a": NaN}', "out-of-range"),
        ('{"a": 1' + "0" * 400 + "}", "out-of-range"),
        ('{"a": "secret"}', "wrong-type"),
        ('{"a b": 1, "a_b": 2}', "duplicate"),
        (json.dumps({f"k{n}": n for n in range(MOST_VALUES + 1)}), "wrong-length"),
    ],
)
def test_what_is_no_answer(text: str, code: str) -> None:
    with refused(code) as caught:
        read_answer(text)
    assert "secret" not in str(caught.error)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for before in ("", "{"):
        try:
            values = read_answer(before + text)
        except ValueError:
            continue
        assert all(isinstance(value, float) for value in values.values())


def test_a_command_gives_observations() -> None:
    command = MetricCommand("queue.length", ("echo", "12"), unit="jobs")
    (value,) = run(command, "dtn1", 1000.0)  # type: ignore[misc]
    assert (value.key, value.metric, value.value, value.observed_at) == (
        host_key("dtn1"),
        "queue.length",
        12.0,
        1000.0,
    )
    assert value.parameters == {"unit": "jobs"}
    assert value.source == "custom:dtn1/queue.length"


def test_a_document_gives_one_series_for_each_number() -> None:
    command = MetricCommand("queue", ("echo", '{"used": 3, "by": {"long": 2}}'))
    values = run(command, "dtn1", 1000.0)
    assert isinstance(values, list)
    assert {value.metric: value.value for value in values} == {"queue.used": 3, "queue.by.long": 2}


@pytest.mark.parametrize(
    ("argv", "cause", "code"),
    [
        (("sh", "-c", "echo 1; echo password=hunter2 >&2; exit 2"), "status 2", "metric-failed"),
        (("sh", "-c", "echo password=hunter2"), "JSON", "malformed"),
        (("sleep", "hunter2", "60"), "status 1", "metric-failed"),
        (("no-such-program", "hunter2"), "no-such-program", "not-started"),
        (("sh", "-c", "sleep 60; echo hunter2"), "2 s", "timeout"),
        (("echo", "{}"), "number", "malformed"),
    ],
)
def test_failures_say_why_and_nothing_that_is_secret(argv: tuple[str, ...], cause: str, code: str) -> None:
    with refused(code) as failed:
        limits = Limits(seconds=2.0 if code == "timeout" else 60.0)
        run(MetricCommand("m", argv, limits=limits), "h", 1.0)
    assert cause in str(failed.error)
    assert "hunter2" not in str(failed.error)


def test_as_a_metric_a_failure_is_raised() -> None:
    metric = CommandMetric(MetricCommand("m", ("false",)), "h")
    with refused("metric-failed"):
        metric.sample(1.0)
    assert metric.name == "m"
    assert not metric.is_final([])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Queue"}, "name"),
        ({"name": "a..b"}, "name"),
        ({"name": "rtt"}, "name"),
        ({"argv": ()}, "argv"),
        ({"argv": ("",)}, "argv"),
        ({"argv": ("a\0b",)}, "argv"),
    ],
)
def test_commands_that_are_refused(change: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        MetricCommand(**{"name": "m", "argv": ("true",), **change})

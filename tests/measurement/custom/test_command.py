"""Commands as metrics: what they print becomes numbers, or one line says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.answer import MOST_VALUES, check_schema, read_answer
from measurement.custom.command import CommandFailed, CommandMetric, MetricCommand, run
from measurement.custom.errors import MetricFailed
from measurement.custom.execute import Limits
from measurement.model import host_key

ANY: dict[str, Any] = {}
QUEUE = {
    "type": "object",
    "required": ["used"],
    "properties": {"used": {"type": "number", "minimum": 0}, "by": {"type": "object"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "schema", "values"),
    [
        ("42\n", None, {"": 42.0}),
        ("  -1.5e3 ", None, {"": -1500.0}),
        ("7", ANY, {"": 7.0}),
        ("true", ANY, {"": 1.0}),
        ('{"": 1, "é": {"": 2}}', ANY, {"_": 1.0, "_._": 2.0}),
        (
            '{"used": 3, "by": {"Long Queue": 2, "short": 1.5}}',
            QUEUE,
            {"used": 3, "by.long_queue": 2, "by.short": 1.5},
        ),
        ('{"user": "soykb", "token": "x", "list": [1, 2], "none": null, "n": 1}', ANY, {"n": 1.0}),
    ],
)
def test_numbers(text: str, schema: dict[str, Any] | None, values: dict[str, float]) -> None:
    assert read_answer(text, schema) == values


@pytest.mark.parametrize(
    ("text", "schema", "cause"),
    [
        ("", None, "did not print a number"),
        ("12 MB", None, "did not print a number"),
        ("nan", None, "not finite"),
        ("inf", None, "not finite"),
        ("1e999", None, "not finite"),
        ("1" * 5000, None, "not finite"),
        ("{", ANY, "did not print JSON"),
        ("", ANY, "did not print JSON"),
        ("[" * 100_000, ANY, "did not print JSON"),
        ("1" * 5000, ANY, "did not print JSON"),
        ('{"a": NaN}', ANY, "not finite"),
        ('{"a": 1' + "0" * 400 + "}", ANY, "not finite"),
        ('{"used": -1}', QUEUE, r"used is not as its schema says \(minimum\)"),
        ('{"used": "secret"}', QUEUE, r"used is not as its schema says \(type\)"),
        ("{}", QUEUE, r"the document is not as its schema says \(required\)"),
        ('{"a": "x"}', ANY, "no number"),
        ('{"a b": 1, "a_b": 2}', ANY, "both named 'a_b'"),
        (json.dumps({f"k{n}": n for n in range(MOST_VALUES + 1)}), ANY, "more than 100"),
    ],
)
def test_what_is_no_answer(text: str, schema: dict[str, Any] | None, cause: str) -> None:
    with pytest.raises(ValueError, match=cause) as caught:
        read_answer(text, schema)
    assert "secret" not in str(caught.value)


def test_a_document_deeper_than_its_recursive_schema_can_follow() -> None:
    schema = {"type": ["object", "number"], "additionalProperties": {"$ref": "#"}}
    deep = '{"a":' * 400 + "1" + "}" * 400
    with pytest.raises(ValueError, match=r"nested too deeply|no number"):
        read_answer(deep, schema)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for schema in (None, ANY, QUEUE):
        try:
            values = read_answer(text, schema)
        except ValueError:
            continue
        assert all(isinstance(value, float) for value in values.values())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "numbre"},
        {"$ref": "http://198.51.100.1/schema.json"},
        {"properties": {"a": {"anyOf": [{"$ref": "file:///etc/passwd"}]}}},
    ],
)
def test_schemas_that_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="schema"):
        check_schema(schema)


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
    command = MetricCommand("queue", ("echo", '{"used": 3, "by": {"long": 2}}'), QUEUE)
    values = run(command, "dtn1", 1000.0)
    assert isinstance(values, list)
    assert {value.metric: value.value for value in values} == {"queue.used": 3, "queue.by.long": 2}


@pytest.mark.parametrize(
    ("argv", "cause"),
    [
        (("sh", "-c", "echo 1; echo password=hunter2 >&2; exit 2"), "it ended with status 2"),
        (("sh", "-c", "echo password=hunter2"), "it did not print a number"),
        (("sleep", "hunter2", "60"), "it ended with status 1"),
        (("no-such-program", "hunter2"), "no-such-program is not installed or may not be executed"),
        (("sh", "-c", "sleep 60; echo hunter2"), "sh did not end within 2 s"),
        (("echo", "{}"), "it printed no number"),
    ],
)
def test_failures_say_why_and_nothing_that_is_secret(argv: tuple[str, ...], cause: str) -> None:
    schema = ANY if argv[0] == "echo" else None
    failed = run(MetricCommand("m", argv, schema, limits=Limits(seconds=2.0)), "h", 1.0)
    assert isinstance(failed, CommandFailed)
    assert cause in failed.cause
    assert "hunter2" not in failed.cause


def test_as_a_metric_a_failure_is_raised() -> None:
    metric = CommandMetric(MetricCommand("m", ("false",)), "h")
    with pytest.raises(MetricFailed, match="status 1"):
        metric.sample(1.0)
    assert metric.name == "m"
    assert not metric.ended([])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Queue"}, "name"),
        ({"name": "a..b"}, "name"),
        ({"name": "rtt"}, "name"),
        ({"argv": ()}, "argv"),
        ({"argv": ("",)}, "argv"),
        ({"argv": ("a\0b",)}, "argv"),
        ({"schema": {"type": 1}}, "schema"),
    ],
)
def test_commands_that_are_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        MetricCommand(**{"name": "m", "argv": ("true",), **change})

"""Whose an end of a conversation is."""

from __future__ import annotations

import pytest

from measurement.profiling.packets import End
from measurement.profiling.tasks import Tasks
from tests.support.refusals import refused

TASKS = Tasks.of(
    {
        "map": ["10.0.0.1", "10.0.0.2:7000"],
        "reduce": ["10.0.0.2", "[2001:DB8::1]:7000"],
        "six": ["2001:db8::2", "[2001:db8:0::3]"],
    }
)


@pytest.mark.parametrize(
    ("end", "task"),
    [
        (End("10.0.0.1", 80), "map"),
        (End("10.0.0.2", 7000), "map"),
        (End("10.0.0.2", 7001), "reduce"),
        (End("2001:db8::1", 7000), "reduce"),
        (End("2001:db8::1", 7001), None),
        (End("2001:db8::2", 1), "six"),
        (End("2001:db8::3", 1), "six"),
        (End("10.0.0.3", 80), None),
    ],
)
def test_a_port_counts_before_a_host(end: End, task: str | None) -> None:
    assert TASKS.task(end) == task
    assert TASKS.names == ("map", "reduce", "six")


@pytest.mark.parametrize(
    "text", ["", "host", "10.0.0", "10.0.0.1.1:80", "[10.0.0.1", ":80", "[]:80", "[::1]80"]
)
def test_what_is_no_address_is_refused_with_its_task(text: str) -> None:
    with refused(ValueError, "tasks.map"):
        Tasks.of({"map": [text]})


@pytest.mark.parametrize(
    "text", ["10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x", "[::1]:", "10.0.0.1:²"]
)
def test_what_is_no_port_is_refused_with_its_task(text: str) -> None:
    with refused(ValueError, "tasks.map"):
        Tasks.of({"map": [text]})


@pytest.mark.parametrize("again", ["10.0.0.1", "10.0.0.2:7000"])
def test_an_end_is_of_one_task(again: str) -> None:
    with refused(ValueError, "tasks.b"):
        Tasks.of({"a": ["10.0.0.1", "10.0.0.2:7000"], "b": [again]})

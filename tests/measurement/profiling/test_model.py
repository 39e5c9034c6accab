"""What a profile refuses."""

from __future__ import annotations

from typing import Any

import pytest

from measurement.profiling.model import Profile

AB = ("a", "b")


def profile(**fields: Any) -> Profile:
    return Profile(**{"tasks": AB, "sent": {AB: 10}, "began": 0.0, "ended": 1.0, **fields})


def test_an_observation_may_be_of_one_moment_and_of_nothing() -> None:
    assert profile(sent={}, ended=0.0).sent == {}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"tasks": ("a", "b", "a")}, "tasks: a name is there twice"),
        ({"sent": {("a", "c"): 1}}, "sent: a > c: 1 is no transfer"),
        ({"sent": {("a", "a"): 1}}, "sent: a > a: 1 is no transfer"),
        ({"sent": {AB: -1}}, "sent: a > b: -1 is no transfer"),
        ({"errors": {("b", "a"): 0.1}}, "errors: b > a: 0.1 is no share"),
        ({"errors": {AB: -0.1}}, "errors: a > b: -0.1 is no share"),
        ({"errors": {AB: float("inf")}}, "errors: a > b: inf is no share"),
        ({"ended": -1.0}, "ended: -1.0 is not a time after 0.0"),
        ({"ended": float("nan")}, "ended: nan"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        profile(**fields)

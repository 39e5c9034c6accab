"""What a profile refuses."""

from __future__ import annotations

from typing import Any

import pytest

from measurement.profiling.model import Profile
from tests.support.refusals import refused

AB = ("a", "b")


def profile(**fields: Any) -> Profile:
    return Profile(**{"tasks": AB, "sent": {AB: 10}, "began": 0.0, "ended": 1.0, **fields})


def test_an_observation_may_be_of_one_moment_and_of_nothing() -> None:
    assert profile(sent={}, ended=0.0).sent == {}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tasks": ("a", "b", "a")}, "tasks"),
        ({"sent": {("a", "c"): 1}}, "sent"),
        ({"sent": {("a", "a"): 1}}, "sent"),
        ({"sent": {AB: -1}}, "sent"),
        ({"errors": {("b", "a"): 0.1}}, "errors"),
        ({"errors": {AB: -0.1}}, "errors"),
        ({"errors": {AB: float("inf")}}, "errors"),
        ({"ended": -1.0}, "ended"),
        ({"ended": float("nan")}, "ended"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        profile(**fields)

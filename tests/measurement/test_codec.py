from __future__ import annotations

import json
from typing import Any

import pytest

from measurement.codec import observation_from_json, observation_to_json
from measurement.model import Observation, PathKey

SCORED = Observation(
    PathKey("al2s", "mu", "osu"),
    "estimate.throughput_error",
    -0.25,
    1000.5,
    "decision:d-1",
    "adon",
    {"flow": "f-1"},
)


def test_an_observation_as_json_and_back() -> None:
    assert observation_from_json(json.loads(json.dumps(observation_to_json(SCORED)))) == SCORED


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"metric": "throughput"}, "not the name of a custom metric"),
        ({"value": float("nan")}, "not a number"),
        ({"value": None}, "not an observation"),
        ({"key": {"path": "al2s"}}, "key"),
        ({"parameters": 7}, "not an observation"),
    ],
)
def test_what_is_none_is_refused(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        observation_from_json({**observation_to_json(SCORED), **change})


@pytest.mark.parametrize("field", ["key", "metric", "value", "observed_at", "source"])
def test_what_is_missing_is_named(field: str) -> None:
    data = {name: value for name, value in observation_to_json(SCORED).items() if name != field}
    with pytest.raises(ValueError, match=f"{field}: is missing"):
        observation_from_json(data)

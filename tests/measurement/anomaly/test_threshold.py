"""Static thresholds."""

from __future__ import annotations

import json

import pytest

from measurement.anomaly.model import Direction, Sample, Stage
from measurement.anomaly.threshold import State, Threshold
from measurement.model import from_json, to_json
from tests.reference.detectors import replay
from tests.reference.series import Step, series
from tests.support.refusals import refused

LIMITS = Threshold(low=800, high=1200)


def samples(values: list[float]) -> list[Sample]:
    return [Sample(60.0 * index, value) for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5.0, 9.0, 9.0, 9.0], [(3, Stage.FOUND)]),
        ([9.0, 9.0, 5.0, 9.0, 9.0], []),
        ([8.0, 8.0, 8.0], []),
        ([9.0] * 8, [(2, Stage.FOUND)]),
        ([9.0, 9.0, 9.0, 8.0, 8.0, 8.0], [(2, Stage.FOUND), (5, Stage.RECOVERED)]),
        ([9.0, 9.0, 9.0, 8.0, 9.0, 8.0, 8.0], [(2, Stage.FOUND)]),
        ([1.0, 9.0, 1.0], [(2, Stage.FOUND)]),
    ],
)
def test_threshold(values: list[float], expected: list[tuple[int, Stage]]) -> None:
    findings = replay(Threshold(low=2.0, high=8.0), samples(values))
    assert [(index, finding.stage) for index, finding in findings] == expected


def test_threshold_names_the_limit_that_was_crossed() -> None:
    (_, low), (_, high) = (replay(Threshold(2.0, 8.0), samples([value] * 3))[0] for value in (1.0, 9.0))
    assert (low.before.mean, low.direction) == (2.0, Direction.DOWN)
    assert (high.before.mean, high.direction) == (8.0, Direction.UP)


def test_a_constant_series_is_quiet() -> None:
    assert replay(LIMITS, samples([1000.1] * 300)) == []


def test_the_state_survives_json_exactly() -> None:
    stepped = series(5, 300, [Step(120, -8), Step(200, 8)])
    straight = replay(LIMITS, stepped)
    state, interrupted = LIMITS.begin(), []
    for index, sample in enumerate(stepped):
        state, finding = LIMITS.step(from_json(State, json.loads(json.dumps(to_json(state)))), *sample)
        interrupted += [] if finding is None else [(index, finding)]
    assert interrupted == straight
    assert straight


@pytest.mark.parametrize("data", [{"run": 7}])
def test_a_spoilt_state_is_refused(data: dict[str, object]) -> None:
    with refused(ValueError):
        from_json(State, data)

"""The rows to compare with: static threshold, CUSUM, Holt-Winters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from measurement.anomaly import generate
from measurement.anomaly.cusum import Cusum
from measurement.anomaly.generate import Diurnal, Spread, Step
from measurement.anomaly.holtwinters import HoltWinters
from measurement.anomaly.model import Detector, Direction, Sample, Stage, replay
from measurement.anomaly.threshold import Threshold

ROWS: list[Detector[Any]] = [Threshold(low=800, high=1200), Cusum(), HoltWinters(), HoltWinters(season=24)]


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


def test_cusum_by_hand() -> None:
    # m = 100, σ = 1.0260; 103 is 2.924 σ: the sum grows by 1.924 each time and passes 5 with the third.
    ring = [99.0, 101.0] * 10
    ((index, finding),) = replay(Cusum(), samples(ring + [103.0] * 3))
    assert (index, finding.direction, len(finding.after.samples)) == (22, Direction.UP, 3)
    assert replay(Cusum(), samples(ring + [103.0, 103.0, 97.0] * 4)) == []
    ((index, finding),) = replay(Cusum(), samples(ring + [97.0] * 3))
    assert (index, finding.direction) == (22, Direction.DOWN)


def test_cusum_takes_a_wider_spread_for_a_shift() -> None:
    # Why it is not what watches.
    alarms = sum(
        len(replay(Cusum(), generate.series(seed, 1000, [Spread(500, 5**0.5)]))) for seed in range(10)
    )
    assert alarms > 10


def test_holt_winters_finds_a_step_with_the_seventh_sample_at_the_earliest() -> None:
    index, finding = replay(HoltWinters(), generate.series(1, 160, [Step(100, -6)]))[0]
    assert 106 <= index < 112
    assert finding.direction is Direction.DOWN


def test_holt_winters_with_a_season_expects_it() -> None:
    daily = generate.series(1, 24 * 20, [Diurnal(24, 10.0)])
    assert replay(HoltWinters(season=24), daily) == []
    stepped = generate.series(1, 24 * 20, [Diurnal(24, 10.0), Step(24 * 18, -12)])
    assert [index >= 24 * 18 for index, _ in replay(HoltWinters(season=24), stepped)][:1] == [True]


def test_holt_winters_learns_the_season_and_keeps_it() -> None:
    detector = HoltWinters(season=4)
    state = detector.begin()
    for sample in samples([110.0, 100.0, 90.0, 100.0] * 100):
        state, _ = detector.step(state, *sample)
    assert state.season == pytest.approx((10.0, 0.0, -10.0, 0.0), abs=4.0)
    assert state.level == pytest.approx(100.0, abs=4.0)


@pytest.mark.parametrize("detector", ROWS, ids=["threshold", "cusum", "holt-winters", "seasonal"])
def test_a_constant_series_is_quiet(detector: Detector[Any]) -> None:
    assert replay(detector, samples([1000.1] * 300)) == []


@pytest.mark.parametrize("detector", ROWS, ids=["threshold", "cusum", "holt-winters", "seasonal"])
def test_the_state_survives_json_exactly(detector: Detector[Any]) -> None:
    series = generate.series(5, 300, [Step(120, -8), Step(200, 8)])
    straight = replay(detector, series)
    state, interrupted = detector.begin(), []
    for index, sample in enumerate(series):
        state, finding = detector.step(detector.load(json.loads(json.dumps(detector.dump(state)))), *sample)
        interrupted += [] if finding is None else [(index, finding)]
    assert interrupted == straight
    assert straight


@pytest.mark.parametrize("detector", ROWS, ids=["threshold", "cusum", "holt-winters", "seasonal"])
@pytest.mark.parametrize("data", [{}, {"season": [1.0], "run": 7, "learnt": 7}])
def test_a_spoilt_state_is_refused(detector: Detector[Any], data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"state|samples|season"):
        detector.load(data)

"""The live detector: which series it speaks up about, and which not."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.anomaly.live import LevelShift, Settings, State
from measurement.anomaly.model import Direction, Sample, Severity, Stage
from measurement.model import from_json, to_json
from tests.reference import series as generate
from tests.reference.detectors import SPD, Cusum, HoltWinters, Steps, replay
from tests.reference.series import Diurnal, Drift, Plateau, Shape, Spread, Step
from tests.support.refusals import refused

LIVE = LevelShift()
LOSS = LevelShift(Settings(least=0.001))
SEEDS = range(12)


def found(detector: Steps[Any], series: list[Sample]) -> list[int]:
    return [index for index, finding in replay(detector, series) if finding.stage is Stage.FOUND]


def lost(chance: random.Random, share: float, packets: int = 100) -> float:
    return sum(chance.random() < share for _ in range(packets)) / packets


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("shapes", "within"),
    [
        ([Step(100, -4)], 12),
        ([Step(100, 4)], 12),
        ([Step(100, -6)], 9),
        ([Step(100, 40)], 3),
        ([Step(25, -6)], 10),
    ],
)
def test_a_step_is_found_once_and_soon(seed: int, shapes: list[Step], within: int) -> None:
    (step,) = shapes
    (index,) = found(LIVE, generate.series(seed, 200, shapes))
    assert step.at <= index < step.at + within


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "shapes",
    [
        [],
        [Spread(500, 5**0.5)],
        [Spread(500, 0.2)],
        [Drift(100, 0.02)],
        [Diurnal(288, 2.0)],
        [Plateau(300, 1, 20.0), Plateau(500, 1, -20.0), Plateau(501, 1, 20.0), Plateau(700, 2, 12.0)],
    ],
    ids=["quiet", "wider", "narrower", "drift", "diurnal", "spikes"],
)
def test_what_is_no_plateau(seed: int, shapes: list[Shape]) -> None:
    assert found(LIVE, generate.series(seed, 1000, shapes)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_skewed_noise_is_quiet_and_does_not_hide_a_step(seed: int) -> None:
    assert found(LIVE, generate.series(seed, 1000, noise=generate.skewed)) == []
    stepped = generate.series(seed, 300, [Step(200, 10)], noise=generate.skewed)
    assert 200 <= found(LIVE, stepped)[0] < 208


def test_a_round_trip_of_one_millisecond_that_becomes_nine_is_found_with_the_third() -> None:
    for seed in range(50):
        series = generate.series(seed, 60, [Step(40, 40)], level=1e-3, deviation=2e-4)
        ((index, finding),) = replay(LIVE, series)
        assert (index, finding.direction, finding.severity) == (42, Direction.UP, Severity.CRITICAL)


def test_it_learns_from_thirteen_samples() -> None:
    state = LIVE.begin()
    for number in range(13):
        assert LIVE.learning(state)
        state, finding = LIVE.step(state, number, 100.0 + number % 3)
        assert finding is None
    assert not LIVE.learning(state)


def test_a_constant_series_says_nothing_until_it_changes() -> None:
    constant = [Sample(float(index), 0.1) for index in range(300)]
    assert found(LIVE, constant) == []
    changed = [Sample(300.0 + index, 0.2) for index in range(12)]
    assert found(LIVE, constant + changed)[0] <= 303


def test_a_constant_series_that_gets_noisy_did_not_move() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        series = [Sample(float(i), 100.0 if i < 60 else chance.gauss(100, 1)) for i in range(400)]
        assert found(LevelShift(Settings(relative=0.05)), series) == []


def test_loss_that_comes_from_nothing() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        series = [Sample(float(index), 0.0) for index in range(60)]
        series += [Sample(60.0 + index, lost(chance, 0.02)) for index in range(20)]
        index, finding = replay(LOSS, series)[0]
        assert 62 <= index <= 69
        assert (finding.direction, finding.before.mean) == (Direction.UP, 0.0)


def test_loss_that_grows_from_little() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        share = [0.002] * 60 + [0.02] * 12
        series = [Sample(float(index), lost(chance, each, 600)) for index, each in enumerate(share)]
        assert [60 <= index < 72 for index in found(LOSS, series)] == [True]


def test_one_spike_amid_the_new_level_does_not_hide_it() -> None:
    shapes = [Step(100, -4), Plateau(103, 1, 14)]
    within = [found(LIVE, generate.series(seed, 112, shapes)) != [] for seed in range(60)]
    assert sum(within) >= 54


def test_what_is_over_is_no_plateau() -> None:
    for seed in range(300):
        for _, finding in replay(LIVE, generate.series(seed, 70, [Plateau(50, 6 + seed % 6, -3.5)])):
            if finding.stage is Stage.FOUND:
                change = finding.after.mean - finding.before.mean
                newest = finding.after.samples[-1].value
                assert (newest - finding.before.mean) / change >= 0.5


def test_loss_that_ends_recovers() -> None:
    recovered = 0
    for seed in range(30):
        chance = random.Random(seed)
        share = [0.0] * 60 + [0.02] * 30 + [0.0] * 12
        findings = replay(LOSS, [Sample(float(i), lost(chance, each)) for i, each in enumerate(share)])
        recovered += any(index >= 90 and finding.stage is Stage.RECOVERED for index, finding in findings)
    assert recovered >= 28


def test_a_lost_packet_now_and_then_is_nothing() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        assert found(LOSS, [Sample(float(i), lost(chance, 0.0003)) for i in range(500)]) == []


def test_what_is_too_small_to_tell_is_not_told() -> None:
    series = generate.series(1, 200, [Step(100, -8)], level=1000.0, deviation=1.0)
    assert found(LIVE, series) != []
    assert found(LevelShift(Settings(relative=0.05)), series) == []
    assert found(LevelShift(Settings(least=20.0)), series) == []


@pytest.mark.parametrize(
    ("by", "deviation", "severity"),
    [(-4, 50, Severity.WARNING), (-12, 50, Severity.CRITICAL), (-12, 5, Severity.WARNING)],
)
def test_severity(by: float, deviation: float, severity: Severity) -> None:
    ((_, finding),) = replay(LIVE, generate.series(7, 200, [Step(100, by)], deviation=deviation))
    assert finding.severity is severity


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [10, 50, 300])
def test_a_plateau_that_ends_recovers_once(seed: int, length: int) -> None:
    series = generate.series(seed, 100 + length + 100, [Plateau(100, length, -8)])
    (_, down), (index, back) = replay(LIVE, series)
    assert (down.stage, back.stage, back.direction) == (Stage.FOUND, Stage.RECOVERED, Direction.UP)
    assert 100 + length + 2 <= index <= 100 + length + 8


def test_a_drift_back_recovers_too() -> None:
    shapes = [Step(100, -8), Drift(160, 0.04), Drift(360, -0.04)]
    stages = [finding.stage for _, finding in replay(LIVE, generate.series(3, 500, shapes))]
    assert stages == [Stage.FOUND, Stage.RECOVERED]


def test_a_second_drop_counts_from_the_first_level() -> None:
    findings = replay(LIVE, generate.series(3, 400, [Step(100, -8), Step(200, -8), Step(300, 16)]))
    assert [finding.stage for _, finding in findings] == [Stage.FOUND, Stage.FOUND, Stage.RECOVERED]


def test_a_long_gap_makes_it_learn_anew() -> None:
    series = generate.series(1, 100)
    later = [Sample(sample.at + 30 * 86400.0, sample.value - 500) for sample in series]
    assert found(LIVE, series + later) == []
    soon = [Sample(sample.at + 2 * 86400.0, sample.value - 500) for sample in series]
    assert found(LIVE, series + soon) != []


def test_the_state_survives_json_exactly() -> None:
    series = generate.series(5, 300, [Step(120, -6), Step(200, 7)])
    straight = replay(LIVE, series)
    state, interrupted = LIVE.begin(), []
    for index, sample in enumerate(series):
        state, finding = LIVE.step(from_json(State, json.loads(json.dumps(to_json(state)))), *sample)
        interrupted += [] if finding is None else [(index, finding)]
    assert interrupted == straight
    assert len(straight) == 2


def test_the_state_stays_small() -> None:
    state = LIVE.begin()
    for sample in generate.series(1, 500, [Step(200, -8)]):
        state, _ = LIVE.step(state, *sample)
    assert (len(state.history), len(state.former)) == (44, 32)


@given(st.lists(st.sampled_from([0.0, 1e-300, 0.1, 1.0, 1e3, 1e100, -1e100, -5.0]), min_size=20, max_size=80))
def test_no_series_breaks_it(values: list[float]) -> None:
    for detector in (LIVE, LOSS):
        for _, finding in replay(detector, [Sample(float(i), value) for i, value in enumerate(values)]):
            assert finding.after.samples


@pytest.mark.parametrize(
    "data", [{"history": 3, "former": []}, {"history": [], "former": [], "shifted": "x"}]
)
def test_a_spoilt_state_is_refused(data: dict[str, object]) -> None:
    with refused(ValueError):
        from_json(State, data)


DROPS = [generate.series(seed, 92, [Step(80, -4)]) for seed in range(1_000_000, 1_000_040)]
WIDER = [generate.series(seed, 600, [Spread(300, 5.0)]) for seed in range(1_000_000, 1_000_040)]


def drops_found(detector: Steps[Any]) -> int:
    return sum(any(index >= 80 for index in found(detector, series)) for series in DROPS)


def false_alarms(detector: Steps[Any]) -> int:
    return sum(len(found(detector, series)) for series in WIDER)


def test_every_drop_is_found_within_twelve_samples_and_a_wider_spread_is_none() -> None:
    assert drops_found(LIVE) == len(DROPS)
    assert false_alarms(LIVE) <= 1


@pytest.mark.parametrize("detector", [SPD(), Cusum()])
def test_spd_and_cusum_take_a_wider_spread_for_a_drop(detector: Steps[Any]) -> None:
    assert false_alarms(detector) >= 20


def test_holt_winters_misses_drops() -> None:
    assert drops_found(HoltWinters()) < len(DROPS)

"""SPD, CUSUM and Holt-Winters against tables worked by hand from the published rules."""

from __future__ import annotations

import math
import random

import pytest

from measurement.anomaly.model import Direction, Sample, Severity, Stage, mean_and_deviation
from tests.reference.detectors import SPD, Cusum, HoltWinters, replay
from tests.reference.series import Diurnal, Spread, Step, series

# Ten samples of 99 and ten of 101: m = 100, σ = sqrt(20/19) = 1.0260.
# Warning band 100 ± 2.0520 = 97.948..102.052; critical band 100 ± 4.1039 = 95.896..104.104.
RING = [99.0, 101.0] * 10


def samples(values: list[float], period: float = 60.0) -> list[Sample]:
    return [Sample(index * period, value) for index, value in enumerate(values)]


def found(values: list[float], detector: SPD | None = None) -> list[tuple[int, Stage]]:
    findings = replay(detector or SPD(), samples(values))
    return [(index, finding.stage) for index, finding in findings]


def test_the_parameters_are_the_published_ones() -> None:
    settings = SPD()
    assert (settings.window, settings.sensitivity, settings.trigger) == (20, 2.0, 7)
    assert (settings.elevation, settings.critical_elevation) == (0.2, 0.4)


def test_mean_and_sample_deviation_of_the_ring() -> None:
    assert mean_and_deviation(RING) == (100.0, pytest.approx(math.sqrt(20 / 19)))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([103.0] * 5, []),
        ([103.0] * 6, [(25, Stage.SUSPECTED)]),
        ([103.0] * 7, [(25, Stage.SUSPECTED), (26, Stage.FOUND)]),
        ([97.0] * 7, [(25, Stage.SUSPECTED), (26, Stage.FOUND)]),
        ([110.0] * 7, [(25, Stage.SUSPECTED), (26, Stage.FOUND)]),
        ([102.0] * 40, []),
        # One inside takes one off the count: 5 - 1 + 1 = 5, then 6, then 7.
        ([103.0] * 5 + [100.0] + [103.0] * 3, [(27, Stage.SUSPECTED), (28, Stage.FOUND)]),
        # 6 is a warning each time the count gets there.
        ([103.0] * 6 + [100.0] + [103.0], [(25, Stage.SUSPECTED), (27, Stage.SUSPECTED)]),
        # The count never falls below 0, so quiet times earn no credit.
        ([100.0] * 15 + [110.0] * 7, [(40, Stage.SUSPECTED), (41, Stage.FOUND)]),
    ],
)
def test_counting(after: list[float], expected: list[tuple[int, Stage]]) -> None:
    assert found(RING + after) == expected


@pytest.mark.parametrize(
    ("value", "inside"), [(102.05, True), (102.06, False), (97.95, True), (97.94, False)]
)
def test_the_warning_band(value: float, inside: bool) -> None:
    state = SPD().begin()
    for sample in samples([*RING, value]):
        state, _ = SPD().step(state, *sample)
    assert (state.count == 0) is inside
    assert (value in [sample.value for sample in state.ring]) is inside


@pytest.mark.parametrize(
    ("value", "critical"), [(104.10, False), (104.11, True), (95.90, False), (95.89, True)]
)
def test_the_critical_band(value: float, critical: bool) -> None:
    state = SPD().begin()
    for sample in samples([*RING, value]):
        state, _ = SPD().step(state, *sample)
    assert (len(state.warnings), len(state.criticals)) == ((0, 1) if critical else (1, 0))


def test_warnings_that_were_noise_join_the_ring_and_criticals_do_not() -> None:
    state = SPD().begin()
    for sample in samples([*RING, 103.0, 110.0, 100.0, 100.5]):
        state, _ = SPD().step(state, *sample)
    assert [sample.value for sample in state.ring[-3:]] == [100.0, 100.5, 103.0]
    assert len(state.ring) == 20
    assert (state.count, state.warnings, state.criticals) == (0, (), ())


def test_bands_frozen_around_the_trigger_samples_for_twenty_samples() -> None:
    # Triggers 110..116: warning band 88..139.2, critical band 66..162.4.
    triggers = [110.0, 111.0, 112.0, 113.0, 114.0, 115.0, 116.0]
    state = SPD().begin()
    for sample in samples([*RING, *triggers]):
        state, _ = SPD().step(state, *sample)
    assert state.frozen is not None
    assert state.frozen.warning == pytest.approx((88.0, 139.2))
    assert state.frozen.critical == pytest.approx((66.0, 162.4))
    assert (state.count, state.warnings, state.criticals) == (0, (), ())
    for number in range(20):
        assert state.frozen_for == 20 - number
        state, _ = SPD().step(state, 10_000.0 + number, 139.0)
        assert state.count == 0
    assert (state.frozen_for, {sample.value for sample in state.ring}) == (0, {139.0})


def test_the_severity_says_which_band_most_triggers_left() -> None:
    (_, warning), (_, critical) = (replay(SPD(), samples(RING + [value] * 7))[-1] for value in (103.0, 110.0))
    assert (warning.severity, critical.severity) == (Severity.WARNING, Severity.CRITICAL)
    assert (critical.direction, critical.before.mean, critical.after.mean) == (Direction.UP, 100.0, 110.0)


def test_a_constant_series_is_no_change_and_leaving_it_is() -> None:
    assert found([0.1] * 200) == []
    assert found([0.0] * 30 + [0.02] * 7)[-1] == (36, Stage.FOUND)


def test_frozen_bands_of_negative_samples_widen_outwards() -> None:
    state = SPD().begin()
    for sample in samples([-value for value in RING] + [-110.0] * 7):
        state, _ = SPD().step(state, *sample)
    assert state.frozen is not None
    assert state.frozen.warning == pytest.approx((-132.0, -88.0))


def test_a_gap_ends_a_run_of_triggers() -> None:
    before, after = samples(RING + [110.0] * 6), samples([110.0] * 6)
    late = [Sample(sample.at + 86400.0, sample.value) for sample in after]
    stages = [finding.stage for _, finding in replay(SPD(gap=3600.0), before + late)]
    assert stages == [Stage.SUSPECTED, Stage.SUSPECTED]


def test_a_million_is_not_special() -> None:
    chance = random.Random(3)
    scaled = [chance.gauss(1e8, 1e6) for _ in range(60)] + [9e7] * 7
    plain = [value / 1e8 for value in scaled]
    assert found(scaled) == found(plain)


def test_cusum_by_hand() -> None:
    # m = 100, σ = 1.0260; 103 is 2.924 σ: the sum grows by 1.924 each time and passes 5 with the third.
    ring = [99.0, 101.0] * 10
    ((index, finding),) = replay(Cusum(), samples(ring + [103.0] * 3))
    assert (index, finding.direction, len(finding.after.samples)) == (22, Direction.UP, 3)
    assert replay(Cusum(), samples(ring + [103.0, 103.0, 97.0] * 4)) == []
    ((index, finding),) = replay(Cusum(), samples(ring + [97.0] * 3))
    assert (index, finding.direction) == (22, Direction.DOWN)


def test_cusum_takes_a_wider_spread_for_a_shift() -> None:
    alarms = sum(len(replay(Cusum(), series(seed, 1000, [Spread(500, 5**0.5)]))) for seed in range(10))
    assert alarms > 10


def test_holt_winters_finds_a_step_with_the_seventh_sample_at_the_earliest() -> None:
    index, finding = replay(HoltWinters(), series(1, 160, [Step(100, -6)]))[0]
    assert 106 <= index < 112
    assert finding.direction is Direction.DOWN


def test_holt_winters_with_a_season_expects_it() -> None:
    daily = series(1, 24 * 20, [Diurnal(24, 10.0)])
    assert replay(HoltWinters(season=24), daily) == []
    stepped = series(1, 24 * 20, [Diurnal(24, 10.0), Step(24 * 18, -12)])
    assert [index >= 24 * 18 for index, _ in replay(HoltWinters(season=24), stepped)][:1] == [True]


def test_holt_winters_learns_the_season_and_keeps_it() -> None:
    detector = HoltWinters(season=4)
    state = detector.begin()
    for sample in samples([110.0, 100.0, 90.0, 100.0] * 100):
        state, _ = detector.step(state, *sample)
    assert state.season == pytest.approx((10.0, 0.0, -10.0, 0.0), abs=4.0)
    assert state.level == pytest.approx(100.0, abs=4.0)


@pytest.mark.parametrize("detector", [Cusum(), HoltWinters(), HoltWinters(season=24)])
def test_a_constant_series_is_quiet(detector: Cusum | HoltWinters) -> None:
    assert replay(detector, samples([1000.1] * 300)) == []

"""SPD and APD against tables worked by hand from the published rules."""

from __future__ import annotations

import json
import math
import random

import pytest

from measurement.anomaly import generate
from measurement.anomaly.model import Direction, Sample, Severity, Stage, mean_and_deviation, replay
from measurement.anomaly.plateau import SPD, Settings, adaptive_sensitivity, replay_apd

# Ten samples of 99 and ten of 101: m = 100, σ = sqrt(20/19) = 1.0260.
# Warning band 100 ± 2.0520 = 97.948..102.052; critical band 100 ± 4.1039 = 95.896..104.104.
RING = [99.0, 101.0] * 10


def samples(values: list[float], period: float = 60.0) -> list[Sample]:
    return [Sample(index * period, value) for index, value in enumerate(values)]


def found(values: list[float], settings: Settings | None = None) -> list[tuple[int, Stage]]:
    findings = replay(SPD(settings or Settings()), samples(values))
    return [(index, finding.stage) for index, finding in findings]


def test_the_parameters_are_the_published_ones() -> None:
    settings = Settings()
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
    stages = [finding.stage for _, finding in replay(SPD(Settings(gap=3600.0)), before + late)]
    assert stages == [Stage.SUSPECTED, Stage.SUSPECTED]


@pytest.mark.parametrize(
    ("raw", "deviation", "expected"),
    [(1.0, 1.0, 2.4), (0.0, 1.0, 2.0), (2.0, 1.0, 3.6), (2.5, 1.0, 4.5), (3.0, 1.0, 5.0), (100.0, 1.0, 5.0)],
)
def test_the_adaptive_sensitivity(raw: float, deviation: float, expected: float) -> None:
    assert adaptive_sensitivity(raw, deviation) == pytest.approx(expected)


def test_apd_judges_by_the_samples_that_follow() -> None:
    # After the ring, ten of 97.6 and ten of 102.4: σ_raw = 2.4·sqrt(20/19), so s = 2 + 0.4·2.4² = 4.304 and
    # the band is 100 ± 4.416: nothing is outside, where SPD finds each of them outside.
    wide = RING + [97.6, 102.4] * 10
    assert replay_apd(samples(wide)) == []
    assert found(wide)[1] == (26, Stage.FOUND)
    # A step after which all is as quiet as before: s = 2.4, band 100 ± 2.462; 103 is outside, and found
    # with the seventh.
    step = RING + [102.0 + value - 99.0 + 1.0 for value in RING]
    assert [index for index, finding in replay_apd(samples(step)) if finding.stage is Stage.FOUND] == [26]


def test_apd_at_the_end_judges_by_what_is_left() -> None:
    findings = replay_apd(samples(RING + [110.0] * 7))
    assert [(index, finding.stage) for index, finding in findings] == [
        (25, Stage.SUSPECTED),
        (26, Stage.FOUND),
    ]


def test_the_state_survives_json_exactly() -> None:
    series = generate.series(5, 300, [generate.Step(120, -6), generate.Spread(200, 3)])
    straight = replay(SPD(), series)
    detector, state, interrupted = SPD(), SPD().begin(), []
    for index, sample in enumerate(series):
        state, finding = detector.step(detector.load(json.loads(json.dumps(detector.dump(state)))), *sample)
        interrupted += [] if finding is None else [(index, finding)]
    assert interrupted == straight
    assert len(straight) > 2


@pytest.mark.parametrize("data", [{}, {"ring": 1}, {"ring": [["a", 1]]}, {"ring": [[0, float("nan")]]}])
def test_a_spoilt_state_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"state|samples"):
        SPD().load(data)


def test_a_million_is_not_special() -> None:
    chance = random.Random(3)
    scaled = [chance.gauss(1e8, 1e6) for _ in range(60)] + [9e7] * 7
    plain = [value / 1e8 for value in scaled]
    assert found(scaled) == found(plain)

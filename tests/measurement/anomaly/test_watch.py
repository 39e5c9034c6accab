"""The watch: transcripts of values and ticks, and the alarms that must follow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Direction, Sample, Severity
from measurement.anomaly.policy import Policy
from measurement.anomaly.threshold import Threshold
from measurement.anomaly.watch import Watch, WatchState
from measurement.model import Measurement, Metric, Observation, PathKey, Series, host_key
from tests.reference import series as generate
from tests.reference.detectors import SPD
from tests.reference.series import Plateau, Step
from tests.support.factories import make_measurement
from tests.support.refusals import refused

KEY = PathKey("al2s", "mu", "osu")
THROUGHPUT = Series(*KEY, "throughput")
BEGUN = 1.8e9
WATCH = Watch()


def measured(sample: Sample, metric: Metric = Metric.THROUGHPUT, key: PathKey = KEY) -> Measurement:
    return make_measurement(key=key, metric=metric, value=sample.value, observed_at=BEGUN + sample.at)


def told(
    samples: Iterable[Sample],
    watch: Watch = WATCH,
    metric: Metric = Metric.THROUGHPUT,
    state: WatchState | None = None,
) -> tuple[WatchState, list[Alarm]]:
    now_state, alarms = WatchState() if state is None else state, list[Alarm]()
    for sample in samples:
        value = measured(sample, metric)
        now_state, changed = watch.step(now_state, value, value.observed_at)
        alarms += changed
    return now_state, alarms


def throughput(shapes: list[generate.Shape], length: int = 200) -> list[Sample]:
    return generate.series(1, length, shapes, level=58e6, deviation=1e6)


def round_trips(shapes: list[generate.Shape], length: int = 200) -> list[Sample]:
    return generate.series(1, length, shapes, level=0.03, deviation=0.001)


def restored(watch: Watch, state: WatchState, by: Watch | None = None) -> WatchState:
    """Return the series of a state, written by one watch and read by it or another one."""
    documents = [json.dumps(watch.series_to_json(*one)) for one in state.series.items()]
    return WatchState(dict((by or watch).series_from_json(json.loads(one)) for one in documents))


def test_a_drop_is_raised_with_evidence_and_cleared_by_the_recovery() -> None:
    _, (raised, cleared) = told(throughput([Plateau(100, 50, -40)]))
    assert (raised.kind, raised.direction, raised.bad) == (Kind.PLATEAU, Direction.DOWN, True)
    assert (raised.severity, raised.open, raised.raised_at) == (Severity.CRITICAL, True, BEGUN + 102 * 60)
    assert raised.before.mean == pytest.approx(58e6, rel=0.02)
    assert raised.after is not None
    assert raised.after.mean == pytest.approx(18e6, rel=0.1)
    assert [sample.at for sample in raised.after.samples] == [BEGUN + 60 * index for index in (100, 101, 102)]
    assert (cleared.id, cleared.open, cleared.cleared_at) == (raised.id, False, BEGUN + 152 * 60)


def test_the_text_is_one_line_for_people() -> None:
    _, (raised,) = told(throughput([Step(100, -40)]))
    assert raised.text == (
        "throughput on al2s from mu to osu: fell from 57.79 Mbps to 18.66 Mbps "
        "in 3 values since 2027-01-15T09:40:00Z"
    )


@pytest.mark.parametrize(
    ("metric", "by", "bad"),
    [
        (Metric.THROUGHPUT, -40.0, True),
        (Metric.THROUGHPUT, 40.0, False),
        (Metric.RTT, 10.0, True),
        (Metric.RTT, -10.0, False),
    ],
)
def test_which_direction_is_bad_depends_on_the_metric(metric: Metric, by: float, bad: bool) -> None:
    samples = throughput([Step(100, by)]) if metric is Metric.THROUGHPUT else round_trips([Step(100, by)])
    state, (alarm,) = told(samples, metric=metric)
    assert (alarm.bad, alarm.open, state.open == [alarm]) == (bad, bad, bad)


def test_the_end_of_a_better_time_is_a_drop_like_any_other() -> None:
    state, (noted, raised) = told(throughput([Plateau(100, 60, 40)]))
    assert (noted.bad, raised.bad, raised.direction, raised.open) == (False, True, Direction.DOWN, True)
    assert state.open == [raised]


def test_a_further_drop_updates_the_alarm_and_the_level_before_stays() -> None:
    state, (first, second) = told(throughput([Step(60, -15), Step(120, -15)]))
    assert second.id == first.id
    assert second.before == first.before
    assert second.after is not None
    assert second.after.mean == pytest.approx(28e6, rel=0.1)
    assert state.open == [second]


def test_half_a_recovery_is_none() -> None:
    state, alarms = told(throughput([Step(60, -40), Step(120, 20)]))
    assert [alarm.open for alarm in alarms] == [True, True]
    assert "to 38" in alarms[-1].text
    assert state.open == [alarms[-1]]


def test_detectors_without_recoveries_clear_too() -> None:
    watch = Watch(Policy(detectors={"throughput": SPD()}))
    _, alarms = told(throughput([Plateau(100, 60, -40)]), watch)
    assert [alarm.open for alarm in alarms] == [True, False]


def test_loss_from_nothing_to_two_per_cent() -> None:
    samples = [Sample(60.0 * index, 0.0 if index < 40 else 0.02) for index in range(50)]
    _, (alarm,) = told(samples, metric=Metric.LOSS)
    assert (alarm.raised_at, alarm.severity) == (BEGUN + 60 * 42, Severity.CRITICAL)
    assert alarm.after is not None
    assert (alarm.direction, alarm.before.mean, alarm.after.mean) == (Direction.UP, 0, pytest.approx(0.02))


def test_a_static_threshold_is_raised_and_cleared() -> None:
    watch = Watch(Policy(detectors={}, limits={THROUGHPUT: Threshold(low=40e6)}))
    values = [50e6, 30e6, 30e6, 30e6, 30e6, 50e6, 50e6, 50e6]
    _, (raised, cleared) = told([Sample(float(i), value) for i, value in enumerate(values)], watch)
    assert (raised.kind, raised.raised_at, raised.before.mean) == (Kind.THRESHOLD, BEGUN + 3, 40e6)
    assert raised.after is not None
    assert (raised.direction, raised.after.mean, len(raised.after.samples)) == (Direction.DOWN, 30e6, 3)
    assert (cleared.id, cleared.cleared_at) == (raised.id, BEGUN + 7)


def ticked(
    watch: Watch, state: WatchState, since: float, until: float, every: float = 60.0
) -> tuple[WatchState, list[tuple[float, Alarm]]]:
    alarms, at = [], since
    while at <= until:
        state, changed = watch.tick(state, BEGUN + at)
        alarms += [(at, alarm) for alarm in changed]
        at += every
    return state, alarms


def test_silence_is_an_alarm_and_the_next_value_clears_it() -> None:
    state, _ = told(throughput([], 20))  # the last value at 1140
    state, alarms = ticked(WATCH, state, 1140.0, 3000.0)
    ((at, raised),) = alarms
    assert (at, raised.kind, raised.direction, raised.bad) == (1380.0, Kind.ABSENCE, None, True)
    assert len(raised.before.samples) == 9
    assert raised.before.samples[-1].at == BEGUN + 1140
    state, (cleared,) = told([Sample(3060.0, 58e6)], state=state)
    assert (cleared.id, cleared.cleared_at, state.open) == (raised.id, BEGUN + 3060, [])


def test_a_series_that_was_promised_and_never_came_is_absent() -> None:
    watch = Watch(Policy(periods={THROUGHPUT: 60.0}))
    _, ((at, alarm),) = ticked(watch, WatchState(), 0.0, 900.0)
    assert (at, alarm.series, alarm.kind) == (240.0, THROUGHPUT, Kind.ABSENCE)


def test_tests_by_hand_promise_nothing() -> None:
    state, _ = told([Sample(at, 58e6) for at in (0.0, 60.0, 70.0, 500.0)])
    assert ticked(WATCH, state, 500.0, 90_000.0, 250.0)[1] == []


@pytest.mark.parametrize("pause", [3600.0, 90 * 86400.0])
def test_after_its_own_absence_the_watch_waits_anew(pause: float) -> None:
    state, _ = told(throughput([], 20))
    state, _ = ticked(WATCH, state, 1140.0, 1200.0)
    _, ((at, alarm),) = ticked(WATCH, restored(WATCH, state), pause, pause + 600.0)
    assert (at, alarm.kind) == (pause + 240.0, Kind.ABSENCE)


@pytest.mark.parametrize(
    ("at", "now", "why"),
    [
        (1140.0, 1200.0, "duplicate"),
        (600.0, 1200.0, "duplicate"),
        (1300.0, 1200.0, "future"),
        (1200.0, 1200.0, None),
        (1250.0, 1200.0, None),
    ],
)
def test_what_is_refused(at: float, now: float, why: str | None) -> None:
    state, _ = told(throughput([], 20))
    value = measured(Sample(at, 1e6))
    refusal = WATCH.refusal(state, value, BEGUN + now)
    after, alarms = WATCH.step(state, value, BEGUN + now)
    assert (refusal is None) is (why is None) is (after != state)
    assert alarms == []
    if why is not None:
        assert refusal is not None
        assert why in refusal
        assert "\n" not in refusal


def test_an_absurd_value_is_refused() -> None:
    value = measured(Sample(0.0, 1e300))
    assert "no quantity" in str(WATCH.refusal(WatchState(), value, BEGUN))
    assert WATCH.step(WatchState(), value, BEGUN) == (WatchState(), [])


def test_duplicates_change_nothing() -> None:
    samples = throughput([Plateau(100, 50, -40)])
    assert told(each for sample in samples for each in (sample, sample)) == told(samples)


def test_a_custom_metric_is_watched_for_silence_and_if_wanted_for_plateaus() -> None:
    series = Series(*host_key("dtn"), "host.memory_available")
    samples = generate.series(1, 100, [Step(60, -10)])
    values = [
        Observation(host_key("dtn"), series.metric, sample.value, BEGUN + sample.at, "test")
        for sample in samples
    ]
    state, alarms = WATCH.steps(WatchState(), values, BEGUN + 1e6)
    assert alarms == []
    assert [alarm.kind for _, alarm in ticked(WATCH, state, 5940.0, 6300.0)[1]] == [Kind.ABSENCE]
    live = WATCH.policy.detectors["rtt"]
    wanted = Watch(Policy(detectors={series.metric: live}, bad={series.metric: Direction.DOWN}))
    _, (alarm,) = wanted.steps(WatchState(), values, BEGUN + 1e6)
    assert (alarm.series, alarm.bad) == (series, True)


def test_series_do_not_disturb_one_another() -> None:
    other = PathKey("internet", "mu", "osu")
    state, alarms = WatchState(), []
    for sample in throughput([Step(100, -40)]):
        for value in (measured(sample), measured(Sample(sample.at, 6e6), key=other)):
            state, changed = WATCH.step(state, value, value.observed_at)
            alarms += changed
    assert [alarm.series for alarm in alarms] == [THROUGHPUT]
    assert len(state.series) == 2


def test_it_says_when_it_is_learning() -> None:
    state, _ = told(throughput([], 12))
    assert WATCH.learning(WatchState(), THROUGHPUT)
    assert WATCH.learning(state, THROUGHPUT)
    state, _ = told(throughput([], 13))
    assert not WATCH.learning(state, THROUGHPUT)


def test_a_level_held_for_a_week_is_the_normal_one() -> None:
    state, (raised,) = told(throughput([Step(100, -40)]))
    week = 7 * 86400.0
    state, alarms = WATCH.tick(state, raised.raised_at + week)
    assert alarms == []
    state, (cleared,) = WATCH.tick(state, raised.raised_at + week + 60)
    assert (cleared.id, cleared.open) == (raised.id, False)
    assert state.open == []


def test_without_its_limit_a_threshold_alarm_is_cleared() -> None:
    watch = Watch(Policy(detectors={}, limits={THROUGHPUT: Threshold(low=40e6)}))
    state, (raised,) = told([Sample(float(index), 30e6) for index in range(3)], watch)
    _, (cleared,) = WATCH.tick(restored(watch, state, WATCH), BEGUN + 10)
    assert (cleared.id, cleared.cleared_at) == (raised.id, BEGUN + 10)


def test_an_acknowledgement_outlives_updates() -> None:
    state, (raised,) = told(throughput([Step(60, -15)], 90))
    state, (known,) = WATCH.acknowledge(state, raised.id, "ann", BEGUN + 5500)
    later = [sample for sample in throughput([Step(60, -15), Step(120, -15)]) if sample.at >= 90 * 60]
    state, (updated,) = told(later, state=state)
    assert (updated.acknowledged_by, updated.acknowledged_at) == ("ann", BEGUN + 5500)
    assert replace(updated, after=raised.after, text=raised.text, severity=raised.severity) == known
    assert WATCH.acknowledge(state, "unknown", "ann", 0.0) == (state, [])


def test_a_forgotten_series_is_cleared_and_no_longer_missed() -> None:
    state, (raised,) = told(throughput([Step(100, -40)]))
    state, (cleared,) = WATCH.forget(state, THROUGHPUT, BEGUN + 20_000)
    assert (cleared.id, cleared.cleared_at) == (raised.id, BEGUN + 20_000)
    assert ticked(WATCH, state, 20_000.0, 30_000.0)[1] == []


def test_the_state_survives_json_at_any_point() -> None:
    watch = Watch(Policy(limits={THROUGHPUT: Threshold(low=40e6)}))
    samples = throughput([Plateau(100, 50, -40)])
    straight_state, straight = told(samples, watch)
    state, alarms = WatchState(), []
    for sample in samples:
        state, changed = told([sample], watch, state=restored(watch, state))
        alarms += changed
    assert (alarms, state.series) == (straight, straight_state.series)
    assert len(alarms) == 4


def test_another_detector_learns_anew_and_open_alarms_stay() -> None:
    state, (raised,) = told(throughput([Step(100, -40)]))
    document = WATCH.series_to_json(THROUGHPUT, state.series[THROUGHPUT])
    document["plateau"]["detector"] = "SPD"
    loaded = WatchState(dict([WATCH.series_from_json(document)]))
    assert loaded.open == [raised]
    assert WATCH.learning(loaded, THROUGHPUT)


@pytest.mark.parametrize("data", [{}, {"series": 3}, {"series": None}])
def test_a_spoilt_state_is_refused(data: dict[str, object]) -> None:
    with refused(ValueError):
        WATCH.series_from_json(data)


def test_a_step_never_changes_the_state_it_was_given() -> None:
    state, _ = told(throughput([], 50))
    before = repr(state)
    told([Sample(9e3 + index, 1e6) for index in range(20)], state=state)
    WATCH.tick(state, BEGUN + 1e6)
    assert repr(state) == before

"""What a round says of network paths."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.markers import Fired, Marker
from measurement.health.model import Found, Pair
from measurement.health.pair_scores import Score
from measurement.health.path_metrics import FIRED, TRAIN, TRANSFER, of_paths
from measurement.health.record import RoundRecord
from measurement.instances import Instance
from measurement.model import Measurement, Metric, Observation, PathKey

NAMES = ("a1", "a2", "b1", "b2")
THERE, BACK = PathKey("wide", "a", "b"), PathKey("wide", "b", "a")
PAIRS = [Pair(one, other) for one in NAMES for other in NAMES if one[0] != other[0]]
PATHS = {pair: THERE if pair.source[0] == "a" else BACK for pair in PAIRS}


def record(**changes: object) -> RoundRecord:
    fields: dict[str, object] = {
        "began": 100.0,
        "ended": 142.0,
        "instances": tuple(Instance(name, f"192.0.2.{number}") for number, name in enumerate(NAMES, 1)),
        "planned": tuple(PAIRS),
        "found": {pair: Found(throughput=(1e8, 3e8)) for pair in PAIRS},
        "scores": {pair: Score(0.5) for pair in PAIRS},
    }
    return RoundRecord.of(**{**fields, **changes})  # type: ignore[arg-type]


def told(of: RoundRecord, throughput: frozenset[PathKey] = frozenset()) -> dict[tuple[PathKey, str], object]:
    return {(one.key, str(one.metric)): one for one in of_paths(of, PATHS, "study:x", throughput)}


@given(st.lists(st.none() | st.floats(0, 1), min_size=4, max_size=4))
def test_the_health_of_a_path_is_the_median_of_its_pairs_that_are_known(totals: list[float | None]) -> None:
    pairs = [pair for pair in PAIRS if PATHS[pair] == THERE]
    scores = {pair: Score(total) for pair, total in zip(pairs, totals, strict=True)}
    found = told(record(scores=scores))
    known = [total for total in totals if total is not None]
    value = found.get((THERE, "health"))
    if not known:
        assert value is None
        return
    assert isinstance(value, Measurement)
    assert value.value == pytest.approx(statistics.median(known))
    assert (value.started_at, value.observed_at, value.parameters) == (100.0, 142.0, {"pairs": len(known)})
    assert (BACK, "health") not in found


def test_a_path_on_which_nobody_answers_is_dead_and_one_not_probed_is_unknown() -> None:
    found = told(record(scores={pair: Score(0.0, timed_out=True) for pair in PAIRS if PATHS[pair] == THERE}))
    value = found[THERE, "health"]
    assert isinstance(value, Measurement)
    assert value.value == 0.0
    assert (BACK, "health") not in found


def test_markers_are_counted_path_by_path() -> None:
    fires = (Fired(Marker.ICMP, "slow"), Fired(Marker.UDP, "slow"))
    found = told(record(fired={PAIRS[0]: fires, PAIRS[1]: fires[:1]}))
    there, back = found[THERE, FIRED], found[BACK, FIRED]
    assert isinstance(there, Observation)
    assert isinstance(back, Observation)
    assert (there.value, back.value) == (3.0, 0.0)


def test_throughput_is_told_where_it_is_wanted_and_was_found_now() -> None:
    assert (THERE, Metric.THROUGHPUT.value) not in told(record())
    value = told(record(), frozenset({THERE}))[THERE, Metric.THROUGHPUT.value]
    assert isinstance(value, Measurement)
    assert (value.value, value.tool) == (2e8, TRAIN)
    assert value.parameters == {"streams": 1, "pairs": 4}
    carried = told(record(carried=frozenset(PAIRS)), frozenset({THERE}))
    assert (THERE, Metric.THROUGHPUT.value) not in carried
    by_transfer = told(record(by_transfer=frozenset(PAIRS)), frozenset({BACK}))
    transferred = by_transfer[BACK, Metric.THROUGHPUT.value]
    assert isinstance(transferred, Measurement)
    assert transferred.tool == TRANSFER
    some = told(record(by_transfer=frozenset(PAIRS[:1])), frozenset({PATHS[PAIRS[0]]}))
    mixed = some[PATHS[PAIRS[0]], Metric.THROUGHPUT.value]
    assert isinstance(mixed, Measurement)
    assert mixed.tool == TRAIN, "as exact as the least exact of them"

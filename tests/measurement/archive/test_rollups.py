from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.archive import HOUR, MINUTE, Archive, Bucket, Retention
from measurement.archive.sketch import EXACT, RANK_ERROR
from measurement.archive.values import coarser, merge_buckets
from measurement.model import Series
from tests.measurement.archive.values import LOAD, observed

NOW = 1e6
SHARES = (0.0, 0.05, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0)
# Values that 32 bits hold exactly: the sketch then changes none of them.
_POINTS = st.tuples(st.floats(0, 3 * HOUR, width=32), st.floats(-1e6, 1e6, width=32))
_BATCHES = st.lists(st.tuples(st.lists(_POINTS, max_size=30), st.booleans()), max_size=5)
_names = itertools.count()


def nearest_rank(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def check(found: list[Bucket], points, width):
    groups = defaultdict(list)
    for at, value in points:
        groups[math.floor(at / width) * width].append(value)
    assert [(bucket.start, bucket.width) for bucket in found] == [(start, width) for start in sorted(groups)]
    for bucket in found:
        values = groups[bucket.start]
        assert (bucket.count, bucket.minimum, bucket.maximum) == (len(values), min(values), max(values))
        assert bucket.mean == pytest.approx(math.fsum(values) / len(values), rel=1e-9, abs=1e-6)
        assert [bucket.quantile(q) for q in SHARES] == [nearest_rank(values, q) for q in SHARES]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One archive for many examples: making its tables takes longer than an example."""
    with Archive(tmp_path_factory.mktemp("shared") / "m.db") as archive:
        yield archive


@given(batches=_BATCHES)
def test_roll_ups_are_what_brute_force_says_at_any_time(shared, batches):
    series = LOAD._replace(source=f"host-{next(_names)}")
    everything = []
    for points, maintain in batches:
        shared.append(observed(v, at, series, f"urn:{next(_names)}") for at, v in points)
        everything += points
        if maintain:
            shared.maintain(NOW, Retention())
        for width in (MINUTE, HOUR):
            check(shared.buckets(series, width), everything, width)


def test_roll_ups_in_both_databases(archive):
    points = [(at * 7.0, float(at % 13)) for at in range(1000)]
    for part in (points[::3], points[1::3], points[2::3]):
        archive.append(observed(value, at) for at, value in part)
        assert archive.maintain(NOW, Retention()).rolled_up == len(part)
    assert archive.maintain(NOW, Retention()).rolled_up == 0
    minutes = archive.buckets(LOAD, MINUTE)
    check(minutes, points, MINUTE)
    assert sum(bucket.count for bucket in archive.buckets(LOAD, HOUR)) == 1000
    # Buckets that overlap the interval, the one that it begins in among them.
    assert archive.buckets(LOAD, MINUTE, since=130, until=241) == minutes[2:5]
    assert archive.buckets(LOAD, MINUTE, since=120, until=240) == minutes[2:4]


def test_series_are_rolled_up_apart(archive):
    other = Series("", "osu-dtn", "", "host.load")
    archive.append([observed(1, 10), observed(2, 10, other), observed(3, 20)])
    archive.maintain(NOW, Retention())
    (mine,), (its,) = archive.buckets(LOAD, MINUTE), archive.buckets(other, MINUTE)
    assert (mine.count, mine.mean, its.count, its.mean) == (2, 2, 1, 2)


def test_more_values_than_one_transaction_takes(archive, monkeypatch):
    monkeypatch.setattr("measurement.archive.rollups.AT_ONCE", 7)
    archive.append(observed(float(n), n) for n in range(100))
    assert archive.maintain(NOW, Retention()).rolled_up == 100
    check(archive.buckets(LOAD, MINUTE), [(n, float(n)) for n in range(100)], MINUTE)


@pytest.mark.parametrize("parts", [1, 60])
def test_quantiles_stay_within_the_stated_error_when_merged(parts):
    chance = np.random.default_rng(5)
    drawn = [
        chance.normal(9e8, 5e7, 3600),
        0.05 * chance.lognormal(0, 0.3, 3600),
        0.01 * (1 + chance.pareto(1.5, 3600)),
        np.where(chance.random(3600) < 0.9, 0, chance.random(3600)),
        chance.normal(-5, 1, 3600),
    ]
    errors = []
    for values in drawn * 6:
        whole = merge_buckets(
            (Bucket.of(0, 60, part.tolist()) for part in np.array_split(values, parts)), 0, 3600
        )
        ordered = np.sort(values.astype(np.float32))
        for share in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
            found = np.float32(whole.quantile(share))
            below, to = (np.searchsorted(ordered, found, side) / 3600 for side in ("left", "right"))
            errors.append(max(0.0, below - share, share - to))
    # The bound holds with 99 % confidence for one question; the sketch draws lots.
    assert np.mean(np.array(errors) <= RANK_ERROR) > 0.96
    assert max(errors) < 3 * RANK_ERROR


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=EXACT), st.integers(1, 5))
def test_few_values_are_kept_exactly_however_they_are_merged(values, parts):
    size = -(-len(values) // parts)
    buckets = [Bucket.of(0, 60, values[i : i + size]) for i in range(0, len(values), size)]
    whole = merge_buckets(buckets, 0, 3600)
    assert [whole.quantile(q) for q in SHARES] == [nearest_rank(values, q) for q in SHARES]


@pytest.mark.parametrize("values", [[1e308] * 3, [-1e308, 1e308, 0.0], [1e-320] * 4, [1e300, 1.0, 2.0]])
def test_extreme_values_stay_within_their_bounds(values):
    whole = merge_buckets([Bucket.of(0, 60, values), Bucket.of(60, 60, values)], 0, 3600)
    for number in (whole.mean, *(whole.quantile(q) for q in SHARES)):
        assert min(values) <= number <= max(values)


@given(st.sets(st.integers(0, 500), min_size=1, max_size=100), st.integers(1, 50))
def test_coarser_buckets_keep_everything(hours, most):
    found = coarser([Bucket(h * 3600.0, HOUR, 1, h, h, h) for h in sorted(hours)], most)
    assert len(found) <= most
    assert sum(bucket.count for bucket in found) == len(hours)
    assert len({bucket.width for bucket in found}) == 1
    for bucket in found:
        inside = [h for h in hours if bucket.start <= h * 3600 < bucket.start + bucket.width]
        assert (bucket.minimum, bucket.maximum) == (min(inside), max(inside))

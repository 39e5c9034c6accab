from __future__ import annotations

import dataclasses
import itertools
import math
import sqlite3
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.archive import Appended, Archive, Disagreement
from measurement.model import Metric, Series
from tests.measurement.archive.values import L2, L3, measured, observed, run_url
from tests.support.refusals import refused

RUN = uuid.UUID("c0ffee00-0000-4000-8000-000000000001")
S2 = Series(*L2, "throughput")


def test_a_run_is_kept_once_whichever_way_it_comes(archive):
    polled = measured(1e6, 10, source=run_url(RUN))
    pushed = measured(1e6, 10.5, source=run_url(RUN, "192.0.2.7") + "?merged=1")
    assert archive.append([polled]) == Appended(new=1)
    assert archive.append([pushed]) == Appended(duplicates=1)
    assert archive.append([pushed, measured(1e6, 11)]) == Appended(new=1, duplicates=1)
    assert archive.query(until=11) == [polled]


def test_one_run_has_values_of_several_series(archive):
    source = run_url(RUN)
    values = [measured(1, 10, metric=m, source=source) for m in (Metric.ONE_WAY_DELAY, Metric.LOSS)]
    values.append(measured(1, 10, L3, Metric.LOSS, source))
    assert archive.append(values) == Appended(new=3)


def test_the_first_word_of_a_run_stays_and_the_other_is_reported(archive):
    first, second = (measured(value, 10, source=run_url(RUN)) for value in (1e6, 2e6))
    same = measured(1e6 * (1 + 1e-12), 10, source=run_url(RUN))
    found = Appended(new=1, disagreements=(Disagreement(S2, second.source, 1e6, 2e6),))
    assert archive.append([first, second]) == found
    assert archive.append([second, same]) == Appended(0, 1, found.disagreements)
    assert archive.query() == [first]


def test_observations_of_one_source_differ_by_their_time(archive):
    assert archive.append([observed(1, 10), observed(1, 11), observed(1, 10.0)]) == Appended(2, 1)


def test_a_value_that_names_no_run_is_known_by_its_source(archive):
    values = [measured(value, 10, source=f"https://archive.example/{value}") for value in (1, 2)]
    assert archive.append(values) == Appended(new=2)
    assert archive.append([*values, measured(1, 10)]) == Appended(new=1, duplicates=2)


def test_what_cannot_be_kept_is_refused_and_the_rest_is_kept(archive):
    good = measured(1, 10)
    bad = [
        dataclasses.replace(measured(1, 11), tool="a\0b"),
        dataclasses.replace(measured(1, 11), tool="half \ud800 a pair"),
        dataclasses.replace(measured(1, 12), parameters={"note": "half \ud800 a pair"}),
        dataclasses.replace(measured(1, 11), source="https://" + "x" * 5000),
        dataclasses.replace(measured(1, 11), key=L2._replace(path="p" * 300)),
        dataclasses.replace(measured(1, 11), parameters={"a": math.nan}),
        dataclasses.replace(measured(1, 11), parameters={"a": {1, 2}}),
        dataclasses.replace(measured(1, 11), parameters={"a": "x" * 100_000}),
    ]
    found = archive.append([*bad, good])
    assert (found.new, len(found.refused)) == (1, len(bad))
    assert [one.cause.partition(":")[0] for one in found.refused[:2]] == ["tool", "tool"]
    assert all("\n" not in str(one) and len(str(one)) <= 300 for one in found.refused)
    assert archive.query() == [good]


def test_nothing_is_nothing(archive):
    assert archive.append([]) == Appended()
    assert (archive.query(), archive.series(), archive.latest()) == ([], [], [])


def test_a_batch_is_kept_whole_or_not_at_all(tmp_path):
    file = tmp_path / "m.db"
    with Archive(file) as archive, sqlite3.connect(file) as other:
        other.execute("CREATE TRIGGER no BEFORE INSERT ON sample WHEN new.value = 2 "
                      "BEGIN SELECT RAISE(FAIL, 'disk full'); END")  # fmt: skip
        other.commit()
        with refused("archive-error"):
            archive.append([measured(1, 10), measured(2, 20)])
        assert archive.query() == []
        # The series that was made in the failed transaction is not taken for made.
        assert archive.append([measured(3, 10)]) == Appended(new=1)
        assert archive.query()[0].value == 3
    other.close()


_names = itertools.count()

# Few runs, values and times, so that they meet; each of the two series may hold values of no run.
_VALUES = st.builds(
    lambda key, value, at, run: measured(
        value, at, key, source=f"https://archive.example/{at}" if run is None else run_url(uuid.UUID(int=run))
    ),
    st.sampled_from([L2, L3]),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([10.0, 11.5, 13.0, 30.0]),
    st.none() | st.integers(1, 4),
)


def _plainly(values):
    """What the rules say, by looking at every pair."""
    kept, disagree = [], 0
    for new in values:
        mine = [old for old in kept if old.series == new.series]
        if twin := [old for old in mine if old.origin == new.origin]:
            disagree += twin[0].value != new.value
        else:
            kept.append(new)
    return kept, disagree


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One archive for many examples: making its tables takes longer than an example."""
    with Archive(tmp_path_factory.mktemp("shared") / "m.db") as archive:
        yield archive


@given(batches=st.lists(st.lists(_VALUES, max_size=6), max_size=4))
def test_the_rules_of_identity_hold_however_values_are_batched(shared, batches):
    example = f"-{next(_names)}"
    batches = [
        [dataclasses.replace(value, key=value.key._replace(path=value.key.path + example)) for value in batch]
        for batch in batches
    ]
    total, before = Appended(), shared.size()
    for batch in batches:
        total += shared.append(batch)
    flat = [value for batch in batches for value in batch]
    expected, disagree = _plainly(flat)
    kept = [value for path in (L2.path, L3.path) for value in shared.query(path=path + example)]
    assert sorted(kept, key=repr) == sorted(expected, key=repr)
    assert (total.new, len(total.disagreements)) == (len(expected), disagree)
    assert total.duplicates == len(flat) - len(expected) - disagree
    assert shared.size() == before + total.new

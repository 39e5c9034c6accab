from __future__ import annotations

import pytest

from measurement.archive import HOUR, MINUTE, Appended, Maintained, Retention, expiry
from measurement.model import Series
from tests.measurement.archive.values import L2, L3, measured, observed
from tests.support.refusals import refused

DAY = 86_400.0
KEEP = Retention(raw=DAY, minutes=2 * DAY, hours=4 * DAY)
S2 = Series(*L2, "throughput")


def test_each_resolution_is_kept_its_time(archive):
    now = 10 * DAY
    ages = [0.5, 1.5, 3.0, 5.0]
    archive.append(measured(age, now - age * DAY) for age in ages)
    archive.append([measured(0, now)])
    done = archive.maintain(now, KEEP)
    assert done.rolled_up == 5
    assert [value for _, value in archive.values(S2)] == [0.5, 0]
    assert [bucket.mean for bucket in archive.buckets(S2, MINUTE)] == [1.5, 0.5, 0]
    assert [bucket.mean for bucket in archive.buckets(S2, HOUR)] == [3, 1.5, 0.5, 0]
    assert done.dropped == 3 + 2 + 1
    assert archive.maintain(now, KEEP).dropped == 0


def test_a_plot_takes_the_finest_that_is_whole(archive):
    now = 10 * DAY
    archive.append(measured(age, now - age * DAY) for age in (0.5, 1.5, 3.0, 0))
    archive.maintain(now, KEEP)

    def width(since):
        return {bucket.width for bucket in archive.plot(S2, since=since)}

    assert width(now - 0.9 * DAY) == {0}
    assert width(now - 1.9 * DAY) == {MINUTE}
    assert width(now - 3.9 * DAY) == width(None) == {HOUR}


def test_what_was_dropped_is_not_counted_again_when_it_comes_again(archive):
    now = 10 * DAY
    values = [measured(1, now - 3 * DAY), measured(2, now)]
    archive.append(values)
    archive.maintain(now, KEEP)
    again = archive.append(values)
    assert (again.new, again.duplicates, len(again.refused)) == (0, 1, 1)
    archive.maintain(now, KEEP)
    assert [bucket.count for bucket in archive.buckets(S2, HOUR)] == [1, 1]
    # A series of which nothing was dropped may still be filled from an old archive.
    assert archive.append([measured(1, now - 3 * DAY, L3)]) == Appended(new=1)


def test_a_clock_that_is_years_ahead_drops_nothing(archive):
    now = 10 * DAY
    archive.append([measured(1, now - 0.5 * DAY), measured(2, now)])
    assert archive.maintain(now + 30 * 365 * DAY, KEEP).dropped == 0
    assert archive.size() == 2


def test_a_value_from_the_future_drops_nothing(archive):
    now = 10 * DAY
    archive.append([measured(1, now), measured(2, now + 30 * 365 * DAY)])
    assert archive.maintain(now, KEEP).dropped == 0


def test_observations_go_too(archive):
    now = 10 * DAY
    archive.append([observed(1, now - 2 * DAY), observed(1, now)])
    assert archive.maintain(now, KEEP).dropped == 1
    assert len(archive.observations()) == 1


def test_a_series_is_named_as_long_as_roll_ups_are_kept(archive):
    now = 10 * DAY
    archive.append([measured(1, now - 3 * DAY), measured(1, now, L3)])
    archive.maintain(now, KEEP)
    assert archive.series() == [S2, Series(*L3, "throughput")]
    archive.append([measured(1, now + 3 * DAY, L3)])
    archive.maintain(now + 3 * DAY, KEEP)
    assert archive.series() == [Series(*L3, "throughput")]


def test_documents_are_kept_as_their_kind_says_and_open_ones_always(archive):
    keep = Retention(documents={"execution": DAY})
    for at in (1.0, 5 * DAY):
        archive.put_document("execution", f"e{at}", at, None, {"at": at})
        archive.put_document("alarm", f"a{at}", at, None, {"at": at})
    archive.put_document("execution", "open", 1.0, None, {}, is_open=True)
    assert archive.maintain(5 * DAY, keep).dropped == 1
    assert [one.get("at") for one in archive.documents("execution")] == [5 * DAY, None]
    assert len(archive.documents("alarm")) == 2


def test_what_came_since_the_roll_up_is_not_dropped_before_the_next(archive):
    now = 10 * DAY
    archive.append([measured(1, now - 3 * DAY), measured(2, now)])
    # As if another process had appended between the two parts of maintenance.
    assert expiry.drop(archive._writing, now, KEEP) == 0
    assert archive.maintain(now, KEEP) == Maintained(rolled_up=2, dropped=2)
    assert [bucket.mean for bucket in archive.buckets(S2, HOUR)] == [1, 2]


def test_many_rows_go_in_several_transactions(archive, monkeypatch):
    monkeypatch.setattr("measurement.archive.expiry.AT_ONCE", 7)
    archive.append([*(measured(1, 100.0 + n) for n in range(30)), measured(1, 9 * DAY)])
    assert archive.maintain(9 * DAY, KEEP).dropped == 30 + 2 + 1
    assert len(archive.query()) == 1


@pytest.mark.parametrize("wrong", [{"raw": 0}, {"raw": 3, "minutes": 2}, {"minutes": 5e9}])
def test_a_coarser_resolution_is_kept_at_least_as_long(wrong):
    with refused(ValueError, "retention"):
        Retention(**wrong)

from __future__ import annotations

import subprocess
import sys

import pytest

from measurement.archive import Appended, Archive, Bucket, Retention
from measurement.model import Metric, Series
from tests.measurement.archive.values import L2, L3, LOAD, measured, observed
from tests.support.refusals import refused

S2 = Series(*L2, "throughput")


def test_what_is_kept_comes_back_equal_the_newest_first(where):
    kept = [measured(1e6, 10), measured(2e6, 20), measured(3e6, 15, L3)]
    with Archive(where) as archive:
        assert archive.append(kept) == Appended(new=3)
    with Archive(where, readonly=True) as archive:
        assert archive.query() == [kept[1], kept[2], kept[0]]
        assert archive.query(path="al2s", since=15) == [kept[1]]
        assert archive.query(source="mu", destination="osu", until=15) == [kept[0]]
        assert archive.query(metric=Metric.RTT) == []
        assert archive.query(limit=1) == [kept[1]]


def test_the_two_kinds_do_not_mix(archive):
    value, load = measured(1, 10), observed(0.5, 11)
    assert archive.append([value, load]).new == 2
    assert archive.query() == [value]
    assert archive.latest() == [value]
    assert archive.newest() == value.observed_at
    assert archive.observations() == [load]
    assert archive.series() == sorted([S2, LOAD])
    assert archive.size() == 2


def test_observations_by_host_metric_and_time(archive):
    other = Series("", "osu-dtn", "", "host.load")
    free = Series("", "mu-dtn", "", "host.free")
    kept = [observed(0, 1), observed(1, 2), observed(2, 3, other), observed(-1e9, 4, free)]
    archive.append(kept)
    assert archive.observations(LOAD.key) == [kept[3], kept[1], kept[0]]
    assert archive.observations(LOAD.key, "host.load", since=2) == [kept[1]]
    assert archive.observations(metric="host.load", until=3, limit=1) == [kept[1]]


def test_values_of_a_series_the_oldest_first(archive):
    archive.append([measured(1, 10), measured(3, 30), measured(2, 20), measured(9, 15, L3)])
    assert archive.values(S2) == [(10, 1), (20, 2), (30, 3)]
    assert archive.values(S2, since=20, until=30) == [(20, 2)]
    assert archive.values(S2, limit=2) == [(10, 1), (20, 2)]
    assert archive.values(LOAD) == []


def test_latest_is_one_value_per_path_and_metric(archive):
    newest = [measured(2, 20), measured(0.1, 5, metric=Metric.RTT), measured(4, 9, L3)]
    archive.append([measured(1, 10), *newest])
    assert sorted(archive.latest(), key=newest.index) == newest
    assert archive.newest() == max((one.observed_at for one in newest), default=None)


def test_best_is_the_highest_rate_and_the_lowest_delay_in_the_window(archive):
    archive.append([measured(9, 1), measured(5, 20), measured(7, 30), measured(6, 20, L3)])
    archive.append(measured(v, t, metric=Metric.RTT) for v, t in ((0.3, 20), (0.1, 30)))
    assert archive.best([L2, L3], Metric.THROUGHPUT, since=10).value == 7
    assert archive.best([L2, L3], Metric.RTT, since=10).value == 0.1
    assert archive.best([L3], Metric.RTT, since=0) is None
    assert archive.best([], Metric.RTT, since=0) is None


def test_a_plot_of_few_values_shows_them(archive):
    archive.append([measured(1, 10), measured(2, 20)])
    assert archive.plot(S2) == [Bucket.single(10, 1), Bucket.single(20, 2)]
    assert archive.plot(S2, until=15) == [Bucket.single(10, 1)]
    assert archive.plot(LOAD) == []


@pytest.mark.parametrize(
    ("most", "width"), [(600, 0), (599, 60), (100, 60), (99, 3600), (2, 3600), (1, 7200)]
)
def test_a_plot_never_has_more_buckets_than_asked_for(archive, most, width):
    # 600 values, one every 10 s: 100 minutes, 2 hours.
    archive.append(measured(float(n), 7200 + 10.0 * n) for n in range(600))
    archive.maintain(1e4, Retention())
    found = archive.plot(S2, most=most)
    assert len(found) <= most
    assert {bucket.width for bucket in found} == {width}
    assert sum(bucket.count for bucket in found) == 600


def test_a_reader_cannot_write_and_sees_what_is_written_meanwhile(where):
    with Archive(where) as writer, Archive(where, readonly=True) as reader:
        writer.append([measured(1, 10)])
        assert len(reader.query()) == 1
        with refused("read-only"):
            reader.append([measured(1, 11)])
        writer.append([measured(1, 12)])
        assert len(reader.query()) == 2


def test_nothing_heavy_is_imported_to_keep_and_read_values(tmp_path):
    program = (
        "import sys, pathlib\n"
        "from measurement.archive import Archive, Retention\n"
        "from tests.measurement.archive.values import measured\n"
        "with Archive(pathlib.Path(sys.argv[1])) as archive:\n"
        "    archive.append([measured(1, 10), measured(2, 11)])\n"
        "    archive.maintain(12, Retention())\n"
        "    assert len(archive.plot(archive.series()[0])) == 2\n"
        "print(*({'numpy', 'pandas', 'datasketches'} & set(sys.modules)))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m.db")], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == []

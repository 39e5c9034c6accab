from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement, Metric, PathKey

L2 = PathKey("al2s", "mu", "osu")
L3 = PathKey("internet", "mu", "osu")


def measured(key: PathKey, value: float, at: float, metric: Metric = Metric.THROUGHPUT) -> Measurement:
    return Measurement(key, metric, value, at - 1, at, f"run-{key}-{at}", "iperf3", {"streams": 4})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "measurements.db"


def test_what_is_kept_comes_back_equal_the_newest_first(file: Path) -> None:
    kept = [measured(L2, 1e6, 10), measured(L2, 2e6, 20), measured(L3, 3e6, 15)]
    with Archive(file) as archive:
        assert archive.append(kept) == 3
    with Archive(file, readonly=True) as archive:
        assert archive.query() == [kept[1], kept[2], kept[0]]
        assert archive.query(path="al2s", since=15) == [kept[1]]
        assert archive.query(source="mu", destination="osu", until=15) == [kept[0]]
        assert archive.query(metric=Metric.RTT) == []
        assert archive.query(limit=1) == [kept[1]]


def test_the_same_value_twice_is_kept_once(file: Path) -> None:
    with Archive(file) as archive:
        assert archive.append([measured(L2, 1e6, 10)]) == 1
        assert archive.append([measured(L2, 1e6, 10), measured(L2, 1e6, 11)]) == 1
        assert len(archive.query()) == 2


def test_latest_is_one_value_per_path_and_metric(file: Path) -> None:
    with Archive(file) as archive:
        newest = [measured(L2, 2, 20), measured(L2, 0.1, 5, Metric.RTT), measured(L3, 4, 9)]
        archive.append([measured(L2, 1, 10), *newest])
        found = archive.latest()
    assert len(found) == 3
    assert all(measurement in found for measurement in newest)


def test_best_is_the_highest_rate_and_the_lowest_delay_in_the_window(file: Path) -> None:
    with Archive(file) as archive:
        archive.append(measured(L2, v, t) for v, t in ((9, 1), (5, 20), (7, 30)))
        archive.append(measured(L3, v, t) for v, t in ((6, 20),))
        archive.append(measured(L2, v, t, Metric.RTT) for v, t in ((0.3, 20), (0.1, 30)))
        best = archive.best([L2, L3], Metric.THROUGHPUT, since=10)
        assert best is not None
        assert best.value == 7
        lowest = archive.best([L2, L3], Metric.RTT, since=10)
        assert lowest is not None
        assert lowest.value == 0.1
        assert archive.best([L3], Metric.RTT, since=0) is None


def test_prune_forgets_what_is_older(file: Path) -> None:
    with Archive(file) as archive:
        archive.append([measured(L2, 1, 10), measured(L2, 1, 20)])
        assert archive.prune(20) == 1
        assert [m.observed_at for m in archive.query()] == [20]


def test_a_batch_is_kept_whole_or_not_at_all(file: Path) -> None:
    with Archive(file) as archive, sqlite3.connect(file) as other:
        other.execute("CREATE TRIGGER no BEFORE INSERT ON measurement WHEN new.value = 2 "
                      "BEGIN SELECT RAISE(FAIL, 'disk full'); END")  # fmt: skip
        other.commit()
        with pytest.raises(ArchiveError, match="disk full"):
            archive.append([measured(L2, 1, 10), measured(L2, 2, 20)])
        assert archive.query() == []
        assert archive.append([measured(L2, 3, 10)]) == 1
    other.close()


def test_another_version_is_refused_and_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    for readonly in (True, False):
        with pytest.raises(ArchiveError, match="version 99"):
            Archive(file, readonly=readonly)


def test_what_is_no_archive_is_refused(file: Path) -> None:
    with pytest.raises(ArchiveError, match="unable to open"):
        Archive(file, readonly=True)
    file.write_bytes(b"not a database" * 100)
    with pytest.raises(ArchiveError, match="not a database"):
        Archive(file)


def test_a_reader_cannot_write_and_sees_what_is_written_meanwhile(file: Path) -> None:
    with Archive(file) as writer, Archive(file, readonly=True) as reader:
        writer.append([measured(L2, 1, 10)])
        assert len(reader.query()) == 1
        with pytest.raises(ArchiveError, match="readonly"):
            reader.append([measured(L2, 1, 11)])


WRITER = """
import sys
from pathlib import Path
from measurement.archive import Archive
from measurement.model import Measurement, Metric, PathKey
archive = Archive(Path(sys.argv[1]))
for number in range(1_000_000):
    archive.append([Measurement(PathKey("p", "a", "b"), Metric.RTT, 0.1, number, number, str(number))])
    print(number, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill(file: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        seen = [int(writer.stdout.readline()) for _ in range(20)]
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged = [*seen, *map(int, writer.stdout.read().split())]
    with Archive(file) as archive:
        kept = {int(m.source) for m in archive.query(limit=1_000_000)}
    assert kept >= set(acknowledged)

"""Several processes at one archive, and one that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from measurement.archive import HOUR, MINUTE, Archive, Retention
from measurement.model import Series
from tests.measurement.archive.values import L2

S2 = Series(*L2, "throughput")
BATCH = 10
pytestmark = pytest.mark.integration

WRITER = """
import sys, pathlib
from measurement.archive import Archive, Retention
from tests.measurement.archive.values import measured, run_url
from uuid import UUID

where, begin, end, maintain = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "maintain"
archive = Archive(where if "://" in where else pathlib.Path(where))
for number in range(begin, end):
    values = [number * 10 + n for n in range(10)]
    archive.append(measured(float(v), float(v), source=run_url(UUID(int=v + 1))) for v in values)
    print(number, flush=True)
    if maintain:
        archive.maintain(1e9, Retention())
"""


@contextmanager
def writer(where, begin, end, *, maintain=False) -> Iterator[subprocess.Popen[str]]:
    what = "maintain" if maintain else "append"
    command = [sys.executable, "-c", WRITER, str(where), str(begin), str(end), what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("maintain", [False, True])
def test_what_was_acknowledged_survives_a_kill(tmp_path, maintain):
    file = tmp_path / "m.db"
    with writer(file, 0, 10**9, maintain=maintain) as process:
        seen = [int(process.stdout.readline()) for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = [*seen, *map(int, process.stdout.read().split())]
    with Archive(file) as archive:
        kept = [int(at) for at, _ in archive.values(S2)]
        assert set(kept) >= {number * BATCH + n for number in acknowledged for n in range(BATCH)}
        assert len(kept) % BATCH == 0  # of a batch that was not acknowledged all or nothing is there
        # However far the maintenance had come, every value is in the roll-ups once.
        for _ in range(2):
            for width in (MINUTE, HOUR):
                assert sum(bucket.count for bucket in archive.buckets(S2, width)) == len(kept)
            archive.maintain(1e9, Retention())


def test_readers_go_on_while_one_process_writes_and_maintains(where):
    Archive(where).close()
    failures: list[str] = []
    over = threading.Event()
    looks = [0, 0]

    def read(which: int) -> None:
        with Archive(where, readonly=True) as archive:
            before = 0
            while not over.is_set():
                counts = [len(archive.values(S2)), sum(b.count for b in archive.buckets(S2, MINUTE))]
                # Whole batches only, each value once, and none that was seen ever vanishes.
                if any(count % BATCH for count in counts) or not before <= counts[0] <= counts[1]:
                    failures.append(f"{before} {counts}")
                before = counts[0]
                looks[which] += 1

    readers = [threading.Thread(target=read, args=(which,)) for which in (0, 1)]
    for reader in readers:
        reader.start()
    try:
        with writer(where, 0, 60, maintain=True) as process:
            assert len(process.stdout.read().split()) == 60
            assert process.wait() == 0
    finally:
        over.set()
        for reader in readers:
            reader.join()
    assert failures == []
    assert min(looks) > 0


def test_two_writers_with_the_same_values_keep_each_once(where):
    Archive(where).close()
    with writer(where, 0, 40) as one, writer(where, 20, 60, maintain=True) as two:
        for process in (one, two):
            assert len(process.stdout.read().split()) == 40
            assert process.wait() == 0
    with Archive(where) as archive:
        assert [int(at) for at, _ in archive.values(S2)] == list(range(600))
        assert sum(bucket.count for bucket in archive.buckets(S2, HOUR)) == 600


def test_two_processes_may_make_the_archive_at_once(where):
    with writer(where, 0, 5) as one, writer(where, 5, 10) as two:
        assert [process.wait() for process in (one, two)] == [0, 0]
    with Archive(where, readonly=True) as archive:
        assert archive.size() == 100

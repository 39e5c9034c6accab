"""The archive: how fast results go in, and how fast thirty days of a series come out for a plot.

*Going in*: batches of 500 results of 2000 series (500 points, 4 metrics), each batch one durable transaction.
Yardstick in the same run: the same rows by Python's ``sqlite3.executemany`` into a table with the same
indexes, the same durability, and no look for duplicates.  PostgreSQL, where its programs are installed, is
a server started for this on a socket, durable too.

*Coming out*: one series with a value every ten seconds for thirty days, beside another one as long.
``plot`` reads roll-ups; the yardstick reads all single values of that time.  The rate is values shown per
second.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.summary import Summary, table
from measurement.archive import Archive, Retention
from measurement.archive.rows import SampleRow, sample_row
from measurement.model import Measurement, Metric, Observation, PathKey, Series

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Of PostgreSQL, where Debian keeps them."""
ROUNDS = 5
BATCHES = 20
BATCH = 500
SERIES = 2000
DAYS = 30
EVERY_S = 10
NEIGHBOURS = 1
FILL = 10_000
READS = 20
NOW = 1.7e9
WANTED_IN = 5_000
WANTED_OUT = 10 * WANTED_IN


def run(folder: Path, seed: int) -> dict[str, Any]:
    """The benchmark: rates in values/s, times in ms."""
    chance = random.Random(seed)
    rounds = [_batches(chance, number) for number in range(ROUNDS)]
    with Archive(folder / "ingest.db") as archive:
        ours = [_timed(batches, archive.append) for batches in rounds]
        again = [_timed(batches, archive.append) for batches in rounds]
    results = {
        "SQLite": _rates(ours),
        "SQLite, all known already": _rates(again),
        "yardstick: executemany": _rates([_executemany(folder, batches) for batches in rounds]),
    }
    if PROGRAMS:
        with _postgresql(folder / "pg") as url, Archive(url) as archive:
            results["PostgreSQL"] = _rates([_timed(batches, archive.append) for batches in rounds])
    return {"in": results, "out": _reading(folder, chance)}


def _batches(chance: random.Random, number: int) -> list[list[Measurement]]:
    metrics = (Metric.THROUGHPUT, Metric.RTT, Metric.ONE_WAY_DELAY, Metric.JITTER)
    values = [
        Measurement(
            PathKey(f"path-{n % SERIES // 4}", "mu", "osu"),
            metrics[n % 4],
            chance.random(),
            NOW + 60 * number + n / 1000,
            NOW + 60 * number + n / 1000 + 10,
            f"https://point-{n % SERIES // 4}/pscheduler/tasks/{uuid.UUID(int=n)}/runs/"
            f"{uuid.UUID(int=chance.getrandbits(128))}",
            "iperf3",
            {"streams": 4, "duration": 10},
        )
        for n in range(BATCHES * BATCH)
    ]
    return [values[start : start + BATCH] for start in range(0, len(values), BATCH)]


def _timed(batches: Sequence[list[Any]], keep: Callable[[list[Any]], object]) -> list[float]:
    took = []
    for batch in batches:
        begun = time.perf_counter()
        keep(batch)
        took.append(time.perf_counter() - begun)
    return took


def _rates(rounds: Sequence[Sequence[float]]) -> dict[str, Any]:
    return asdict(Summary.of([[BATCH / took for took in each] for each in rounds]))


def _executemany(folder: Path, batches: Sequence[list[Measurement]]) -> list[float]:
    file = folder / "yardstick.db"
    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE IF NOT EXISTS sample (id INTEGER PRIMARY KEY, path, source, destination, metric, "
        "observed_at, value, started_at, identity, origin, tool, parameters);"
        "CREATE INDEX IF NOT EXISTS a ON sample (path, source, destination, metric, identity);"
        "CREATE INDEX IF NOT EXISTS b ON sample (path, source, destination, metric, observed_at);"
        "CREATE INDEX IF NOT EXISTS c ON sample (observed_at)"
    )

    def keep(rows: list[SampleRow]) -> None:
        with database:
            database.execute("BEGIN IMMEDIATE")
            marks = ",".join("?" * 11)
            database.executemany(
                f"INSERT INTO sample VALUES (NULL,{marks})",  # noqa: S608
                [(*row.series, *row[1:]) for row in rows],
            )

    took = _timed([[sample_row(value) for value in batch] for batch in batches], keep)
    database.close()
    return took


@contextmanager
def _postgresql(folder: Path) -> Iterator[str]:
    """A server on a socket, with fsync on: durability is what is measured.  It refuses to run as root."""
    folder.mkdir()
    for above in (folder.parent, folder.parent.parent):
        above.chmod(0o711)
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    data, programs = str(folder / "data"), PROGRAMS[-1]
    create = [str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "adon"]
    subprocess.run(create, check=True, cwd=folder, stdout=subprocess.DEVNULL, user=user)
    settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
    server = subprocess.Popen(
        [str(programs / "postgres"), "-D", data, *settings],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        user=user,
    )
    try:
        assert server.stderr is not None
        assert any("database system is ready" in line for line in server.stderr)
        yield f"postgresql+psycopg://adon@/postgres?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)


def _reading(folder: Path, chance: random.Random) -> dict[str, Any]:
    count = DAYS * 86_400 // EVERY_S
    series = Series("", "host-0", "", "host.load")
    with Archive(folder / "plot.db") as archive:
        for begin in range(0, count, FILL):
            for host in range(NEIGHBOURS + 1):
                key = PathKey("", f"host-{host}", "")
                times = (NOW + EVERY_S * n for n in range(begin, min(begin + FILL, count)))
                archive.append(Observation(key, "host.load", chance.random(), at, "urn:host") for at in times)
        begun = time.perf_counter()
        rolled = archive.maintain(NOW, Retention()).rolled_up
        roll_up = rolled / (time.perf_counter() - begun)
        since, until = NOW, NOW + DAYS * 86_400
        shown = archive.plot(series, since, until)
        assert sum(bucket.count for bucket in shown) == count
        plots = _repeated(lambda: archive.plot(series, since, until))
        quantiles = _repeated(lambda: [b.quantile(0.95) for b in archive.plot(series, since, until)])
        singles = _repeated(lambda: archive.values(series, since, until))
    return {
        "values": count,
        "buckets": len(shown),
        "values rolled up per second": roll_up,
        "file_mib": (folder / "plot.db").stat().st_size / 2**20,
        "roll-ups": plots,
        "roll-ups, with a quantile each": quantiles,
        "yardstick: all single values": singles,
    }


def _repeated(read: Callable[[], object]) -> dict[str, Any]:
    samples = []
    for _ in range(READS):
        begun = time.perf_counter()
        read()
        samples.append((time.perf_counter() - begun) * 1e3)
    return asdict(Summary.of([samples]))


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the issue's rates are reached: into SQLite, and out of roll-ups."""
    ingest, out = results["in"], results["out"]
    into = min(ingest[name]["median"] for name in ingest if name.startswith("SQLite"))
    read = out["values"] / out["roll-ups"]["median"] * 1e3
    return bool(into >= WANTED_IN and read >= WANTED_OUT)


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    keys = ("median", "largest", "spread")
    rows = [["results/s into", "median", "fastest", "spread (IQR)", "medians of rounds", "x wanted"]]
    for name, numbers in results["in"].items():
        medians = " ".join(f"{median:.0f}" for median in numbers["rounds"])
        wanted = f"{numbers['median'] / WANTED_IN:.1f}"
        rows.append([name, *(f"{numbers[key]:.0f}" for key in keys), medians, wanted])
    out = results["out"]
    read = [["30 days for a plot, ms", "median", "slowest", "spread (IQR)", "values/s", "x wanted"]]
    for name in ("roll-ups", "roll-ups, with a quantile each", "yardstick: all single values"):
        numbers = out[name]
        rate = out["values"] / numbers["median"] * 1e3
        figures = [f"{numbers[key]:.1f}" for key in keys]
        read.append([name, *figures, f"{rate:.0f}", f"{rate / WANTED_OUT:.1f}"])
    about = (
        f"{out['values']} values shown as {out['buckets']} buckets; "
        f"{out['values rolled up per second']:.0f} values/s rolled up; file {out['file_mib']:.0f} MiB"
    )
    return f"{table(rows)}\n\n{table(read)}\n\n{about}"

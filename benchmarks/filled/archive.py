"""What was measured in a month on every path in both directions, and on the hosts, with the runs and alarms.

Values are a daily wave, noise, and now and then a plateau, so that charts, boxes and alarms have something to
show.  They are written as :mod:`measurement.archive.value_writer` would write them, in bulk.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import uuid
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from pathlib import Path

from sqlalchemy import Connection, create_engine, func, insert, select, update

from benchmarks.filled import campus
from measurement.anomaly.alarm import Alarm, Kind, alarm_id
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.archive import Archive, rollups, tables
from measurement.archive.values import HOUR, MINUTE
from measurement.model import Metric, Series, to_json
from measurement.scheduling.execution import Execution

_AT_ONCE = 50_000
_ADD = (
    "INSERT INTO sample "
    "(series_id, observed_at, value, started_at, identity, source, tool, parameters) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
LATENCY = (Metric.RTT, Metric.ONE_WAY_DELAY, Metric.JITTER, Metric.LOSS)
HOST_METRICS = ("cpu", "nic.receive", "nic.send", "disk.write")
THROUGHPUT_EVERY = 36
"""Per throughput test so many of the round trip, and of those that come with it."""
ALARMS = 400
OPEN = 6


def fill(file: Path, values: int, began: float, ended: float, chance: random.Random) -> None:
    """Make the archive: so many values evenly between two times, their runs, and alarms."""
    with Archive(file) as archive:
        archive.put_state("filled", b"")  # makes the tables
    engine = create_engine(f"sqlite:///{file}")
    every = list(_series())
    weights = {one: 1.0 / THROUGHPUT_EVERY if one.metric == Metric.THROUGHPUT else 1.0 for one in every}
    share = values / sum(weights.values())
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA cache_size=-262144")
        rows = [
            {"id": n, "path": s.path, "source": s.source, "destination": s.destination, "metric": s.metric}
            for n, s in enumerate(every, 1)
        ]
        connection.execute(insert(tables.series), rows)
    # In the order of time, as they came in.
    each = [
        _samples(number, one, max(1, round(share * weights[one])), began, ended, chance)
        for number, one in enumerate(every, 1)
    ]
    samples = heapq.merge(*each, key=itemgetter(1))
    with engine.begin() as connection:
        while batch := list(islice(samples, _AT_ONCE)):
            connection.exec_driver_sql(_ADD, batch)
        connection.execute(insert(tables.document), list(_runs(values // 5, began, ended, chance)))
        connection.execute(insert(tables.document), list(_alarms(began, ended, chance)))
        for number in range(1, len(every) + 1):
            _roll_up(connection, number)
        last = update(tables.mark).where(tables.mark.c.name == "rolled")
        connection.execute(last.values(value=select(func.max(tables.sample.c.id)).scalar_subquery()))
    engine.dispose()


def _series() -> Iterator[Series]:
    for key in campus.directions():
        for metric in (Metric.THROUGHPUT, *LATENCY):
            yield Series(*key, metric.value)
    for site in campus.SITES:
        for number in range(1, campus.HOSTS_EACH + 1):
            for name in HOST_METRICS:
                yield Series("", f"{site}-dtn{number}", "", name)


_MIDDLE = {
    Metric.THROUGHPUT: 0.6 * campus.CAPACITY_BPS,
    Metric.RTT: 0.03,
    Metric.ONE_WAY_DELAY: 0.015,
    Metric.JITTER: 0.0004,
    Metric.LOSS: 0.0002,
}


def _samples(
    number: int, series: Series, many: int, began: float, ended: float, chance: random.Random
) -> Iterator[tuple[object, ...]]:
    network = bool(series.path)
    middle = _MIDDLE[Metric(series.metric)] if network else 0.5
    duration = 10.0 if network else None
    tool = {Metric.THROUGHPUT: "iperf3", Metric.RTT: "ping"}.get(series.metric, "owping" if network else "")  # type: ignore[call-overload]
    parameters = json.dumps({"streams": 1} if series.metric == Metric.THROUGHPUT else {})
    step, phase = (ended - began) / many, chance.random()
    task = f"https://{series.source}.example.edu/pscheduler/tasks/{uuid.UUID(int=number)}/runs/"
    plateau = 1.0
    for place in range(many):
        at = began + step * (place + phase)
        if chance.random() < 0.0004:
            plateau = chance.choice((0.4, 1.0, 1.0, 1.6))
        wave = 1.0 + 0.15 * math.sin(2 * math.pi * at / 86_400)
        run = chance.getrandbits(128)
        value = middle * plateau * wave * chance.uniform(0.92, 1.08)
        started = None if duration is None else at - duration
        source = f"{task}{uuid.UUID(int=run)}" if network else f"host-{series.source}"
        yield number, at, value, started, run.to_bytes(16, "big"), source, tool, parameters


def _roll_up(connection: Connection, number: int) -> None:
    """As the archive does, but a whole series at a time: nothing of it is in the roll-ups yet."""
    columns = (tables.sample.c.series_id, tables.sample.c.observed_at, tables.sample.c.value)
    samples = connection.execute(select(*columns).where(tables.sample.c.series_id == number)).all()
    for width in (MINUTE, HOUR):
        rows = [rollups.row(place, bucket) for place, bucket in rollups.by_place(samples, width).items()]
        connection.execute(insert(tables.rollup), rows)


def _runs(many: int, began: float, ended: float, chance: random.Random) -> Iterator[dict[str, object]]:
    keys = campus.directions()
    step = (ended - began) / many
    for number in range(many):
        key = keys[number % len(keys)]
        kind = (
            "throughput" if number // len(keys) % THROUGHPUT_EVERY == 0 else chance.choice(("rtt", "latency"))
        )
        planned = began + step * number
        started = planned + chance.uniform(0.05, 0.3)
        outcome = "measured" if chance.random() < 0.98 else "the server answered 503"
        task = f"{key.path}:{key.source}>{key.destination}/{kind}"
        run = Execution(task, number, planned, started, started + 10.0, outcome)
        yield _document("execution", run.id, planned, None, False, to_json(run))


def _alarms(began: float, ended: float, chance: random.Random) -> Iterator[dict[str, object]]:
    for number in range(ALARMS):
        key = chance.choice(campus.directions())
        metric = chance.choice((Metric.THROUGHPUT, Metric.RTT))
        series = Series(*key, metric.value)
        at = began + (ended - began) * (number + 0.5) / ALARMS
        is_open = number >= ALARMS - OPEN
        usual = _MIDDLE[metric]
        worse = usual * (0.4 if metric is Metric.THROUGHPUT else 2.5)
        samples = tuple(Sample(at - 600.0 * back, usual) for back in range(12, 0, -1))
        alarm = Alarm(
            id=alarm_id(series, Kind.PLATEAU, at),
            series=series,
            kind=Kind.PLATEAU,
            direction=Direction.DOWN if metric is Metric.THROUGHPUT else Direction.UP,
            bad=True,
            severity=chance.choice((Severity.WARNING, Severity.CRITICAL)),
            raised_at=at,
            before=Evidence(usual, usual / 20, samples),
            after=Evidence(worse, worse / 20, (Sample(at, worse),)),
            text=f"{metric.value} on {key.path} from {key.source} to {key.destination} changed for the worse",
            cleared_at=None if is_open else min(ended, at + chance.uniform(600, 7200)),
        )
        yield _document("alarm", alarm.id, at, json.dumps(list(series)), is_open, to_json(alarm))


def _document(
    kind: str, name: str, at: float, series: str | None, is_open: bool, body: dict[str, object]
) -> dict[str, object]:
    return {
        "kind": kind,
        "id": name,
        "at": at,
        "series": series,
        "open": is_open,
        "document": json.dumps(body),
    }

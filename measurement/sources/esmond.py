"""Results out of an esmond-style archive: perfSONAR 3 and 4, or elmond in front of a newer one.

Such an archive has no runs: metadata describe a test, and under each event type are pairs of a time and a
value.  A value's origin is therefore its place in the archive (metadata key, event type, time).  The
archive of this project recognises it all the same when it already has the value by another way: same
series, same value, begun within two seconds.

============================  ===========================================================
throughput                    bits/s, the sender's
histogram-rtt                 mean of the round trips, as fine as the histogram (keys in ms)
packet-loss-rate-bidir        loss of round trips
histogram-owdelay             median and jitter of the histogram (keys in ms)
packet-loss-rate              one-way loss
============================  ===========================================================

Data have no paging but ``limit``: a full answer is continued from its last time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from measurement.errors import BadAnswer
from measurement.model import Measurement, Metric, PathKey
from measurement.pscheduler import results
from measurement.pscheduler.document import Document
from measurement.pscheduler.readings import Reading, Refused
from measurement.pscheduler.transport import Transport
from measurement.sources.query import Query
from measurement.sources.received import AHEAD, BEGAN, Received, Resolve, refuse

PAGE = 1000
MOST_METADATA = 10_000
_EVENTS: Mapping[str, tuple[Metric, ...]] = {
    "throughput": (Metric.THROUGHPUT,),
    "histogram-rtt": (Metric.RTT,),
    "packet-loss-rate-bidir": (Metric.LOSS,),
    "histogram-owdelay": (Metric.ONE_WAY_DELAY, Metric.JITTER),
    "packet-loss-rate": (Metric.LOSS,),
}
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")
_MILLISECOND = 1e-3


@dataclass(frozen=True, slots=True)
class Metadata:
    """One test in the archive.

    :param lasts: seconds that a test takes; 0.0 when the archive does not say.
    :param events: path of the data below the archive's URL, by event type.
    """

    key: str
    source: str
    destination: str
    tool: str
    lasts: float
    parameters: Mapping[str, object]
    events: Mapping[str, str]


class _Series(NamedTuple):
    test: Metadata
    event: str
    path: str


class EsmondArchive:
    """One archive.

    Every method raises :class:`~measurement.errors.PointError` when it cannot be asked or does not
    answer as esmond does.

    :param transport: to ``https://ARCHIVE/esmond/perfsonar/archive``.
    :param page: metadata, and values, per request.
    """

    def __init__(self, transport: Transport, *, page: int = PAGE) -> None:
        self._http = transport
        self._page = page

    def pages(self, query: Query, resolve: Resolve, now: float) -> Iterator[Received]:
        """The results, a page at a time; each event type of each test oldest first."""
        left = query.limit
        for series in self._series(query):
            key = resolve(series.test.source, series.test.destination)
            if key is None:
                between = f"{series.test.source} to {series.test.destination}"
                yield refuse(
                    f"{self._http.host}: {series.test.key}", f"no configured path leads from {between}"
                )
                continue
            for rows in self._data(series, query):
                yield _only(self._read(rows[:left], series, key, now), query.metric)
                left -= len(rows)
                if left <= 0:
                    yield refuse(self._http.host, f"{query.limit} results reached: the rest is left out")
                    return

    def _series(self, query: Query) -> Iterator[_Series]:
        for test in self.metadata(query):
            for event, path in test.events.items():
                if query.metric is None or query.metric in _EVENTS[event]:
                    yield _Series(test, event, path)

    def metadata(self, query: Query) -> Iterator[Metadata]:
        """The tests between the two hosts that have data in the span."""
        params = {
            "source": query.source,
            "destination": query.destination,
            "time-start": str(int(query.since)),
            "time-end": str(int(query.until)),
            "limit": str(self._page),
        }
        known: set[str] = set()
        while len(known) < MOST_METADATA:
            found = [self._metadata(item) for item in self._list("/", {**params, "offset": str(len(known))})]
            fresh = [test for test in found if test.key not in known]
            if not fresh:
                return
            yield from fresh
            known |= {test.key for test in fresh}
        raise BadAnswer(self._http.host, f"more than {MOST_METADATA} tests between two hosts")

    def _metadata(self, item: Document) -> Metadata:
        key = item.text("metadata-key")
        if not _KEY.fullmatch(key):
            item.refuse("metadata-key", "is no key")
        events = {
            event.text("event-type"): self._place(event)
            for event in item.children("event-types")
            if event.fields.get("event-type") in _EVENTS
        }
        lasts = _number(item, "time-duration")
        return Metadata(
            key,
            item.text("source"),
            item.text("destination"),
            _tool(item),
            0.0 if lasts is None else lasts,
            _parameters(item, lasts),
            events,
        )

    def _place(self, event: Document) -> str:
        """Where an event type's data are; never anywhere but below the URL that was configured."""
        path = unquote(urlsplit(event.text("base-uri")).path)
        base = urlsplit(self._http.url).path
        if not path.startswith(f"{base}/") or ".." in path.split("/"):
            event.refuse("base-uri", "is outside the archive")
        return path.removeprefix(base)

    def _data(self, series: _Series, query: Query) -> Iterator[list[Document]]:
        # Asked on until nothing new comes: an archive may give less at once than it was asked for.
        since, until = int(query.since), math.ceil(query.until)
        seen: set[float] = set()

        def wanted(at: float) -> bool:
            return query.since <= at < query.until

        while True:
            params = {"time-start": str(since), "time-end": str(until), "limit": str(self._page)}
            rows = [(row.number("ts"), row) for row in self._list(series.path, params)]
            fresh = sorted((row for row in rows if wanted(row[0]) and row[0] not in seen), key=itemgetter(0))
            if not fresh:
                if len(rows) >= self._page:
                    raise BadAnswer(
                        self._http.host, f"{series.event}: one answer cannot hold one second's values"
                    )
                return
            yield [row for _, row in fresh]
            seen |= {at for at, _ in fresh}
            since = int(fresh[-1][0])

    def _list(self, path: str, params: Mapping[str, str]) -> list[Document]:
        answer = self._http.get(path, params).json()
        if not isinstance(answer, list):
            raise BadAnswer(self._http.host, f"{path}: expected a list")
        return [Document.of(self._http.host, f"[{number}]", item) for number, item in enumerate(answer)]

    def _read(self, rows: list[Document], series: _Series, key: PathKey, now: float) -> Received:
        received = Received()
        for row in rows:
            place = f"{self._http.url}{series.path}?ts={row.number('ts'):.0f}"
            try:
                readings = _readings(row, series.event, series.test.parameters)
            except BadAnswer as error:
                received += refuse(place, error.cause)
                continue
            for reading in readings:
                received += _value(reading, series.test, key, place, row.number("ts"), now)
        return received


def _readings(row: Document, event: str, parameters: Mapping[str, object]) -> list[Reading | Refused]:
    if event == "throughput":
        return [Reading(Metric.THROUGHPUT, row.amount("val"), {**parameters, "side": "sender"})]
    if event == "packet-loss-rate":
        return [Reading(Metric.LOSS, row.amount("val"))]
    if event == "packet-loss-rate-bidir":
        return [Reading(Metric.LOSS, row.amount("val"), {"direction": "round trip"})]
    buckets = row.child("val")
    packets = sum(buckets.count(name) for name in buckets.fields)
    if event == "histogram-rtt":
        return [_mean_round_trip(buckets, packets)]
    result = {
        "succeeded": True,
        "packets-sent": packets,
        "packets-lost": 0,
        "histogram-latency": buckets.fields,
    }
    # Loss has an event type of its own: this one holds only the packets that arrived.
    read = results.read_result("latency", {}, result, row.host)
    return [reading for reading in read if reading.metric is not Metric.LOSS]


def _mean_round_trip(buckets: Document, packets: int) -> Reading | Refused:
    if packets == 0:
        return Refused(Metric.RTT, "no reply: all packets were lost")
    try:
        total = sum(float(name) * buckets.count(name) for name in buckets.fields)
    except ValueError:
        buckets.refuse("histogram-rtt", "has a key that is no delay")
    return Reading(Metric.RTT, total / packets * _MILLISECOND, {"from": "histogram", "count": packets})


def _value(
    reading: Reading | Refused, metadata: Metadata, key: PathKey, place: str, started: float, now: float
) -> Received:
    if isinstance(reading, Refused):
        return refuse(place, f"{reading.metric}: {reading.cause}")
    if not BEGAN <= started <= now + AHEAD:
        return refuse(place, f"ts: {started:.0f} is in the future, or before pScheduler")
    observed = max(started, min(started + metadata.lasts, now))
    started = min(started, now)
    try:
        value = Measurement(
            key,
            reading.metric,
            reading.value,
            started,
            min(observed, now),
            place,
            metadata.tool,
            reading.parameters,
        )
    except ValueError as error:
        return refuse(place, str(error))
    return Received((value,))


def _only(received: Received, metric: Metric | None) -> Received:
    kept = tuple(
        value
        for value in received.kept
        if metric is None or (isinstance(value, Measurement) and value.metric is metric)
    )
    return Received(kept, received.refused)


def _number(item: Document, name: str) -> float | None:
    """A number that esmond may have stored as text; None when there is none."""
    value = item.fields.get(name)
    try:
        found = float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and 0 <= found < 1e6 else None


def _tool(item: Document) -> str:
    return item.text("tool-name").removeprefix("pscheduler/")[:64] if item.has("tool-name") else ""


def _parameters(item: Document, lasts: float | None) -> dict[str, object]:
    streams, protocol = _number(item, "bw-parallel-streams"), item.fields.get("ip-transport-protocol")
    found: dict[str, object] = {} if lasts is None else {"seconds": lasts}
    if isinstance(protocol, str):
        found["protocol"] = protocol[:16].lower()
    return {**found, "streams": 1 if streams is None else max(1, round(streams))}

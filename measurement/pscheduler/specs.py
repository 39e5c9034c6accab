"""Test specifications as a client writes them: the smallest schema, explicit where defaults surprise.

Sources: pScheduler's test plug-ins ``throughput``, ``rtt``, ``latency``, ``latencybg``, ``trace`` (5.2).
``source`` and ``dest`` are the measurement addresses, ``source-node`` and ``dest-node`` the names under
which the participants reach each other, so that control traffic stays off the measured path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from measurement.pscheduler.iso8601 import format_duration

PING_INTERVAL = 0.2
TRACE_SECONDS = 10.0
BUCKET = 0.0001
_AROUND = {"throughput": 9.0}  # observed on a 5.2.5 server: 3 s of iperf3 occupy 12 s
_AROUND_OTHERS = 6.0  # observed: five echo requests, a second apart, occupy 11 s
_AROUND_LATENCY = 11.0
_READ_PER_SECOND = 50_000  # packets, as the server reckons for its reading of owping's output


class Kind(StrEnum):
    """The tests whose results this project reads, by pScheduler's names."""

    THROUGHPUT = "throughput"
    RTT = "rtt"
    LATENCY = "latency"
    LATENCYBG = "latencybg"
    TRACE = "trace"


HOST_METRIC = "adon-metric"
"""A test of this project's own points: a metric of the host, again and again (:mod:`measurement.custom`);
its results are ``observations`` as :func:`measurement.model.to_json` writes them."""
WITHOUT_END = frozenset({Kind.LATENCYBG.value, HOST_METRIC})
"""Tests of class background-multi: their first run has no result, each result is a run of its own."""


@dataclass(frozen=True, slots=True)
class TestRequest:
    """A test to ask for.

    :param kind: which test: a :class:`Kind`, or pScheduler's name of any other.
    :param spec: its specification.
    :param lasts: seconds that the measurement itself takes; the time slot is longer.
    """

    kind: str
    spec: Mapping[str, object]
    lasts: float
    __test__ = False  # not a test case, whatever pytest thinks of the name

    @property
    def document(self) -> dict[str, object]:
        """The ``test`` object of a task."""
        return {"type": str(self.kind), "spec": dict(self.spec)}

    @property
    def slot(self) -> float:
        """Seconds that a point keeps free for it, as real servers reckon: a plan must not count on less."""
        if self.kind == Kind.LATENCY:
            count, interval = self._number("packet-count", 100), self._number("packet-interval", 0.1)
            sending = 1.1 * count * interval + count / _READ_PER_SECOND
            return sending + self._number("packet-timeout", 0) + _AROUND_LATENCY
        return self.lasts + _AROUND.get(self.kind, _AROUND_OTHERS)

    def _number(self, field: str, default: float) -> float:
        value = self.spec.get(field, default)
        return float(value) if isinstance(value, int | float) else default

    @property
    def rate(self) -> float | None:
        """Bits/s that a throughput test sends at most, all streams together; None for as much as it can."""
        bandwidth, streams = self.spec.get("bandwidth"), self.spec.get("parallel", 1)
        if not isinstance(bandwidth, int) or not isinstance(streams, int):
            return None
        return float(bandwidth * streams)


class Ends(NamedTuple):
    """Who measures: measurement addresses and node names of both sides."""

    source: str
    dest: str
    source_node: str
    dest_node: str

    @property
    def fields(self) -> dict[str, object]:
        """As fields of a specification."""
        return {
            "schema": 1,
            "source": self.source,
            "dest": self.dest,
            "source-node": self.source_node,
            "dest-node": self.dest_node,
        }


def throughput(
    ends: Ends,
    duration: float,
    streams: int = 1,
    udp_bandwidth: int | None = None,
    *,
    rate: float | None = None,
) -> TestRequest:
    """TCP throughput, or UDP at ``udp_bandwidth`` bits/s, for ``duration`` seconds.

    :param rate: bits/s that TCP does not exceed, all streams together; what it measures is then whether
        the path carries that much, not how much it carries.
    :raises ValueError: for a rate of UDP given twice, or one below a bit/s for each stream.
    """
    if rate is not None and udp_bandwidth is not None:
        raise ValueError("rate: UDP has its own")
    if rate is not None and not rate >= streams:
        raise ValueError(f"rate: {rate!r} bits/s is none")
    spec = {**ends.fields, "duration": format_duration(duration)}
    if streams > 1:
        spec["parallel"] = streams
    if udp_bandwidth is not None:
        spec |= {"udp": True, "bandwidth": udp_bandwidth}
    if rate is not None:
        spec["bandwidth"] = int(rate / streams)  # iperf3's -b is of each stream
    return TestRequest(Kind.THROUGHPUT, spec, duration)


def rtt(ends: Ends, count: int) -> TestRequest:
    """Round-trip time by ``count`` echo requests (the default differs per tool); no DNS look-ups."""
    spec = {
        **ends.fields,
        "count": count,
        "interval": format_duration(PING_INTERVAL),
        "hostnames": False,
    }
    del spec["dest-node"]  # the far end only echoes
    return TestRequest(Kind.RTT, spec, count * PING_INTERVAL)


def latency(ends: Ends, packets: int, interval: float) -> TestRequest:
    """One-way delay and loss; raw packets are asked for, because jitter needs their order."""
    spec = {
        **ends.fields,
        "packet-count": packets,
        "packet-interval": interval,
        "packet-timeout": 1,
        "output-raw": True,
    }
    return TestRequest(Kind.LATENCY, spec, packets * interval + 1)


def latency_in_background(ends: Ends, packets: int, interval: float, duration: float) -> TestRequest:
    """One-way delay and loss without a break for ``duration`` seconds: a result every ``packets`` packets.

    It is of pScheduler's class background-multi: its first run never has a result, each result is a run
    of its own (:mod:`measurement.fleet` reads them).  Delays come in a histogram, whose buckets are of a
    millisecond unless one says otherwise: too coarse for a campus.
    """
    spec = {
        **ends.fields,
        "packet-count": packets,
        "packet-interval": interval,
        "packet-timeout": 1,
        "bucket-width": BUCKET,
        "duration": format_duration(duration),
    }
    return TestRequest(Kind.LATENCYBG, spec, duration)


def trace(ends: Ends, hops: int = 30) -> TestRequest:
    """The route; neither names nor AS numbers are looked up, because closed networks have no DNS."""
    spec = {**ends.fields, "hops": hops, "hostnames": False, "as": False}
    del spec["dest-node"]
    return TestRequest(Kind.TRACE, spec, TRACE_SECONDS)


def host_metric(metric: str, interval: float, duration: float) -> TestRequest:
    """A metric of the host that is asked, every ``interval`` seconds for ``duration``."""
    spec: dict[str, object] = {
        "metric": metric,
        "interval": format_duration(interval),
        "duration": format_duration(duration),
    }
    return TestRequest(HOST_METRIC, spec, duration)


@dataclass(frozen=True, slots=True)
class PostedTask:
    """A task of ours at a point.

    :param uuid: its name there.
    :param url: where a person can look at it.
    :param key: what cancelling it takes; never shown.
    """

    uuid: str
    url: str
    key: str = field(repr=False)

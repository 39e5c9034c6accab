"""Test specifications as a client writes them: the smallest schema, explicit where defaults surprise.

Sources: pScheduler's test plug-ins ``throughput``, ``rtt`` and ``latency`` (5.2).  ``source`` and
``dest`` are the measurement addresses, ``source-node`` and ``dest-node`` the names under which the
participants reach each other, so that control traffic stays off the measured path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from measurement.pscheduler.iso8601 import format_duration

PING_INTERVAL = 0.2


class Kind(StrEnum):
    """The tests this project asks for, by pScheduler's names."""

    THROUGHPUT = "throughput"
    RTT = "rtt"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class TestRequest:
    """A test to ask for.

    :param kind: which test.
    :param spec: its specification.
    :param lasts: seconds that the measurement itself takes; the time slot is longer.
    """

    kind: Kind
    spec: Mapping[str, object]
    lasts: float
    __test__ = False  # not a test case, whatever pytest thinks of the name

    @property
    def document(self) -> dict[str, object]:
        """The ``test`` object of a task."""
        return {"type": self.kind.value, "spec": dict(self.spec)}


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
    ends: Ends, duration: float, streams: int = 1, udp_bandwidth: int | None = None
) -> TestRequest:
    """TCP throughput, or UDP at ``udp_bandwidth`` bits/s, for ``duration`` seconds."""
    spec = {**ends.fields, "duration": format_duration(duration)}
    if streams > 1:
        spec["parallel"] = streams
    if udp_bandwidth is not None:
        spec |= {"udp": True, "bandwidth": udp_bandwidth}
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

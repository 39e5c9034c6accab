"""Probes that an instance can be asked to carry out against another, as values.

Lengths are bytes of payload (of an ICMP echo, a UDP packet, a message on a TCP connection), as [HEALTH] 5.1
and ``ping -s`` count them; times are seconds.  An order names one target and its probes in the order in which
they are tried; :mod:`measurement.probes.findings` has the results, one per probe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from measurement.instances import Instance

SHORTEST_UDP = 64
"""Bytes of a UDP probe: its identification and authentication need 36."""
LONGEST_ECHO = 65_000
LONGEST_UDP = 65_507
LONGEST = 120.0
"""Seconds that one probe may take: an order must not occupy an instance."""
LONGEST_BACK = 5.0
"""Seconds that a target may be asked to send for."""
MAX_PROBES = 64
MAX_PACKETS = 100_000
"""Of one train."""
ICMP_SIZES = (64, 512, 4096)
UDP_SIZES = (64, 1024)
SMALL = 64
"""Bytes of payload of the other probes of health ([HEALTH] 5.1)."""


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Check a number of a probe.

    :raises ValueError: if it is not finite, or not in the range.
    """
    if not (math.isfinite(value) and least <= value <= most):
        expected = f"{least:g} to {most:g}" if math.isfinite(most) else f"at least {least:g}"
        raise ValueError(f"{name}: {value} is out of range; expected {expected}")


def _check_duration(seconds: float, most: float = LONGEST) -> None:
    if seconds > most:
        raise ValueError(f"probe: it would take {seconds:g} s; expected at most {most:g} s")


@dataclass(frozen=True, slots=True)
class TrainShape:
    """Shape of a packet train.

    :param packet: P: bytes of payload; 1472 fills an Ethernet frame.
    :param burst: B: packets of a burst; 2000 where a rate limit lets short bursts through.
    :param bursts: K.
    :param pause: δ: seconds between two bursts.
    :raises ValueError: for a train without information about a path; it names the field.
    """

    packet: int = 1472
    burst: int = 200
    bursts: int = 10
    pause: float = 1e-3

    def __post_init__(self) -> None:
        check_range("packet", self.packet, 16, LONGEST_UDP)
        check_range("burst", self.burst, 2, math.inf)
        check_range("bursts", self.bursts, 1, math.inf)
        check_range("pause", self.pause, 0, 1)


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Requests that are answered one by one.

    :param length: bytes of payload.
    :param count: requests.
    :param interval: seconds from one request to the next, at least; the next waits for the answer to the
        last, but not longer than :data:`measurement.probes.round_trip.PATIENCE` or this.
    :param timeout: seconds after which a request counts as silent.
    """

    length: int = 64
    count: int = 5
    interval: float = 0.01
    timeout: float = 5.0
    shortest: ClassVar[int] = SHORTEST_UDP

    def __post_init__(self) -> None:
        check_range("length", self.length, self.shortest, LONGEST_ECHO)
        check_range("count", self.count, 1, 10_000)
        check_range("interval", self.interval, 0, 10)
        check_range("timeout", self.timeout, 0.001, 30)
        _check_duration(self.count * self.interval + self.timeout)


@dataclass(frozen=True, slots=True)
class IcmpEcho(_Repeated):
    """Round trips of ICMP echo requests; longer ones than the MTU are fragmented, as ``ping`` does."""

    kind: ClassVar[str] = "icmp"
    shortest: ClassVar[int] = 16


@dataclass(frozen=True, slots=True)
class UdpEcho(_Repeated):
    """Round trips of UDP packets, never fragmented, answered by the target's agent."""

    kind: ClassVar[str] = "udp"


@dataclass(frozen=True, slots=True)
class _Sandwiches(_Repeated):
    """Two small packets a known time apart, a large one right before the second ([HEALTH] 5.1).

    :param length: of the small ones, bytes; ``timeout`` has no meaning.
    :param gap: d: seconds between the small ones.
    :param large: bytes of payload of the large one; None for what fills the path's MTU.
    """

    gap: float = 0.002
    large: int | None = None
    longest: ClassVar[float] = LONGEST

    def __post_init__(self) -> None:
        _Repeated.__post_init__(self)
        check_range("gap", self.gap, 0.0001, 1)
        _check_duration(self.count * (self.interval + self.gap), self.longest)
        if self.large is not None:
            check_range("large", self.large, self.length, LONGEST_ECHO)


@dataclass(frozen=True, slots=True)
class Sandwich(_Sandwiches):
    """Sandwiches to the target; see :class:`_Sandwiches`."""

    kind: ClassVar[str] = "sandwich"


@dataclass(frozen=True, slots=True)
class SandwichBack(_Sandwiches):
    """Sandwiches from the target: the reverse path; see :class:`_Sandwiches`."""

    kind: ClassVar[str] = "sandwich-back"
    longest: ClassVar[float] = LONGEST_BACK


@dataclass(frozen=True, slots=True)
class TcpConnect(_Repeated):
    """Time to establish a TCP connection to the target's agent; ``length`` has no meaning."""

    kind: ClassVar[str] = "connect"


@dataclass(frozen=True, slots=True)
class TcpEcho(_Repeated):
    """Round trips of messages over one TCP connection, answered by the target's agent."""

    kind: ClassVar[str] = "tcp"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Throughput of TCP to the target, in intervals at the receiver.

    :param intervals: number of intervals.
    :param interval: seconds of one.
    :param connections: that send at the same time.
    """

    intervals: int = 10
    interval: float = 1.0
    connections: int = 1
    kind: ClassVar[str] = "throughput"

    def __post_init__(self) -> None:
        check_range("intervals", self.intervals, 1, 12_000)
        check_range("interval", self.interval, 0.001, 60)
        check_range("connections", self.connections, 1, 32)
        _check_duration(self.intervals * self.interval)


@dataclass(frozen=True, slots=True)
class _Trains:
    """A packet train ([CHOREO] 3.1), after a few round trips, which limit what TCP has in spite of loss.

    :param segments: maximum number of parts of a burst that are summarised; they show where a rate settles.
    :param echoes: round trips measured before; 0 for none, then loss limits nothing.
    """

    shape: TrainShape = TrainShape()
    segments: int = 8
    echoes: int = 3
    longest: ClassVar[float] = LONGEST

    def __post_init__(self) -> None:
        check_range("shape.packet", self.shape.packet, SHORTEST_UDP, LONGEST_UDP)
        check_range("shape", self.shape.burst * self.shape.bursts, 1, MAX_PACKETS)
        check_range("segments", self.segments, 1, 64)
        check_range("echoes", self.echoes, 0, 100)
        _check_duration(self.shape.bursts * self.shape.pause, self.longest)


@dataclass(frozen=True, slots=True)
class Train(_Trains):
    """A train to the target; see :class:`_Trains`."""

    kind: ClassVar[str] = "train"


@dataclass(frozen=True, slots=True)
class TrainBack(_Trains):
    """A train from the target: the reverse path; see :class:`_Trains`."""

    kind: ClassVar[str] = "train-back"
    longest: ClassVar[float] = LONGEST_BACK


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """Traffic of others on the narrowest link of the path ([CHOREO] 3.2), by bulk TCP connections.

    :param duration: seconds of one; twice this where the link's rate is to be found, too.
    :param sample: seconds between two values.
    :param link: c1: the rate of the narrowest link, bits/s; None if it is not known.
    """

    duration: float = 10.0
    sample: float = 0.01
    link: float | None = None
    kind: ClassVar[str] = "cross-traffic"

    def __post_init__(self) -> None:
        check_range("duration", self.duration, 0.1, LONGEST / 2)
        check_range("sample", self.sample, 0.001, self.duration)
        if self.link is not None:
            check_range("link", self.link, 1, 1e13)


@dataclass(frozen=True, slots=True)
class Hops:
    """Number of hops to the target, by the hop limit that is left there.

    :param most: the highest number that is a result.
    :param timeout: seconds to wait for an answer.
    """

    most: int = 30
    timeout: float = 1.0
    kind: ClassVar[str] = "hops"

    def __post_init__(self) -> None:
        check_range("most", self.most, 1, 64)
        check_range("timeout", self.timeout, 0.01, 10)


Probe = (
    IcmpEcho
    | UdpEcho
    | Sandwich
    | TcpConnect
    | TcpEcho
    | Throughput
    | Train
    | CrossTraffic
    | Hops
    | SandwichBack
    | TrainBack
)


@dataclass(frozen=True, slots=True)
class ProbeOrder:
    """Probes of one target.

    :param probes: at least one, tried one after the other.
    :raises ValueError: for none or too many.
    """

    target: Instance
    probes: tuple[Probe, ...]

    def __post_init__(self) -> None:
        check_range("probes", len(self.probes), 1, MAX_PROBES)


def light_probes(count: int, interval: float, timeout: float) -> tuple[Probe, ...]:
    """Return the probes of health that put no load on a path ([HEALTH] 5.1).

    The echoes over TCP are last: they take the connection over.

    :param count: requests of each kind and size.
    :param interval: seconds between two of them, at least.
    :param timeout: seconds after which one is silent.
    """
    repeated = (count, interval, timeout)
    return (
        *(IcmpEcho(size, *repeated) for size in ICMP_SIZES),
        *(UdpEcho(size, *repeated) for size in UDP_SIZES),
        Sandwich(SMALL, *repeated),
        TcpConnect(SMALL, *repeated),
        TcpEcho(SMALL, *repeated),
    )

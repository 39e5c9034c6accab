"""What an instance can be asked to find out about another, as values.

Lengths are bytes of payload (of an ICMP echo, a UDP packet, a message on a TCP connection), as [HEALTH] 5.1
and ``ping -s`` count them; times are seconds.  An order names one target and all that is asked about it, in
the order in which it is tried; :mod:`measurement.probes.findings` are the answers, one per probe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from measurement.instances import Instance
from measurement.probes.train import Shape

SHORTEST_UDP = 64
"""Bytes of a UDP probe: what identifies and authenticates it needs 48."""
LONGEST_ECHO = 65_000
LONGEST = 120.0
"""Seconds that one probe may take: an order is not a way to occupy an instance."""
LONGEST_BACK = 5.0
"""Seconds that a target may be asked to send for."""
MOST_PROBES = 64
MOST_PACKETS = 100_000
"""Of one train."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Requests that are answered one by one.

    :param length: bytes of payload.
    :param count: requests.
    :param interval: seconds from one request to the next, at least; the next waits for the answer to the
        last, but not longer than :data:`measurement.probes.pacing.PATIENCE` or this.
    :param timeout: seconds after which a request counts as silent.
    """

    length: int = 64
    count: int = 5
    interval: float = 0.01
    timeout: float = 5.0

    def __post_init__(self) -> None:
        _within("count", self.count, 1, 10_000)
        _within("interval", self.interval, 0, 10)
        _within("timeout", self.timeout, 0.001, 30)
        _lasting(self.count * self.interval + self.timeout)


@dataclass(frozen=True, slots=True)
class IcmpEcho(_Repeated):
    """Round trips of ICMP echo requests; longer ones than the MTU are fragmented, as ``ping`` does."""

    kind: ClassVar[str] = "icmp"

    def __post_init__(self) -> None:
        _Repeated.__post_init__(self)
        _within("length", self.length, 16, LONGEST_ECHO)


@dataclass(frozen=True, slots=True)
class UdpEcho(_Repeated):
    """Round trips of UDP packets, never fragmented, answered by the target's agent."""

    kind: ClassVar[str] = "udp"

    def __post_init__(self) -> None:
        _Repeated.__post_init__(self)
        _within("length", self.length, SHORTEST_UDP, LONGEST_ECHO)


@dataclass(frozen=True, slots=True)
class _Sandwiches(_Repeated):
    """Two small packets a known time apart, a large one right before the second ([HEALTH] 5.1).

    :param length: of the small ones, bytes.
    :param gap: d: seconds between the small ones.
    :param large: bytes of payload of the large one; None for what fills the path's MTU.
    """

    gap: float = 0.002
    large: int | None = None

    def __post_init__(self) -> None:
        _Repeated.__post_init__(self)
        _within("length", self.length, SHORTEST_UDP, LONGEST_ECHO)
        _within("gap", self.gap, 0.0001, 1)
        _lasting(self.count * (self.interval + self.gap) + self.timeout)
        if self.large is not None:
            _within("large", self.large, self.length, LONGEST_ECHO)


@dataclass(frozen=True, slots=True)
class Sandwich(_Sandwiches):
    """Sandwiches to the target; see :class:`_Sandwiches`."""

    kind: ClassVar[str] = "sandwich"


@dataclass(frozen=True, slots=True)
class SandwichBack(_Sandwiches):
    """Sandwiches from the target to who asks it: what the way back does to them.

    The target sends all of them by its own clock, without waiting for anything.
    """

    kind: ClassVar[str] = "sandwich-back"

    def __post_init__(self) -> None:
        _Sandwiches.__post_init__(self)
        _lasting(self.count * (self.interval + self.gap), LONGEST_BACK)


@dataclass(frozen=True, slots=True)
class TcpConnect(_Repeated):
    """How long it takes to establish a TCP connection to the target's agent; ``length`` means nothing."""

    kind: ClassVar[str] = "connect"


@dataclass(frozen=True, slots=True)
class TcpEcho(_Repeated):
    """Round trips of messages over one TCP connection, answered by the target's agent."""

    kind: ClassVar[str] = "tcp"

    def __post_init__(self) -> None:
        _Repeated.__post_init__(self)
        _within("length", self.length, SHORTEST_UDP, LONGEST_ECHO)


@dataclass(frozen=True, slots=True)
class Throughput:
    """What TCP carries to the target, in intervals at the receiver.

    :param intervals: how many.
    :param interval: seconds of one.
    :param connections: that send at the same time.
    """

    intervals: int = 10
    interval: float = 1.0
    connections: int = 1
    kind: ClassVar[str] = "throughput"

    def __post_init__(self) -> None:
        _within("intervals", self.intervals, 1, 12_000)
        _within("interval", self.interval, 0.001, 60)
        _within("connections", self.connections, 1, 32)
        _lasting(self.intervals * self.interval)


@dataclass(frozen=True, slots=True)
class _Trains:
    """A packet train ([CHOREO] 3.1), after a few round trips that say what loss means.

    :param segments: of each burst, told apart at the receiver, each of two packets or more; several of them
        show where a rate settles.
    :param echoes: round trips measured before; 0 for none, then loss limits nothing.
    """

    shape: Shape = Shape()  # noqa: RUF009 - frozen
    segments: int = 8
    echoes: int = 3

    def __post_init__(self) -> None:
        if self.shape.packet < SHORTEST_UDP:
            raise ValueError(f"shape: packets of {self.shape.packet} bytes are below {SHORTEST_UDP}")
        count = self.shape.burst * self.shape.bursts
        if count > MOST_PACKETS:
            raise ValueError(f"shape: {count} packets are above {MOST_PACKETS}")
        _within("segments", self.segments, 1, 64)
        _within("echoes", self.echoes, 0, 100)
        _lasting(self.shape.bursts * self.shape.pause)


@dataclass(frozen=True, slots=True)
class Train(_Trains):
    """A train to the target; see :class:`_Trains`."""

    kind: ClassVar[str] = "train"


@dataclass(frozen=True, slots=True)
class TrainBack(_Trains):
    """A train from the target to who asks it: what the way back carries."""

    kind: ClassVar[str] = "train-back"

    def __post_init__(self) -> None:
        _Trains.__post_init__(self)
        _lasting(self.shape.bursts * self.shape.pause, LONGEST_BACK)


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """How much others send where the path is narrowest ([CHOREO] 3.2), by bulk TCP connections.

    :param duration: seconds of one; twice this where the link's rate is to be found, too.
    :param sample: seconds between two values.
    :param link: c1: the rate of the narrowest link, bits/s; None if it is not known.
    """

    duration: float = 10.0
    sample: float = 0.01
    link: float | None = None
    kind: ClassVar[str] = "cross-traffic"

    def __post_init__(self) -> None:
        _within("duration", self.duration, 0.1, LONGEST / 2)
        _within("sample", self.sample, 0.001, self.duration)
        if self.link is not None:
            _within("link", self.link, 1, 1e13)


@dataclass(frozen=True, slots=True)
class Hops:
    """How many routers are on the way, and which.

    :param most: the farthest that is looked.
    :param timeout: seconds to wait for the silent ones.
    :param routers: whether to ask each for its address; without, one packet says how many there are.
    """

    most: int = 30
    timeout: float = 1.0
    routers: bool = False
    kind: ClassVar[str] = "hops"

    def __post_init__(self) -> None:
        _within("most", self.most, 1, 64)
        _within("timeout", self.timeout, 0.01, 10)


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
KINDS: dict[str, type[Probe]] = {
    each.kind: each
    for each in (
        *(IcmpEcho, UdpEcho, Sandwich, TcpConnect, TcpEcho, Throughput, Train, CrossTraffic, Hops),
        *(SandwichBack, TrainBack),
    )
}


@dataclass(frozen=True, slots=True)
class Order:
    """All that is asked about one target.

    :param probes: at least one, tried one after the other.
    :raises ValueError: for none or too many.
    """

    target: Instance
    probes: tuple[Probe, ...]

    def __post_init__(self) -> None:
        _within("probes", len(self.probes), 1, MOST_PROBES)


def _within(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError(f"{name}: {value} is not between {least:g} and {most:g}")


def _lasting(seconds: float, most: float = LONGEST) -> None:
    if seconds > most:
        raise ValueError(f"probe: it would take {seconds:g} s, and {most:g} s are the most")

"""Results of probes: values, one per probe of an order; times are seconds, rates bits/s.

A silent request is None at its place.  A probe without a result is a :class:`ProbeFailure`: a cause for
programs and a sentence for people.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from measurement.probes.probe_types import Probe, TrainShape

LOG = logging.getLogger(__name__)


class FailureCause(StrEnum):
    """Causes of a probe without a result."""

    UNREACHABLE = "unreachable"
    """The target's agent does not take connections, or there is no route to it."""
    VANISHED = "vanished"
    """The target's agent was there, and stopped answering."""
    DENIED = "denied"
    """One of the two does not know the other's key."""
    VERSION = "version"
    """The two speak different versions."""
    BUSY = "busy"
    """The maximum number of trains and transfers is under way at one of the two."""
    LIMITED = "limited"
    """The target answers no more requests of this source for a while."""
    TOO_LARGE = "too-large"
    """The path carries no packets of this length (EMSGSIZE, or a black hole)."""
    CLOCK_STEPPED = "clock-stepped"
    """A clock was set while its differences were measured."""
    NOT_PERMITTED = "not-permitted"
    """The system does not let this process send such packets."""
    BAD_ORDER = "bad-order"
    """The order is invalid or too large."""
    FAULT = "fault"
    """An unexpected error; the agent's log has more."""


class ProbeError(Exception):
    """A probe, or a connection to an agent, failed.

    :param why: the cause.
    """

    def __init__(self, why: FailureCause, text: str) -> None:
        super().__init__(text)
        self.why = why

    @property
    def code(self) -> str:
        """The cause as a stable code."""
        return self.why.value


@dataclass(frozen=True, slots=True)
class ProbeFailure:
    """A probe without a result."""

    why: FailureCause
    text: str
    kind: ClassVar[str] = "failed"


_CAUSES = {
    errno.EMSGSIZE: (FailureCause.TOO_LARGE, "the path's MTU is smaller"),
    errno.ECONNREFUSED: (FailureCause.VANISHED, "its agent does not listen any more"),
    errno.EPERM: (FailureCause.NOT_PERMITTED, ""),
    errno.EACCES: (FailureCause.NOT_PERMITTED, ""),
}


def translate_os_error(error: OSError, where: str) -> ProbeError:
    """Return what an error of the system means for a probe."""
    cause, text = _CAUSES.get(error.errno or 0, (FailureCause.UNREACHABLE, ""))
    return ProbeError(cause, f"{where}: {text or error.strerror or error}")


def failure_from_error(error: Exception, probe: Probe, target: str) -> ProbeFailure:
    """Return the finding of a probe that ended with an error; an unexpected one is logged."""
    if isinstance(error, OSError):
        error = translate_os_error(error, target)
    if isinstance(error, ProbeError):
        return ProbeFailure(error.why, str(error))
    LOG.error("event=fault probe=%s target=%s", probe.kind, target, exc_info=error)
    cause = "the probe failed unexpectedly; the log of the agent has the cause"
    return ProbeFailure(FailureCause.FAULT, cause)


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Result of ``IcmpEcho``, ``UdpEcho``, ``TcpConnect`` and ``TcpEcho``.

    :param times: seconds per request, in the order of sending; None for a silent one.
    """

    times: tuple[float | None, ...]
    kind: ClassVar[str] = "round-trips"

    @property
    def answered(self) -> tuple[float, ...]:
        """The times of the answered requests."""
        return tuple(time for time in self.times if time is not None)


@dataclass(frozen=True, slots=True)
class SandwichDelays:
    """Result of sandwich probes.

    :param by: d' - d per sandwich: seconds; None where one of the packets did not arrive.
    :param large: bytes of payload of the large packet.
    """

    by: tuple[float | None, ...]
    large: int
    kind: ClassVar[str] = "widened"


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Result of a throughput test.

    :param interval: seconds.
    :param received: bytes per interval, of all connections together.
    """

    interval: float
    received: tuple[int, ...]
    kind: ClassVar[str] = "carried"

    @property
    def rates(self) -> tuple[float, ...]:
        """Bits/s per interval."""
        return tuple(8 * count / self.interval for count in self.received)


@dataclass(frozen=True, slots=True)
class SegmentArrivals:
    """Packets of a burst, or of a segment of it, that arrived.

    :param first, last: the lowest and the highest number of a packet in the burst, from 0.
    :param began, ended: when the earliest and the latest of them arrived, in seconds.
    :param count: n: different packets.
    :param together: of those, how many arrived exactly at ``began``: 1 on a real link, more where a virtual
        link carries several packets as one.  Their own time is not in t, so they do not count in n.
    """

    first: int
    last: int
    began: float
    ended: float
    count: int
    together: int = 1

    @classmethod
    def from_packets(cls, packets: Iterable[tuple[int, float]]) -> SegmentArrivals | None:
        """Summarise the number and time of each packet, in any order, doubled ones once; None without any."""
        times: dict[int, float] = {}
        for number, at in packets:
            times[number] = min(at, times.get(number, at))
        if not times:
            return None
        began = min(times.values())
        together = sum(at == began for at in times.values())
        return cls(min(times), max(times), began, max(times.values()), len(times), together)

    def lasted(self, burst: int) -> float:
        """Return t: the time that the whole burst would have taken, in seconds."""
        seen = self.ended - self.began
        sent = self.last - self.first + 1 - self.together
        pace = seen / sent if sent > 0 else 0.0
        return seen + pace * (self.first + (burst - 1 - self.last))


@dataclass(frozen=True, slots=True)
class TrainResult:
    """Result of a packet train.

    :param rate: bits/s of payload that one TCP connection would have; None if too little arrived.
    :param paper: bits/s of UDP payload by the equation of the paper, which counts whole bursts
        (:func:`measurement.probes.sequence_analysis.estimate_rate`).
    :param lost: the share of packets that did not arrive.
    :param limited: whether the rate is the one that loss leaves to TCP.
    :param why: why there is no rate; empty if there is one.
    :param shape: of the bursts that were sent.
    :param rtt: the least round-trip time measured before, if any.
    :param took: seconds from the first arrival to the last.
    :param overflowed: packets that arrived, and that the receiver's own socket had no place for.
    :param arrived: per burst its segments; None where no packet of one arrived.
    """

    rate: float | None
    paper: float | None
    lost: float
    limited: bool
    why: str
    shape: TrainShape
    rtt: float | None
    took: float
    overflowed: int
    arrived: tuple[tuple[SegmentArrivals | None, ...], ...]
    kind: ClassVar[str] = "train"


@dataclass(frozen=True, slots=True)
class CrossTrafficResult:
    """Result of a cross-traffic probe.

    :param rates: bits/s of the bulk connection per sample.
    :param sample: seconds.
    :param link: c1: bits/s of the narrowest link, as given or found; None if others do not limit there.
    :param others: c per sample; empty where ``link`` is None.
    :param mean: c by the mean rate; None likewise.
    """

    rates: tuple[float, ...]
    sample: float
    link: float | None
    others: tuple[float | None, ...]
    mean: float | None
    kind: ClassVar[str] = "load"


@dataclass(frozen=True, slots=True)
class HopCount:
    """Result of a hop count.

    :param count: as traceroute counts, the target being the last; None if it did not answer.
    """

    count: int | None
    kind: ClassVar[str] = "route"


Finding = (
    RoundTrips | SandwichDelays | TransferResult | TrainResult | CrossTrafficResult | HopCount | ProbeFailure
)


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """Results of an order.

    :param findings: one per probe of the order.
    :param began, ended: seconds since 1970, by the clock of the instance that probed.
    :param own: the address that the instance sent from; empty if it did not connect.
    :param seen: the address that the target saw; it differs behind a translation of addresses (NAT).
    """

    findings: tuple[Finding, ...]
    began: float
    ended: float
    own: str = ""
    seen: str = ""

    @property
    def translated(self) -> bool:
        """Whether addresses are translated between the two."""
        return self.own != self.seen

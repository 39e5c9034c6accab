"""What probes found: values, one per probe of an order; times are seconds, rates bits/s.

What is silent is None, at its place; what could not be tried at all is :class:`Failed`, by a name that a
program can act upon and a sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from measurement.probes.train import Arrived, Shape


class Failure(StrEnum):
    """Why there is no finding."""

    UNREACHABLE = "unreachable"
    """The target's agent does not take connections, or no way leads there."""
    VANISHED = "vanished"
    """The target's agent was there, and stopped answering."""
    DENIED = "denied"
    """One of the two does not know the other's key."""
    VERSION = "version"
    """The two speak different versions."""
    BUSY = "busy"
    """As many trains and transfers as it takes are under way at one of the two."""
    LIMITED = "limited"
    """The target answers no more requests of this source for a while."""
    TOO_LARGE = "too-large"
    """The path carries no packets of this length (EMSGSIZE, or a black hole)."""
    CLOCK_STEPPED = "clock-stepped"
    """A clock was set while its differences were what is measured."""
    NOT_PERMITTED = "not-permitted"
    """The system does not let this process send such packets."""
    BAD_ORDER = "bad-order"
    """The order is not one, or too large."""
    FAULT = "fault"
    """Something that nobody thought of; the agent's log has more."""


class ProbeError(Exception):
    """A probe, or a connection to an agent, failed.

    :param why: the cause by name.
    """

    def __init__(self, why: Failure, text: str) -> None:
        super().__init__(text)
        self.why = why

    @property
    def code(self) -> str:
        """The cause as a stable code."""
        return self.why.value


@dataclass(frozen=True, slots=True)
class Failed:
    """A probe that found nothing."""

    why: Failure
    text: str
    kind: ClassVar[str] = "failed"


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Of :class:`~measurement.probes.orders.IcmpEcho`, ``UdpEcho``, ``TcpConnect`` and ``TcpEcho``.

    :param times: seconds per request, in the order of sending; None for a silent one.
    """

    times: tuple[float | None, ...]
    kind: ClassVar[str] = "round-trips"

    @property
    def answered(self) -> tuple[float, ...]:
        """The times of those that were answered."""
        return tuple(time for time in self.times if time is not None)


@dataclass(frozen=True, slots=True)
class Widened:
    """Of a sandwich.

    :param by: d' - d per try: seconds; None where one of the packets did not come.
    :param large: bytes of payload of the large packet.
    """

    by: tuple[float | None, ...]
    large: int
    kind: ClassVar[str] = "widened"


@dataclass(frozen=True, slots=True)
class Carried:
    """Of a throughput test.

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
class TrainFound:
    """Of a packet train.

    :param rate: bits/s that one TCP connection would have, of its payload; None if too little came.
    :param paper: bits/s as the paper's equation has it, from every burst's first packet to its last, of UDP
        payload (:func:`measurement.probes.train.estimate`).
    :param lost: the share of packets that did not come.
    :param limited: whether the rate is what loss leaves of TCP.
    :param why: why there is no rate; empty if there is one.
    :param shape: what was sent.
    :param rtt: the least round-trip time measured before, if any.
    :param took: seconds from the first packet to when the last had come.
    :param overflowed: packets that came, and that the receiver's own socket had no place for.
    :param arrived: per burst its segments; None where nothing of one came.
    """

    rate: float | None
    paper: float | None
    lost: float
    limited: bool
    why: str
    shape: Shape
    rtt: float | None
    took: float
    overflowed: int
    arrived: tuple[tuple[Arrived | None, ...], ...]
    kind: ClassVar[str] = "train"


@dataclass(frozen=True, slots=True)
class Load:
    """Of cross traffic.

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
class Route:
    """Of hops.

    :param count: as traceroute counts, the target being the last; None if it did not answer.
    :param routers: addresses before the target, None for a silent one; empty where they were not asked.
    """

    count: int | None
    routers: tuple[str | None, ...] = ()
    kind: ClassVar[str] = "route"


Finding = RoundTrips | Widened | Carried | TrainFound | Load | Route | Failed
FINDINGS: dict[str, type[Finding]] = {
    each.kind: each for each in (RoundTrips, Widened, Carried, TrainFound, Load, Route, Failed)
}


@dataclass(frozen=True, slots=True)
class Report:
    """What came of an order.

    :param findings: one per probe of the order.
    :param began, ended: seconds since 1970, by the clock of the instance that probed.
    :param own: the address that the instance sent from; empty if it never came so far.
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

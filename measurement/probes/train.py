"""Packet trains: the throughput of a path from a second of bursts ([CHOREO] 3.1).

K bursts of B packets of P bytes are sent back to back, δ apart, and the receiver's kernel notes when each
packet came.  For burst i, of which n_i packets came, t_i is the time from its first to its last packet; where
packets are lost at an end, t_i is lengthened by what they would have taken at the burst's pace.  Then::

    rate = 8 · P · Σ(n_i - 1) / Σ t_i

(between n packets there are n - 1 gaps; the pauses δ are in no t_i, which would make it up to 28 % too low).
Where a share ℓ of the packets is lost, TCP cannot have more than the model of Mathis et al. allows, and
neither has the estimate (:func:`measurement.mathis.mathis`).

A rate limit by a token bucket lets the beginning of a train through at the speed of the link before it, which
makes the estimate too high unless the train is many times the bucket.  :func:`settled` leaves out of each
burst what came before the rate settled; :func:`tcp_payload` takes the longer headers of TCP into account.
Values and functions only.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measurement.mathis import mathis

MSS = 1448
"""Bytes of a TCP segment's data on an Ethernet path, with timestamps (RFC 7323)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is sent.

    :param packet: P: bytes of payload; 1472 fills an Ethernet frame.
    :param burst: B: packets of a burst; 2000 where a rate limit lets short bursts through.
    :param bursts: K.
    :param pause: δ: seconds between two bursts.
    :raises ValueError: for a shape that says nothing about a path; it names the field.
    """

    packet: int = 1472
    burst: int = 200
    bursts: int = 10
    pause: float = 1e-3

    def __post_init__(self) -> None:
        if not 16 <= self.packet <= 65_507:
            raise ValueError(f"packet: {self.packet} bytes are no payload of a UDP packet with its number")
        if self.burst < 2:
            raise ValueError(f"burst: between {self.burst} packets there is no time")
        if self.bursts < 1:
            raise ValueError(f"bursts: {self.bursts} of them are no train")
        if not 0 <= self.pause <= 1:
            raise ValueError(f"pause: {self.pause} s is not between 0 and 1")


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came of one burst.

    :param first, last: the lowest and the highest number of a packet in the burst, from 0.
    :param began, ended: when the earliest and the latest of them came, in seconds.
    :param count: n: different packets.
    :param together: of those, how many came at the very moment ``began``: 1 on a real link, more where a
        virtual one carries several packets as one.  Their own time is not in t, so they do not count in n.
    """

    first: int
    last: int
    began: float
    ended: float
    count: int
    together: int = 1

    @classmethod
    def of(cls, packets: Iterable[tuple[int, float]]) -> Arrived | None:
        """From the number and time of each packet, in any order, doubled ones once; None if none came."""
        times: dict[int, float] = {}
        for number, at in packets:
            times[number] = min(at, times.get(number, at))
        if not times:
            return None
        began = min(times.values())
        together = sum(at == began for at in times.values())
        return cls(min(times), max(times), began, max(times.values()), len(times), together)

    def lasted(self, burst: int) -> float:
        """t: the time that the whole burst would have taken, in seconds."""
        seen = self.ended - self.began
        sent = self.last - self.first + 1 - self.together
        pace = seen / sent if sent > 0 else 0.0
        return seen + pace * (self.first + (burst - 1 - self.last))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a train says.

    :param rate: bits/s of payload; None if too little came.
    :param lost: ℓ: the share of the packets that did not come.
    :param limited: whether the rate is what loss and round trip allow TCP, rather than what came through.
    :param why: why there is no rate; empty if there is one.
    """

    rate: float | None
    lost: float
    limited: bool = False
    why: str = ""


def estimate(shape: Shape, arrived: Sequence[Arrived | None], rtt: float | None) -> Estimate:
    """The throughput that one TCP connection would have.

    :param arrived: per burst, None if nothing of it came.
    :param rtt: seconds; without it loss limits nothing.
    :raises ValueError: if there are more bursts, or packets, than were sent, or the round trip takes no time.
    """
    if rtt is not None and not rtt > 0:
        raise ValueError(f"rtt: {rtt} s is no round-trip time")
    came = [one for one in arrived if one is not None]
    if len(arrived) > shape.bursts or any(one.last >= shape.burst or one.first < 0 for one in came):
        raise ValueError(f"arrived: more than {shape.bursts} bursts of {shape.burst} packets")
    lost = 1.0 - sum(one.count for one in came) / (shape.bursts * shape.burst)
    useful = [one for one in came if one.count > one.together]
    time = math.fsum(one.lasted(shape.burst) for one in useful)
    if not any(one.count > 1 for one in came):
        return Estimate(None, lost, why="of no burst two packets came")
    if time <= 0:
        return Estimate(
            None, lost, why="all packets of a burst came at the same time: the clock is too coarse"
        )
    rate = 8.0 * shape.packet * sum(one.count - one.together for one in useful) / time
    return limited(rate, lost, rtt)


def limited(rate: float, lost: float, rtt: float | None) -> Estimate:
    """A rate, or what TCP can have of it where a share of the packets is lost."""
    most = math.inf if rtt is None else mathis(rtt, max(0.0, lost), MSS)
    return Estimate(min(rate, most), lost, limited=most < rate)


def joined(segments: Sequence[Arrived | None]) -> Arrived | None:
    """Segments of one burst as one; None if nothing of them came."""
    came = [one for one in segments if one is not None]
    if not came:
        return None
    began = min(one.began for one in came)
    return Arrived(
        min(one.first for one in came),
        max(one.last for one in came),
        began,
        max(one.ended for one in came),
        sum(one.count for one in came),
        sum(one.together for one in came if one.began == began),
    )


SETTLED = 1.5
"""A segment that came so many times as fast as the train's second half did not meet the limit yet."""


SEGMENT = 48
"""Packets of a segment, at least: what comes sixteen at a time still has a pace."""


def edges(burst: int, segments: int) -> list[int]:
    """Where the segments of a burst begin, and its end; each has :data:`SEGMENT` packets or more."""
    count = max(1, min(segments, burst // SEGMENT))
    return [number * burst // count for number in range(count + 1)]


def settled(bursts: Sequence[Sequence[Arrived | None]], packet: int) -> float | None:
    """The rate after the bucket of a rate limit is empty, bits/s of payload; None if too little came.

    A token bucket of b bytes that fills at rate r lets at most b + r·t bytes through in t seconds: a steep
    beginning, then r.  The pace of the train's second half (of the bursts, and of each burst) shows r; what
    comes first in a burst, faster than :data:`SETTLED` times that, is left out.  Of the rest of all bursts,
    the packets that came are divided by the time between the first and the last that came: unlike in the
    paper's equation t is not lengthened for packets lost at an end, for where a queue was full they would
    not have come at that pace.  Bursts that are far from most are left out (:data:`ALIKE`).  Without a limit,
    loss, and disturbance, the result is the paper's.

    :param bursts: each burst's segments, as :func:`edges` has them.
    :param packet: P: bytes of payload.
    """
    late = [each[len(each) // 2 :] for each in bursts]
    # A queue that the first burst filled may leave nothing of the last.
    for choice in (late[len(late) // 2 :], late, bursts):
        pace = _through(packet, [joined(each) for each in choice])
        if pace is not None:
            return _agreed(packet, [joined(_slowed(each, packet, pace)) for each in bursts])
    return None


ALIKE = 1.5
"""A burst that came so many times as fast, or as slowly, as most was disturbed."""


def _agreed(packet: int, bursts: Sequence[Arrived | None]) -> float | None:
    """The rate of the bursts that are like most.

    Where the sender loses its processor in the middle of a burst, or the receiver's is late to take packets
    off the wire, that burst tells of them and not of the path; a single pause of ten milliseconds is half of
    a train's whole time at 1 Gbit/s.  Of fewer than three bursts none can be told from most.
    """
    rates = [_through(packet, [each]) for each in bursts]
    known = [rate for rate in rates if rate is not None]
    if len(known) < 3:
        return _through(packet, bursts)
    usual = statistics.median(known)
    alike = [
        each
        for each, rate in zip(bursts, rates, strict=True)
        if rate is not None and usual / ALIKE <= rate <= usual * ALIKE
    ]
    return _through(packet, alike) if alike else usual


def _slowed(segments: Sequence[Arrived | None], packet: int, pace: float) -> Sequence[Arrived | None]:
    """A burst without its quick beginning."""
    for place, segment in enumerate(segments):
        rate = _through(packet, [segment])
        if rate is None or rate <= SETTLED * pace:
            return segments[place:]
    return segments[len(segments) - 1 :]


def _through(packet: int, parts: Iterable[Arrived | None]) -> float | None:
    """Bits/s that came through, over parts of bursts."""
    useful = [one for one in parts if one is not None and one.count > one.together]
    time = math.fsum(one.ended - one.began for one in useful)
    return 8.0 * packet * sum(one.count - one.together for one in useful) / time if time > 0 else None


_UDP_AROUND, _TCP_AROUND = 42, 66
"""Bytes of Ethernet, IPv4, and UDP, or TCP with timestamps: what rate limits of a link count, too."""


def tcp_payload(rate: float, packet: int) -> float:
    """What TCP carries on a path, given what UDP does in packets of so many bytes of payload.

    Both fill the same frames, of which TCP's headers take more: 1448 of 1514 bytes are data, with UDP 1472.
    """
    return rate * (packet + _UDP_AROUND) / packet * MSS / (MSS + _TCP_AROUND)

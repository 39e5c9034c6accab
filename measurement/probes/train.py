"""Packet trains: the throughput of a path from a second of bursts ([CHOREO] 3.1).

K bursts of B packets of P bytes are sent back to back, δ apart, and the receiver's kernel notes when each
packet came.  For burst i, of which n_i packets came, t_i is the time from its first to its last packet; where
packets are lost at an end, t_i is lengthened by what they would have taken at the burst's pace.  Then::

    rate = 8 · P · Σ(n_i - 1) / Σ t_i

(between n packets there are n - 1 gaps; the pauses δ are in no t_i, which would make it up to 28 % too low).
Where a share ℓ of the packets is lost, TCP cannot have more than the model of Mathis et al. allows, and
neither has the estimate (:func:`measurement.mathis.mathis`).
Values and functions only.
"""

from __future__ import annotations

import math
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
    """

    first: int
    last: int
    began: float
    ended: float
    count: int

    @classmethod
    def of(cls, packets: Iterable[tuple[int, float]]) -> Arrived | None:
        """From the number and time of each packet, in any order, doubled ones once; None if none came."""
        times: dict[int, float] = {}
        for number, at in packets:
            times[number] = min(at, times.get(number, at))
        if not times:
            return None
        return cls(min(times), max(times), min(times.values()), max(times.values()), len(times))

    def lasted(self, burst: int) -> float:
        """t: the time that the whole burst would have taken, in seconds."""
        seen = self.ended - self.began
        pace = seen / (self.last - self.first) if self.last > self.first else 0.0
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


def estimate(shape: Shape, arrived: Sequence[Arrived | None], rtt: float | None, mss: int = MSS) -> Estimate:
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
    useful = [one for one in came if one.count > 1]
    time = math.fsum(one.lasted(shape.burst) for one in useful)
    if not useful:
        return Estimate(None, lost, why="of no burst two packets came")
    if time <= 0:
        return Estimate(
            None, lost, why="all packets of a burst came at the same time: the clock is too coarse"
        )
    rate = 8.0 * shape.packet * sum(one.count - 1 for one in useful) / time
    most = math.inf if rtt is None else mathis(rtt, max(0.0, lost), mss)
    return Estimate(min(rate, most), lost, limited=most < rate)

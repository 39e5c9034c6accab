"""Analysis of packet sequences: trains, sandwiches and bulk connections.  Values and functions only.

**Train** ([CHOREO] 3.1).  K bursts of B packets of P bytes are sent back to back, δ apart, and the receiver's
kernel notes when each packet arrived.  For burst i, of which n_i packets arrived, t_i is the time from its
first to its last packet; where packets are lost at an end, t_i is lengthened by their time at the burst's
pace.  Then::

    rate = 8 · P · Σ(n_i - 1) / Σ t_i

(between n packets there are n - 1 gaps; the pauses δ are in no t_i, which would make it up to 28 % too low).
Where a share ℓ of the packets is lost, TCP cannot have more than the model of Mathis et al. allows
(:func:`measurement.mathis.mathis`).

A rate limit by a token bucket lets the beginning of a train through at the speed of the link before it, which
makes the estimate too high unless the train is many times the bucket.  :func:`settled_rate` leaves out the
part of each burst that arrived before the rate settled; :func:`tcp_rate` accounts for TCP's longer headers.

**Sandwich** (Coates et al.; [HEALTH] 5.1).  Two small packets are sent d apart, a large one right before the
second; they arrive d' apart.  Both are differences of one clock each, so the two need not agree.

**Cross traffic** ([CHOREO] 3.2).  A bulk connection shares the narrowest link, of rate c1, evenly with c
others: it gets c2 = c1 / (c + 1).  Where c1 is not known, one connection gets x1, then each of two gets x2;
both equations together give c and c1.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from measurement.mathis import mathis
from measurement.probes.findings import FailureCause, ProbeError, SandwichDelays, SegmentArrivals, TrainResult
from measurement.probes.probe_types import Sandwich, SandwichBack, TrainShape

MSS = 1448
"""Bytes of a TCP segment's data on an Ethernet path, with timestamps (RFC 7323)."""
SETTLED = 1.5
"""A segment that arrived so many times as fast as the train's second half did not meet the limit yet."""
SEGMENT = 48
"""Packets of a segment, at least: packets that arrive sixteen at a time still have a pace."""
ALIKE = 1.5
"""A burst that arrived so many times as fast, or as slowly, as most was disturbed."""
SAME_RATE = 0.02
"""Two rates that differ by less than this share of the greater are the same."""
_UDP_HEADERS, _TCP_HEADERS = 42, 66
"""Bytes of Ethernet, IPv4, and UDP, or TCP with timestamps: rate limits of a link count them, too."""

Segments = Sequence[SegmentArrivals | None]


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """Throughput by a train.

    :param rate: bits/s of payload; None if too little arrived.
    :param lost: ℓ: the share of the packets that did not arrive.
    :param limited: whether the rate is the one that loss and round trip allow TCP, not the one that arrived.
    :param why: why there is no rate; empty if there is one.
    """

    rate: float | None
    lost: float
    limited: bool = False
    why: str = ""


def analyse_train(
    shape: TrainShape, times: Mapping[int, float], segments: int, rtt: float | None, overflowed: int = 0
) -> TrainResult:
    """Return the throughput by the equation of the paper, and with the refinements of this module.

    :param shape: of the bursts that were sent.
    :param times: seconds of arrival by place in the train, from 0.
    :param segments: maximum number of segments of a burst.
    :param overflowed: packets that the receiver's socket had no place for; they are no loss of the path.
    """
    bursts = split_bursts(shape, times, segments)
    paper = estimate_rate(shape, [join_segments(each) for each in bursts], rtt)
    settled = settled_rate(bursts, shape.packet)
    refined = paper
    if paper.rate is not None and settled is not None:
        lost = max(0.0, paper.lost - overflowed / (shape.burst * shape.bursts))
        refined = limit_by_loss(tcp_rate(settled, shape.packet), lost, rtt)
    whole = join_segments([segment for burst in bursts for segment in burst])
    return TrainResult(
        rate=refined.rate,
        paper=paper.rate,
        lost=paper.lost,
        limited=refined.limited,
        why=paper.why,
        shape=shape,
        rtt=rtt,
        took=whole.ended - whole.began if whole is not None else 0.0,
        overflowed=overflowed,
        arrived=bursts,
    )


def split_bursts(
    shape: TrainShape, times: Mapping[int, float], segments: int
) -> tuple[tuple[SegmentArrivals | None, ...], ...]:
    """Return the arrivals of each burst's segments.

    :param times: seconds by place in the train, from 0.
    :param segments: maximum number of segments of a burst; each has at least two packets.
    """
    edges = segment_edges(shape.burst, segments)

    def split_burst(base: int) -> Iterable[SegmentArrivals | None]:
        for begin, end in itertools.pairwise(edges):
            places = (place for place in range(begin, end) if base + place in times)
            yield SegmentArrivals.from_packets((place, times[base + place]) for place in places)

    return tuple(tuple(split_burst(number * shape.burst)) for number in range(shape.bursts))


def segment_edges(burst: int, segments: int) -> list[int]:
    """Return where the segments of a burst begin, and its end; each has :data:`SEGMENT` packets or more."""
    count = max(1, min(segments, burst // SEGMENT))
    return [number * burst // count for number in range(count + 1)]


def join_segments(segments: Segments) -> SegmentArrivals | None:
    """Return segments of one burst as one; None if no packet of them arrived."""
    arrived = [one for one in segments if one is not None]
    if not arrived:
        return None
    began = min(one.began for one in arrived)
    return SegmentArrivals(
        min(one.first for one in arrived),
        max(one.last for one in arrived),
        began,
        max(one.ended for one in arrived),
        sum(one.count for one in arrived),
        sum(one.together for one in arrived if one.began == began),
    )


def estimate_rate(shape: TrainShape, bursts: Segments, rtt: float | None) -> RateEstimate:
    """Return the throughput that one TCP connection would have, by the equation of the paper.

    :param bursts: None for a burst of which no packet arrived.
    :param rtt: seconds; without it loss limits nothing.
    :raises ValueError: if there are more bursts, or packets, than were sent, or the round trip takes no time.
    """
    if rtt is not None and not rtt > 0:
        raise ValueError(f"rtt: {rtt} s is no round-trip time")
    arrived = [one for one in bursts if one is not None]
    if len(bursts) > shape.bursts or any(one.last >= shape.burst or one.first < 0 for one in arrived):
        raise ValueError(f"arrived: more than {shape.bursts} bursts of {shape.burst} packets")
    lost = 1.0 - sum(one.count for one in arrived) / (shape.bursts * shape.burst)
    useful = [one for one in arrived if one.count > one.together]
    time = math.fsum(one.lasted(shape.burst) for one in useful)
    if not any(one.count > 1 for one in arrived):
        return RateEstimate(None, lost, why="of no burst two packets arrived")
    if time <= 0:
        cause = "all packets of a burst arrived at the same time: the clock is too coarse"
        return RateEstimate(None, lost, why=cause)
    rate = 8.0 * shape.packet * sum(one.count - one.together for one in useful) / time
    return limit_by_loss(rate, lost, rtt)


def limit_by_loss(rate: float, lost: float, rtt: float | None) -> RateEstimate:
    """Return a rate, or the part that TCP can have where a share of the packets is lost."""
    limit = math.inf if rtt is None else mathis(rtt, max(0.0, lost), MSS)
    return RateEstimate(min(rate, limit), lost, limited=limit < rate)


def settled_rate(bursts: Sequence[Segments], packet: int) -> float | None:
    """Return the rate after the bucket of a rate limit is empty, bits/s of payload; None if unknown.

    A token bucket of b bytes that fills at rate r lets at most b + r·t bytes through in t seconds: a steep
    beginning, then r.  The pace of the train's second half (of the bursts, and of each burst) shows r; the
    beginning of a burst that is faster than :data:`SETTLED` times that is left out.  Of the rest of all
    bursts, the packets that arrived are divided by the time between the first and the last arrival: unlike in
    the paper's equation t is not lengthened for packets lost at an end, for where a queue was full they would
    not have arrived at that pace.  Bursts that are far from most are left out (:data:`ALIKE`).  Without a
    limit, loss, and disturbance, the result is the paper's.

    :param bursts: each burst's segments, as :func:`split_bursts` has them.
    :param packet: P: bytes of payload.
    """
    late = [each[len(each) // 2 :] for each in bursts]
    # A queue that the first burst filled may leave nothing of the last.
    for choice in (late[len(late) // 2 :], late, bursts):
        pace = _arrival_rate(packet, [join_segments(each) for each in choice])
        if pace is not None:
            return _common_rate(packet, [join_segments(_skip_start(each, packet, pace)) for each in bursts])
    return None


def _common_rate(packet: int, bursts: Segments) -> float | None:
    """Return the rate of the bursts that are like most.

    Where the sender loses its processor in the middle of a burst, or the receiver's is late to take packets
    off the wire, that burst shows them and not the path; a single pause of ten milliseconds is half of a
    train's whole time at 1 Gbit/s.  Of fewer than three bursts none can be distinguished from most.
    """
    rates = [_arrival_rate(packet, [each]) for each in bursts]
    known = [rate for rate in rates if rate is not None]
    if len(known) < 3:
        return _arrival_rate(packet, bursts)
    usual = statistics.median(known)
    alike = [
        each
        for each, rate in zip(bursts, rates, strict=True)
        if rate is not None and usual / ALIKE <= rate <= usual * ALIKE
    ]
    return _arrival_rate(packet, alike) if alike else usual


def _skip_start(segments: Segments, packet: int, pace: float) -> Segments:
    """Return a burst without its fast beginning."""
    for place, segment in enumerate(segments):
        rate = _arrival_rate(packet, [segment])
        if rate is None or rate <= SETTLED * pace:
            return segments[place:]
    return segments[len(segments) - 1 :]


def _arrival_rate(packet: int, parts: Segments) -> float | None:
    """Return the bits/s that arrived, over parts of bursts."""
    useful = [one for one in parts if one is not None and one.count > one.together]
    time = math.fsum(one.ended - one.began for one in useful)
    return 8.0 * packet * sum(one.count - one.together for one in useful) / time if time > 0 else None


def tcp_rate(rate: float, packet: int) -> float:
    """Return the rate of TCP's payload on a path, given that of UDP in packets of so many bytes of payload.

    Both fill the same frames, of which TCP's headers take more: 1448 of 1514 bytes are data, with UDP 1472.
    """
    return rate * (packet + _UDP_HEADERS) / packet * MSS / (MSS + _TCP_HEADERS)


def sandwich_delays(
    probe: Sandwich | SandwichBack, large: int, sent_ns: Sequence[int], arrived_ns: Mapping[int, int]
) -> SandwichDelays:
    """Return d' - d of each sandwich.

    :param large: bytes of payload of the large packets.
    :param sent_ns: nanoseconds of the sender's clock by the packet's place, three packets to a sandwich.
    :param arrived_ns: nanoseconds of the receiver's clock, likewise.
    :raises ProbeError: ``too-large`` if no large packet arrived between small ones.
    """
    delays = list[float | None]()
    without_large = 0
    for first in range(0, 3 * probe.count, 3):
        small = (first, first + 2)
        if first + 2 >= len(sent_ns) or any(place not in arrived_ns for place in small):
            delays.append(None)
        elif first + 1 not in arrived_ns:
            without_large += 1
            delays.append(None)
        else:
            apart_sent = sent_ns[first + 2] - sent_ns[first]
            delays.append((arrived_ns[first + 2] - arrived_ns[first] - apart_sent) / 1e9)
    if without_large and all(delay is None for delay in delays):
        cause = f"packets with {large} bytes do not arrive, with {probe.length} they do"
        raise ProbeError(FailureCause.TOO_LARGE, cause)
    return SandwichDelays(tuple(delays), large)


def competing_connections(link: float, share: float) -> float:
    """Return c, given the link's rate c1 and a bulk connection's share of it, c2; never below 0.

    :raises ValueError: for a rate that is not above 0.
    """
    if not (link > 0 and share > 0):
        raise ValueError(f"share: {share} of {link} is no rate on a link")
    return max(0.0, link / share - 1)


@dataclass(frozen=True, slots=True)
class SharedLink:
    """Narrowest link of a path.

    :param others: c: as many bulk connections as would take the rate of the other traffic.
    :param rate: c1, in the unit of the rates that it was found from.
    """

    others: float
    rate: float


def find_shared_link(alone: float, each: float) -> SharedLink | None:
    """Return c and c1, given the rate of one connection (x1), and of each of two at the same time (x2).

    None if a second connection takes nothing from the first: then another limit than this link holds.

    :raises ValueError: for a rate that is not above 0.
    """
    if not (alone > 0 and each > 0):
        raise ValueError(f"each: {each} of {alone} is no rate")
    if alone - each <= SAME_RATE * alone:
        return None
    others = max(0.0, (2 * each - alone) / (alone - each))
    return SharedLink(others, alone * (others + 1))

"""Number of parallel streams.

As many are needed as carry the target rate: ``n >= target / min(window · 8 / RTT, Mathis)``.  No more than

- memory holds: every stream has its buffers, and a quarter of a host's memory is for them;
- fill the path: where one stream does, a second only competes with it ([ADON] 5.3: "too many open TCP
  connections can even degrade the performance").

A test that is clearly slower than the formula shows a limit that the formula does not know (a processor,
other traffic, a disk).  Then the rate per stream of the test is used, and the item says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.tcp_advice.buffers import (
    MEMORY_DIVISOR,
    Buffers,
    format_mib,
    present_window,
    send_factor,
    window_share,
)
from adon.tcp_advice.congestion_control import CongestionControl, loss_limit
from adon.tcp_advice.parts import Confidence, Item, Transfer
from adon.units import format_duration, format_rate

UNEXPLAINED = 0.8
"""A test below this part of the formula for the present settings shows another limit."""

MOST_STREAMS = 10_000


@dataclass(frozen=True, slots=True)
class StreamRate:
    """Rate of one stream in bits/s (infinite where nothing limits it), and its computation."""

    rate: float
    formula: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Streams:
    """Number of streams, and the item that says why."""

    number: int
    item: Item


def count_streams(transfer: Transfer, control: CongestionControl, buffers: Buffers | None) -> Streams | None:
    """Number of streams for the target rate; None if it cannot be computed."""
    path, target = transfer.path, transfer.target
    if buffers is None or target is None or path.rtt is None or path.rtt.mean <= 0 or transfer.is_broken:
        return None
    stream = _modelled_rate(transfer, control, buffers, path.rtt.mean)
    tested = _tested_rate(transfer, path.rtt.mean)
    if tested is not None and tested.rate < stream.rate:
        stream = tested
    needed = needed_streams(target, stream.rate)
    limit, host = _memory_limit(transfer, control, min(stream.rate, target) * path.rtt.mean / 8)
    number = max(1, min(needed, limit))
    if needed == 1:
        reason = f"one stream fills {format_rate(target)}; a second would only compete with it"
    elif number == needed:
        reason = (
            f"one stream reaches {format_rate(stream.rate)} of {format_rate(target)}; {needed} are needed"
        )
    else:
        wanted = f"{needed}" if needed < MOST_STREAMS else f"at least {MOST_STREAMS}"
        reason = (
            f"{wanted} would be needed, but 1/{MEMORY_DIVISOR} of the memory of {host} holds the buffers of "
            f"{number}, which reach at most {format_rate(number * stream.rate)}"
        )
    return Streams(number, Item("streams", str(number), reason, stream.formula, stream.confidence))


def needed_streams(target: float, rate: float) -> int:
    """Number of streams of ``rate`` bits/s that carry ``target`` bits/s, at most :data:`MOST_STREAMS`."""
    if math.isinf(rate):
        return 1
    if rate <= 0:
        return MOST_STREAMS
    # A rate that differs from the target only in the last bit of a double needs no second stream.
    return max(1, math.ceil(min(target / rate, MOST_STREAMS) * (1 - 1e-9)))


def _memory_limit(transfer: Transfer, control: CongestionControl, in_flight: float) -> tuple[int, str]:
    """Number of streams whose buffers both hosts hold, and the host with the smaller memory for them.

    :param in_flight: bytes that one stream has in flight.
    """
    buffers = (
        (transfer.sender, in_flight * send_factor(control.name)),
        (transfer.receiver, in_flight / window_share(transfer.receiver).value),
    )
    limits = [(MOST_STREAMS, "")]
    for host, size in buffers:
        if host.memory is not None and size > 0:
            held = int(min(host.memory / MEMORY_DIVISOR / size, MOST_STREAMS))
            limits.append((max(1, held), host.name))
    return min(limits)


def _modelled_rate(
    transfer: Transfer, control: CongestionControl, buffers: Buffers, rtt: float
) -> StreamRate:
    by_window = buffers.window * 8 / rtt
    by_loss = loss_limit(transfer.path, transfer.mss) if control.is_loss_based else math.inf
    terms = [f"{format_mib(buffers.window)} · 8 / {format_duration(rtt)} = {format_rate(by_window)}"]
    if math.isfinite(by_loss):
        terms.append(f"Mathis with {transfer.mss} B = {format_rate(by_loss)}")
    confidence = Confidence.LOW if transfer.path.loss is None else Confidence.MEDIUM
    return StreamRate(min(by_window, by_loss), f"per stream min({'; '.join(terms)})", confidence)


def _tested_rate(transfer: Transfer, rtt: float) -> StreamRate | None:
    """Rate per stream of the latest test, if the present settings do not explain that it was no more."""
    path, tested = transfer.path, transfer.path.reached
    window = present_window(transfer.sender, transfer.receiver)
    if tested is None or window is None:
        return None
    limits = [window * 8 / rtt, loss_limit(path, transfer.mss)]
    if path.rate is not None:
        limits.append(path.rate / tested.streams)
    rate = tested.rate.mean / tested.streams
    if not 0 < rate < UNEXPLAINED * min(limits):
        return None
    formula = f"a test reached {format_rate(rate)} per stream, less than the present settings explain"
    return StreamRate(rate, formula, Confidence.LOW)

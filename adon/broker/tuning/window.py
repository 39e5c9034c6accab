"""Windows and the buffers that hold them.

A stream has at most one window of data under way per round trip, so a window of ``rate · RTT / 8`` bytes (the
bandwidth-delay product, BDP) fills the path.  A buffer holds more than the window:

- **receiving**: the kernel counts what packets occupy, not what they carry.  Up to Linux 6.5 the part that is
  window follows ``tcp_adv_win_scale`` s: ``1 - 2^-s`` for s > 0, ``2^s`` for s <= 0 (ip-sysctl).  Since 6.6
  that setting does nothing; the kernel begins with a half and then measures each connection.
- **sending**: the kernel keeps twice the congestion window (CUBIC needs 1.7 of it in fast recovery), three
  times with BBR.

Auto-tuning grows both up to the third number of ``tcp_rmem`` and ``tcp_wmem``, and takes only what a
connection needs; a program that sets a size itself switches it off and is held to ``net.core.rmem_max``.
A window ends at 1 GiB (RFC 7323, 2.3), a buffer at what a C ``int`` holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.tuning.facts import HostFacts, Triple
from adon.broker.uncertain import Uncertain

MIB = 2**20
LARGEST_WINDOW = 65_535 << 14
LARGEST_BUFFER = 2**31 - 1
LONGEST_RTT = 10.0
"""Seconds; what is longer is no round trip of a transfer, but a queue that is broken or a wrong unit."""

RECEIVE, SEND = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
FIRST: dict[str, Triple] = {RECEIVE: Triple(4096, 131_072, 6_291_456), SEND: Triple(4096, 16_384, 4_194_304)}
"""What Linux starts with on a host with enough memory (ip-sysctl); least and first are kept."""

SEND_FACTOR = 2
MEASURED_SINCE = (6, 6)
SPREAD = 1.645
"""Deviations to each side of a mean between which 90 % of a normal distribution lies."""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a receive buffer that is window, and how that is known."""

    value: float
    why: str


def bandwidth_delay(rate: float, rtt: float) -> float:
    """Bytes under way when a path is full."""
    return rate * rtt / 8


def planning_rtt(rtt: Uncertain | None) -> float | None:
    """The round trip that buffers are made for: the mean and one deviation; None if there is none to use."""
    if rtt is None:
        return None
    high = rtt.interval(1.0)[1]
    return high if 0 < high <= LONGEST_RTT else None


def window_share(host: HostFacts) -> Share:
    """How much of its receive buffers a host offers as window."""
    kernel, scale = host.kernel, host.number("net.ipv4.tcp_adv_win_scale")
    if kernel is not None and kernel >= MEASURED_SINCE:
        return Share(0.5, "this kernel begins with a half and measures each connection")
    if scale is None or not -31 <= scale <= 31 or kernel is None:
        return Share(0.5, "a half, as kernels are delivered")
    value = 1 - 2.0**-scale if scale > 0 else 2.0**scale
    return Share(value, f"tcp_adv_win_scale is {scale}")


def send_factor(control: str | None) -> int:
    """How many congestion windows the kernel keeps room for; what BBR has more is for recovery."""
    return 3 if control is not None and control.startswith("bbr") else SEND_FACTOR


def receive_buffer(window: float, share: Share) -> int:
    """The buffer, in whole MiB, that offers a window of so many bytes."""
    return _whole(window / share.value)


def send_buffer(window: float, control: str | None) -> int:
    """The buffer, in whole MiB, that keeps so many bytes under way."""
    return _whole(window * send_factor(control))


def _whole(size: float) -> int:
    # The least first: what overflowed is infinite and has no ceiling.
    return min(LARGEST_BUFFER, max(1, math.ceil(min(size, LARGEST_BUFFER) / MIB)) * MIB)


def window_of(sender: HostFacts, receiver: HostFacts) -> float | None:
    """The largest window that two hosts' present buffers allow one stream; None if either is not known."""
    sending, receiving = sender.triple(SEND), receiver.triple(RECEIVE)
    if sending is None or receiving is None:
        return None
    return window_between(sending.most, receiving.most, window_share(receiver))


def window_between(sending: int, receiving: int, share: Share) -> float:
    """The largest window that a send and a receive buffer allow."""
    return min(sending / SEND_FACTOR, receiving * share.value, LARGEST_WINDOW)


def in_mib(size: float) -> str:
    """``16777216`` as ``16 MiB``: buffers are binary."""
    return f"{size / MIB:.4g} MiB"

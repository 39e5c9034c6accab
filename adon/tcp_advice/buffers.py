"""TCP windows, and the maximum of the buffers that hold them, at both ends and in both directions.

A stream has at most one window of data in flight per round trip, so a window of ``rate · RTT / 8`` bytes (the
bandwidth-delay product, BDP) fills the path.  A buffer is larger than its window:

- **receive**: the kernel counts the memory of packets, not their payload.  Up to Linux 6.5 the part that is
  window follows ``tcp_adv_win_scale`` s: ``1 - 2^-s`` for s > 0, ``2^s`` for s <= 0 (ip-sysctl).  Since 6.6
  that setting has no effect; the kernel starts with a half and then measures each connection.
- **send**: the kernel keeps twice the congestion window (CUBIC needs 1.7 of it in fast recovery), three times
  with BBR.

Auto-tuning grows both up to the third number of ``tcp_rmem`` and ``tcp_wmem``, and takes only what a
connection needs.  A program that sets a size itself disables it and is limited to ``net.core.rmem_max``.
A window ends at 1 GiB (RFC 7323, 2.3), a buffer at the largest C ``int``.

Each end gets both buffers for a whole BDP, since the next transfer may go the other way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from adon.tcp_advice.facts import BufferSizes, HostFacts
from adon.tcp_advice.parts import Compare, Confidence, Item, Part, Setting, Transfer
from adon.uncertain import Uncertain
from adon.units import format_duration, format_rate, format_size

MIB = 2**20
LARGEST_WINDOW = 65_535 << 14
LARGEST_BUFFER = 2**31 - 1
LONGEST_RTT = 10.0
"""Seconds.  A longer RTT is due to a full queue or a wrong unit."""

MEMORY_DIVISOR = 4
"""A quarter of a host's memory may be transfer buffers."""

RECEIVE, SEND = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
DEFAULT_SIZES = {
    RECEIVE: BufferSizes(4096, 131_072, 6_291_456),
    SEND: BufferSizes(4096, 16_384, 4_194_304),
}
"""Defaults of Linux on a host with enough memory (ip-sysctl); minimum and initial size are kept."""

PROGRAM_LIMITS = {RECEIVE: "net.core.rmem_max", SEND: "net.core.wmem_max"}
"""Limits for programs that set a buffer themselves (``iperf3 -w``, ``globus-url-copy -tcp-bs``)."""

REQUIRED_FEATURES = {
    "net.ipv4.tcp_window_scaling": "windows above 64 KiB (RFC 7323)",
    "net.ipv4.tcp_timestamps": "round-trip times and protection against wrapped sequence numbers (RFC 7323)",
    "net.ipv4.tcp_sack": "recovery from several losses in one window (RFC 2018)",
    "net.ipv4.tcp_moderate_rcvbuf": "automatic growth of receive buffers",
}
"""Kernel features that large buffers need; Linux enables all of them by default."""

SEND_FACTOR = 2
MEASURED_SINCE = (6, 6)


@dataclass(frozen=True, slots=True)
class WindowShare:
    """The part of a receive buffer that is window, and its origin."""

    value: float
    origin: str


@dataclass(frozen=True, slots=True)
class EndBuffers:
    """Maximum of the buffers of one host, bytes."""

    receive: int
    send: int


@dataclass(frozen=True, slots=True)
class Buffers:
    """Buffers of both hosts, and the window in bytes that they allow one stream."""

    window: float
    sender: EndBuffers
    receiver: EndBuffers
    part: Part


def bandwidth_delay_product(rate: float, rtt: float) -> float:
    """Bytes in flight when a path of ``rate`` bits/s and ``rtt`` seconds is full."""
    return rate * rtt / 8


def planning_rtt(rtt: Uncertain | None) -> float | None:
    """RTT that buffers are made for: the mean and one deviation; None if it is unknown or implausible."""
    if rtt is None:
        return None
    high = rtt.interval(1.0)[1]
    return high if 0 < high <= LONGEST_RTT else None


def window_share(host: HostFacts) -> WindowShare:
    """The part of its receive buffers that a host offers as window."""
    kernel, scale = host.kernel, host.integer("net.ipv4.tcp_adv_win_scale")
    if kernel is not None and kernel >= MEASURED_SINCE:
        return WindowShare(0.5, "initial value of this kernel, which measures each connection")
    if scale is None or not -31 <= scale <= 31 or kernel is None:
        return WindowShare(0.5, "default of Linux")
    value = 1 - 2.0**-scale if scale > 0 else 2.0**scale
    return WindowShare(value, f"tcp_adv_win_scale is {scale}")


def send_factor(control: str | None) -> int:
    """Number of congestion windows that the kernel keeps in a send buffer."""
    return 3 if control is not None and control.startswith("bbr") else SEND_FACTOR


def receive_buffer(window: float, share: WindowShare) -> int:
    """Size in bytes, in whole MiB, of a buffer that offers a window."""
    return _round_up(window / share.value)


def send_buffer(window: float, control: str | None) -> int:
    """Size in bytes, in whole MiB, of a buffer that keeps a window in flight."""
    return _round_up(window * send_factor(control))


def _round_up(size: float) -> int:
    # An infinite size has no ceiling, so take the limit first.
    return min(LARGEST_BUFFER, max(1, math.ceil(min(size, LARGEST_BUFFER) / MIB)) * MIB)


def present_window(sender: HostFacts, receiver: HostFacts) -> float | None:
    """Largest window in bytes that the present buffers allow one stream; None if either is unknown."""
    sending, receiving = sender.buffer_sizes(SEND), receiver.buffer_sizes(RECEIVE)
    if sending is None or receiving is None:
        return None
    return allowed_window(sending.maximum, receiving.maximum, window_share(receiver))


def allowed_window(send: int, receive: int, share: WindowShare) -> float:
    """Largest window in bytes that a send and a receive buffer allow."""
    return min(send / SEND_FACTOR, receive * share.value, LARGEST_WINDOW)


def format_mib(size: float) -> str:
    """``16777216`` as ``16 MiB``: buffers are binary."""
    return f"{size / MIB:.4g} MiB"


def size_buffers(transfer: Transfer, control: str | None) -> Buffers | None:
    """Buffers for the target rate; None if rate or RTT is unknown."""
    sender, receiver, rtt = transfer.sender, transfer.receiver, planning_rtt(transfer.path.rtt)
    if transfer.target is None or rtt is None:
        return None
    product = bandwidth_delay_product(transfer.target, rtt)
    window = min(product, LARGEST_WINDOW)
    near, far = (_end_buffers(host, window, control) for host in (sender, receiver))
    share = window_share(receiver)
    item = Item(
        "buffers",
        f"receive {format_mib(far.receive)}, send {format_mib(near.send)}",
        _reason(
            product, [host.name for host, end in ((sender, near), (receiver, far)) if _is_limited(host, end)]
        ),
        f"{format_rate(transfer.target)} · {format_duration(rtt)} / 8 = {format_mib(product)}; receive / "
        f"{share.value:g} ({share.origin}), send · {send_factor(control)}",
        Confidence.HIGH,
    )
    part = Part(
        item, sender=tuple(_buffer_settings(sender, near)), receiver=tuple(_buffer_settings(receiver, far))
    )
    return Buffers(allowed_window(near.send, far.receive, share), near, far, part)


def _reason(product: float, limited: list[str]) -> str:
    reason = f"one stream can have a whole bandwidth-delay product in flight: {format_size(product)}"
    if product > LARGEST_WINDOW:
        reason += f"; the largest TCP window is {format_mib(LARGEST_WINDOW)}, so more streams are needed"
    if limited:
        reason += f"; the memory of {', '.join(limited)} allows no more"
    return reason


def _end_buffers(host: HostFacts, window: float, control: str | None) -> EndBuffers:
    limit = LARGEST_BUFFER if host.memory is None else host.memory // MEMORY_DIVISOR
    receive, send = receive_buffer(window, window_share(host)), send_buffer(window, control)
    return EndBuffers(min(receive, limit), min(send, limit))


def _is_limited(host: HostFacts, end: EndBuffers) -> bool:
    return host.memory is not None and max(end.receive, end.send) >= host.memory // MEMORY_DIVISOR


def _buffer_settings(host: HostFacts, end: EndBuffers) -> Iterator[Setting]:
    for key, maximum, direction in ((RECEIVE, end.receive, "receive"), (SEND, end.send, "send")):
        present = host.buffer_sizes(key)
        sizes = DEFAULT_SIZES[key] if present is None else present
        kept = max(maximum, sizes.initial, 0 if present is None else present.maximum)
        value = str(BufferSizes(sizes.minimum, sizes.initial, kept))
        yield Setting("sysctl", key, value, Compare.AT_LEAST, f"maximum of {direction} buffers")
        reason = f"for programs that set {direction} buffers themselves"
        yield Setting("sysctl", PROGRAM_LIMITS[key], str(kept), Compare.AT_LEAST, reason)
    for key, reason in REQUIRED_FEATURES.items():
        yield Setting("sysctl", key, "1", Compare.AT_LEAST, reason)

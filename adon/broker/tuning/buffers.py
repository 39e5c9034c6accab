"""How large buffers should be able to grow, at both ends and in both directions.

Each end gets receive and send buffers for a whole bandwidth-delay product: next time it may be the other end,
and auto-tuning takes no more than a connection needs.  Buffers that are larger already are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from adon.broker.tuning.facts import HostFacts, PathFacts, Triple
from adon.broker.tuning.item import Compare, Confidence, Item, Setting
from adon.broker.tuning.streams import MEMORY_PART
from adon.broker.tuning.window import (
    FIRST,
    LARGEST_WINDOW,
    RECEIVE,
    SEND,
    bandwidth_delay,
    in_mib,
    planning_rtt,
    receive_buffer,
    send_buffer,
    send_factor,
    window_between,
    window_share,
)
from adon.units import format_duration, format_rate, format_size

SWITCHED_ON = {
    "net.ipv4.tcp_window_scaling": "windows above 64 KiB (RFC 7323)",
    "net.ipv4.tcp_timestamps": "round-trip times, and old segments told from new ones (RFC 7323)",
    "net.ipv4.tcp_sack": "several losses in one window (RFC 2018)",
    "net.ipv4.tcp_moderate_rcvbuf": "receive buffers grow by themselves",
}
"""Kernel features that large buffers need; Linux switches all of them on by default."""

LIMITS = {RECEIVE: "net.core.rmem_max", SEND: "net.core.wmem_max"}
"""What programs that set a buffer themselves are held to (``iperf3 -w``, ``globus-url-copy -tcp-bs``)."""


@dataclass(frozen=True, slots=True)
class EndBuffers:
    """The most that one end's buffers should grow to, bytes."""

    receive: int
    send: int


@dataclass(frozen=True, slots=True)
class Buffers:
    """Both ends' buffers, and the window in bytes that one stream gets by them."""

    window: float
    sender: EndBuffers
    receiver: EndBuffers
    item: Item


def buffers(
    path: PathFacts, sender: HostFacts, receiver: HostFacts, target: float | None, control: str | None
) -> Buffers | None:
    """Buffers for a target rate; None if rate or RTT is not known."""
    rtt = planning_rtt(path.rtt)
    if target is None or rtt is None:
        return None
    wanted = bandwidth_delay(target, rtt)
    window = min(wanted, LARGEST_WINDOW)
    near, far = (_end(host, window, control) for host in (sender, receiver))
    reached = window_between(near.send, far.receive, window_share(receiver))
    held = [host.name for host, end in ((sender, near), (receiver, far)) if _held(host, end)]
    share = window_share(receiver)
    formula = (
        f"{format_rate(target)} · {format_duration(rtt)} / 8 = {in_mib(wanted)}; receiving / {share.value:g} "
        f"({share.why}), sending · {send_factor(control)}"
    )
    value = f"receive {in_mib(far.receive)}, send {in_mib(near.send)}"
    item = Item("buffers", value, _reason(wanted, held), formula, Confidence.HIGH)
    return Buffers(reached, near, far, item)


def _reason(wanted: float, held: list[str]) -> str:
    reason = f"one stream may have a whole bandwidth-delay product under way: {format_size(wanted)}"
    if wanted > LARGEST_WINDOW:
        reason += f"; TCP's window ends at {in_mib(LARGEST_WINDOW)}, streams do the rest"
    if held:
        reason += f"; the memory of {', '.join(held)} allows no more"
    return reason


def _end(host: HostFacts, window: float, control: str | None) -> EndBuffers:
    sizes = receive_buffer(window, window_share(host)), send_buffer(window, control)
    most = math.inf if host.memory is None else host.memory // MEMORY_PART
    receive, send = (int(min(size, most)) for size in sizes)
    return EndBuffers(receive, send)


def _held(host: HostFacts, end: EndBuffers) -> bool:
    return host.memory is not None and max(end.receive, end.send) >= host.memory // MEMORY_PART


def buffer_settings(host: HostFacts, end: EndBuffers) -> Iterator[Setting]:
    """What a host's kernel is told so that its buffers can grow so far."""
    for key, most, what in ((RECEIVE, end.receive, "receive"), (SEND, end.send, "send")):
        present = host.triple(key)
        triple = FIRST[key] if present is None else present
        kept = max(most, triple.first, 0 if present is None else present.most)
        value = str(Triple(triple.least, triple.first, kept))
        yield Setting("sysctl", key, value, Compare.AT_LEAST, f"{what} buffers may grow so far")
        why = f"for programs that set {what} buffers themselves"
        yield Setting("sysctl", LIMITS[key], str(kept), Compare.AT_LEAST, why)
    for key, why in SWITCHED_ON.items():
        yield Setting("sysctl", key, "1", Compare.AT_LEAST, why)

"""Which congestion control the sender should use.

A control that takes loss for congestion (CUBIC, H-TCP) gets what Mathis' formula allows on a path that loses
packets for other reasons; BBR models the bottleneck's rate and RTT instead (Cardwell et al., ACM Queue 2016).
On a path without loss CUBIC and H-TCP fill it equally well (ESnet fasterdata, host tuning), so neither is
changed for the other.  BBR of the mainline kernel (version 1) takes more than its share beside CUBIC where
queues are shorter than about 1.5 BDP, and retransmits much there (Hock, Bless, Zitterbart, ICNP 2017): with
shallow queues a loss-driven control *with pacing* is the first thing to try.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.cost.terms import theoretical_throughput
from adon.broker.tuning.facts import HostFacts, PathFacts
from adon.broker.tuning.item import Compare, Confidence, Gap, Item, Piece, Setting
from adon.units import format_rate, format_ratio

BROKEN_LOSS = 0.1
"""Mathis' formula is for rare losses; a path that loses a tenth has a fault, and no setting cures that."""

KEY = "net.ipv4.tcp_congestion_control"
LOSS_DRIVEN = ("cubic", "htcp")
WORTH_IT = 0.5
"""BBR is advised where one loss-driven stream gets less than this part of the path."""


@dataclass(frozen=True, slots=True)
class Control:
    """The control to use, with what is said about it; None where nothing can be said."""

    name: str | None
    piece: Piece


def is_broken(path: PathFacts) -> bool:
    """Whether the path loses so much that it has to be mended first."""
    return path.loss is not None and path.loss.mean >= BROKEN_LOSS


def stream_limit(path: PathFacts, mss: int) -> float:
    """What loss lets one loss-driven stream reach (Mathis), bits/s; infinite without loss or knowledge."""
    rtt = None if path.rtt is None else path.rtt.mean
    loss = None if path.loss is None else path.loss.mean
    return theoretical_throughput(math.inf, 1, None, rtt, loss, mss)


def congestion_control(path: PathFacts, sender: HostFacts, target: float | None, mss: int) -> Control:
    """Choose by loss, RTT and queues; what the sender has is kept where it is as good."""
    present = sender.word(KEY)
    if path.loss is None:
        gap = Gap(
            "packet loss of the path",
            "congestion control stays as it is, and streams are counted as if nothing were lost",
            "one-way latency tests on this path (measurements.tests: latency_period)",
        )
        return Control(present, Piece(gaps=(gap,)))
    if is_broken(path):
        return Control(present, Piece(gaps=(_fault(path.loss.mean),)))
    limit = stream_limit(path, mss)
    if path.loss.mean > 0 and target is not None and limit < WORTH_IT * target:
        return _made("bbr", _lossy(path, limit, target), Confidence.MEDIUM, sender)
    name = present if present in LOSS_DRIVEN else "cubic"
    if path.shallow:
        reason = (
            "a queue on the path is shallow: BBR would fill it again and again; pace a loss-driven control"
        )
        return _made(name, reason, Confidence.MEDIUM, sender)
    reason = "loss does not hold it back here; CUBIC and H-TCP serve such a path equally"
    return _made(name, reason, Confidence.HIGH if path.loss.mean == 0 else Confidence.MEDIUM, sender)


def _fault(loss: float) -> Gap:
    return Gap(
        f"why the path loses {format_ratio(loss)} of its packets",
        "no setting of a host helps a path that is broken",
        "look for a dirty fibre, a duplex mismatch, a policer or a full queue, then measure again",
    )


def _lossy(path: PathFacts, limit: float, target: float) -> str:
    loss = 0.0 if path.loss is None else path.loss.mean
    return (
        f"loss of {format_ratio(loss)} holds one CUBIC stream to {format_rate(limit)} of "
        f"{format_rate(target)}; BBR goes by rate and RTT. It is not "
        "gentle with other traffic: agree on it with who runs the path"
    )


def _made(name: str, reason: str, confidence: Confidence, sender: HostFacts) -> Control:
    if sender.controls is not None and name not in sender.controls:
        reason += f"; not loaded on {sender.name}: modprobe tcp_{name}"
    item = Item("control", name, reason, "", confidence)
    setting = Setting("sysctl", KEY, name, Compare.EQUAL, "the sender's congestion control")
    return Control(name, Piece(item, sender=(setting,)))

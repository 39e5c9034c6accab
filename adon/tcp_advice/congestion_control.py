"""Congestion control of the sender.

A loss-based congestion control (CUBIC, H-TCP) reaches what Mathis' formula allows on a path that loses
packets for other reasons than congestion.  BBR models the bottleneck's rate and RTT instead (Cardwell et
al., ACM Queue 2016).  On a path without loss CUBIC and H-TCP fill it equally well (ESnet fasterdata, host
tuning), so neither replaces the other.  BBR of the mainline kernel (version 1) takes more than its share
beside CUBIC where queues are shorter than about 1.5 BDP, and retransmits much there (Hock, Bless, Zitterbart,
ICNP 2017): with shallow queues, a loss-based control with pacing is the first thing to try.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.cost.terms import theoretical_throughput
from adon.tcp_advice.facts import HostFacts, PathFacts
from adon.tcp_advice.parts import Compare, Confidence, Gap, Item, Part, Setting, Transfer
from adon.units import format_rate, format_ratio

KEY = "net.ipv4.tcp_congestion_control"
LOSS_BASED = ("cubic", "htcp")
BBR_THRESHOLD = 0.5
"""BBR is recommended where one loss-based stream gets less than this part of the path."""


@dataclass(frozen=True, slots=True)
class CongestionControl:
    """Name of the congestion control, None if unknown, and the advice about it."""

    name: str | None
    part: Part

    @property
    def is_loss_based(self) -> bool:
        """Whether Mathis' formula limits it."""
        return self.name != "bbr"


def loss_limit(path: PathFacts, mss: int) -> float:
    """Rate of one loss-based stream by Mathis' formula, bits/s; infinite without loss, or if unknown."""
    rtt = None if path.rtt is None else path.rtt.mean
    loss = None if path.loss is None else path.loss.mean
    return theoretical_throughput(math.inf, 1, None, rtt, loss, mss)


def choose_congestion_control(transfer: Transfer) -> CongestionControl:
    """Choose by loss, RTT and queues; the sender keeps its present one where that is as good."""
    path, present = transfer.path, transfer.sender.text(KEY)
    if path.loss is None:
        gap = Gap(
            "packet loss of the path",
            "congestion control stays as it is, and the number of streams assumes no loss",
            "one-way latency tests on this path (measurements.tests: latency_period)",
        )
        return CongestionControl(present, Part(gaps=(gap,)))
    loss = path.loss.mean
    if transfer.is_broken:
        gap = Gap(
            f"why the path loses {format_ratio(loss)} of its packets",
            "no setting of a host helps a path with a fault",
            "look for a dirty fibre, a duplex mismatch, a policer or a full queue, then measure again",
        )
        return CongestionControl(present, Part(gaps=(gap,)))
    limit = loss_limit(path, transfer.mss)
    if loss > 0 and transfer.target is not None and limit < BBR_THRESHOLD * transfer.target:
        reason = (
            f"loss of {format_ratio(loss)} limits one CUBIC stream to {format_rate(limit)} of "
            f"{format_rate(transfer.target)}; BBR uses rate and RTT. It can take bandwidth from other "
            "traffic: ask the operator of the path first"
        )
        return _recommend("bbr", reason, Confidence.MEDIUM, transfer.sender)
    name = present if present in LOSS_BASED else "cubic"
    if path.shallow:
        reason = (
            "a queue on the path is shallow, and BBR would overflow it; use a loss-based control with pacing"
        )
        return _recommend(name, reason, Confidence.MEDIUM, transfer.sender)
    reason = "loss does not limit throughput here; CUBIC and H-TCP are equally good on such a path"
    return _recommend(name, reason, Confidence.HIGH if loss == 0 else Confidence.MEDIUM, transfer.sender)


def _recommend(name: str, reason: str, confidence: Confidence, sender: HostFacts) -> CongestionControl:
    if sender.congestion_controls is not None and name not in sender.congestion_controls:
        reason += f"; not loaded on {sender.name}: modprobe tcp_{name}"
    setting = Setting("sysctl", KEY, name, Compare.EQUAL, "congestion control of the sender")
    return CongestionControl(name, Part(Item("control", name, reason, "", confidence), sender=(setting,)))

"""What the switches' rule counters say about each flow: its rate, and whether its packets arrive.

A flow's ingress rule counts what its source sends, its delivery rules at the far edge what arrives
there (R22: a flow is not *up* because its rules are installed).  Counters restart when a rule is
replaced, so growth is added up here.  Rates are bits/s between two times; times are arguments.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

from adon.flowvisor.path import Attachment
from adon.flowvisor.rule import Kind, ReportedRule, Slot, cookie_owner

SAMPLES = 64


@dataclass(slots=True)
class _Growing:
    """The sum of some rules' byte counters over time, replacements included."""

    total: int = 0
    last: dict[Slot, int] = field(default_factory=dict)

    def update(self, seen: dict[Slot, int]) -> None:
        for slot, count in seen.items():
            before = self.last.get(slot, 0)
            self.total += count - before if count >= before else count
        self.last = seen


class FlowCounters:
    """One flow's bytes over time, sent and delivered, in its forward direction."""

    def __init__(self) -> None:
        self._sent = _Growing()
        self._delivered = _Growing()
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)

    @property
    def sent(self) -> int:
        """Bytes that entered the near edge."""
        return self._sent.total

    @property
    def delivered(self) -> int:
        """Bytes that left the far edge towards the destination."""
        return self._delivered.total

    def report(
        self, at: float, dpid: int, rules: list[ReportedRule], source: Attachment, destination: Attachment
    ) -> None:
        """Take one switch's report of this flow's rules."""
        if dpid == source.dpid:
            self._sent.update(_bytes(rules, (Kind.FLOW_INGRESS, Kind.FLOW_LEARN), source, destination))
            self._samples.append((at, self._sent.total))
        if dpid == destination.dpid:
            self._delivered.update(_bytes(rules, (Kind.FLOW_DELIVERY,), source, destination))

    def rate(self, start: float, end: float) -> float | None:
        """Mean rate in bits/s between two times, interpolated; None where no samples surround them."""
        first, last = self._at(start), self._at(end)
        if first is None or last is None or end <= start:
            return None
        return (last - first) * 8 / (end - start)

    def latest(self) -> tuple[float, float] | None:
        """The rate between the last two samples, and when it was taken; None before there are two."""
        if len(self._samples) < 2:
            return None
        (t0, b0), (t1, b1) = self._samples[-2], self._samples[-1]
        return None if t1 <= t0 else ((b1 - b0) * 8 / (t1 - t0), t1)

    def _at(self, when: float) -> float | None:
        samples = list(self._samples)
        for (t0, b0), (t1, b1) in pairwise(samples):
            if t0 <= when <= t1 and t1 > t0:
                return b0 + (b1 - b0) * (when - t0) / (t1 - t0)
        return None


def _bytes(
    rules: list[ReportedRule], kinds: tuple[Kind, ...], source: Attachment, destination: Attachment
) -> dict[Slot, int]:
    return {
        r.rule.slot: r.bytes
        for r in rules
        if cookie_owner(r.rule.cookie)[0] in kinds
        and r.rule.match.ipv4_src == source.address
        and r.rule.match.ipv4_dst == destination.address
    }

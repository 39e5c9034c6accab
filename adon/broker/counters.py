"""What the rule counters say about each flow: its rate, whether its packets arrive, whether it is idle.

A flow's ingress rule counts what its source sends, its delivery rules at the far edge what arrives
there (R22: a flow is not *up* because its rules are installed).  Counters restart when a rule is
replaced, so growth is added up here.  Rates are bits/s between two times; times are arguments.

**Evidence.**  Packets that leave and do not arrive are told from a flow that is silent: the far edge
counted nothing *although* bytes have been leaving for ``evidence_after`` seconds.  A pause, a
direction that carries only acknowledgements, or a far edge that does not answer is no alarm.

**Busy rate.**  What a flow achieved is the growth between the first report that saw bytes arrive and the
last but one that did: at both the flow was running.  The intervals in which it began and ended are left out,
since how much of them it used is not known.

**Idleness.**  Each ingress rule has an idle time-out of its own, but a flow is over only when none of
them carries packets.  A rule that idled out is put back while another one lives, and is marked here;
the flow is over when all of them have been marked within one time-out and none has counted a packet since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import ReportedRule, Rule, Slot
from adon.flowvisor.topology.path import Attachment

SAMPLES = 64


class Evidence(StrEnum):
    """What the counters say about a flow whose rules are installed, in words."""

    WAITING = "no packets yet"
    SILENT = "installed, but no packets"
    LEAVING = "packets leave"
    ARRIVING = "packets arrive"
    PAUSED = "no packets at present"
    SWALLOWED = "packets leave but none arrive"


@dataclass(slots=True)
class _Growing:
    """The sum of some rules' byte counters over time, replacements included.

    :param shrinks: a counter is the sum of rules that go one by one: where it falls, nothing is known.
    """

    total: int = 0
    last: dict[Slot, int] = field(default_factory=dict)
    shrinks: bool = False

    def update(self, seen: dict[Slot, int]) -> bool:
        """Take one report; whether anything was counted since the last."""
        before = self.total
        for slot, count in seen.items():
            known = self.last.get(slot, 0)
            if count >= known:
                self.total += count - known
            elif not self.shrinks:
                self.total += count
        self.last = seen
        return self.total > before


@dataclass(slots=True)
class _Busy:
    """A counter at the reports that saw it grow: the first, the last but one, and the last."""

    first: tuple[float, int] | None = None
    before: tuple[float, int] | None = None
    last: tuple[float, int] | None = None

    def grew(self, at: float, total: int) -> None:
        """One more such report."""
        if self.first is None:
            self.first = (at, total)
        self.before, self.last = self.last, (at, total)

    def rate(self) -> float | None:
        """Bits/s between the first and the last but one."""
        if self.first is None or self.before is None or self.before[0] <= self.first[0]:
            return None
        return (self.before[1] - self.first[1]) * 8 / (self.before[0] - self.first[0])


class FlowCounters:
    """One flow's bytes over time, sent and delivered, in its forward direction.

    :param counted: called whenever its rate is another one.
    """

    def __init__(self, counted: Callable[[], None] = lambda: None) -> None:
        self._counted = counted
        self._sent = _Growing()
        self._sent_by_connection = _Growing(shrinks=True)
        self._delivered = _Growing()
        self._busy = _Busy()
        self._samples: deque[tuple[float, int]] = deque(maxlen=SAMPLES)
        self._idled_at: dict[Slot, float] = {}
        self._unanswered_since: float | None = None
        self._last_sent: float | None = None
        self._heard: float | None = None

    @property
    def sent(self) -> int:
        """Bytes that entered the near edge."""
        return self._sent.total + self._sent_by_connection.total

    @property
    def delivered(self) -> int:
        """Bytes that left the far edge towards the destination."""
        return self._delivered.total

    @property
    def arrived(self) -> tuple[float, int] | None:
        """When the far edge was last heard, and :attr:`delivered` then; None if it never was."""
        return None if self._heard is None else (self._heard, self.delivered)

    @property
    def last_sent(self) -> float | None:
        """When bytes were last seen to leave; None if they never were."""
        return self._last_sent

    def report(
        self, at: float, dpid: int, rules: Sequence[ReportedRule], source: Attachment, destination: Attachment
    ) -> None:
        """Take one switch's report of this flow's rules."""
        for item in rules:
            if item.packets > 0:
                self._idled_at.pop(item.rule.slot, None)
        if dpid == source.dpid:
            ingress = _bytes(rules, (Kind.FLOW_INGRESS, Kind.FLOW_LEARN), source, destination)
            self._report_sent(at, ingress, _bytes(rules, (Kind.FLOW_CONNECTION,), source, destination))
        if dpid == destination.dpid:
            self._heard = at
        arrived = _bytes(rules, (Kind.FLOW_DELIVERY,), source, destination)
        if dpid == destination.dpid and self._delivered.update(arrived):
            self._unanswered_since = None
            self._last_sent = at  # what arrives has left, also where connections are not counted so often
            self._busy.grew(at, self._delivered.total)

    def _report_sent(self, at: float, seen: dict[Slot, int], connections: dict[Slot, int]) -> None:
        grown = self._sent.update(seen), self._sent_by_connection.update(connections)
        if any(grown):
            self._last_sent = at
            if self._unanswered_since is None:
                self._unanswered_since = at
        self._samples.append((at, self.sent))
        self._counted()

    def begin_anew(self) -> None:
        """Forget rates and evidence: the flow goes another way now, or a switch started anew."""
        self._samples.clear()
        self._counted()
        self._busy = _Busy()
        self._unanswered_since = None

    # -- rate -----------------------------------------------------------------------------------------

    def rate(self, start: float, end: float) -> float | None:
        """Mean rate in bits/s between two times, interpolated; None where no samples surround them."""
        first, last = self._at(start), self._at(end)
        if first is None or last is None or end <= start:
            return None
        return (last - first) * 8 / (end - start)

    @property
    def has_rates(self) -> bool:
        """Whether there are two samples, without which there is no rate."""
        return len(self._samples) >= 2

    def latest(self) -> tuple[float, float] | None:
        """The rate between the last two samples, and when it was taken; None before there are two."""
        if len(self._samples) < 2:
            return None
        (t0, b0), (t1, b1) = self._samples[-2], self._samples[-1]
        return None if t1 <= t0 else ((b1 - b0) * 8 / (t1 - t0), t1)

    def busy_rate(self) -> float | None:
        """Mean rate in bits/s at which bytes arrived while the flow was busy; None before three reports."""
        return self._busy.rate()

    def _at(self, when: float) -> float | None:
        for (t0, b0), (t1, b1) in pairwise(self._samples):
            if t0 <= when <= t1 and t1 > t0:
                return b0 + (b1 - b0) * (when - t0) / (t1 - t0)
        return None

    # -- evidence -------------------------------------------------------------------------------------

    def evidence(self, now: float, installed_at: float, after: float) -> Evidence:
        """What can be said at the time of a report.

        :param installed_at: when the flow's rules were confirmed.
        :param after: seconds of silence, or of unanswered sending, that mean something.
        """
        if self._last_sent is None:
            return Evidence.SILENT if now - installed_at > after else Evidence.WAITING
        since = self._unanswered_since
        if since is not None and self._last_sent - since >= after:
            return Evidence.SWALLOWED
        if now - self._last_sent > after:
            return Evidence.PAUSED
        return Evidence.ARRIVING if self.delivered > 0 else Evidence.LEAVING

    # -- idleness -------------------------------------------------------------------------------------

    def idled_out(self, rule: Rule, at: float) -> None:
        """An ingress rule saw no packet for its time-out."""
        self._idled_at[rule.slot] = at

    def idle(self, rules: Iterable[Rule], at: float) -> bool:
        """Whether all of these rules, at least one, idled out within their time-out, with no packet since."""
        asked = list(rules)
        long_ago = float("-inf")
        return bool(asked) and all(
            at - self._idled_at.get(rule.slot, long_ago) <= rule.idle_timeout for rule in asked
        )


def _bytes(
    rules: Iterable[ReportedRule], kinds: tuple[Kind, ...], source: Attachment, destination: Attachment
) -> dict[Slot, int]:
    return {
        r.rule.slot: r.bytes
        for r in rules
        if cookie_owner(r.rule.cookie)[0] in kinds
        and r.rule.match.ip_src == source.address
        and r.rule.match.ip_dst == destination.address
    }


def by_flows(rules: Iterable[ReportedRule], most: int) -> Iterator[tuple[ReportedRule, ...]]:
    """Rules in parts of so many owners at most, each owner's in one part."""
    mine: dict[str, list[ReportedRule]] = {}
    for item in rules:
        mine.setdefault(owner_of(item.rule), []).append(item)
    owners = list(mine.values())
    for start in range(0, len(owners), most):
        yield tuple(item for items in owners[start : start + most] for item in items)

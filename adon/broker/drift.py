"""What somebody else changed in our switches, and when it may be put right (R4, R20).

A slot was *tampered with* if its content is neither what should be there nor what was there for sure, and we
did not change it ourselves.  A switch tells of a removal at once (FLOW_REMOVED, OpenFlow 1.3.5, 7.4.2); a
rule that was changed, or put in, is found when its rules are read.  What follows depends on
``switches.X.drift``:

- ``heal``: it is put right at once.  Somebody may have a reason to change it again (another controller that
  keeps to its own idea of the table), so each further time it waits longer (:func:`pause`), until the slot
  has not changed for :data:`CALM_S`.  A pause that doubles up to a bound is that of
  TCP's retransmissions (RFC 6298, 5.5).
- ``report``: it is told once and left as it is, until an operator asks for it or the switch reconnects.

Knows slots and times; of what should be in a slot and how it gets there: :mod:`adon.broker.network`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adon.flowvisor.rules.rule import Entry, Slot, rule_text
from adon.flowvisor.topology.path import dpid_text

FREE = 3
"""So many times in a row is a slot put right at once."""
GATHER_S = 0.002
"""A switch that is wiped tells of each rule: what it tells within this time is put back together."""
LONGEST_PAUSE_S = 60.0
CALM_S = 300.0
"""Time without a change after which the changes of a slot are counted from zero."""
_DOUBLINGS = 6  # 2^6 s is beyond the longest pause


class Kind(StrEnum):
    """What was done to a slot, by what it looks like now; the names are those of a comparison's counters."""

    MISSING = "missing"
    WRONG = "wrong"
    EXTRA = "extra"


_DONE: Mapping[Kind, str] = {
    Kind.MISSING: "{} removed from {} by others",
    Kind.WRONG: "{} changed in {} by others",
    Kind.EXTRA: "{} added to {} by others",
}


@dataclass(frozen=True, slots=True)
class Tampering:
    """One slot that somebody else changed.

    :param entry: what should be there; of an extra entry what is there.
    """

    kind: Kind
    entry: Entry


def pause(times: int) -> float:
    """Seconds that a slot waits after it was tampered with so many times: 0, 0, 0, 1, 2, 4 ... 60."""
    if times <= FREE:
        return 0.0
    return min(LONGEST_PAUSE_S, 2.0 ** min(times - FREE - 1, _DOUBLINGS))


def find_tampering(
    wanted: Iterable[Entry],
    believed: Iterable[Entry],
    reported: Iterable[Entry],
    ours: Callable[[Slot], bool],
) -> tuple[Tampering, ...]:
    """What somebody else changed in a switch since its rules were known for sure.

    :param ours: whether what is in a slot may be our own doing: a change of ours is too young for this
        report, was not answered, or was refused.
    """
    should = {entry.slot: entry for entry in wanted}
    before = {entry.slot: entry for entry in believed}
    found = {entry.slot: entry for entry in reported}
    changes: list[Tampering] = []
    for slot in dict.fromkeys((*before, *found)):
        now, right = found.get(slot), should.get(slot)
        if now == before.get(slot) or now == right or ours(slot):
            continue
        if right is not None:
            changes.append(Tampering(Kind.MISSING if now is None else Kind.WRONG, right))
        elif now is not None:
            changes.append(Tampering(Kind.EXTRA, now))
    return tuple(changes)


@dataclass(frozen=True, slots=True)
class _Record:
    """How often a slot was tampered with, and when last."""

    times: int
    last: float


class Drift:
    """The slots that were tampered with and are not right yet; see the module's text.

    A slot is *ready* to be put right, *waits* for its pause to be over, or is only *told* of.

    :param only_told: datapath ids of the switches whose drift is reported, not healed.
    """

    def __init__(self, only_told: frozenset[int] = frozenset()) -> None:
        self._only_told = only_told
        self._records: dict[Slot, _Record] = {}
        self._ready: dict[Slot, None] = {}
        self._waiting: dict[Slot, float] = {}
        self._told: set[Slot] = set()
        self._news: dict[int, list[Tampering]] = {}

    def only_told(self, dpid: int) -> bool:
        """Whether drift in this switch is reported, not healed."""
        return dpid in self._only_told

    def note(self, tampering: Tampering, now: float) -> bool:
        """Take note of a slot; whether this is news: one that is not right yet counts once."""
        slot = tampering.entry.slot
        if slot in self._ready or slot in self._waiting or slot in self._told:
            return False
        past = self._records.get(slot)
        times = 1 if past is None or now - past.last > CALM_S else past.times + 1
        self._records[slot] = _Record(times, now)
        self._news.setdefault(slot[0], []).append(tampering)
        if self.only_told(slot[0]):
            self._told.add(slot)
        else:
            self._waiting[slot] = now + max(GATHER_S, pause(times))
        return True

    def wake(self, now: float) -> None:
        """Let those whose pause is over be put right; forget records that are old."""
        for slot in [slot for slot, due in self._waiting.items() if due <= now]:
            del self._waiting[slot]
            self._ready[slot] = None
        self._records = {slot: kept for slot, kept in self._records.items() if now - kept.last <= CALM_S}

    def next_wake(self) -> float | None:
        """When the next pause is over."""
        return min(self._waiting.values(), default=None)

    def ready(self) -> tuple[Slot, ...]:
        """The slots that may be put right now."""
        return tuple(self._ready)

    def untouchable(self, dpid: int) -> frozenset[Slot]:
        """The slots of a switch that must not be put right now."""
        return frozenset(slot for slot in (*self._waiting, *self._told) if slot[0] == dpid)

    def settle_slot(self, slot: Slot) -> None:
        """A slot is right again, or we write to it: what was done to it is history."""
        self._ready.pop(slot, None)
        self._waiting.pop(slot, None)
        self._told.discard(slot)

    def record_comparison(self, dpid: int, wrong: frozenset[Slot]) -> None:
        """A switch's rules were read, and these slots are not as they should be: all others are settled."""
        open_slots = (*self._ready, *self._waiting, *self._told)
        for slot in [slot for slot in open_slots if slot[0] == dpid and slot not in wrong]:
            self.settle_slot(slot)

    def forgive(self, dpid: int) -> None:
        """Everything in a switch may be put right: an operator said so, or it (dis)connected."""
        self.record_comparison(dpid, frozenset())
        self._news.pop(dpid, None)

    def news(self, dpid: int) -> list[str]:
        """What is to be told of a switch, a line for each kind of change, and forget it."""
        changes = self._news.pop(dpid, [])
        by_kind = {kind: [change.entry for change in changes if change.kind is kind] for kind in Kind}
        return [self._line(dpid, kind, entries) for kind, entries in by_kind.items() if entries]

    def _line(self, dpid: int, kind: Kind, entries: list[Entry]) -> str:
        what = "a rule of ADON was" if len(entries) == 1 else f"{len(entries)} rules of ADON were"
        first = "" if len(entries) == 1 else ", the first of them"
        text = f"{_DONE[kind].format(what, dpid_text(dpid))}{first}: {rule_text(entries[0])}"
        if self.only_told(dpid):
            return f"{text}; not repaired (drift: report) before the next adon rules sync"
        times = max(self._times(entry.slot) for entry in entries)
        if pause(times) > 0:
            text += f"; change {times} in a row: repaired after {pause(times):g} s"
        return text

    def _times(self, slot: Slot) -> int:
        return self._records[slot].times if slot in self._records else 1

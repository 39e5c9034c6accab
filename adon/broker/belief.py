"""What we take to be in the switches: what they reported last, plus what was sent since.

A rule that was sent counts as installed, so that a removal is sent for it; it is *sure* only after a
barrier reply or a report.  A report may have been on its way while something was changed,
so a slot that was changed a moment ago (``policy.settle``) keeps what is believed of it (R4).

Rules are found by slot, by owner and by switch, so that one flow's rules cost as much to look at as it has
rules, however many flows there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Change, Entry, Op, Slot

SETTLE_S = 2.0
"""What ``policy.settle`` is where nothing else is said."""


class Belief:
    """See the module's text.  Times are arguments, seconds since the epoch.

    :param settle: statistics read within so many seconds of a change may predate it: no verdict yet.
    """

    def __init__(self, settle: float = SETTLE_S) -> None:
        self._settle = settle
        self._rules: dict[Slot, Entry] = {}
        self._by_owner: dict[str, dict[Slot, Entry]] = {}
        self._by_switch: dict[int, dict[Slot, Entry]] = {}
        self._deleting: set[Slot] = set()  # a delete went out and was not answered
        self._added_again: set[Slot] = set()  # and after it an add
        self._unsure: set[Slot] = set()
        self._changed_at: dict[Slot, float] = {}

    def of(self, owner: str) -> tuple[Entry, ...]:
        """What is believed to be in the switches of one owner's rules."""
        return tuple(self._by_owner.get(owner, {}).values())

    def at(self, dpid: int) -> tuple[Entry, ...]:
        """What is believed to be in one switch."""
        return tuple(self._by_switch.get(dpid, {}).values())

    def get(self, slot: Slot) -> Entry | None:
        """What is believed to be in one slot."""
        return self._rules.get(slot)

    def sure(self, slot: Slot) -> bool:
        """Whether what is believed of this slot was confirmed or reported, and no delete is unanswered."""
        return slot not in self._unsure and slot not in self._deleting

    def deleting(self, slot: Slot) -> bool:
        """Whether a delete of ours is under way there: a removal that is told of is its doing."""
        return slot in self._deleting

    def holds(self, rule: Entry) -> bool:
        """Whether this very rule is in its switch for sure."""
        return self.sure(rule.slot) and self._rules.get(rule.slot) == rule

    def find_unsettled(self, now: float) -> frozenset[Slot]:
        """The slots whose last change is so recent that a report may not show it."""
        self._changed_at = {s: at for s, at in self._changed_at.items() if now - at < self._settle}
        return frozenset(self._changed_at)

    def record_sent(self, change: Change, now: float) -> None:
        """A change went out: an added rule may be there from now on, a deleted one may still be."""
        slot = change.rule.slot
        self._changed_at[slot] = now
        if change.op is Op.DELETE:
            self._added_again.discard(slot)
            self._deleting.add(slot)
            return
        if slot in self._deleting:
            self._added_again.add(slot)
        self._put(change.rule)
        self._unsure.add(slot)

    def record_confirmed(self, change: Change, now: float) -> None:
        """The barrier behind a change was answered."""
        slot = change.rule.slot
        self._changed_at[slot] = now
        if change.op is Op.DELETE:
            self._deleting.discard(slot)
            if slot in self._added_again:
                self._added_again.discard(slot)  # the switch took the add after this delete
            else:
                self.record_removed(change.rule)
        elif self._rules.get(slot) == change.rule:
            self._unsure.discard(slot)
            if slot in self._added_again:  # one connection keeps the order: the delete was before it
                self._added_again.discard(slot)
                self._deleting.discard(slot)

    def record_removed(self, rule: Entry) -> None:
        """A rule left its switch; one that took its slot meanwhile is still there."""
        held = None if rule.slot in self._added_again else self._rules.get(rule.slot)
        if held is not None and owner_of(held) == owner_of(rule):
            self._drop(held)

    def record_report(self, dpid: int, rules: Iterable[Entry], unsettled: frozenset[Slot]) -> None:
        """Take a switch's own list of rules, but for the unsettled slots."""
        self._deleting = {slot for slot in self._deleting if slot[0] != dpid or slot in unsettled}
        self._added_again &= self._deleting
        for held in self.at(dpid):
            if held.slot not in unsettled:
                self._drop(held)
        for rule in rules:
            if rule.slot not in unsettled:
                self._put(rule)

    def record_reconnection(self, dpid: int) -> None:
        """What was sent over an earlier connection was lost with it, or is in the report to come."""
        self._changed_at = {slot: at for slot, at in self._changed_at.items() if slot[0] != dpid}
        self._deleting = {slot for slot in self._deleting if slot[0] != dpid}
        self._added_again = {slot for slot in self._added_again if slot[0] != dpid}

    def _put(self, rule: Entry) -> None:
        held = self._rules.get(rule.slot)
        if held is not None:
            self._drop(held)
        self._rules[rule.slot] = rule
        self._by_owner.setdefault(owner_of(rule), {})[rule.slot] = rule
        self._by_switch.setdefault(rule.dpid, {})[rule.slot] = rule

    def _drop(self, rule: Entry) -> None:
        del self._rules[rule.slot]
        self._unsure.discard(rule.slot)
        del self._by_switch[rule.dpid][rule.slot]
        owner = owner_of(rule)
        del self._by_owner[owner][rule.slot]
        if not self._by_owner[owner]:
            del self._by_owner[owner]

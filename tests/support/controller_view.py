"""What switches have told a controller of their entries, from their answers alone.

An independent account of what the broker may count as installed (:mod:`tests.support.laws`).
"""

from __future__ import annotations

from dataclasses import replace

from adon.broker.effects import SendBatch
from adon.broker.events import BatchConfirmed, BatchFailed, Event, RuleRemoved, RulesReported, SwitchUp
from adon.flowvisor.rules.action import ToGroup
from adon.flowvisor.rules.connections import is_connections
from adon.flowvisor.rules.rule import Change, Entry, GroupEntry, MeterEntry, Op, Rule, Slot


class ControllerView:
    """See the module's text.

    :param settle: a report says nothing of an entry that was changed within so many seconds before it.
    """

    def __init__(self, settle: float) -> None:
        self._settle = settle
        self._entries: dict[Slot, Entry] = {}
        self._changed: dict[Slot, float] = {}
        self._batches: dict[str, SendBatch] = {}
        self._known: dict[int, tuple[Entry, ...]] = {}

    def knows_all(self, entries: tuple[Entry, ...]) -> bool:
        """Return whether these very entries are in their switches as far as the switches have said.

        A tuple whose entries are all there is not read again until a switch says something new.
        """
        if self._known.get(id(entries)) is not entries:
            if not all(map(self._knows, entries)):
                return False
            self._known[id(entries)] = entries
        return True

    def _knows(self, entry: Entry) -> bool:
        # An entry of connections stands for a rule of each, and is in no switch itself.
        return is_connections(entry) or self._entries.get(entry.slot) == _as_reported(entry)

    def note_sent(self, batch: SendBatch, now: float) -> None:
        """Note a batch that was sent."""
        self._batches[batch.batch] = batch
        self._changed |= {change.rule.slot: now for change in batch.changes}

    def take(self, event: Event) -> None:
        """Take what a switch says."""
        if isinstance(event, BatchConfirmed | BatchFailed | RulesReported | RuleRemoved):
            self._known.clear()
        match event:
            case BatchConfirmed(batch=batch):
                self._confirm(self._batches[batch].changes, event.at)
            case BatchFailed(batch=batch, refused=refused) if refused:
                places = {place for place, _ in refused}
                changes = self._batches[batch].changes
                self._confirm(tuple(c for place, c in enumerate(changes) if place not in places), event.at)
            case RulesReported():
                self._compare(event)
            case RuleRemoved(rule=rule):
                self._entries.pop(rule.slot, None)
            case SwitchUp(dpid=dpid):
                self._changed = {slot: at for slot, at in self._changed.items() if slot[0] != dpid}

    def _confirm(self, changes: tuple[Change, ...], now: float) -> None:
        for change in changes:
            entry = change.rule
            self._changed[entry.slot] = now
            if change.op is Op.DELETE:
                if _differs(self._entries.get(entry.slot), entry):
                    continue  # the cookie filter: another owner has the slot by now
                self._entries.pop(entry.slot, None)
                for slot in [slot for slot, held in self._entries.items() if _depends(held, entry)]:
                    del self._entries[slot]
            else:
                self._entries[entry.slot] = _as_reported(entry)

    def _compare(self, event: RulesReported) -> None:
        recent = {slot for slot, at in self._changed.items() if event.at - at < self._settle}
        kept = {slot: e for slot, e in self._entries.items() if slot[0] != event.dpid or slot in recent}
        reported: list[Entry] = [*(item.rule for item in event.rules), *event.equipment]
        self._entries = {entry.slot: entry for entry in reported if entry.slot not in recent} | kept


def _differs(held: Entry | None, entry: Entry) -> bool:
    return isinstance(held, Rule) and isinstance(entry, Rule) and held.cookie != entry.cookie


def _depends(rule: Entry, entry: Entry) -> bool:
    if not isinstance(rule, Rule) or rule.dpid != entry.dpid:
        return False
    match entry:
        case GroupEntry():
            return ToGroup(entry.number) in rule.actions
        case MeterEntry():
            return rule.meter == entry.number
    return False


def _as_reported(entry: Entry) -> Entry:
    """A switch does not know the owner of a meter."""
    return replace(entry, owner=None) if isinstance(entry, MeterEntry) else entry

"""The rules that owners want, found by owner and by switch.

The union of what all owners want is the desired state (:mod:`adon.broker.network`).  One owner's wish
changes at a time and costs as much as it has rules, however many owners there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Entry, MeterEntry, Rule, Slot


class Wanted:
    """See the module's text.

    :param rules: what is wanted from the beginning; a meter belongs to whose rules pass through it.
    """

    def __init__(self, rules: Iterable[Entry] = ()) -> None:
        self._of: dict[str, tuple[Entry, ...]] = {}
        self._at: dict[int, dict[str, tuple[Entry, ...]]] = {}
        self._meters: dict[Slot, str] = {}
        self._rules: dict[int, int] = {}
        found = tuple(rules)
        users = {(r.dpid, r.meter): owner_of(r) for r in found if isinstance(r, Rule) and r.meter is not None}
        by_owner: dict[str, list[Entry]] = {}
        for rule in found:
            owner = owner_of(rule)
            if isinstance(rule, MeterEntry):
                owner = users.get((rule.dpid, rule.number), owner)
            by_owner.setdefault(owner, []).append(rule)
        for owner, wanted in by_owner.items():
            self.put(owner, tuple(wanted))

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._of))

    def owner(self, entry: Entry) -> str:
        """Whose an entry is; a meter does not say it itself, but who wants it is known."""
        return self._meters.get(entry.slot, owner_of(entry))

    def of(self, owner: str) -> tuple[Entry, ...]:
        """The rules of one owner."""
        return self._of.get(owner, ())

    def at(self, dpid: int) -> tuple[Entry, ...]:
        """All rules that belong in one switch, by owner."""
        return tuple(rule for rules in self._at.get(dpid, {}).values() for rule in rules)

    def count(self, dpid: int) -> int:
        """How many rules belong in one switch; groups and meters do not count."""
        return self._rules.get(dpid, 0)

    def put(self, owner: str, rules: tuple[Entry, ...]) -> None:
        """An owner wants exactly these rules."""
        for rule in self.of(owner):
            self._meters.pop(rule.slot, None)
            self._rules[rule.dpid] = self.count(rule.dpid) - isinstance(rule, Rule)
        for rule in rules:
            self._rules[rule.dpid] = self.count(rule.dpid) + isinstance(rule, Rule)
        self._meters |= {rule.slot: owner for rule in rules if isinstance(rule, MeterEntry)}
        here: dict[int, list[Entry]] = {}
        for rule in rules:
            here.setdefault(rule.dpid, []).append(rule)
        for dpid in {rule.dpid for rule in self.of(owner)} - here.keys():
            del self._at[dpid][owner]
        for dpid, wanted in here.items():
            self._at.setdefault(dpid, {})[owner] = tuple(wanted)
        self._of[owner] = rules

    def drop(self, owner: str) -> None:
        """An owner is no more."""
        self.put(owner, ())
        del self._of[owner]

"""The rules that owners want, found by owner and by switch.

The union of what all owners want is the desired state (:mod:`adon.broker.network`).  One owner's wish
changes at a time and costs as much as it has rules, however many owners there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adon.broker.belief import owner_of
from adon.flowvisor.rule import Rule


class Wanted:
    """See the module's text.

    :param rules: what is wanted from the beginning.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._of: dict[str, tuple[Rule, ...]] = {}
        self._at: dict[int, dict[str, tuple[Rule, ...]]] = {}
        by_owner: dict[str, list[Rule]] = {}
        for rule in rules:
            by_owner.setdefault(owner_of(rule), []).append(rule)
        for owner, wanted in by_owner.items():
            self.put(owner, tuple(wanted))

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._of))

    def of(self, owner: str) -> tuple[Rule, ...]:
        """The rules of one owner."""
        return self._of.get(owner, ())

    def at(self, dpid: int) -> tuple[Rule, ...]:
        """All rules that belong in one switch, by owner."""
        return tuple(rule for rules in self._at.get(dpid, {}).values() for rule in rules)

    def count(self, dpid: int) -> int:
        """How many rules belong in one switch."""
        return sum(len(rules) for rules in self._at.get(dpid, {}).values())

    def put(self, owner: str, rules: tuple[Rule, ...]) -> None:
        """An owner wants exactly these rules."""
        here: dict[int, list[Rule]] = {}
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

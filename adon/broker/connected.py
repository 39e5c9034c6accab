"""How many connections unannounced flows have in each switch, as far as is known.

A switch's report says it; what was let in since is added.  What has idled out since is not known: the number
is never too small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


class Connected:
    """See the module's text."""

    def __init__(self) -> None:
        self._by_owner: dict[str, Counter[int]] = {}
        self._by_switch: Counter[int] = Counter()

    def at(self, dpid: int) -> int:
        """In one switch."""
        return self._by_switch[dpid]

    def of(self, owner: str) -> Counter[int]:
        """Of one flow, per switch."""
        return self._by_owner.get(owner, Counter())

    def count_admitted(self, owner: str, dpid: int, number: int) -> None:
        """So many more were let in."""
        self._by_owner.setdefault(owner, Counter())[dpid] += number
        self._by_switch[dpid] += number

    def record_report(self, dpid: int, connections: Mapping[str, int]) -> None:
        """A switch has these, by owner."""
        for owner in [name for name, counts in self._by_owner.items() if counts[dpid]]:
            self._by_owner[owner][dpid] = 0
            if not self._by_owner[owner].total():
                del self._by_owner[owner]
        self._by_switch[dpid] = 0
        for owner, number in connections.items():
            self.count_admitted(owner, dpid, number)

"""How many connections there may be, and how many from one address: pure counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from apps.rest.rates import network_of


class Places:
    """Places for connections; lives on one thread.

    :param most: connections at once.
    :param most_each: of those, from one address; an IPv6 /64 is one.
    :param exempt: whether an address may have more: a proxy of ours brings everybody's connections.
    """

    def __init__(self, most: int, most_each: int, exempt: Callable[[str], bool] = lambda _: False) -> None:
        self._most, self._most_each, self._exempt = most, most_each, exempt
        self._taken: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Take a place; False if there is none for this address."""
        who = network_of(address)
        if self._taken.total() >= self._most:
            return False
        if self._taken[who] >= self._most_each and not self._exempt(address):
            return False
        self._taken[who] += 1
        return True

    def leave(self, address: str) -> None:
        """Give it back."""
        who = network_of(address)
        self._taken[who] -= 1
        if self._taken[who] <= 0:
            del self._taken[who]

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

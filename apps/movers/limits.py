"""What each tool is to be held to, and whether it has been told.  It asks nobody: that is the loop's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from adon.transfers.machine import Transfer


class Limits:
    """Of every tool that can be limited.

    A tool that was never limited is left as it is: somebody else may have set its limit.

    :param tools: their names.
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._tools = tuple(tools)
        self._in_force: dict[str, float | None] = {}
        self._tried: dict[str, float | None] = {}
        self._under_way: set[str] = set()
        self._stale: set[str] = set()

    def due(self, transfers: Mapping[str, Collection[Transfer]]) -> list[tuple[str, float | None]]:
        """Which tools are to be told now, and what; each is taken to be under way until :meth:`heard`.

        :param transfers: of each tool.
        """
        found = []
        for at in self._tools:
            wanted = wanted_of(transfers.get(at, ()))
            if at in self._under_way or (wanted == self._in_force.get(at) and at not in self._stale):
                continue
            self._under_way.add(at)
            self._stale.discard(at)
            self._tried[at] = wanted
            found.append((at, wanted))
        return found

    def held(self, at: str, transfers: Collection[Transfer]) -> bool:
        """Whether a tool has been told what it is to keep to, or could not be."""
        if at not in self._tools:
            return True
        return at not in self._under_way and self._tried.get(at) == wanted_of(transfers)

    def heard(self, at: str, rate: float | None, *, heard: bool) -> bool:
        """A tool was told, or did not hear; whether another limit is in force now."""
        self._under_way.discard(at)
        if not heard:
            self._stale.add(at)
            return False
        changed = self._in_force.get(at) != rate
        self._in_force[at] = rate
        return changed

    def doubted(self, at: str) -> None:
        """A tool was away: if it was started anew, it does not know its limit any more."""
        if at in self._in_force:
            self._stale.add(at)


def wanted_of(transfers: Collection[Transfer]) -> float | None:
    """What a tool is held to by the rates of what it moves, in bits/s; None for nothing."""
    rates = [one.rate for one in transfers if one.phase.may_run]
    known = [rate for rate in rates if rate is not None]
    # One that nothing is known of must not be held by what others have.
    return sum(known) if known and len(known) == len(rates) else None

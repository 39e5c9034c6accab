"""When a switch's rules are to be read, and whether its report is then gone through for repairs.

A report comes for several reasons; most of them only tell what is there.  It is compared and repaired
from when the switch is *urgent* (it has just connected, something went wrong with it, an operator asked)
or was not looked at for a period.
"""

from __future__ import annotations

from collections.abc import Iterable


class Checks:
    """Per datapath id, what is known of its last and its next comparison.

    :param period: seconds after which any report is gone through.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._urgent: set[int] = set()
        self._ordered: set[int] = set()
        self._looked_at: dict[int, float] = {}
        self._again_at: dict[int, float] = {}

    def at_once(self, dpid: int) -> None:
        """The switch's next report is to be gone through."""
        self._urgent.add(dpid)

    def order(self, dpids: Iterable[int]) -> None:
        """The same because an operator asked: what only would be told is put right, too."""
        ordered = tuple(dpids)
        self._urgent.update(ordered)
        self._ordered.update(ordered)

    def is_requested(self, dpid: int) -> bool:
        """Whether an operator asked, and that was not done yet."""
        return dpid in self._ordered

    def again(self, dpid: int, at: float) -> None:
        """Read the switch at a time, or earlier if that was wanted already, and go through its report."""
        self._urgent.add(dpid)
        self._again_at[dpid] = min(at, self._again_at.get(dpid, at))

    def forget_switch(self, dpid: int) -> None:
        """A switch that is away cannot be read."""
        self._again_at.pop(dpid, None)

    def urgent(self, dpid: int) -> bool:
        """Whether the switch's next report is to be gone through for more than the period."""
        return dpid in self._urgent

    def due(self, dpid: int, now: float) -> bool:
        """Whether a report that came now is to be gone through."""
        return dpid in self._urgent or now - self._looked_at.get(dpid, 0.0) >= self._period

    def looked_at(self, dpid: int, now: float, *, whole: bool) -> None:
        """A report was gone through.

        :param whole: nothing in it had to be left for later.
        """
        self._looked_at[dpid] = now
        if whole:
            self._urgent.discard(dpid)
            self._ordered.discard(dpid)

    def wake(self, now: float) -> tuple[int, ...]:
        """The switches that are to be read now, in order; each is told once, and is urgent again."""
        ready = tuple(sorted(dpid for dpid, at in self._again_at.items() if at <= now))
        for dpid in ready:
            del self._again_at[dpid]
        self._urgent.update(ready)
        return ready

    def next_wake(self) -> float | None:
        """When :meth:`wake` is wanted next."""
        return min(self._again_at.values(), default=None)

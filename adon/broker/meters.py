"""Which meter number each flow has in each switch: the lowest that is free among ours (R13).

Numbers are restored from the rules of the last run, so a restart keeps every meter.  A flow keeps its
number until it is forgotten: by then the switch has removed the meter.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from adon.flowvisor.rules.pipeline import METER_COUNT, METER_FIRST
from adon.flowvisor.rules.rule import Entry, MeterEntry


class Meters:
    """See the module's text.

    :param entries: what the last run wanted.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._taken: dict[int, dict[int, int]] = {}
        for entry in entries:
            if isinstance(entry, MeterEntry) and entry.owner is not None:
                self._taken.setdefault(entry.dpid, {})[entry.owner] = entry.number

    def number(self, dpid: int, flow: int) -> int | None:
        """The number of a flow's meter in one switch; None if all numbers of ours are in use."""
        taken = self._taken.setdefault(dpid, {})
        if flow not in taken:
            if len(taken) >= METER_COUNT:
                return None
            used = set(taken.values())
            taken[flow] = next(number for number in count(METER_FIRST) if number not in used)
        return taken[flow]

    def forget(self, flow: int) -> None:
        """Give a flow's numbers back."""
        for taken in self._taken.values():
            taken.pop(flow, None)

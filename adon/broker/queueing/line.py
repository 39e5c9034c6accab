"""The line of those who wait, kept as they come and go: no event sorts it.

Flows are in the order of their turns (:mod:`adon.broker.queueing.turns`), which waiting does not change.  To
come or to go costs a binary search and a shift of one array; a flow changes its turn at most twice, when its
deadline comes near and when it is past, and those times are in a heap.

Flows that are alike (:attr:`~adon.broker.queueing.turns.Waiter.alike`) and wait in the same way stand
together as :class:`Alike`: what is refused to the first of them need not be tried for the others.

A test compares the line with sorting all flows anew.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from types import MappingProxyType

from adon.broker.queueing.refusal import Fate, Refusal
from adon.broker.queueing.turns import Phase, Position, Rules, Waiter, next_change, phase, turn
from measurement.model import PathKey

Ends = tuple[str, str]
"""The sites that flows go from and to."""
Resource = PathKey | str
"""What a flow can wait for: a directed path, or (a name) a compute site."""

FIRST: Position = (-math.inf, 0)
"""Before everybody."""
NO_WAITERS: Mapping[Hashable, Alike] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Alike:
    """Waiting flows whose admission depends on the same facts, in the order of their turns.

    :param held: what was refused to them, by all that may differ between them.
    :param wants: the path or site whose room they wait for, as far as room is all that they lack.
    """

    key: Hashable
    ends: Ends
    positions: list[Position] = field(default_factory=list)
    held: dict[Fate, Refusal] = field(default_factory=dict)
    wants: Resource | None = None

    def after(self, position: Position) -> Position | None:
        """The first of them behind a position."""
        index = bisect_right(self.positions, position)
        return self.positions[index] if index < len(self.positions) else None


class Line:
    """See the module's text."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = Rules() if rules is None else rules
        self._waiters: dict[int, Waiter] = {}
        self._phases: dict[int, Phase] = {}
        self._order: list[Position] = []
        self._alike: dict[Ends, dict[Hashable, Alike]] = {}
        self._wanting: dict[Resource, dict[Alike, None]] = {}
        self._asleep: list[tuple[float, int]] = []
        self._due: list[tuple[float, int]] = []
        self._changes: list[tuple[float, int]] = []  # a heap; who has gone meanwhile is a stale entry
        self._came: dict[Ends, int] = {}

    def __len__(self) -> int:
        return len(self._waiters)

    def __contains__(self, number: int) -> bool:
        return number in self._waiters

    # -- who comes and goes -------------------------------------------------------------------------------

    def put(self, waiter: Waiter, now: float) -> None:
        """A flow waits; one that does already waits as it is told now."""
        self.drop(waiter.number)
        self._waiters[waiter.number] = waiter
        self._enter(waiter, now)

    def drop(self, number: int) -> None:
        """A flow does not wait any more."""
        if number in self._waiters:
            self._leave(self._waiters[number])
            del self._waiters[number]

    def advance(self, now: float) -> bool:
        """Let time pass; whether somebody waits in another way by it."""
        changed = False
        while self._changes and self._changes[0][0] <= now:
            _, number = heapq.heappop(self._changes)
            waiter = self._waiters.get(number)
            if waiter is None:
                continue
            if phase(waiter, now, self.rules) is not self._phases[number]:
                self._leave(waiter)
                self._enter(waiter, now)
                changed = True
            else:
                self._watch(waiter, now)
        return changed

    def next_change(self) -> float | None:
        """When :meth:`advance` has something to do next; None if never."""
        while self._changes and self._changes[0][1] not in self._waiters:
            heapq.heappop(self._changes)
        return self._changes[0][0] if self._changes else None

    # -- one flow -----------------------------------------------------------------------------------------

    def waiter(self, number: int) -> Waiter | None:
        """A waiting flow; None if it does not wait."""
        return self._waiters.get(number)

    def phase(self, number: int) -> Phase:
        """How a waiting flow waits."""
        return self._phases[number]

    def position(self, number: int) -> Position:
        """Where a waiting flow is in the line."""
        return turn(self._waiters[number], self._phases[number], self.rules)

    def alike(self, number: int) -> Alike | None:
        """Those with which a flow stands together; None while it is asleep or due."""
        waiter, how = self._waiters[number], self._phases[number]
        return self._alike.get(waiter.ends, NO_WAITERS).get((waiter.alike, how))

    def before(self, number: int) -> int:
        """How many are before a waiting flow."""
        return bisect_left(self._order, self.position(number))

    # -- all of them --------------------------------------------------------------------------------------

    def due(self) -> list[int]:
        """Those whose reserved time has begun, the earliest first."""
        return [number for _, number in self._due]

    def directions(self) -> Mapping[Ends, Mapping[Hashable, Alike]]:
        """Those who stand together, by the sites that they go between."""
        return self._alike

    def came(self, ends: Ends) -> int:
        """Counts up whenever somebody comes to wait between these sites."""
        return self._came.get(ends, 0)

    def first(self, count: int | None = None) -> list[int]:
        """The first in line, those asleep the last."""
        return [number for _, number in islice(chain(self._due, self._order, self._asleep), count)]

    def front(self, count: int) -> list[int]:
        """The first in line, without those that are asleep."""
        return [number for _, number in islice(chain(self._due, self._order), count)]

    # -- what they wait for -------------------------------------------------------------------------------

    def want(self, those: Alike, resource: Resource | None) -> None:
        """Some that are alike lack room of this, and nothing else."""
        if resource != those.wants:
            self._want_nothing(those)
            those.wants = resource
            if resource is not None:
                self._wanting.setdefault(resource, {})[those] = None

    def wants(self, number: int) -> bool:
        """Whether a flow waits for room of something."""
        those = self.alike(number) if number in self._waiters else None
        return those is not None and those.wants is not None

    def wanting(self, resource: Resource) -> Collection[Alike]:
        """Those who wait for this to have room."""
        return self._wanting.get(resource, {}).keys()

    @property
    def has_claims(self) -> bool:
        """Whether anybody waits for room of anything."""
        return bool(self._wanting)

    def _want_nothing(self, those: Alike) -> None:
        if those.wants is not None:
            held = self._wanting[those.wants]
            del held[those]
            if not held:
                del self._wanting[those.wants]
            those.wants = None

    # -- the indexes --------------------------------------------------------------------------------------

    def _enter(self, waiter: Waiter, now: float) -> None:
        how = self._phases[waiter.number] = phase(waiter, now, self.rules)
        self._watch(waiter, now)
        if how is Phase.ASLEEP:
            insort(self._asleep, (waiter.not_before, waiter.number))
        elif how is Phase.DUE:
            insort(self._due, (waiter.begins, waiter.number))
        else:
            self._line_up(waiter, how)

    def _watch(self, waiter: Waiter, now: float) -> None:
        change = next_change(waiter, now, self.rules)
        if change < math.inf:
            heapq.heappush(self._changes, (change, waiter.number))

    def _line_up(self, waiter: Waiter, how: Phase) -> None:
        position = turn(waiter, how, self.rules)
        insort(self._order, position)
        self._came[waiter.ends] = self.came(waiter.ends) + 1
        together = self._alike.setdefault(waiter.ends, {})
        key = (waiter.alike, how)
        if key not in together:
            together[key] = Alike(key, waiter.ends)
        insort(together[key].positions, position)

    def _leave(self, waiter: Waiter) -> None:
        how = self._phases.pop(waiter.number)
        if how is Phase.ASLEEP:
            _take_out(self._asleep, (waiter.not_before, waiter.number))
        elif how is Phase.DUE:
            _take_out(self._due, (waiter.begins, waiter.number))
        else:
            self._step_out(waiter, how)

    def _step_out(self, waiter: Waiter, how: Phase) -> None:
        position = turn(waiter, how, self.rules)
        _take_out(self._order, position)
        together = self._alike[waiter.ends]
        those = together[waiter.alike, how]
        _take_out(those.positions, position)
        if not those.positions:
            self._want_nothing(those)
            del together[waiter.alike, how]
            if not together:
                del self._alike[waiter.ends]


def _take_out(line: list[Position], position: Position) -> None:
    index = bisect_left(line, position)
    if index == len(line) or line[index] != position:
        raise LookupError(f"{position} is not in line")
    del line[index]

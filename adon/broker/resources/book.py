"""The book of one place: what it has, what flows hold of it, what is reserved of it, and what is free when.

What a flow holds it holds from now on; until when is an expectation (the upper end of its forecast), and
a late flow still holds what it has.  What is reserved is *committed* from its beginning to its end,
used or not.  Flows draw on the reservations that are for them before they take
anything else, so at any instant::

    committed = Σ over everybody of max(what their flows hold, what is reserved for them)

where "everybody" is the owners of reservations, each flow that has a reservation of its own at that instant,
and all others together.  At other times such a flow draws on what is reserved for its owner, as any other
flow does.  Nothing is given that would bring this above what the place has, at any instant at which the
newcomer would be there.  So what is held never exceeds what the place has, as long as that does not shrink;
and what is committed never does, unless a flow is late (:meth:`Book.find_shortages` says so).

Values and functions only; ``now`` in seconds since the epoch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import add, neg, sub
from typing import NamedTuple

from adon.broker.resources.amounts import NOTHING, Amounts, Limits, Shortage
from adon.broker.resources.reservation import Reservation
from adon.errors import Conflict
from adon.values import FrozenMap

_Vector = tuple[int, ...]
_ZERO: _Vector = NOTHING.vector


class Who(NamedTuple):
    """For whom something is asked: a person, and one flow of theirs unless it is for all of them."""

    owner: str
    flow: int | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """What one flow holds of a place.

    :param until: when it is expected to give it back; infinite if unknown.
    """

    amounts: Amounts
    who: Who
    until: float = math.inf


class Step(NamedTuple):
    """From this time on so much is free, until the next step."""

    at: float
    free: Limits


@dataclass(frozen=True, slots=True)
class Book:
    """See the module's text; replaced as a whole by every change.

    :param holds: by flow number.
    :param held: the sum of what they hold.
    """

    limits: Limits
    holds: Mapping[int, Hold] = field(default_factory=FrozenMap)
    reserved: tuple[Reservation, ...] = ()
    held: Amounts = NOTHING

    @classmethod
    def of(cls, limits: Limits, holds: Mapping[int, Hold], reserved: tuple[Reservation, ...] = ()) -> Book:
        """A book with these entries, whether or not there is as much."""
        held = NOTHING
        for hold in holds.values():
            held += hold.amounts
        return cls(limits, FrozenMap(holds), reserved, held)

    # -- entries --------------------------------------------------------------------------------------

    def hold(self, flow: int, hold: Hold, now: float) -> Book:
        """The book after a flow took this.

        :raises Conflict: if the flow holds something already, or so much is not free as long as it stays.
        """
        if flow in self.holds:
            raise Conflict("flow", f"f-{flow} holds {self.holds[flow].amounts.words} here already")
        short = self.lacking(hold.amounts, now, now, hold.until, hold.who)
        if short:
            raise Conflict("resources", "; ".join(one.words for one in short))
        held = self.held + hold.amounts
        return replace(self, holds=FrozenMap({**self.holds, flow: hold}), held=held)

    def release(self, flow: int) -> Book:
        """The book after a flow gave back what it held; itself where it held nothing."""
        gone = self.holds.get(flow)
        if gone is None:
            return self
        left = {number: hold for number, hold in self.holds.items() if number != flow}
        return replace(self, holds=FrozenMap(left), held=self.held - gone.amounts)

    def reserve(self, reservation: Reservation) -> Book:
        """The book with one reservation more, whether or not there is as much."""
        return replace(self, reserved=(*self.reserved, reservation))

    def drop(self, number: int) -> Book:
        """The book without one reservation."""
        return replace(self, reserved=tuple(one for one in self.reserved if one.number != number))

    # -- what is free ---------------------------------------------------------------------------------

    def lacking(
        self, asked: Amounts, now: float, begins: float, ends: float, who: Who, *, reserving: bool = False
    ) -> tuple[Shortage, ...]:
        """What of these amounts is not free for somebody at some instant between these times.

        :param reserving: it is to be reserved, rather than held.
        """
        if reserving:
            asked = self._with_its_own(asked, who)
        return self.free(now, begins, ends, who, reserving=reserving).lacks(asked)

    def free(self, now: float, begins: float, ends: float, who: Who, *, reserving: bool = False) -> Limits:
        """What somebody can have all the time between these times, with what they have already kept."""
        if not self.reserved and begins <= now and not reserving:
            return self.limits.less(self.held)  # holds only end: there is never less than now
        free = self._free_at(begins, now, who, reserving=reserving)
        for one in self.reserved:
            if begins < one.begins < ends:  # nothing else ever takes more than before
                free = free.least(self._free_at(one.begins, now, who, reserving=reserving))
        return free

    def _free_at(self, at: float, now: float, who: Who, *, reserving: bool) -> Limits:
        held, reserved = self._shares(at, now, who.flow if reserving else None)
        mine, used = who if reserving else self._key(who, at), NOTHING
        for key in held.keys() | reserved.keys():
            if key != mine:
                used += held.get(key, NOTHING).at_least(reserved.get(key, NOTHING))
        return self.limits.less(used + (reserved if reserving else held).get(mine, NOTHING))

    def _shares(
        self, at: float, now: float, apart: int | None = None
    ) -> tuple[dict[Who, Amounts], dict[Who, Amounts]]:
        """What everybody's flows hold at a time, and what is reserved for them then.

        :param apart: a flow that is about to have a reservation of its own.
        """
        held: dict[Who, Amounts] = {}
        for hold in self.holds.values():
            if at <= now or hold.until <= now or at < hold.until:
                key = self._key(hold.who, at, apart)
                held[key] = held.get(key, NOTHING) + hold.amounts
        reserved: dict[Who, Amounts] = {}
        for one in self.reserved:
            if one.begins <= at < one.ends:
                key = Who(one.owner, one.flow)
                reserved[key] = reserved.get(key, NOTHING) + one.amounts
        return held, reserved

    def _key(self, who: Who, at: float, apart: int | None = None) -> Who:
        """Whose reservations this is drawn on then: the flow's own if it has any, else its owner's."""
        if who.flow in (None, apart):
            return who
        own = any(one.flow == who.flow and one.begins <= at < one.ends for one in self.reserved)
        return who if own else Who(who.owner)

    def _with_its_own(self, asked: Amounts, who: Who) -> Amounts:
        """What is committed by a reservation for one flow: at least what that flow holds already."""
        hold = None if who.flow is None else self.holds.get(who.flow)
        return asked if hold is None else asked.at_least(hold.amounts)

    def find_shortages(self, now: float) -> tuple[Shortage, ...]:
        """What is committed now and not there: a flow is late, or the place has shrunk."""
        held, reserved = self._shares(now, now)
        used = NOTHING
        for key in held.keys() | reserved.keys():
            used += held.get(key, NOTHING).at_least(reserved.get(key, NOTHING))
        return self.limits.lacks(used)

    # -- what will be free ----------------------------------------------------------------------------

    def profile(self, now: float, who: Who) -> list[Step]:
        """What somebody can reserve, from now on: a step for every time at which that may change."""
        times = {now}
        times.update(hold.until for hold in self.holds.values() if now < hold.until < math.inf)
        for one in self.reserved:
            times.update(at for at in (one.begins, one.ends) if at > now)
        sweep = _Sweep(self, now, who)
        return [Step(at, sweep.free_at(at)) for at in sorted(times)]

    def earliest(self, asked: Amounts, now: float, after: float, length: float, who: Who) -> float | None:
        """The first time from ``after`` on at which these amounts can be reserved for so long; None if never.

        By present knowledge: each holder gives back at its expected time, and a late holder never.
        """
        start: float | None = None
        asked = self._with_its_own(asked, who)
        steps = self.profile(now, who)
        for step, end in zip(steps, [*(step.at for step in steps[1:]), math.inf], strict=True):
            if end <= after:
                continue
            if not step.free.holds(asked):
                start = None
                continue
            start = max(after, step.at) if start is None else start
            if end >= start + length:
                return start
        return start


class _Sweep:
    """Goes through the times in order and keeps what everybody holds and has reserved, step by step."""

    def __init__(self, book: Book, now: float, who: Who) -> None:
        self._limits, self._who = book.limits, who
        self._held: dict[Who, _Vector] = {}
        self._reserved: dict[Who, _Vector] = {}
        self._all = _ZERO
        self._changes = sorted(_changes(book, now, who.flow), key=lambda change: change.at)
        self._next = 0

    def free_at(self, at: float) -> Limits:
        """What is free from this time on; times come in order."""
        while self._next < len(self._changes) and self._changes[self._next].at <= at:
            self._apply(self._changes[self._next])
            self._next += 1
        others = map(sub, self._all, self._committed_amounts(self._who))
        return self._limits.less(Amounts(*map(add, others, self._reserved.get(self._who, _ZERO))))

    def _apply(self, change: _Change) -> None:
        before = self._committed_amounts(change.key)
        of = self._reserved if change.reserved else self._held
        of[change.key] = tuple(map(add, of.get(change.key, _ZERO), change.more))
        self._all = tuple(map(sub, map(add, self._all, self._committed_amounts(change.key)), before))

    def _committed_amounts(self, key: Who) -> _Vector:
        return tuple(map(max, self._held.get(key, _ZERO), self._reserved.get(key, _ZERO)))


class _Change(NamedTuple):
    """At this time somebody has so much more, or less, of what they hold or have reserved."""

    at: float
    key: Who
    more: _Vector
    reserved: bool


def _changes(book: Book, now: float, apart: int | None) -> Iterator[_Change]:
    at_first: dict[Who, _Vector] = {}
    turns: dict[int | None, list[float]] = {}
    for one in book.reserved:
        if one.flow not in (None, apart):
            turns.setdefault(one.flow, []).extend((one.begins, one.ends))
    for hold in book.holds.values():
        key, amounts = book._key(hold.who, -math.inf, apart), hold.amounts.vector
        at_first[key] = tuple(map(add, at_first.get(key, _ZERO), amounts))
        until = hold.until if now < hold.until else math.inf
        for at in sorted(turns.get(hold.who.flow, ())):
            then = book._key(hold.who, at, apart)
            if then != key and at < until:
                yield _Change(at, key, tuple(map(neg, amounts)), reserved=False)
                yield _Change(at, then, amounts, reserved=False)
                key = then
        if until < math.inf:
            yield _Change(until, key, tuple(map(neg, amounts)), reserved=False)
    for key, held in at_first.items():
        yield _Change(-math.inf, key, held, reserved=False)
    for one in book.reserved:
        key, amounts = Who(one.owner, one.flow), one.amounts.vector
        yield _Change(one.begins, key, amounts, reserved=True)
        yield _Change(one.ends, key, tuple(map(neg, amounts)), reserved=True)

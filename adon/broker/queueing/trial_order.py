"""Who is to be tried now: those in line whom no refusal covers that still holds.

Made anew whenever something has changed by which refusals may not hold any more; what is in here is true for
one moment.  See :mod:`adon.broker.queueing.queue_round`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.broker import limits
from adon.broker.events import Event
from adon.broker.queueing import ground
from adon.broker.queueing.claims import Claimant, claimants, has_waited, kept_from, missing_resource
from adon.broker.queueing.line import FIRST, Alike, Ends
from adon.broker.queueing.refusal import NONE, Fate, Ground, Kept, Refusal
from adon.broker.queueing.trial import Trial
from adon.broker.queueing.turns import Position
from adon.broker.world import World

MOST_HELD = 64
"""Refusals remembered of flows that are alike; with more, all are forgotten."""


@dataclass(frozen=True, slots=True)
class Place:
    """A flow that is to be tried: where it stands, and with whom."""

    those: Alike
    position: Position
    fate: Fate
    kept: Kept


@dataclass(frozen=True, slots=True)
class Quiet:
    """Between two sites everybody was refused, and would be again.

    :param came: how many had come to wait there.
    :param claimants: for whom what was kept.
    :param refusals: what all of that rests on.
    """

    came: int
    claimants: tuple[Claimant, ...]
    refusals: Refusal


class Turns:
    """See the module's text.

    :param cursor: position of the last flow that was tried; earlier flows are skipped.
    :param quiet: between which sites everybody was refused; kept up to date here.
    :param planned: the numbers of those that are planned together: each has a fate of its own.
    """

    def __init__(
        self,
        world: World,
        event: Event,
        cursor: Position,
        quiet: dict[Ends, Quiet],
        planned: Iterable[int] = (),
    ) -> None:
        self._world = world
        self._now, self._event = event.at, event.id
        self._cursor = cursor
        self._limited = limits.is_limited(world)
        self._differs = ground.reaching(world)
        self._planned = frozenset(number for number in planned if number in world.line)
        self._apart: dict[Alike, list[Position]] = {}
        for number in self._planned:
            those = world.line.alike(number)
            if those is not None:
                self._apart.setdefault(those, []).append(world.line.position(number))
        self._planned_for = {those.ends for those in self._apart}
        self._grounds: dict[Ends, Ground] = {}
        self._alongside: dict[Ends, Hashable] = {}
        self._claimants: dict[Ends, tuple[Claimant, ...]] = {}
        self._heads: list[tuple[Position, Place]] = []
        for ends, together in world.line.directions().items():
            if not self._is_quiet(ends, quiet.get(ends)):
                self._line_up(ends, together, quiet)

    @property
    def somebody(self) -> bool:
        """Whether there is somebody to be tried."""
        return bool(self._heads)

    def next(self) -> Place | None:
        """Return the next to be tried; None if there is none."""
        return heapq.heappop(self._heads)[1] if self._heads else None

    def record_refusal(self, place: Place, trial: Trial) -> bool:
        """It was refused: so would be those who are alike, as far as their fates are, if not for it alone.

        :returns: whether somebody claims something else by that: then this order is not true any more.
        """
        world, those = self._world, place.those
        if not trial.alone:
            if len(those.held) >= MOST_HELD:
                those.held.clear()
            on = self._ground(those.ends)
            those.held[place.fate] = ground.refusal_of(world, trial, on, self._event)
        if those.positions[0] == place.position:
            before = those.wants
            world.line.want(those, missing_resource(world, trial, self._now, before))
            if those.wants != before and has_waited(world, those, self._now):
                return True
        self._push(those, those.after(place.position))
        return False

    def refusal(self, number: int) -> Refusal | None:
        """The refusal that covers a waiting flow; None if there is none that holds."""
        those = self._world.line.alike(number)
        if those is None:
            return None
        held = those.held.get(self._fate(those, self._world.line.position(number))[0])
        return held if held is not None and self.holds(held, those.ends) else None

    def without_path(self, number: int) -> bool:
        """Whether a waiting flow is known to have no path: what it lacks outlasts this event."""
        held = self.refusal(number)
        return held is not None and held.instant is None

    def kept_from(self, number: int) -> Kept:
        """What is kept from a waiting flow for those before it."""
        those = self._world.line.alike(number)
        return NONE if those is None else self._fate(those, self._world.line.position(number))[1]

    def holds(self, refusal: Refusal, ends: Ends) -> bool:
        """Whether a refusal still holds."""
        world = self._world
        return refusal.holds(
            self._ground(ends),
            self._now,
            lambda: self._beside(ends),
            lambda: ground.instant(world, self._event),
        )

    # -- one direction ------------------------------------------------------------------------------------

    def _ground(self, ends: Ends) -> Ground:
        found = self._grounds.get(ends)
        if found is None:
            found = ground.ground(self._world, ends, self._now, limited=self._limited)
            self._grounds[ends] = found
        return found

    def _beside(self, ends: Ends) -> Hashable:
        if ends not in self._alongside:
            self._alongside[ends] = ground.alongside(self._world, ends)
        return self._alongside[ends]

    def _claims(self, ends: Ends) -> tuple[Claimant, ...]:
        found = self._claimants.get(ends)
        if found is None:
            found = self._claimants[ends] = claimants(self._world, ends, self._now)
        return found

    def _is_quiet(self, ends: Ends, quiet: Quiet | None) -> bool:
        if ends in self._planned_for:
            return False
        if quiet is None or self._differs or quiet.came != self._world.line.came(ends):
            return False
        return quiet.claimants == self._claims(ends) and self.holds(quiet.refusals, ends)

    def _line_up(self, ends: Ends, together: Mapping[Hashable, Alike], quiet: dict[Ends, Quiet]) -> None:
        """Put the first of each that are alike into the order, if it is to be tried."""
        silent, relied = True, list[Refusal]()
        for those in together.values():
            waits = self._push(those, those.after(self._cursor), relied)
            if waits or (self._cursor != FIRST and self._open(those, those.after(FIRST), relied) is not None):
                silent = False
        quiet.pop(ends, None)
        if silent and not self._differs and ends not in self._planned_for:
            came = self._world.line.came(ends)
            quiet[ends] = Quiet(came, self._claims(ends), self._all_of(ends, relied))

    def _all_of(self, ends: Ends, refusals: Sequence[Refusal]) -> Refusal:
        """Several refusals as one: it holds as long as each of them does."""
        passing = any(one.instant is not None for one in refusals)
        return Refusal(
            ground=self._ground(ends),
            until=min((one.until for one in refusals), default=math.inf),
            token=None,
            alongside=next((one.alongside for one in refusals if one.alongside is not None), None),
            instant=ground.instant(self._world, self._event) if passing else None,
        )

    # -- those who are alike ------------------------------------------------------------------------------

    def _push(self, those: Alike, first: Position | None, relied: list[Refusal] | None = None) -> bool:
        """Put the next of those to be tried into the order; whether there is one."""
        place = self._open(those, first, relied)
        if place is None:
            return False
        heapq.heappush(self._heads, (place.position, place))
        return True

    def _open(
        self, those: Alike, first: Position | None, relied: list[Refusal] | None = None
    ) -> Place | None:
        """The first of them from a position on whom no refusal covers.

        :param relied: takes the refusals that cover those before.
        """
        position = first
        while position is not None:
            fate, kept = self._fate(those, position)
            held = those.held.get(fate)
            if held is None or not self.holds(held, those.ends):
                return Place(those, position, fate, kept)
            if relied is not None:
                relied.append(held)
            position = self._beyond(those, position)
        return None

    def _fate(self, those: Alike, position: Position) -> tuple[Fate, Kept]:
        reach: Hashable = ()
        if self._differs:
            flow = self._world.flows.get(position[1])
            reach = () if flow is None else ground.reach(self._world, flow, self._now)
        if position[1] in self._planned:
            reach = (reach, position[1])
        found = self._claims(those.ends)
        if not found:
            return Fate(reach), NONE
        kept = kept_from(found, position)
        return Fate(reach, kept.by), kept

    def _beyond(self, those: Alike, position: Position) -> Position | None:
        """The next of them whose fate may be another one."""
        if self._differs or position[1] in self._planned:
            return those.after(position)
        borders = (one.place for one in self._claims(those.ends) if one.place >= position)
        border = min(borders, default=None)
        beyond = None if border is None else those.after(border)
        apart = (one for one in self._apart.get(those, ()) if one > position)
        return min((one for one in (beyond, *apart) if one is not None), default=None)

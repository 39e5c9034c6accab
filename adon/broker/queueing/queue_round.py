"""The line is tried whenever something may help somebody in it: in order, but not everybody.

A *round* goes through the line once.  Of flows that are alike the first is tried; if it is refused the others
are passed over, as long as what the refusal rests on is the same (:mod:`adon.broker.queueing.refusal`): then
they would be refused for the same reasons.  When a flow is admitted, what rests on the load it brings is
tried again from there on.  So a result costs a trial for each *kind* of flow that waits between these two
sites, and a few comparisons for every other direction, however many flows there are.

The order of a round: flows whose reserved time has begun, then the others by their turns.

:data:`AT_ONCE` trials are made per event; if there is more to try, the round goes on behind other events.
Changes meanwhile lead to another round after it, so flows at the end of the queue are tried, too.
Half of the trials are for the head of the line then, before the old round goes on: what has just become free
is not for its tail.

The first in line that could be served and cannot all have their best at once are planned together
(:mod:`adon.broker.optimisation.joint`): then one may go by its second-best path, or to its second-best site.

When a round is over, the first :data:`TOLD` in line are told if what keeps them is another thing than they
were told last: a decision is recorded.  Farther back it is not: a change of one path would make ten thousand
records.  What keeps a flow now can be asked at any time (:mod:`adon.broker.queueing.queue_reasons`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from adon.broker.effects import Announce, Effect
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.optimisation import joint
from adon.broker.optimisation.plan import UNPLANNED, Arranged
from adon.broker.queueing.ground import token
from adon.broker.queueing.line import FIRST, Ends
from adon.broker.queueing.refusal import NONE, Kept
from adon.broker.queueing.trial import Trial
from adon.broker.queueing.trial_order import Quiet, Turns
from adon.broker.queueing.turns import Position
from adon.broker.world import World

AT_ONCE = 100
"""So many flows are tried before another event has its turn."""
TOLD = 100
"""So many at the head of the line are told when what keeps them changes."""

Attempt = Callable[[Flow, Kept, Event, Arranged], "tuple[list[Effect], Trial | None]"]
"""Try a flow: what follows from its admission, or the refusal."""
Look = Callable[[Flow, Kept, Event, Arranged], Trial]
"""The same, without admitting it."""
Tell = Callable[[Flow, Trial, Event], list[Effect]]
"""Record why a flow waits."""


class Serving:
    """See the module's text.

    :param world: what the broker holds.
    :param attempt, look, tell: what is done with a flow.
    """

    def __init__(self, world: World, attempt: Attempt, look: Look, tell: Tell) -> None:
        self._world = world
        self._attempt = attempt
        self._look = look
        self._tell = tell
        self._cursor: Position | None = None  # of the round under way: who had the last turn
        self._again = False
        self._busy = False
        self._quiet: dict[Ends, Quiet] = {}
        self._plan = UNPLANNED
        self._told: dict[int, Hashable] = {}
        self._missed: set[int] = set()

    @property
    def behind(self) -> bool:
        """Whether a round is under way."""
        return self._cursor is not None

    def record_reason(self, number: int, about: Hashable) -> None:
        """A flow's requester was told why it waits."""
        self._told[number] = about

    def forget(self, number: int) -> None:
        """A flow does not wait any more."""
        self._told.pop(number, None)
        self._missed.discard(number)

    # -- a round ------------------------------------------------------------------------------------------

    def serve(self, event: Event) -> list[Effect]:
        """Something may help somebody: begin a round, or another one after that which is under way."""
        if self._cursor is None:
            self._cursor = FIRST
        else:
            self._again = True
        return self.go_on(event)

    def go_on(self, event: Event) -> list[Effect]:
        """Go on with the round that is under way, if one is."""
        if self._cursor is None or self._busy:  # a flow that ends while one is tried: that round is not over
            return []
        self._busy = True
        try:
            return self._go_on(event)
        finally:
            self._busy = False

    def _go_on(self, event: Event) -> list[Effect]:
        self._world.line.advance(event.at)
        effects = self._serve_due(event)
        left = AT_ONCE
        if self._again:
            done, used = self._first_again(event, AT_ONCE // 2)
            effects += done
            left -= used
        while True:
            left, done, turns = self._go_through(event, left)
            effects += done
            if left == 0:
                return effects
            if not self._again:
                break
            self._cursor, self._again = FIRST, False
        self._cursor = None
        return [*effects, *self._tell_first(event, turns)]

    def _first_again(self, event: Event, most: int) -> tuple[list[Effect], int]:
        """Something changed in the middle of a round: try the head of the line before its tail.

        :returns: also how many trials of the event that took.
        """
        under_way, self._cursor = self._cursor, FIRST
        left, effects, _ = self._go_through(event, most)
        if left == 0:
            self._cursor = under_way
            return effects, most
        self._again = False  # everybody has been tried since: nothing of the old round is left
        return effects, 0

    def _go_through(self, event: Event, left: int) -> tuple[int, list[Effect], Turns]:
        """Try who has not had a turn in this round, so many at most; 0 if there are more.

        :returns: also the turns as they stand at the end.
        """
        effects: list[Effect] = []
        self._plan = UNPLANNED
        turns = self.turns(event)
        if turns.somebody:
            self._plan = self._plan_first(event, turns)
            turns = self.turns(event) if self._plan.places else turns
        while (place := turns.next()) is not None:
            if left == 0:
                return 0, effects, turns
            left -= 1
            flow = self._world.flows.get(place.position[1])
            if flow is None:
                raise LookupError(f"f-{place.position[1]} is in line and nowhere else")
            self._cursor = place.position
            done, trial = self._attempt(flow, place.kept, event, self._plan)
            effects += done
            if trial is None:
                turns = self.turns(event)  # others may find more room by it, or less
            elif turns.record_refusal(place, trial):
                turns = self.turns(event)  # what it waits for is kept for it from here on
        return max(1, left), effects, turns

    def _plan_first(self, event: Event, turns: Turns) -> Arranged:
        """What the first of those who wait get, planned together."""
        waiting = self._world.queue(joint.SCANNED)
        return Arranged.of(joint.together(self._world, waiting, event.at, turns.without_path))

    def turns(self, event: Event) -> Turns:
        """Who is to be tried now."""
        cursor = FIRST if self._cursor is None else self._cursor
        return Turns(self._world, event, cursor, self._quiet, self._plan.places)

    def _serve_due(self, event: Event) -> list[Effect]:
        """Those whose reserved time has begun go before everybody; who cannot is told at once."""
        effects: list[Effect] = []
        for number in self._world.line.due():
            flow = self._world.flows.get(number)
            if flow is None or flow.booking is None:
                continue
            done, trial = self._attempt(flow, NONE, event, UNPLANNED)
            effects += done
            if trial is not None and number not in self._missed:
                self._missed.add(number)
                text = f"flow {flow.id} cannot begin on {flow.booking.words}: {trial.reason}"
                effects.append(Announce(event.id, "warning", "booking-late", text, flow.id))
        return effects

    def _tell_first(self, event: Event, turns: Turns) -> list[Effect]:
        """Tell those at the head of the line if what keeps them has changed."""
        effects: list[Effect] = []
        for number in self._world.line.front(TOLD):
            flow = self._world.flows.get(number)
            held = turns.refusal(number)
            if flow is None or (held is not None and self._told.get(number) == held.token):
                continue
            trial = self._look(flow, turns.kept_from(number), event, self._plan)
            about = token(trial)
            if trial.path is None and self._told.get(number) != about:
                effects += self._tell(flow, trial, event)
                self._told[number] = about
        return effects

"""Finds a schedule: a good one by rules and exchanges, and for few requests the best there is.

First, orders by several rules (as given; heaviest first; Smith's ratio of value to weight) are made into
schedules, each request by its option with the earliest end; the best one is improved by exchanging neighbours
in the order, and by giving one request another option.  For at most :data:`EXACT_REQUESTS` requests all
orders and options are then searched depth first from there (branch and bound; Land and Doig 1960).  A branch
is cut when even with each of those left at its best, as if alone with what is placed, it could not beat the
best so far.

The search is bounded in *trials* (how often an option's earliest start was looked for), not in time: the same
problem has the same plan everywhere.  What was not searched to the end is told with its lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from adon.broker.optimisation.bound import lower_bound
from adon.broker.optimisation.schedule import (
    Assigned,
    Option,
    Plan,
    Problem,
    Request,
    Timeline,
    cost_of,
)

NOTHING: Mapping[int, Option] = MappingProxyType({})

TRIALS = 2_000
"""About 20 ms of searching on one core of a machine of 2020."""

EXACT_REQUESTS = 6
"""More requests than this are not searched exactly: the trials would be spent in one corner of the tree."""


def solve(problem: Problem, trials: int = TRIALS) -> Plan:
    """A schedule of all requests that can ever be served."""
    possible = tuple(_possible(problem, request) for request in problem.requests)
    requests = tuple(request for request in possible if request.options)
    problem = Problem(requests, problem.room)
    bound = lower_bound(problem)
    if not requests:
        return Plan({}, 0, 0, exact=True)
    search = _Search(problem, trials)
    search.by_rules()
    if search.cost > bound:
        search.by_exchange()
    exact = search.cost <= bound or (len(requests) <= EXACT_REQUESTS and search.exactly())
    return Plan(search.best, search.cost, search.cost if exact else bound, exact)


def _possible(problem: Problem, request: Request) -> Request:
    options = tuple(option for option in request.options if problem.possible(option))
    return Request(request.number, request.weight, options)


class _Search:
    """The best schedule so far, and how many trials are left."""

    def __init__(self, problem: Problem, trials: int) -> None:
        self._problem = problem
        self._trials = trials
        self._order: Sequence[Request] = ()
        self._forced: Mapping[int, Option] = NOTHING
        self.best: dict[int, Assigned] = {}
        self.cost = 0

    # -- rules ----------------------------------------------------------------------------------------

    def by_rules(self) -> None:
        """The best of some orders; at least one is tried whatever it takes."""
        given = self._problem.requests
        quickest = {one.number: min(option.value for option in one.options) for one in given}
        orders = (
            given,
            sorted(given, key=lambda one: -one.weight),
            sorted(given, key=lambda one: quickest[one.number] / max(1, one.weight)),
        )
        for order in orders:
            if self._trials > 0 or not self.best:
                self._try(order)

    def by_exchange(self) -> None:
        """Exchange neighbours in the order, or give one another option, as long as that is better."""
        better = True
        while better and self._trials > 0:
            better = False
            for order, forced in self._neighbours():
                if self._trials <= 0:
                    return
                better = self._try(order, forced) or better

    def _neighbours(self) -> Iterator[tuple[Sequence[Request], Mapping[int, Option]]]:
        for place in range(len(self._order) - 1):
            changed = list(self._order)
            changed[place], changed[place + 1] = changed[place + 1], changed[place]
            yield changed, self._forced
        for request in tuple(self._order):
            for option in request.options:
                if option is not self.best[request.number].option:
                    yield self._order, {**self._forced, request.number: option}

    def _try(self, order: Sequence[Request], forced: Mapping[int, Option] = NOTHING) -> bool:
        """Schedule in this order; whether that is better than the best so far.

        :param forced: options that requests must have; the others get the one that is over first.
        """
        timeline, places = Timeline.of(self._problem), dict[int, Assigned]()
        for request in order:
            wish = forced.get(request.number)
            one = self._soonest(timeline, request.options if wish is None else (wish,))
            timeline.take(one.option, one.start)
            places[request.number] = one
        cost = cost_of(order, places)
        if self.best and cost >= self.cost:
            return False
        self.best, self.cost, self._order, self._forced = places, cost, tuple(order), forced
        return True

    def _soonest(self, timeline: Timeline, options: Sequence[Option]) -> Assigned:
        """The option whose results are there first; of equals the first."""
        found: Assigned | None = None
        for option in options:
            self._trials -= 1
            start = timeline.earliest(option)
            if start is not None and (found is None or start + option.value < found.end):
                found = Assigned(option, start)
        if found is None:
            raise AssertionError("an option that is possible alone is possible after others have ended")
        return found

    # -- all there is ---------------------------------------------------------------------------------

    def exactly(self) -> bool:
        """Search every order and every option; whether that was done to the end."""
        return self._visit(Timeline.of(self._problem), self._problem.requests, {}, 0)

    def _visit(
        self, timeline: Timeline, left: Sequence[Request], places: dict[int, Assigned], cost: int
    ) -> bool:
        if not left:
            if cost < self.cost:
                self.best, self.cost = dict(places), cost
            return True
        starts = {request.number: self._starts(timeline, request) for request in left}
        hope = {one.number: one.weight * min(each.end for each in starts[one.number]) for one in left}
        if cost + sum(hope.values()) >= self.cost:
            return True
        if self._trials <= 0:
            return False
        whole = True
        for request in sorted(left, key=lambda one: (hope[one.number] // max(1, one.weight), one.number)):
            rest = [one for one in left if one is not request]
            for one in sorted(starts[request.number], key=lambda each: each.end):
                after = timeline.copy()
                after.take(one.option, one.start)
                places[request.number] = one
                whole &= self._visit(after, rest, places, cost + request.weight * one.end)
            del places[request.number]
        return whole

    def _starts(self, timeline: Timeline, request: Request) -> list[Assigned]:
        self._trials -= len(request.options)
        found = ((option, timeline.earliest(option)) for option in request.options)
        return [Assigned(option, start) for option, start in found if start is not None]

"""Search for the joint placement of queued flows on sites and paths.

Every request has options (a site, a path, or both).  An option needs amounts of resources and has a cost.  No
resource is over-used.  The objective is lexicographic:

1. the requests are placed in the order of the queue: no request stays out for the sake of a later one;
2. Σ weight · cost of those that are placed is the least.

This is a multiple-choice knapsack with several resources (Kellerer, Pferschy, Pisinger, *Knapsack Problems*,
2004, chapter 11).  The search starts with the cheapest option that fits, request by request.  It improves
that by giving one request another option.  At most :data:`EXACT_REQUESTS` requests are then searched
completely, depth first (branch and bound; Land and Doig 1960).

The search is bounded in *trials* (options looked at), not in time: the same problem has the same plan
everywhere.  Costs and amounts are whole numbers, so sums are exact.  Values and functions only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

NO_OPTIONS: Mapping[int, Option] = MappingProxyType({})

TRIALS = 2_000
"""About 5 ms of searching on one core of a machine of 2020."""

EXACT_REQUESTS = 6
"""More requests are not searched completely: the trials would be spent in one corner of the tree."""

Needs = tuple[tuple[int, int], ...]
"""Numbers of resources, and how much of each."""

Score = tuple[tuple[bool, ...], int]
"""Per request whether it is left out, and the weighted sum of costs; the smaller one is better."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to serve a request."""

    cost: int
    needs: Needs
    site: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request; a larger weight is more urgent."""

    number: int
    weight: int
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Some requests in the order of the queue, and what is free of each resource."""

    requests: tuple[Request, ...]
    room: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A placement.

    :param options: per number of a request; one that stays in the queue is not there.
    :param exact: whether no better placement exists for certain.
    """

    options: Mapping[int, Option]
    exact: bool


def fits(option: Option, free: Sequence[int]) -> bool:
    """Return whether everything that an option needs is free."""
    return all(free[resource] >= amount for resource, amount in option.needs)


def take(option: Option, free: list[int]) -> None:
    """Take what an option needs from what is free."""
    for resource, amount in option.needs:
        free[resource] -= amount


def solve(problem: Problem, trials: int = TRIALS) -> Plan:
    """Place the requests of a problem."""
    search = _Search(problem, trials)
    search.place_greedily()
    if search.everyone_has_the_cheapest():
        return Plan(search.best, exact=True)
    search.improve()
    exact = len(problem.requests) <= EXACT_REQUESTS and search.enumerate()
    return Plan(search.best, exact)


class _Search:
    """The best placement so far, and how many trials are left."""

    def __init__(self, problem: Problem, trials: int) -> None:
        self._problem = problem
        self._trials = trials
        self._ranked = [sorted(one.options, key=lambda option: option.cost) for one in problem.requests]
        self.best: dict[int, Option] = {}
        self._score: Score | None = None

    def everyone_has_the_cheapest(self) -> bool:
        """Whether no placement can be better."""
        return all(
            not ranked or self.best.get(request.number) is ranked[0]
            for request, ranked in zip(self._problem.requests, self._ranked, strict=True)
        )

    def place_greedily(self, forced: Mapping[int, Option] = NO_OPTIONS) -> bool:
        """Give each request in turn the cheapest option that fits; return whether that is the best so far.

        :param forced: options that requests must have, or none.
        """
        free, options = list(self._problem.room), dict[int, Option]()
        for request, ranked in zip(self._problem.requests, self._ranked, strict=True):
            forced_option = forced.get(request.number)
            for option in ranked if forced_option is None else (forced_option,):
                self._trials -= 1
                if fits(option, free):
                    take(option, free)
                    options[request.number] = option
                    break
        return self._keep(options)

    def improve(self) -> None:
        """Force one more request to another option as long as that is better."""
        forced: Mapping[int, Option] = NO_OPTIONS
        while True:
            changed = self._better_by_one(forced)
            if changed is None:
                return
            forced = changed

    def _better_by_one(self, forced: Mapping[int, Option]) -> Mapping[int, Option] | None:
        for request in self._problem.requests:
            for option in request.options:
                if self._trials <= 0:
                    return None
                changed = {**forced, request.number: option}
                if option is not self.best.get(request.number) and self.place_greedily(changed):
                    return changed
        return None

    def enumerate(self) -> bool:
        """Try every combination of options; return whether that was done to the end."""
        # What the requests from each one on cost at the least, if all are placed.
        least = [0]
        for request, ranked in zip(reversed(self._problem.requests), reversed(self._ranked), strict=True):
            least.append(least[-1] + (request.weight * ranked[0].cost if ranked else 0))
        least.reverse()
        return self._visit(list(self._problem.room), {}, (), 0, least)

    def _visit(
        self,
        free: list[int],
        options: dict[int, Option],
        left_out: tuple[bool, ...],
        cost: int,
        least: Sequence[int],
    ) -> bool:
        index, requests = len(left_out), self._problem.requests
        hoped = ((*left_out, *[False] * (len(requests) - index)), cost + least[index])
        if self._score is not None and hoped >= self._score:
            return True
        if index == len(requests):
            self._keep(dict(options))
            return True
        if self._trials <= 0:
            return False
        request, complete = requests[index], True
        for option in self._ranked[index]:
            self._trials -= 1
            if fits(option, free):
                after = list(free)
                take(option, after)
                options[request.number] = option
                spent = cost + request.weight * option.cost
                complete &= self._visit(after, options, (*left_out, False), spent, least)
                del options[request.number]
        return self._visit(free, options, (*left_out, True), cost, least) and complete

    def _keep(self, options: dict[int, Option]) -> bool:
        requests = self._problem.requests
        left_out = tuple(one.number not in options for one in requests)
        cost = sum(one.weight * options[one.number].cost for one in requests if one.number in options)
        if self._score is not None and (left_out, cost) >= self._score:
            return False
        self.best, self._score = options, (left_out, cost)
        return True

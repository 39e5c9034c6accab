"""Where flows that lose their paths go, planned together (spec section 4).

Flows that one event displaces would each, by themselves, flee to the same best path and over-subscribe it.
Here all of them are assigned at once.  Each flow brings the paths it could take; each path has room for so
many bits/s of throughput bounds.  Wanted, in this order:

1. as many flows as possible have a path, counted priority by priority from the highest down: no flow is
   refused for the sake of one of lower priority;
2. what is known of their paths is as good as possible (:class:`Grade`), and then the sum of their Q
   (equation 3) as high as possible, again from the highest priority down.

That is a multiple-choice knapsack with several knapsacks, which is NP-hard (Kellerer, Pferschy, Pisinger,
*Knapsack Problems*, 2004, chapters 10 and 11), hence a search that is bounded in nodes
(:mod:`adon.broker.assignment`).  Small sets are solved exactly, large ones as well as local improvement can;
:attr:`Plan.exact` says which.  Rates are counted in whole
bits/s (needs rounded up, room rounded down) and Q in billionths, so that sums are exact and the result does
not depend on the order in which flows are named.

Values and functions only: how flows, paths and room come about is :mod:`adon.broker.evacuation`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.broker.assignment import Problem, Search, greedy, improve_choice
from adon.broker.displaced import Displaced, Option
from adon.units import format_rate
from measurement.model import PathKey

NODES = 20_000
"""Assignments looked at before the best one found so far is taken."""

EXACT_FLOWS = 14
"""More flows than this are not searched exactly: the nodes would be spent in one corner of the tree."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the plan has for one flow; without an option it finds no refuge."""

    number: int
    option: Option | None
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A place per flow, and whether no better plan exists for certain."""

    places: Mapping[int, Place]
    exact: bool


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a flow cannot stay on its path.

    :param gone: whether anything usable is better than staying.
    :param vacate: whether it must leave, if no other path qualifies for the queue (maintenance).
    """

    why: str
    gone: bool
    vacate: bool = False


@dataclass(frozen=True, slots=True)
class Exodus:
    """All whom one event displaced, with the paths they could take and the room there."""

    displaced: tuple[Displaced, ...]
    room: tuple[tuple[PathKey, float], ...]
    nodes: int = NODES

    def places(self) -> Mapping[int, Place]:
        """A place per flow number, none of which over-subscribes a path."""
        return plan(self.displaced, dict(self.room), self.nodes).places


def plan(displaced: Iterable[Displaced], room: Mapping[PathKey, float], nodes: int = NODES) -> Plan:
    """Assign every flow a refuge, or none, so that no path gets more bounds than it has room for.

    :param room: per directed path, the bits/s of bounds that it can still take; one not named has none.
    :param nodes: how far to search.
    """
    problem = Problem(displaced, room)
    start = [ranked[0] if ranked else None for ranked in problem.ranked]
    if all(left >= 0 for left in problem.free(start).values()):
        return _make_plan(problem, start, exact=True)  # everybody has the best there is
    choice = improve_choice(problem, greedy(problem), nodes)
    exact = False
    if len(problem.flows) <= EXACT_FLOWS:
        search = Search(problem, choice, nodes)
        exact = search.run()
        choice = search.best if exact else improve_choice(problem, search.best, nodes)
    return _make_plan(problem, choice, exact=exact)


# -- in words -------------------------------------------------------------------------------------------


def _make_plan(problem: Problem, choice: Sequence[int | None], *, exact: bool) -> Plan:
    left = problem.free(choice)
    places = {
        flow.number: _place(problem, index, choice[index], left) for index, flow in enumerate(problem.flows)
    }
    return Plan(places, exact)


def _place(problem: Problem, index: int, taken: int | None, left: Mapping[PathKey, int]) -> Place:
    flow, ranked = problem.flows[index], problem.ranked[index]
    better = ranked if taken is None else ranked[: ranked.index(taken)]
    full = "; ".join(_no_room(flow.options[one], problem, left) for one in better)
    if taken is None:
        asked = (
            f"{format_rate(problem.need[index])} do not fit: {full}" if full else "no other path qualifies"
        )
        return Place(flow.number, None, asked)
    option = flow.options[taken]
    words = f"{option.words}, " + (f"because other flows need {full}" if full else "its best path")
    return Place(flow.number, option, words)


def _no_room(option: Option, problem: Problem, left: Mapping[PathKey, int]) -> str:
    room, free = problem.room[option.key], left[option.key]
    return f"{option.words}, {format_rate(free)} left of {format_rate(room)}"

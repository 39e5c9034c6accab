"""The plan for several queued flows: from their problem to the site and the path of each.

Values and functions only, so that a decision that rests on a plan can be made again from the problem that was
solved then.  :mod:`adon.broker.optimisation.joint` gathers the problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from adon.broker.choice import Choice
from adon.broker.optimisation.placement import Planned
from adon.broker.optimisation.search import Option, Problem, fits, solve, take
from adon.flowvisor.selection.assessment import Verdict
from adon.reasons import Reason
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Together:
    """Requests that are planned together, those that come first in the queue first."""

    problem: Problem

    def places(self) -> Mapping[int, Planned]:
        """What each gets, by its number; nothing where the order of the queue decides as well.

        The first of the queue that can be served has its own best.
        """
        requests = self.problem.requests
        if len(requests) < 2 or _everyone_has_the_best(self.problem):
            return FrozenMap()
        plan = solve(_with_the_first_at_its_best(self.problem))
        good = "the best plan" if plan.exact else "the best plan found"
        why = f"planned together with {len(requests) - 1} others that wait, {good}"
        return {number: Planned(one.site, one.path, why) for number, one in plan.options.items()}


NO_REQUESTS = Together(Problem((), ()))


@dataclass(frozen=True, slots=True)
class Arranged:
    """Requests that are planned together, and what each gets."""

    together: Together
    places: Mapping[int, Planned]

    @classmethod
    def of(cls, together: Together) -> Self:
        """The plan for them."""
        return cls(together, together.places())


UNPLANNED = Arranged(NO_REQUESTS, FrozenMap())


def _everyone_has_the_best(problem: Problem) -> bool:
    """Whether all can have their best at once: then the order decides nothing."""
    free = list(problem.room)
    for request in problem.requests:
        best = min(request.options, key=_cost)
        if not fits(best, free):
            return False
        take(best, free)
    return True


def _with_the_first_at_its_best(problem: Problem) -> Problem:
    """The problem in which the first request that can be served has no option but its best."""
    requests = list(problem.requests)
    for place, request in enumerate(requests):
        fitting = [option for option in request.options if fits(option, problem.room)]
        if fitting:
            requests[place] = replace(request, options=(min(fitting, key=_cost),))
            break
    return replace(problem, requests=tuple(requests))


def _cost(option: Option) -> int:
    return option.cost


def with_plan(choice: Choice, planned: Planned | None) -> Choice:
    """The choice with the path that was planned, if that path still qualifies."""
    if planned is None or planned.path is None:
        return choice
    record = choice.record(planned.path)
    if planned.path == choice.selection.path or record is None or record.verdict is not Verdict.QUALIFIED:
        return choice
    text = f"{planned.path}: {planned.why}; {choice.selection.reason}"
    return choice.taking(planned.path, Reason("joint-plan", text))

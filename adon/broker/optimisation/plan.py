"""A plan for several requests: from their problem to what each of them gets.

Values and functions only, so that a decision that rests on a plan can be made again from the problem that was
solved then.  How the problem comes about is in :mod:`adon.broker.optimisation.joint`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from adon.broker.choice import Choice
from adon.broker.optimisation.placement import Planned
from adon.broker.optimisation.schedule import Assigned, Plan, Problem, Timeline
from adon.broker.optimisation.search import solve
from adon.flowvisor.assessment import Verdict
from adon.frozenmap import FrozenMap

_MS = 1000.0


@dataclass(frozen=True, slots=True)
class Together:
    """Requests that are planned together, those that come first in the queue first.

    :param at: the time from which the problem counts, in seconds since the epoch.
    """

    problem: Problem
    at: float

    def places(self) -> Mapping[int, Planned]:
        """What each gets, by its number; nothing where the order of the queue decides as well.

        The first is given its own best before anything is planned.
        """
        if len(self.problem.requests) < 2 or _all_at_once(self.problem):
            return FrozenMap()
        first, left = _first(self.problem)
        if first is None:
            return FrozenMap()
        plan = solve(left)
        return _told(plan, {**plan.places, **first}, self.at)


NOBODY = Together(Problem((), ()), 0.0)


@dataclass(frozen=True, slots=True)
class Arranged:
    """Requests that are planned together, and what each gets."""

    together: Together
    places: Mapping[int, Planned]

    @classmethod
    def of(cls, together: Together) -> Self:
        """The plan for them."""
        return cls(together, together.places())


UNPLANNED = Arranged(NOBODY, FrozenMap())


def _all_at_once(problem: Problem) -> bool:
    """Whether everybody can have their best now: then the order decides nothing."""
    timeline = Timeline.of(problem)
    for request in problem.requests:
        best = min(request.options, key=lambda option: option.value)
        if timeline.earliest(best) != 0:
            return False
        timeline.take(best, 0)
    return True


def _first(problem: Problem) -> tuple[dict[int, Assigned] | None, Problem]:
    """What the first of the queue gets, and the problem that is left to the others."""
    for place, request in enumerate(problem.requests):
        timeline = Timeline.of(problem)
        starts = [(timeline.earliest(option), option) for option in request.options]
        ends = [
            (at + option.value, at, number) for number, (at, option) in enumerate(starts) if at is not None
        ]
        if ends:
            _, start, number = min(ends)
            option = request.options[number]
            timeline.take(option, start)
            others = problem.requests[:place] + problem.requests[place + 1 :]
            return {request.number: Assigned(option, start)}, Problem(others, timeline.room)
    return None, problem


def _told(plan: Plan, places: Mapping[int, Assigned], now: float) -> Mapping[int, Planned]:
    good = "the best plan" if plan.exact else f"at most {100 * plan.gap:.2g} % from the best plan"
    why = f"planned together with {len(places) - 1} others that wait, {good}"
    return {
        number: Planned(now + one.start / _MS if one.start else now, one.option.site, one.option.path, why)
        for number, one in places.items()
    }


def with_plan(choice: Choice, planned: Planned | None, now: float) -> Choice:
    """The choice with the path that was planned, if the flow may start now and that path still qualifies."""
    if planned is None or planned.path is None or planned.starts > now:
        return choice
    record = choice.record(planned.path)
    if planned.path == choice.selection.path or record is None or record.verdict is not Verdict.QUALIFIED:
        return choice
    return choice.taking(planned.path, f"{planned.path}: {planned.why}; {choice.selection.reason}")

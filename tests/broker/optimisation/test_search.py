"""Joint placement of queued requests, compared with every placement on small cases."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.optimisation.plan import Together
from adon.broker.optimisation.search import EXACT_REQUESTS, Option, Problem, Request, fits, solve, take


def option(cost: int, *needs: tuple[int, int]) -> Option:
    return Option(cost, needs, site=f"site-{cost}")


def request(number: int, *options: Option, weight: int = 1) -> Request:
    return Request(number, weight, options)


def problem(*requests: Request, room: tuple[int, ...] = (1,)) -> Problem:
    return Problem(requests, room)


CASES = {
    "no request": (problem(), {}),
    "there is room for both": (
        problem(request(1, option(5, (0, 1))), request(2, option(5, (0, 1))), room=(2,)),
        {1: 5, 2: 5},
    ),
    "the first of the queue is not left out for a heavier one": (
        problem(request(1, option(9, (0, 1))), request(2, option(2, (0, 1)), weight=99)),
        {1: 9},
    ),
    "the first goes to its second-best option, so that the second need not wait": (
        problem(
            request(1, option(6, (0, 1)), option(60, (1, 1))), request(2, option(6, (0, 1))), room=(1, 1)
        ),
        {1: 60, 2: 6},
    ),
    "of two placements of all the one of least weighted cost": (
        problem(
            request(1, option(6, (0, 1)), option(8, (1, 1))),
            request(2, option(6, (0, 1)), option(20, (1, 1))),
            room=(1, 1),
        ),
        {1: 8, 2: 6},
    ),
    "weights decide who has the cheaper option": (
        problem(
            request(1, option(6, (0, 1)), option(8, (1, 1)), weight=50),
            request(2, option(6, (0, 1)), option(20, (1, 1))),
            room=(1, 1),
        ),
        {1: 6, 2: 20},
    ),
    "one that can never be served is left out": (
        problem(request(1, option(4, (0, 2))), request(2, option(3, (0, 1)))),
        {2: 3},
    ),
    "one without an option is left out": (problem(request(1), request(2, option(3, (0, 1)))), {2: 3}),
    "one that needs nothing is placed": (problem(request(1, option(4)), request(2, option(3))), {1: 4, 2: 3}),
    "an option may need several resources": (
        problem(
            request(1, option(1, (0, 1), (1, 2))),
            request(2, option(1, (1, 1)), option(5, (0, 1))),
            room=(2, 2),
        ),
        {1: 1, 2: 5},
    ),
}


@pytest.mark.parametrize(("given_problem", "expected"), CASES.values(), ids=CASES)
def test_placement(given_problem: Problem, expected: dict[int, int]) -> None:
    plan = solve(given_problem)
    assert {number: one.cost for number, one in plan.options.items()} == expected
    assert plan.exact


# -- properties -----------------------------------------------------------------------------------------


@st.composite
def problems(draw: st.DrawFn, most: int = 4) -> Problem:
    resources = draw(st.integers(1, 2))

    def options() -> tuple[Option, ...]:
        return tuple(
            Option(
                draw(st.integers(1, 9)),
                tuple((number, amount) for number in range(resources) if (amount := draw(st.integers(0, 4)))),
            )
            for _ in range(draw(st.integers(0, 3)))
        )

    requests = tuple(
        Request(number, draw(st.integers(1, 9)), options()) for number in range(draw(st.integers(0, most)))
    )
    return Problem(requests, tuple(draw(st.integers(0, 6)) for _ in range(resources)))


def score(found: Problem, options: Mapping[int, Option]) -> tuple[tuple[bool, ...], int]:
    left_out = tuple(one.number not in options for one in found.requests)
    cost = sum(one.weight * options[one.number].cost for one in found.requests if one.number in options)
    return left_out, cost


def feasible(found: Problem, options: Mapping[int, Option]) -> bool:
    free = list(found.room)
    for one in options.values():
        take(one, free)
    return min(free, default=0) >= 0


def every_placement(found: Problem) -> list[dict[int, Option]]:
    choices = itertools.product(*((None, *one.options) for one in found.requests))
    placements = (
        {one.number: option for one, option in zip(found.requests, chosen, strict=True) if option is not None}
        for chosen in choices
    )
    return [options for options in placements if feasible(found, options)]


@given(problems())
def test_small_problem_has_the_best_placement_of_all(found: Problem) -> None:
    plan = solve(found, trials=100_000)
    assert plan.exact
    assert score(found, plan.options) == min(score(found, one) for one in every_placement(found))


@given(problems(most=14), st.sampled_from([0, 40, 2_000]))
def test_placement_is_feasible_and_never_worse_than_the_order_of_the_queue(
    found: Problem, trials: int
) -> None:
    plan = solve(found, trials)
    assert feasible(found, plan.options)
    free, in_order = list(found.room), dict[int, Option]()
    for one in found.requests:
        cheapest = min(
            (each for each in one.options if fits(each, free)), key=lambda each: each.cost, default=None
        )
        if cheapest is not None:
            take(cheapest, free)
            in_order[one.number] = cheapest
    assert score(found, plan.options) <= score(found, in_order)


@given(problems(most=14))
def test_same_problem_has_the_same_plan(found: Problem) -> None:
    assert solve(found) == solve(found)


def test_large_problem_is_not_called_exact() -> None:
    asked = [request(n, option(10 + n, (0, 1)), option(20 + n, (1, 1))) for n in range(EXACT_REQUESTS + 1)]
    plan = solve(problem(*asked, room=(3, 9)))
    assert len(plan.options) == len(asked)
    assert not plan.exact


# -- the plan -------------------------------------------------------------------------------------------


def test_first_of_the_queue_that_can_be_served_has_its_best_option() -> None:
    never = request(1, option(1, (0, 9)))
    first = request(2, option(6, (0, 1)), option(7, (1, 1)))
    second = request(3, option(6, (0, 1)))
    places = Together(problem(never, first, second, room=(1, 1))).places()
    assert {number: one.site for number, one in places.items()} == {2: "site-6"}


@given(problems())
def test_no_plan_is_made_where_all_have_their_best(found: Problem) -> None:
    found = Problem(tuple(one for one in found.requests if one.options), found.room)
    best = {one.number: min(one.options, key=lambda each: each.cost) for one in found.requests}
    planned = Together(found).places()
    assert (not planned) or not feasible(found, best)

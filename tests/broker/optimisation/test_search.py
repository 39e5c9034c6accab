"""Several requests at once: against every schedule there is, on small cases; bounded on large ones."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.optimisation.bound import lower_bound
from adon.broker.optimisation.schedule import (
    Assigned,
    Option,
    Plan,
    Problem,
    Request,
    Steps,
    Timeline,
    cost_of,
    feasible,
)
from adon.broker.optimisation.search import EXACT_REQUESTS, _Search, solve
from tests.depth import DEPTH

HORIZON = 30
"""Starts that the brute force looks at; nothing small has to start later."""


def option(length: int, *needs: tuple[int, int], value: int | None = None) -> Option:
    return Option(length if value is None else value, length, needs)


def request(number: int, *options: Option, weight: int = 1) -> Request:
    return Request(number, weight, options)


def problem(*requests: Request, room: tuple[Steps, ...] = (((0, 1),),)) -> Problem:
    return Problem(requests, room)


def starts(plan: Plan) -> dict[int, int]:
    return {number: one.start for number, one in sorted(plan.places.items())}


CASES = {
    "nobody": (problem(), {}),
    "together, where there is room": (
        problem(request(1, option(5, (0, 1))), request(2, option(5, (0, 1))), room=(((0, 2),),)),
        {1: 0, 2: 0},
    ),
    "the short one first": (
        problem(request(1, option(9, (0, 1))), request(2, option(2, (0, 1)))),
        {1: 2, 2: 0},
    ),
    "unless the long one is urgent": (
        problem(request(1, option(9, (0, 1)), weight=9), request(2, option(2, (0, 1)))),
        {1: 0, 2: 9},
    ),
    "the slower place, rather than to wait": (
        problem(
            request(1, option(6, (0, 1)), option(8, (1, 1))),
            request(2, option(6, (0, 1)), option(20, (1, 1))),
            room=(((0, 1),), ((0, 1),)),
        ),
        {1: 0, 2: 0},
    ),
    "to wait, rather than a much slower place": (
        problem(
            request(1, option(2, (0, 1)), option(30, (1, 1))),
            request(2, option(2, (0, 1)), option(30, (1, 1))),
            room=(((0, 1),), ((0, 1),)),
        ),
        {1: 0, 2: 2},
    ),
    "a gap is used only if it is long enough": (
        problem(
            request(1, option(4, (0, 1))), request(2, option(3, (0, 1))), room=(((0, 1), (3, 0), (10, 1)),)
        ),
        {1: 10, 2: 0},
    ),
    "what can never be served is left out": (
        problem(request(1, option(4, (0, 2))), request(2, option(3, (0, 1)))),
        {2: 0},
    ),
    "what is over first is not always what leaves most to the others": (
        problem(
            request(0, option(6, (0, 2)), option(6, (0, 1)), weight=4),
            request(1, option(8, (1, 1)), option(1, (1, 1)), weight=5),
            request(2, option(9, (0, 1)), option(7, (0, 2)), weight=3),
            room=(((0, 2),), ((0, 3),)),
        ),
        {0: 0, 1: 0, 2: 0},
    ),
    "what needs nothing starts at once": (
        problem(request(1, option(4)), request(2, option(3))),
        {1: 0, 2: 0},
    ),
}


@pytest.mark.parametrize(("given_problem", "expected"), CASES.values(), ids=CASES)
def test_table(given_problem: Problem, expected: dict[int, int]) -> None:
    found = solve(given_problem)
    assert starts(found) == expected
    assert found.exact
    assert found.gap == 0


# -- properties -----------------------------------------------------------------------------------------


@st.composite
def rooms(draw: st.DrawFn) -> Steps:
    """A resource that is partly taken at first, and reserved for a while."""
    most = draw(st.integers(1, 4))
    times = sorted(draw(st.sets(st.integers(1, 8), max_size=2)))
    steps = [(at, draw(st.integers(0, most))) for at in [0, *times]]
    return (*steps[:-1], (steps[-1][0], most)) if len(steps) > 1 else ((0, most),)


@st.composite
def problems(draw: st.DrawFn, most: int = 3, longest: int = 4) -> Problem:
    resources = draw(st.integers(1, 2))
    room = tuple(draw(rooms()) for _ in range(resources))

    def options() -> tuple[Option, ...]:
        found = []
        for _ in range(draw(st.integers(1, 2))):
            length = draw(st.integers(1, longest))
            needs = tuple(
                (number, amount) for number in range(resources) if (amount := draw(st.integers(0, 4)))
            )
            found.append(Option(draw(st.integers(1, longest + 2)), length, needs))
        return tuple(found)

    count = draw(st.integers(0, most))
    return Problem(
        tuple(Request(number, draw(st.integers(1, 9)), options()) for number in range(count)), room
    )


def servable(found: Problem) -> list[Request]:
    return [one for one in found.requests if any(map(found.possible, one.options))]


def best_of_all(found: Problem) -> int:
    """The cost of the best schedule, by trying every start of every option of every request."""
    asked = servable(found)
    every = [[Assigned(each, start) for each in one.options for start in range(HORIZON)] for one in asked]
    costs = []
    for number, one in enumerate(asked):  # what one could have alone bounds where it is worth looking
        alone = [a for a in every[number] if feasible(found, {one.number: a})]
        every[number] = alone
    for combined in itertools.product(*every):
        places = {one.number: place for one, place in zip(asked, combined, strict=True)}
        cost = cost_of(asked, places)
        if (not costs or cost < costs[0]) and feasible(found, places):
            costs = [cost]
    return costs[0] if costs else 0


@given(problems(most=2))
def test_small_ones_are_solved_as_well_as_can_be(found: Problem) -> None:
    plan = solve(found)
    assert plan.exact
    assert plan.cost == plan.bound == best_of_all(found)


@settings(max_examples=12 * DEPTH)
@given(problems(most=3, longest=3))
def test_three_at_once_too(found: Problem) -> None:
    plan = solve(found, trials=100_000)
    assert plan.exact
    assert plan.cost == best_of_all(found)


@given(problems(most=4, longest=6))
def test_from_a_poor_start_the_search_comes_to_the_best_order_and_options(found: Problem) -> None:
    """Against every order and every option, each in turn at its earliest start: nothing good is cut."""
    asked = [
        Request(one.number, one.weight, tuple(filter(found.possible, one.options))) for one in servable(found)
    ]
    search = _Search(Problem(tuple(asked), found.room), 10**9)
    search._try(asked)
    assert search.exactly()
    costs = []
    for order in itertools.permutations(asked):
        for chosen in itertools.product(*(one.options for one in order)):
            timeline, cost = Timeline.of(found), 0
            for one, each in zip(order, chosen, strict=True):
                start = timeline.earliest(each)
                assert start is not None
                timeline.take(each, start)
                cost += one.weight * (start + each.value)
            costs.append(cost)
    assert search.cost == min(costs)


@given(problems(most=14, longest=12), st.sampled_from([0, 40, 6_000]))
def test_every_plan_is_feasible_complete_and_within_its_bound(found: Problem, trials: int) -> None:
    plan = solve(found, trials)
    assert feasible(found, plan.places)
    assert set(plan.places) == {one.number for one in servable(found)}
    for one in servable(found):
        assert plan.places[one.number].option in one.options
    assert plan.cost == cost_of(found.requests, plan.places)
    assert lower_bound(found) <= plan.cost
    assert plan.bound <= plan.cost
    assert plan.exact is (plan.bound == plan.cost)


@given(problems(most=10, longest=12))
def test_a_plan_is_never_worse_than_first_come_first_served(found: Problem) -> None:
    """Each in turn, by the option that is over first."""
    timeline, places = Timeline.of(found), dict[int, Assigned]()
    for one in servable(found):
        starts = ((timeline.earliest(each), each) for each in one.options if found.possible(each))
        start, each = min(((s, o) for s, o in starts if s is not None), key=lambda p: p[0] + p[1].value)
        timeline.take(each, start)
        places[one.number] = Assigned(each, start)
    assert solve(found).cost <= cost_of(found.requests, places)


@given(problems(most=14, longest=12))
def test_the_same_problem_has_the_same_plan(found: Problem) -> None:
    assert solve(found) == solve(found)


@given(problems(most=5, longest=5))
def test_more_room_is_never_worse(found: Problem) -> None:
    wider = Problem(found.requests, tuple(tuple((at, free + 1) for at, free in one) for one in found.room))
    before = solve(found, trials=100_000)
    if before.exact and set(before.places) == {one.number for one in servable(wider)}:
        assert solve(wider, trials=100_000).cost <= before.cost


def test_a_large_one_tells_how_far_it_may_be_from_the_best() -> None:
    asked = [request(n, option(10 + n % 7, (0, 1 + n % 3)), weight=1 + n % 5) for n in range(16)]
    plan = solve(problem(*asked, room=(((0, 5),),)))
    assert len(asked) > EXACT_REQUESTS
    assert not plan.exact
    assert 0 < plan.gap < 0.25
    assert plan.gap == (plan.cost - plan.bound) / plan.bound


def test_the_bound_by_mean_busy_times_is_what_it_says() -> None:
    """Two that fill the resource one after the other: the bound is the cost."""
    found = problem(request(1, option(4, (0, 1))), request(2, option(4, (0, 1))))
    assert lower_bound(found) == 4 + 8

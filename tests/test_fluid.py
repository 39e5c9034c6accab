from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.fluid import Demand, max_min_rates

LINKS = ("a", "b", "c", "d")


@st.composite
def problems(draw: Any) -> tuple[dict[str, float], list[Demand]]:
    capacities = {link: float(draw(st.integers(0, 50))) for link in LINKS}
    ways = st.lists(st.sampled_from(LINKS), min_size=1, max_size=3, unique=True)
    limits = st.one_of(st.just(math.inf), st.integers(0, 30).map(float))
    some = st.builds(lambda way, n, limit: Demand(tuple(way), n, limit), ways, st.integers(1, 4), limits)
    return capacities, draw(st.lists(some, min_size=1, max_size=6))


def carried(demands: list[Demand], rates: list[float], link: str) -> float:
    return sum(d.streams * rate for d, rate in zip(demands, rates, strict=True) if link in d.links)


@given(problems())
def test_no_link_and_no_stream_exceeds_its_limit(
    problem: tuple[dict[str, float], list[Demand]],
) -> None:
    capacities, demands = problem
    rates = max_min_rates(capacities, demands)
    assert all(0 <= rate <= d.limit for d, rate in zip(demands, rates, strict=True))
    assert all(carried(demands, rates, link) <= capacities[link] * (1 + 1e-9) + 1e-9 for link in LINKS)


@given(problems())
def test_every_stream_has_its_limit_or_a_bottleneck(
    problem: tuple[dict[str, float], list[Demand]],
) -> None:
    capacities, demands = problem
    rates = max_min_rates(capacities, demands)
    for demand, rate in zip(demands, rates, strict=True):
        if rate >= demand.limit * (1 - 1e-9):
            continue
        full = [x for x in demand.links if carried(demands, rates, x) >= capacities[x] * (1 - 1e-9) - 1e-9]
        most = [max(r for d, r in zip(demands, rates, strict=True) if link in d.links) for link in full]
        assert any(rate >= other * (1 - 1e-9) for other in most)


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_demands_does_not_change_rates(
    problem: tuple[dict[str, float], list[Demand]], chance: Any
) -> None:
    capacities, demands = problem
    order = list(range(len(demands)))
    chance.shuffle(order)
    shuffled = max_min_rates(capacities, [demands[place] for place in order])
    rates = max_min_rates(capacities, demands)
    assert shuffled == pytest.approx([rates[place] for place in order])


@given(problems())
def test_streams_of_one_demand_equal_single_demands(problem: tuple[dict[str, float], list[Demand]]) -> None:
    capacities, demands = problem
    single = [Demand(d.links, 1, d.limit) for d in demands for _ in range(d.streams)]
    each = [
        rate
        for d, rate in zip(demands, max_min_rates(capacities, demands), strict=True)
        for _ in range(d.streams)
    ]
    assert max_min_rates(capacities, single) == pytest.approx(each)


def lexicographic(capacities: dict[str, float], demands: list[Demand]) -> list[float]:
    """Return the rates by their definition: linear programs maximise the least rate, then the next."""
    optimize = pytest.importorskip("scipy.optimize")
    fixed: dict[int, float] = {}
    while len(fixed) < len(demands):
        free = [i for i in range(len(demands)) if i not in fixed]
        level = -_solve(optimize, capacities, demands, fixed, free, None).fun
        for i in free:
            most = -_solve(optimize, capacities, demands, fixed, free, (i, level)).fun
            if most <= level + 1e-7:
                fixed[i] = level
    return [fixed[i] for i in range(len(demands))]


def _solve(
    optimize: Any,
    capacities: dict[str, float],
    demands: list[Demand],
    fixed: dict[int, float],
    free: list[int],
    more: tuple[int, float] | None,
) -> Any:
    """Maximise the level of the free demands, or one of them while the others keep a level."""
    count = len(demands)
    rows = [[d.streams if link in d.links else 0 for d in demands] + [0] for link in LINKS]
    limits = [capacities[link] for link in LINKS]
    bounds = [(fixed.get(i, 0), min(fixed.get(i, math.inf), d.limit)) for i, d in enumerate(demands)]
    if more is None:
        rows += [[-1 if j == i else 0 for j in range(count)] + [1] for i in free]
        limits += [0.0] * len(free)
        objective = [0] * count + [-1]
    else:
        bounds = [(more[1] if i in free else low, high) for i, (low, high) in enumerate(bounds)]
        bounds = [(min(low, high), high) for low, high in bounds]
        objective = [-1 if j == more[0] else 0 for j in range(count)] + [0]
    ends = [(low, None if math.isinf(high) else high) for low, high in bounds]
    return optimize.linprog(objective, A_ub=rows, b_ub=limits, bounds=[*ends, (0, None)])


@given(problems())
def test_rates_are_the_lexicographic_maximum(problem: tuple[dict[str, float], list[Demand]]) -> None:
    capacities, demands = problem
    assert max_min_rates(capacities, demands) == pytest.approx(lexicographic(capacities, demands), abs=1e-5)


@given(problems())
def test_same_arguments_give_the_same_bits(problem: tuple[dict[str, float], list[Demand]]) -> None:
    assert max_min_rates(*problem) == max_min_rates(*problem)


def test_long_connection_over_three_links() -> None:
    """Bertsekas and Gallager 6.5.2: one connection over three links, one more on each link."""
    demands = [Demand(("a", "b", "c")), Demand(("a",)), Demand(("b",)), Demand(("c",))]
    assert max_min_rates({"a": 10, "b": 4, "c": 6}, demands) == pytest.approx([2, 8, 2, 4])


def test_limited_stream_leaves_the_rest_of_its_share() -> None:
    assert max_min_rates({"a": 10}, [Demand(("a",), 1, 2.0), Demand(("a",), 4)]) == pytest.approx([2, 2])
    assert max_min_rates({"a": 10}, [Demand(("a",), 1, 1.0), Demand(("a",), 3)]) == pytest.approx([1, 3])


def test_unbounded_demand_is_refused() -> None:
    with pytest.raises(ValueError, match="bounds"):
        max_min_rates({}, [Demand(())])
    assert max_min_rates({}, []) == []


@pytest.mark.parametrize("wrong", [{"streams": 0}, {"limit": -1.0}, {"limit": math.nan}])
def test_demand_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"streams|limit"):
        Demand(("a",), **wrong)

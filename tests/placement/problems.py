"""Problems to place: small and random, with every constraint; and written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import Any

from hypothesis import strategies as st

from adon.placement.completion import place_at
from adon.placement.constraints import find_violations
from adon.placement.model import Application, Machine, Method, NoPlacement, PlacementProblem, Task
from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck, Snapshot

RATES = (0.0, 1e6, 4e6, 9e6, 10e6, 1e9)


def network(rates: Mapping[str, float], **more: Any) -> Snapshot:
    """From ``"a>b": 10e6``."""
    pairs = {Pair(*name.split(">")): rate for name, rate in rates.items()}
    names = tuple(sorted({name for pair in pairs for name in pair}))
    return Snapshot(0.0, names, pairs, **more)


def application(sent: Mapping[str, int], cores: float = 1.0, **more: Any) -> Application:
    """From ``"i>j": 100``, with equal tasks."""
    pairs = {(name.split(">")[0], name.split(">")[1]): count for name, count in sent.items()}
    names = sorted({name for pair in pairs for name in pair})
    return Application("app", tuple(Task(name, cores) for name in names), pairs, **more)


def machines(names: Sequence[str], cores: float = 1.0) -> tuple[Machine, ...]:
    return tuple(Machine(name, cores) for name in names)


@st.composite
def problems(draw: st.DrawFn, tasks: int = 5, count: int = 4, plain: bool = False) -> PlacementProblem:
    """Up to so many tasks on up to so many machines.

    :param plain: cores and paths only, all paths known.
    """
    names = [f"m{number}" for number in range(draw(st.integers(1, count)))]
    wanted = [f"t{number}" for number in range(draw(st.integers(1, tasks)))]
    pairs = [Pair(*pair) for pair in permutations(names, 2)]
    some = [] if plain else pairs
    rate = st.sampled_from(RATES[1:] if plain else RATES)
    groups = st.frozensets(st.sampled_from(pairs), min_size=2, max_size=5)
    limit = st.sampled_from([3e6, 8e6, 2e7])
    snapshot = Snapshot(
        0.0,
        tuple(names),
        {pair: draw(rate) for pair in pairs},
        rtts=draw(_values(some, [0.001, 0.1])),
        crossing=draw(_values(some, [0.0, 1.0, 2.5])),
        hoses={} if plain else draw(_values(names, [3e6, 8e6, 2e7])),
        bottlenecks=tuple(draw(st.lists(st.builds(Bottleneck, groups, limit), max_size=2)))
        if len(some) > 1
        else (),
    )
    free = tuple(
        Machine(name, draw(st.sampled_from([1.0, 2.0, 4.0])), draw(st.sampled_from([2, 5, 9])))
        for name in names
    )
    listed = tuple(
        Task(
            name,
            draw(st.sampled_from([0.5, 1.0, 1.5, 4.0])),
            0 if plain else draw(st.sampled_from([0, 1, 3])),
            "" if plain else draw(st.sampled_from(["", "", "", "", *names])),
        )
        for name in wanted
    )
    sent = {pair: draw(st.sampled_from([0, 0, 1, 10, 11, 1000])) * 1000 for pair in permutations(wanted, 2)}
    within = draw(_values([] if plain else list(permutations(wanted, 2)), [0.01, 0.2]))
    apart = () if plain else draw(st.lists(st.frozensets(st.sampled_from(wanted), max_size=3), max_size=2))
    try:
        app = Application("app", listed, sent, tuple(apart), within)
    except ValueError:  # apart and pinned to one machine: not what is tested here
        app = Application("app", listed, sent)
    return PlacementProblem(app, free, snapshot, draw(_values(some, [0, 500, 9000])))


def _values(keys: Sequence[Any], values: Sequence[float]) -> st.SearchStrategy[dict[Any, float]]:
    return (
        st.dictionaries(st.sampled_from(keys), st.sampled_from(values), max_size=3) if keys else st.just({})
    )


def list_placements(problem: PlacementProblem) -> list[tuple[float, dict[str, str]]]:
    """All placements that meet the constraints, with their completion times: by trying all assignments."""
    names = [task.name for task in problem.application.tasks]
    found = []
    for places in product([machine.name for machine in problem.machines], repeat=len(names)):
        chosen = dict(zip(names, places, strict=True))
        if any(find_violations(problem, chosen)):
            continue
        try:
            found.append((place_at(problem, chosen, Method.EXACT).completion_time_s, chosen))
        except NoPlacement:
            continue  # over a path without a rate
    return found

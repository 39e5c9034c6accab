"""Problems to place: drawn at random, small, with everything that can constrain them; and by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product

from hypothesis import strategies as st

from adon.placement.completion import timed
from adon.placement.constraints import broken
from adon.placement.methods import Method
from adon.placement.model import Application, Impossible, Machine, Problem, Task
from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck, Snapshot

RATES = (0.0, 1e6, 4e6, 9e6, 10e6, 1e9)


def network(rates: Mapping[str, float], **more: object) -> Snapshot:
    """From ``"a>b": 10e6``."""
    pairs = {Pair(*name.split(">")): rate for name, rate in rates.items()}
    names = tuple(sorted({name for pair in pairs for name in pair}))
    return Snapshot(0.0, names, pairs, **more)  # type: ignore[arg-type]


def application(sent: Mapping[str, int], cores: float = 1.0, **more: object) -> Application:
    """From ``"i>j": 100``, all tasks alike."""
    pairs = {(name.split(">")[0], name.split(">")[1]): count for name, count in sent.items()}
    names = sorted({name for pair in pairs for name in pair})
    return Application("app", tuple(Task(name, cores) for name in names), pairs, **more)  # type: ignore[arg-type]


def machines(names: Sequence[str], cores: float = 1.0) -> tuple[Machine, ...]:
    return tuple(Machine(name, cores) for name in names)


@st.composite
def problems(draw: st.DrawFn, tasks: int = 5, count: int = 4, plain: bool = False) -> Problem:
    """Up to so many tasks on up to so many machines.

    :param plain: cores and paths only, all paths known.
    """
    names = [f"m{number}" for number in range(draw(st.integers(1, count)))]
    pairs = [Pair(*pair) for pair in permutations(names, 2)]
    rate = st.sampled_from(RATES[1:] if plain else RATES)
    more = {} if plain else draw(_limits(names, pairs))
    snapshot = Snapshot(0.0, tuple(names), {pair: draw(rate) for pair in pairs}, **more)
    free = tuple(
        Machine(name, draw(st.sampled_from([1.0, 2.0, 4.0])), draw(st.sampled_from([2, 5, 9])))
        for name in names
    )
    wanted = [f"t{number}" for number in range(draw(st.integers(1, tasks)))]
    pins = st.just("") if plain else st.sampled_from(["", "", "", "", *names])
    memory = st.just(0) if plain else st.sampled_from([0, 1, 3])
    listed = tuple(
        Task(name, draw(st.sampled_from([0.5, 1.0, 1.5, 4.0])), draw(memory), draw(pins)) for name in wanted
    )
    sent = {pair: draw(st.sampled_from([0, 0, 1, 10, 11, 1000])) * 1000 for pair in permutations(wanted, 2)}
    rules = {} if plain else draw(_rules(wanted))
    try:
        app = Application("app", listed, sent, **rules)
    except ValueError:  # apart and pinned to one machine: not what is tested here
        app = Application("app", listed, sent)
    load = (
        {}
        if plain
        else draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from([0, 500, 9000])))
        if pairs
        else {}
    )
    return Problem(app, free, snapshot, load)


@st.composite
def _limits(draw: st.DrawFn, names: Sequence[str], pairs: Sequence[Pair]) -> dict[str, object]:
    some = st.sampled_from([3e6, 8e6, 2e7])
    found: dict[str, object] = {"hoses": draw(st.dictionaries(st.sampled_from(names), some))}
    if pairs:
        found["crossing"] = draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from([0.0, 1.0, 2.5])))
        found["rtts"] = draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from([0.001, 0.1])))
        if len(pairs) > 1:
            groups = st.frozensets(st.sampled_from(pairs), min_size=2, max_size=5)
            found["bottlenecks"] = tuple(draw(st.lists(st.builds(Bottleneck, groups, some), max_size=2)))
    return found


@st.composite
def _rules(draw: st.DrawFn, tasks: Sequence[str]) -> dict[str, object]:
    groups = st.lists(st.frozensets(st.sampled_from(tasks), max_size=3), max_size=2)
    rules: dict[str, object] = {"apart": tuple(draw(groups))}
    if len(tasks) > 1:
        pairs = st.sampled_from(list(permutations(tasks, 2)))
        rules["within"] = draw(st.dictionaries(pairs, st.sampled_from([0.01, 0.2]), max_size=2))
    return rules


def every(problem: Problem) -> list[tuple[float, dict[str, str]]]:
    """All placements that keep everything, with their times: by trying all there are."""
    names = [task.name for task in problem.application.tasks]
    found = []
    for places in product([machine.name for machine in problem.machines], repeat=len(names)):
        chosen = dict(zip(names, places, strict=True))
        if any(broken(problem, chosen)):
            continue
        try:
            found.append((timed(problem, chosen, Method.EXACT).seconds, chosen))
        except Impossible:
            continue  # over a path that nobody knows
    return found

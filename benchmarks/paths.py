"""Eight candidate paths for each of a hundred pairs of switches, beside networkx.

networkx's ``shortest_simple_paths`` (Yen's algorithm with bidirectional Dijkstra) is the yardstick, on the
same graphs, for the same pairs, in the same process, the two in turn.  Ours starts from a
:class:`~adon.flowvisor.topology.network_graph.Graph` with an empty cache in every round; theirs from a ready
``DiGraph``.  The costs of all paths must be equal, in every round.

Times are processor times of this process (a machine with other work on it lengthens both, but not at the same
moments); rounds are short at 100 switches, so each is the sum of several passes.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import networkx as nx

from adon.config.network import Cost
from adon.flowvisor.topology.k_shortest_paths import PathCache, Wish
from adon.flowvisor.topology.network_graph import Graph, Link
from benchmarks.summary import Summary, table

ROUNDS = 5
PATHS = 8
PAIRS = 100
BOUNDS = {100: 10.0, 1000: 20.0}
"""Per number of switches, how many times faster than networkx is promised."""

_PASSES = {100: 5, 1000: 1}
_WISH = Wish(Cost.DELAY)
Costs = list[list[int]]


@dataclass(frozen=True, slots=True)
class Case:
    """One network and the pairs asked about, for both."""

    kind: str
    switches: int
    ours: Graph
    theirs: nx.DiGraph[int]
    pairs: Sequence[tuple[int, int]]


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both sizes and all kinds of network; times in seconds of processor time per 100 pairs."""
    cases = [case(kind, switches, seed) for switches in BOUNDS for kind in KINDS]
    return {
        "versions": {"networkx": version("networkx")},
        "seed": seed,
        "rounds": ROUNDS,
        "cases": [_compared(each) for each in cases],
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bound of its size holds for every network, and all costs were equal."""
    return all(each["ratio"] >= BOUNDS[each["switches"]] and each["equal"] for each in results["cases"])


def _regular(switches: int, seed: int) -> nx.Graph[int]:
    found: nx.Graph[int] = nx.random_regular_graph(4, switches, seed=seed)
    return found


def _small_world(switches: int, seed: int) -> nx.Graph[int]:
    found: nx.Graph[int] = nx.connected_watts_strogatz_graph(switches, 4, 0.1, seed=seed)
    return found


def _geometric(switches: int, seed: int) -> nx.Graph[int]:
    """Switches on a map, near ones joined, and a line through all so that there is one part."""
    near = nx.random_geometric_graph(switches, (1.7 / switches) ** 0.5, seed=seed)
    return nx.compose(nx.path_graph(switches), nx.Graph(near.edges))


KINDS: dict[str, Callable[[int, int], nx.Graph[int]]] = {
    "random regular": _regular,
    "small world": _small_world,
    "geometric": _geometric,
}


def case(kind: str, switches: int, seed: int) -> Case:
    """A network with links of 0.1 to 20 ms, and random pairs."""
    chance = random.Random(seed)
    links = list[Link]()
    theirs: nx.DiGraph[int] = nx.DiGraph()
    for number, (one, other) in enumerate(sorted(KINDS[kind](switches, seed).edges)):
        delay_ns = chance.randrange(100_000, 20_000_000, 1000)
        for source, target in ((one, other), (other, one)):
            links.append(Link(f"l{number}", source, target, 1, 1, 1e11, delay_ns / 1e9))
            theirs.add_edge(source, target, weight=delay_ns)
    pairs = [(a, b) for a, b in (chance.sample(range(switches), 2) for _ in range(PAIRS))]
    return Case(kind, switches, Graph(frozenset(range(switches)), tuple(links)), theirs, pairs)


def _ours(asked: Case) -> Costs:
    cache = PathCache()
    return [[route.cost for route in cache.cheapest(asked.ours, *pair, PATHS, _WISH)] for pair in asked.pairs]


def _theirs(asked: Case) -> Costs:
    weights = asked.theirs.adj
    return [
        [
            sum(weights[one][other]["weight"] for one, other in pairwise(path))
            for path in islice(nx.shortest_simple_paths(asked.theirs, *pair, weight="weight"), PATHS)
        ]
        for pair in asked.pairs
    ]


def _compared(asked: Case) -> dict[str, Any]:
    passes = _PASSES[asked.switches]
    ours, theirs, equal = list[float](), list[float](), True
    _ours(asked)
    for _ in range(ROUNDS):
        took, found = _timed(lambda: _ours(asked), passes)
        ours.append(took)
        took, expected = _timed(lambda: _theirs(asked), passes)
        theirs.append(took)
        equal &= found == expected
    ratios = [slow / quick for quick, slow in zip(ours, theirs, strict=True)]
    return {
        "kind": asked.kind,
        "switches": asked.switches,
        "links": len(asked.ours.links) // 2,
        "paths": sum(len(costs) for costs in found),
        "ours": asdict(Summary.of([ours])),
        "networkx": asdict(Summary.of([theirs])),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "equal": equal,
    }


def _timed(work: Callable[[], Costs], passes: int) -> tuple[float, Costs]:
    gc.collect()
    begun = time.process_time()
    for _ in range(passes):
        result = work()
    return (time.process_time() - begun) / passes, result


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    told = [
        [
            "switches",
            "network",
            "links",
            "paths",
            "ours ms",
            "IQR",
            "networkx ms",
            "IQR",
            "ratio",
            "of rounds",
        ]
    ]
    for each in results["cases"]:
        times = [
            f"{1e3 * each[who][figure]:.1f}"
            for who in ("ours", "networkx")
            for figure in ("median", "spread")
        ]
        rounds = " ".join(f"{ratio:.1f}" for ratio in each["ratios"])
        sizes = [str(each["switches"]), each["kind"], str(each["links"]), str(each["paths"])]
        told.append([*sizes, *times, f"{each['ratio']:.1f}", rounds])
    bounds = ", ".join(f"{bound:g} at {switches} switches" for switches, bound in BOUNDS.items())
    equal = "equal" if all(each["equal"] for each in results["cases"]) else "NOT EQUAL"
    note = (
        f"{PATHS} paths for each of {PAIRS} random pairs, {results['rounds']} interleaved rounds, medians; "
        f"networkx {results['versions']['networkx']}, seed {results['seed']}; all costs {equal}; "
        f"promised: times faster than networkx by {bounds}"
    )
    return f"{table(told)}\n\n{note}"

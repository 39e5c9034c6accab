"""The eight cheapest paths for each of a hundred pairs of switches, compared with networkx, igraph and scipy.

The yardstick is networkx's ``shortest_simple_paths`` (Yen's algorithm with bidirectional Dijkstra); igraph's
``get_k_shortest_paths`` (in C, where igraph is installed) and ``scipy.sparse.csgraph.yen`` on the whole
matrix are shown beside it.  All run on the same graphs, for the same pairs, in the same process, one after
the other.  Ours starts from a :class:`~adon.flowvisor.topology.network_graph.NetworkGraph` with an empty
cache in every round; the others from a ready graph or matrix.  The costs of all paths must be equal, in every
round.

Times are processor times of this process (a machine with other work on it lengthens all, but not at the same
moments); rounds are short at 100 switches, so each is the sum of several passes.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import yen

from adon.config.network import Cost
from adon.flowvisor.topology.network_graph import Link, NetworkGraph, PathConstraints
from adon.flowvisor.topology.overlay import PathCache
from benchmarks.summary import Summary, table

ROUNDS = 5
PATHS = 8
PAIRS = 100
BOUNDS = {100: 5.0, 1000: 5.0}
"""Per number of switches, how many times faster than networkx is promised."""

_PASSES = {100: 5, 1000: 1}
_BY_DELAY = PathConstraints(Cost.DELAY)
Costs = list[list[int]]


@dataclass(frozen=True, slots=True)
class Case:
    """One network in the form of each library, and the pairs of the question."""

    kind: str
    switches: int
    ours: NetworkGraph
    networkx: nx.DiGraph[int]
    igraph: Any
    scipy: csr_array
    pairs: Sequence[tuple[int, int]]


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """Both sizes and all kinds of network; times in seconds of processor time per 100 pairs."""
    cases = [case(kind, switches, seed) for switches in BOUNDS for kind in KINDS]
    return {
        "versions": {name: version(name) for name in YARDSTICKS},
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
    arcs = [(source, target, data["weight"]) for source, target, data in theirs.edges(data=True)]
    matrix = nx.to_scipy_sparse_array(theirs, sorted(theirs), np.dtype(float), format="csr")
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return Case(
        kind,
        switches,
        NetworkGraph(frozenset(range(switches)), tuple(links)),
        theirs,
        _igraph_of(arcs),
        matrix,
        pairs,
    )


def _igraph_of(arcs: list[tuple[int, int, int]]) -> Any:
    if "igraph" not in YARDSTICKS:
        return None
    igraph = import_module("igraph")
    return igraph.Graph.TupleList(sorted(arcs), directed=True, edge_attrs=["weight"])


def _ours(asked: Case) -> Costs:
    cache = PathCache()
    return [
        [route.cost for route in cache.k_shortest_paths(asked.ours, *pair, PATHS, _BY_DELAY)]
        for pair in asked.pairs
    ]


def _networkx(asked: Case) -> Costs:
    weights = asked.networkx.adj
    return [
        [
            sum(weights[one][other]["weight"] for one, other in pairwise(path))
            for path in islice(nx.shortest_simple_paths(asked.networkx, *pair, weight="weight"), PATHS)
        ]
        for pair in asked.pairs
    ]


def _igraph(asked: Case) -> Costs:
    weights, number = asked.igraph.es["weight"], {name: at for at, name in enumerate(asked.igraph.vs["name"])}
    return [
        [
            sum(weights[edge] for edge in path)
            for path in asked.igraph.get_k_shortest_paths(
                number[source], number[target], k=PATHS, weights="weight", output="epath"
            )
        ]
        for source, target in asked.pairs
    ]


def _scipy(asked: Case) -> Costs:
    found = (yen(asked.scipy, *pair, PATHS, return_predecessors=True)[0] for pair in asked.pairs)
    return [[int(cost) for cost in costs] for costs in found]


YARDSTICKS: dict[str, Callable[[Case], Costs]] = {"networkx": _networkx, "scipy": _scipy}
if find_spec("igraph"):
    YARDSTICKS["igraph"] = _igraph


def _compared(asked: Case) -> dict[str, Any]:
    passes = _PASSES[asked.switches]
    times: dict[str, list[float]] = {name: [] for name in ("ours", *YARDSTICKS)}
    equal = True
    _ours(asked)
    for _ in range(ROUNDS):
        took, found = _timed(lambda: _ours(asked), passes)
        times["ours"].append(took)
        for name, answer in YARDSTICKS.items():
            took, expected = _timed(lambda answer=answer: answer(asked), passes)  # type: ignore[misc]
            times[name].append(took)
            equal &= found == expected
    ratios = [slow / quick for quick, slow in zip(times["ours"], times["networkx"], strict=True)]
    return {
        "kind": asked.kind,
        "switches": asked.switches,
        "links": len(asked.ours.links) // 2,
        "paths": sum(len(costs) for costs in found),
        **{name: asdict(Summary.of([each])) for name, each in times.items()},
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
    timed = ("ours", *YARDSTICKS)
    rows = [
        ["switches", "network", "links", "paths", *(f"{name} ms" for name in timed), "ratio", "of rounds"],
    ]
    for each in results["cases"]:
        times = [f"{1e3 * each[name]['median']:.1f}" for name in timed]
        rounds = " ".join(f"{ratio:.1f}" for ratio in each["ratios"])
        sizes = [str(each["switches"]), each["kind"], str(each["links"]), str(each["paths"])]
        rows.append([*sizes, *times, f"{each['ratio']:.1f}", rounds])
    bounds = ", ".join(f"{bound:g} at {switches} switches" for switches, bound in BOUNDS.items())
    equal = "equal" if all(each["equal"] for each in results["cases"]) else "NOT EQUAL"
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    note = (
        f"{PATHS} paths for each of {PAIRS} random pairs, {results['rounds']} interleaved rounds, medians; "
        f"{versions}, seed {results['seed']}; all costs {equal}; "
        f"promised: times faster than networkx by {bounds}"
    )
    return f"{table(rows)}\n\n{note}"

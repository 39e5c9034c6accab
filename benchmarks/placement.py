"""Placement of tasks: exact search, the appendix's program with PuLP, and CP-SAT as the yardstick.

Problems are drawn by a seed: tasks of 0.5 to 4 cores on machines of 4, paths of 100 Mbit/s to 1 Gbit/s;
*heavy-tailed* transfers between 30 % of the pairs of tasks (Pareto, shape 1.1), or *uniform* ones between all
(1 to 100 MB).  CP-SAT (OR-Tools) solves a direct model with both cores, from the same greedy placement.

Bounds: 20 x 20 heavy-tailed is proven within 0.2 s in the median.  The exact search is never slower than the
greedy algorithm, and with uniform transfers its completion time is at most half in the median.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from ortools.sat.python import cp_model

from adon.placement.completion import place_at
from adon.placement.exact_search import place_exactly
from adon.placement.greedy import place_greedily
from adon.placement.linear_program import place_by_linear_program
from adon.placement.model import Application, Machine, Method, NoPlacement, Placement, PlacementProblem, Task
from benchmarks.summary import table
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

PROOF_S = 0.2
CORES = 4.0
STEPS = 100_000
"""The greedy completion time in the whole numbers of CP-SAT's model."""


@dataclass(frozen=True, slots=True)
class Case:
    """Problems of one kind; ``limit`` in seconds, and how many are drawn and given to each other solver."""

    transfers: str
    tasks: int
    machines: int
    limit: float
    drawn: int = 20
    cpsat: int = 0
    program: int = 0


CASES = (
    Case("heavy-tailed", 20, 20, 10.0, cpsat=5),
    Case("uniform", 10, 10, 10.0, cpsat=5),
    Case("uniform", 20, 20, 1.0),
    Case("heavy-tailed", 8, 8, 60.0, drawn=5, cpsat=5, program=5),
)


def draw_problem(case: Case, seed: int) -> PlacementProblem:
    """Draw a problem that has a greedy placement."""
    chance = random.Random(f"{case}-{seed}")
    names = [f"vm{number:02}" for number in range(case.machines)]
    rates = {Pair(*pair): chance.uniform(100e6, 1e9) for pair in permutations(names, 2)}
    machines = tuple(Machine(name, CORES) for name in names)
    while True:
        tasks = tuple(Task(f"t{number:02}", chance.randint(1, 8) / 2) for number in range(case.tasks))
        sent = {}
        for pair in permutations((task.name for task in tasks), 2):
            if case.transfers == "uniform":
                sent[pair] = int(chance.uniform(1e6, 100e6))
            elif chance.random() < 0.3:
                sent[pair] = int(1e6 * chance.paretovariate(1.1))
        problem = PlacementProblem(
            Application("app", tasks, sent), machines, Snapshot(0.0, tuple(names), rates)
        )
        with suppress(NoPlacement):
            if place_greedily(problem).completion_time_s > 0:
                return problem


def place_with_cpsat(problem: PlacementProblem, start: Placement, limit: float) -> Placement:
    """Return CP-SAT's placement; of the constraints it knows paths and cores."""
    model, tasks = cp_model.CpModel(), problem.application.tasks
    names = [machine.name for machine in problem.machines]
    on = {(task.name, name): model.new_bool_var("") for task in tasks for name in names}
    for task in tasks:
        model.add_exactly_one(on[task.name, name] for name in names)
    for machine in problem.machines:
        used = sum(round(2 * task.cores) * on[task.name, machine.name] for task in tasks)
        model.add(used <= round(2 * machine.cores))
    slowest, steps_per_s = model.new_int_var(0, STEPS, ""), STEPS / start.completion_time_s
    loads: dict[Pair, list[Any]] = {}
    for one, other in combinations([task.name for task in tasks], 2):
        sent = problem.application.sent
        for m, n in permutations(names, 2):
            steps = {
                path: int(8 * sent.get(transfer, 0) / problem.snapshot.rates[path] * steps_per_s)
                for path, transfer in ((Pair(m, n), (one, other)), (Pair(n, m), (other, one)))
            }
            if max(steps.values()) > STEPS:
                model.add_bool_or([~on[one, m], ~on[other, n]])
            elif any(steps.values()):
                both = model.new_bool_var("")
                model.add_bool_or([~on[one, m], ~on[other, n], both])
                for path, count in steps.items():
                    loads.setdefault(path, []).append(count * both)
    for terms in loads.values():
        model.add(sum(terms) <= slowest)
    model.minimize(slowest)
    for (task_name, name), placed in on.items():
        model.add_hint(placed, start.machines[task_name] == name)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    proven = solver.solve(model) == cp_model.OPTIMAL
    chosen = {task: name for (task, name), placed in on.items() if solver.value(placed)}
    return replace(place_at(problem, chosen, Method.EXACT), proven=proven)


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks have these arguments
    """Place all problems; times in seconds."""
    cases = [_run_case(case, seed) for case in CASES]
    return {"cases": cases, "versions": {name: version(name) for name in ("numpy", "ortools", "pulp")}}


def _run_case(case: Case, seed: int) -> dict[str, Any]:
    runs: dict[str, list[dict[str, Any]]] = {"exact": [], "cpsat": [], "program": []}
    for number in range(case.drawn):
        problem = draw_problem(case, seed * 1000 + number)
        start = place_greedily(problem)
        solvers: dict[str, tuple[int, Callable[[], Placement]]] = {
            "exact": (case.drawn, partial(_search, problem, case.limit)),
            "cpsat": (case.cpsat, partial(place_with_cpsat, problem, start, case.limit)),
            "program": (case.program, partial(place_by_linear_program, problem, case.limit)),
        }
        for name, (count, solve) in solvers.items():
            if number < count:
                began = time.monotonic()
                found = solve()
                seconds, part = time.monotonic() - began, found.completion_time_s / start.completion_time_s
                runs[name].append({"seconds": seconds, "proven": found.proven, "of_greedy": part})
    return {"case": f"{case.transfers} {case.tasks} x {case.machines}", "limit": case.limit, **runs}


def _search(problem: PlacementProblem, limit: float) -> Placement:
    ends = time.monotonic() + limit
    return place_exactly(problem, lambda: time.monotonic() >= ends)


def _median(runs: list[dict[str, Any]], name: str) -> float:
    return float(statistics.median(run[name] for run in runs))


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bounds hold."""
    cases = {case["case"]: case["exact"] for case in results["cases"]}
    proof, *_ = cases.values()
    quick = _median(proof, "seconds") <= PROOF_S and 2 * sum(run["proven"] for run in proof) > len(proof)
    half = all(_median(runs, "of_greedy") <= 0.5 for name, runs in cases.items() if "uniform" in name)
    return quick and half and all(run["of_greedy"] <= 1 + 1e-9 for runs in cases.values() for run in runs)


def report(results: Mapping[str, Any]) -> str:
    """Return the results as a table."""
    rows = [["problems", "limit", "solver", "proven", "median time", "largest", "completion time / greedy's"]]
    for case in results["cases"]:
        for solver in ("exact", "cpsat", "program"):
            runs = case[solver]
            if runs:
                proven = f"{sum(run['proven'] for run in runs)} of {len(runs)}"
                largest = max(run["seconds"] for run in runs)
                times = [f"{_median(runs, 'seconds'):.3f} s", f"{largest:.3f} s"]
                rows.append([case["case"], f"{case['limit']:g} s", solver, proven, *times])
                rows[-1].append(f"{_median(runs, 'of_greedy'):.2f}")
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return f"{table(rows)}\n\n{versions}"

"""The yardstick of :mod:`benchmarks.placement`: a direct model for CP-SAT, started from a placement."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

from ortools.sat.python import cp_model

from adon.placement.model import Placement, Problem
from measurement.health.model import Pair

STEPS = 100_000
"""The first placement's completion time in the model's whole numbers."""
LONGEST_S = 1e4


def cpsat(problem: Problem, start: Placement | None, limit: float) -> dict[str, Any]:
    """Whether it is proven, and in how many seconds the transfers are over; the pipe model, cores only."""
    model = cp_model.CpModel()
    tasks, machines = problem.application.tasks, [machine.name for machine in problem.machines]
    on = {(task.name, name): model.new_bool_var("") for task in tasks for name in machines}
    for task in tasks:
        model.add_exactly_one(on[task.name, name] for name in machines)
    for machine in problem.machines:
        used = sum(round(2 * task.cores) * on[task.name, machine.name] for task in tasks)
        model.add(used <= round(2 * machine.cores))
    longest = LONGEST_S if start is None else start.seconds
    scale = STEPS / longest
    worst = model.new_int_var(0, STEPS + 1000, "")
    for pair, terms in _loads(model, problem, on, machines, longest).items():
        rate = problem.snapshot.rates[pair]
        model.add(sum(int(bits / rate * scale) * both for bits, both in terms) <= worst)
    model.minimize(worst)
    if start is not None:
        for (which, name), placed in on.items():
            model.add_hint(placed, start.machines[which] == name)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    return {
        "proven": status == cp_model.OPTIMAL,
        "completion": solver.objective_value / scale
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        else None,
    }


def _loads(
    model: cp_model.CpModel, problem: Problem, on: Any, machines: list[str], longest: float
) -> dict[Pair, list[tuple[float, Any]]]:
    """Per path, bits and whether they are over it."""
    sent, rates = problem.application.sent, problem.snapshot.rates
    loads: dict[Pair, list[tuple[float, Any]]] = {}
    for one, other in combinations([task.name for task in problem.application.tasks], 2):
        there, back = 8 * sent.get((one, other), 0), 8 * sent.get((other, one), 0)
        if not (there or back):
            continue
        for m, n in permutations(machines, 2):
            if max(there / rates[Pair(m, n)], back / rates[Pair(n, m)]) > longest:
                model.add_bool_or([~on[one, m], ~on[other, n]])
                continue
            both = model.new_bool_var("")
            model.add_bool_or([~on[one, m], ~on[other, n], both])
            for pair, bits in ((Pair(m, n), there), (Pair(n, m), back)):
                if bits:
                    loads.setdefault(pair, []).append((bits, both))
    return loads

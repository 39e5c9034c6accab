"""Proofs that no schedule exists, each by a necessary condition that holds for every algorithm.

- The members of a clique of the conflict graph run one after the other: their utilisation Σ e_i / p_i may
  not exceed 1.
- A test that offers more than is allowed may never start.
- The volume Σ load_i · e_i / p_i offered to a link or domain may not exceed what is allowed there.

To find no proof proves nothing: cliques are searched for greedily, from every task on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from measurement.scheduling.agreement import Agreement
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.task import Task
from measurement.scheduling.values import Proof


def infeasible(tasks: Sequence[Task], agreement: Agreement, graph: ConflictGraph) -> Proof | None:
    """A proof that nobody can schedule the tasks, or None if none was found."""
    return _by_agreement(tasks, agreement) or _by_clique(tasks, graph)


def _by_agreement(tasks: Sequence[Task], agreement: Agreement) -> Proof | None:
    limits = agreement.limits
    counted = [(task, agreement.count_limited(task.load)) for task in tasks]
    for where, limit in sorted(limits.items()):
        users = [(task, load[where]) for task, load in counted if load.get(where, 0) > 0]
        for task, rate in users:
            if rate > limit:
                text = f"{task.id} offers {rate} bit/s to {where}, where the agreement allows {limit}"
                return Proof((task.id,), text)
        common = math.lcm(*(task.interval for task, _ in users))
        volume = sum(rate * task.execution_time * (common // task.interval) for task, rate in users)
        if volume > limit * common:
            text = (
                f"on average {volume / common:.0f} bit/s are offered to {where}, where the agreement "
                f"allows {limit}"
            )
            return Proof(tuple(task.id for task, _ in users), text)
    return None


def _by_clique(tasks: Sequence[Task], graph: ConflictGraph) -> Proof | None:
    known = {task.id: task for task in tasks}
    weights = {task.id: task.execution_time / task.interval for task in tasks}
    for clique in cliques(graph, weights):
        members = [known[name] for name in clique]
        if _overfull(members):
            share = sum(task.execution_time / task.interval for task in members)
            text = (
                f"{len(members)} tasks that all conflict with one another would need {share:.1%} of the time "
                f"({', '.join(clique)})"
            )
            return Proof(tuple(clique), text)
    return None


def _overfull(members: Sequence[Task]) -> bool:
    common = math.lcm(*(task.interval for task in members))
    return sum(task.execution_time * (common // task.interval) for task in members) > common


def cliques(graph: ConflictGraph, weights: Mapping[str, float]) -> Iterator[list[str]]:
    """From each task on, the clique that takes the heaviest common neighbour each time."""

    def order(name: str) -> tuple[float, str]:
        return -weights[name], name

    for first in sorted(weights, key=order):
        clique, common = [first], graph.neighbours[first]
        while common:
            chosen = min(common, key=order)
            clique.append(chosen)
            common &= graph.neighbours[chosen]
        yield sorted(clique)

"""The linear program of [CHOREO]'s appendix, as printed, at 8 tasks x 8 machines, solved by HiGHS.

``python -m benchmarks.placement_printed KIND SEED`` prints its objective in seconds when it is done.
  Two slips are mended, without which it is not the problem: the rate rows count transfers from the later
task to the earlier, and what stays on one machine takes no time.
"""

from __future__ import annotations

import sys
from itertools import combinations, product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from adon.placement.model import Problem
from adon.placement.workloads import Transfers
from benchmarks.placement import Size, drawn
from measurement.health.model import Pair

Row = dict[int, float]


def rows(problem: Problem) -> tuple[int, list[tuple[Row, float, float]]]:
    """How many variables, and each row with its least and its most; the last variable is the time z."""
    tasks, machines = problem.application.tasks, problem.machines
    count, width = len(tasks), len(machines)
    x = {(i, m): i * width + m for i in range(count) for m in range(width)}
    pairs = [
        (i, m, j, n) for i, j in combinations(range(count), 2) for m, n in product(range(width), repeat=2)
    ]
    z = {key: len(x) + number for number, key in enumerate(pairs)}
    time = len(x) + len(z)
    found: list[tuple[Row, float, float]] = []
    sent = problem.application.sent
    for m, n in product(range(width), repeat=2):
        if m == n:
            continue
        rate = problem.snapshot.rates[Pair(machines[m].name, machines[n].name)]
        row: Row = {time: 1.0}
        for i, j in combinations(range(count), 2):
            row[z[i, m, j, n]] = -8 * sent.get((tasks[i].name, tasks[j].name), 0) / rate
            row[z[i, n, j, m]] = -8 * sent.get((tasks[j].name, tasks[i].name), 0) / rate
        found.append((row, 0.0, np.inf))
    for m, machine in enumerate(machines):
        found.append(({x[i, m]: task.cores for i, task in enumerate(tasks)}, 0.0, machine.cores))
    for i in range(count):
        found.append(({x[i, m]: 1.0 for m in range(width)}, 1.0, 1.0))
        both = {z[key]: 1.0 for key in pairs if i in (key[0], key[2])}
        found.append((both, count - 1.0, count - 1.0))
    for i, m, j, n in pairs:
        found.append(({z[i, m, j, n]: 1.0, x[i, m]: -1.0}, -np.inf, 0.0))
        found.append(({z[i, m, j, n]: 1.0, x[j, n]: -1.0}, -np.inf, 0.0))
    return time + 1, found


def main() -> int:
    """Solve one."""
    print(objective(drawn(Size(Transfers(sys.argv[1]), 8, 8, 0.0), int(sys.argv[2]))))
    return 0


def objective(problem: Problem) -> float:
    """Seconds until the last transfer is over, at best."""
    count, listed = rows(problem)
    entries = [
        (number, column, value) for number, (row, _, _) in enumerate(listed) for column, value in row.items()
    ]
    across, down, values = zip(*entries, strict=True)
    matrix = coo_array((values, (across, down)), shape=(len(listed), count)).tocsc()
    cost, whole, most = np.zeros(count), np.ones(count), np.ones(count)
    cost[-1], whole[-1], most[-1] = 1.0, 0.0, np.inf
    limits = LinearConstraint(matrix, [one[1] for one in listed], [one[2] for one in listed])
    found = milp(cost, constraints=limits, integrality=whole, bounds=Bounds(0.0, most))
    return float(found.fun)


if __name__ == "__main__":
    sys.exit(main())

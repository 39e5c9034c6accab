"""Algorithm 1 of [CHOREO]: the transfer with the most bytes gets the fastest path that is left.

The printed algorithm leaves some cases open.  They are settled as follows:

- *both tasks are placed*: the transfer stays where they are, and takes its share of that path;
- *both tasks on one machine*: possible if both fit; this path is infinitely fast;
- *tasks without transfers* come last, largest first, each on the machine with most free cores;
- *no path is left*: an error names the task and what it lacks.  A choice after which the other tasks do not
  fit by first fit is avoided if there is another one;
- *equally fast paths*: the first machine.

The rate of a new transfer is that of the slowest link on its path, shared with the transfers that are placed
there already.  The link is the path (pipe model), the machine's (hose model), or one of the network.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from adon.placement.completion import index_by_path, list_links, place_at
from adon.placement.constraints import check_feasible
from adon.placement.model import Method, NoPlacement, Placement, PlacementProblem
from adon.placement.partial import PartialPlacement
from measurement.health.model import Pair

Choice = dict[str, str]
"""Machines for the one or two open tasks of a transfer."""


def place_greedily(problem: PlacementProblem) -> Placement:
    """Return the placement of Algorithm 1.

    :raises NoPlacement: naming a task that no machine is left for.
    """
    check_feasible(problem)
    partial, shares = PartialPlacement(problem), _LinkShares(problem)
    partial.place({task.name: task.pinned for task in problem.application.tasks if task.pinned})
    sent = sorted(
        ((pair, count) for pair, count in problem.application.sent.items() if count),
        key=lambda transfer: (-transfer[1], transfer[0]),
    )
    for (sender, receiver), _ in sent:
        _place_tasks(partial, shares, (sender, receiver))
        shares.add_transfer(Pair(partial.machines[sender], partial.machines[receiver]))
    for task in sorted(partial.open_tasks(), key=lambda task: (-task.cores, task.name)):
        _place_tasks(partial, shares, (task.name,))
    return place_at(problem, partial.machines, Method.GREEDY)


def _place_tasks(partial: PartialPlacement, shares: _LinkShares, names: Sequence[str]) -> None:
    """Place those of a transfer's tasks that are open, or one task without transfers."""
    open_ = [name for name in names if name not in partial.machines]
    if not open_:
        return

    def rate(choice: Choice) -> float:
        if len(names) == 1:
            return partial.room[choice[names[0]]].cores
        source, destination = (choice.get(name) or partial.machines[name] for name in names)
        return shares.rate(Pair(source, destination))

    ranked = sorted(_list_choices(partial, open_), key=rate, reverse=True)
    if not ranked:
        raise NoPlacement.of(f"tasks.{open_[0]}", partial.explain_refusal(open_[0]))
    for choice in ranked:
        partial.place(choice)
        if partial.rest_fits():
            return
        partial.remove(choice)
    partial.place(ranked[0])


def _list_choices(partial: PartialPlacement, names: Sequence[str]) -> Iterator[Choice]:
    """Yield all ways to place one or two tasks, in the machines' order."""
    first, *rest = names
    for machine in partial.room:
        if not partial.can_place(first, machine):
            continue
        if not rest:
            yield {first: machine}
            continue
        partial.place({first: machine})
        others = [other for other in partial.room if partial.can_place(rest[0], other)]
        partial.remove({first: machine})
        yield from ({first: machine, rest[0]: other} for other in others)


@dataclass(slots=True)
class _LinkShares:
    """The number of transfers on each link."""

    problem: PlacementProblem
    _rates: list[float] = field(init=False)
    _crossed: dict[Pair, tuple[int, ...]] = field(init=False)
    _transfers: list[int] = field(init=False)

    def __post_init__(self) -> None:
        links = list(list_links(self.problem.snapshot))
        self._rates = [link.rate for link in links]
        self._crossed = index_by_path(links)
        self._transfers = [0] * len(links)
        for pair, count in self.problem.load.items():
            if count:
                self.add_transfer(pair)

    def rate(self, pair: Pair) -> float:
        """Return the rate of a new transfer between two machines."""
        if pair.source == pair.destination:
            return math.inf
        return min(self._rates[link] / (self._transfers[link] + 1) for link in self._crossed[pair])

    def add_transfer(self, pair: Pair) -> None:
        """Count a transfer on all links of its path."""
        for link in self._crossed.get(pair, ()):
            self._transfers[link] += 1

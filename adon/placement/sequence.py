"""Applications that arrive one after the other; their placements are evaluated again while they run.

This is a simulation.  Each transfer between two tasks is one connection with its max-min fair rate.  All
transfers of an application start when it is placed, and it is complete with the last one ([CHOREO] 6.1 and
6.3).  Rates are constant between two events: an arrival, the end of a transfer or of a pause, an evaluation.
An application without room waits until another one is complete.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adon.fluid import Demand, max_min_rates
from adon.placement.completion import index_by_path, list_links
from adon.placement.migration import Place, RunningApplication, find_migration, problem_beside
from adon.placement.model import Application, Assignment, Machine, NoPlacement
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot

LEFT_BYTES = 1e-4
"""A transfer with at most this many bytes left is complete: rounding."""


@dataclass(slots=True, eq=False)
class ApplicationRun(RunningApplication):
    """The life of an application; times in seconds.

    :param placements: the assignments with their start; the first is that of the placement.
    """

    arrived_at: float = 0.0
    ended_at: float = math.inf
    paused_until: float = 0.0
    placements: list[tuple[float, Assignment]] = field(default_factory=list)

    def assign(self, now: float, machines: Assignment, pause: float = 0.0) -> None:
        """Move the tasks; transfers within a machine are complete."""
        self.machines, self.paused_until = dict(machines), now + pause
        self.placements.append((now, self.machines))
        for pair in [pair for pair in self.left if machines[pair[0]] == machines[pair[1]]]:
            del self.left[pair]


@dataclass(slots=True)
class SequenceSimulation:
    """A network with machines and running applications.

    :param place: the method of placement.
    :param interval: seconds between two evaluations of all placements ([CHOREO] 2.4).
    :param pause: seconds that an application stops to migrate.
    """

    snapshot: Snapshot
    machines: Sequence[Machine]
    place: Place
    interval: float = math.inf
    pause: float = 0.0
    _now: float = 0.0
    _running: list[ApplicationRun] = field(default_factory=list)

    def run(self, arrivals: Iterable[tuple[float, Application]]) -> list[ApplicationRun]:
        """Run applications to their end; return them in the order of arrivals.

        :param arrivals: seconds and applications.
        :raises NoPlacement: if an application does not fit on free machines, or a transfer has no rate.
        """
        runs = []
        for at, one in arrivals:
            sent = {pair: float(count) for pair, count in one.sent.items() if count}
            runs.append(ApplicationRun(one, {}, sent, at))
        coming, waiting = sorted(runs, key=lambda run: run.arrived_at), list[ApplicationRun]()
        links = list(list_links(self.snapshot))
        crossed, capacities = index_by_path(links), {index: link.rate for index, link in enumerate(links)}
        evaluation = self.interval
        while coming or waiting or self._running:
            rates = self._transfer_rates(crossed, capacities)
            due = [self._now + 8 * run.left[pair] / rate for run, pair, rate in rates if rate > 0]
            due += [run.paused_until for run in self._running if run.paused_until > self._now]
            due += [evaluation] * bool(self._running) + [run.arrived_at for run in coming[:1]]
            if min(due, default=math.inf) == math.inf:
                raise NoPlacement.of("sent", "a transfer has no rate on its path")
            self._advance(max(self._now, min(due)), rates)
            changed = self._complete()
            while coming and coming[0].arrived_at <= self._now:
                waiting.append(coming.pop(0))
                changed = True
            if evaluation <= self._now:
                evaluation = self._now + self.interval
                self._evaluate()
                self._complete()
                changed = True
            while waiting and changed:  # an application without transfers is complete at once
                waiting = [run for run in waiting if not self._start(run)]
                changed = self._complete()
        return runs

    def _transfer_rates(
        self, crossed: Mapping[Pair, tuple[int, ...]], capacities: Mapping[int, float]
    ) -> list[tuple[ApplicationRun, tuple[str, str], float]]:
        """Return each transfer that is not paused, with its bits/s."""
        active = [(run, pair) for run in self._running if run.paused_until <= self._now for pair in run.left]
        paths = [Pair(run.machines[sender], run.machines[receiver]) for run, (sender, receiver) in active]
        rates = max_min_rates(capacities, [Demand(crossed[path]) for path in paths])
        return [(run, pair, rate) for (run, pair), rate in zip(active, rates, strict=True)]

    def _advance(self, to: float, rates: list[tuple[ApplicationRun, tuple[str, str], float]]) -> None:
        for run, pair, rate in rates:
            run.left[pair] -= rate / 8 * (to - self._now)
            if run.left[pair] <= max(LEFT_BYTES, rate * 1e-10):
                del run.left[pair]
        self._now = to

    def _complete(self) -> bool:
        """End the applications without transfers and pause; return whether there were any."""
        complete = [run for run in self._running if not run.left and run.paused_until <= self._now]
        for run in complete:
            self._running.remove(run)
            run.ended_at = self._now
        return bool(complete)

    def _start(self, run: ApplicationRun) -> bool:
        """Place an application; return whether there was room."""
        try:
            problem = problem_beside(run.application, self.machines, self.snapshot, self._running)
            found = self.place(problem)
        except NoPlacement:
            if not self._running:
                raise
            return False
        run.assign(self._now, found.machines)
        self._running.append(run)
        return True

    def _evaluate(self) -> None:
        """Migrate the applications that end earlier by it."""
        for run in self._running:
            others = [other for other in self._running if other is not run]
            found = find_migration(run, others, self.machines, self.snapshot, self.place, self.pause)
            if found is not None:
                run.assign(self._now, found.placement.machines, found.cost)

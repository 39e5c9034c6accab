"""A placement under way: what is placed, what is free, and where one task more may be.

For those who place one task after the other: Algorithm 1 and the baselines.  The search keeps many of these
at a time, as arrays (:mod:`~adon.placement.nodes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.placement.completion import links, silent
from adon.placement.constraints import fits, near
from adon.placement.model import Machine, Problem, Task
from measurement.health.model import Pair


@dataclass(slots=True)
class Partial:
    """See the module's text.

    :param cores: that are free on each machine; :param memory: bytes, likewise, None if nobody knows.
    :param silent: paths that nothing gets through.
    :param transfers: of each task, where some paths are silent; else empty.
    :param within: the round-trip times that each task must keep to others.
    :param machines: of the tasks that are placed.
    """

    problem: Problem
    tasks: Mapping[str, Task]
    cores: dict[str, float]
    memory: dict[str, int | None]
    silent: frozenset[Pair]
    transfers: Mapping[str, list[tuple[str, str]]]
    within: Mapping[str, list[tuple[tuple[str, str], float]]]
    machines: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem) -> Partial:
        """Nothing is placed."""
        application = problem.application
        nowhere = silent(links(problem.snapshot))
        transfers: dict[str, list[tuple[str, str]]] = {}
        for transfer, count in application.sent.items():
            for name in transfer if count and nowhere else ():
                transfers.setdefault(name, []).append(transfer)
        within: dict[str, list[tuple[tuple[str, str], float]]] = {}
        for tasks, most in application.within.items():
            for name in tasks:
                within.setdefault(name, []).append((tasks, most))
        return cls(
            problem,
            {task.name: task for task in application.tasks},
            {machine.name: machine.cores for machine in problem.machines},
            {machine.name: machine.memory for machine in problem.machines},
            nowhere,
            transfers,
            within,
        )

    @property
    def free(self) -> list[Machine]:
        """What is left of the machines."""
        return [Machine(name, max(0.0, cores), self.memory[name]) for name, cores in self.cores.items()]

    def place(self, name: str, machine: str) -> None:
        """Put a task onto a machine."""
        self.machines[name] = machine
        self._take(self.tasks[name], machine, 1)

    def remove(self, name: str) -> None:
        """Take a task off again."""
        self._take(self.tasks[name], self.machines.pop(name), -1)

    def _take(self, task: Task, machine: str, times: int) -> None:
        self.cores[machine] -= times * task.cores
        memory = self.memory[machine]
        self.memory[machine] = None if memory is None else memory - times * task.memory

    def possible(self, name: str, machine: str) -> bool:
        """Whether a task may be there beside all that is placed."""
        task = self.tasks[name]
        return (
            task.pinned in ("", machine)
            and fits(task, self.cores[machine], self.memory[machine])
            and self._apart(name, machine)
            and self._reaches(name, machine)
            and self._near(name, machine)
        )

    def _apart(self, name: str, machine: str) -> bool:
        return not any(
            name in group and any(self.machines.get(one) == machine for one in group - {name})
            for group in self.problem.application.apart
        )

    def _reaches(self, name: str, machine: str) -> bool:
        """Whether something gets through to and from all that it has transfers with."""
        return not any(
            self._between(transfer, machine) in self.silent for transfer in self.transfers.get(name, ())
        )

    def _near(self, name: str, machine: str) -> bool:
        return all(
            near(self.problem, *self._between(tasks, machine), most)
            for tasks, most in self.within.get(name, ())
        )

    def _between(self, tasks: tuple[str, str], machine: str) -> Pair:
        """The machines of two tasks; who has none yet is on this one, for one of them, or beside it."""
        return Pair(self.machines.get(tasks[0], machine), self.machines.get(tasks[1], machine))

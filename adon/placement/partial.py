"""A partial placement: which tasks are placed, what is free, and where another task can be placed.

Algorithm 1 and the baselines place one task after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from adon.placement.completion import list_links
from adon.placement.constraints import Room, are_near, explain_no_room
from adon.placement.model import Assignment, PlacementProblem, Task
from measurement.health.model import Pair


@dataclass(slots=True)
class PartialPlacement:
    """A placement under way.

    :param machines: of the tasks that are placed, in the order in which they were placed.
    :param room: what is free on each machine.
    """

    problem: PlacementProblem
    machines: dict[str, str] = field(default_factory=dict)
    room: dict[str, Room] = field(init=False)
    _tasks: dict[str, Task] = field(init=False)
    _apart: dict[str, set[str]] = field(init=False)
    _dead: set[Pair] = field(init=False)
    _bounds: dict[str, list[tuple[str, str, float | None]]] = field(init=False)

    def __post_init__(self) -> None:
        application = self.problem.application
        self._tasks = {task.name: task for task in application.tasks}
        self.room = {one.name: Room.of(one) for one in self.problem.machines}
        self._apart = {name: set() for name in self._tasks}
        for group in application.apart:
            for name in group:
                self._apart[name] |= group - {name}
        self._dead = {
            pair for link in list_links(self.problem.snapshot) if link.rate <= 0 for pair in link.pairs
        }
        self._bounds = {name: [] for name in self._tasks}
        transfers = (pair for pair, count in application.sent.items() if count and self._dead)
        for (one, other), most in [*((pair, None) for pair in transfers), *application.within.items()]:
            for name in (one, other):
                self._bounds[name].append((one, other, most))

    def open_tasks(self) -> Iterator[Task]:
        """Yield the tasks that are not placed."""
        return (task for name, task in self._tasks.items() if name not in self.machines)

    def place(self, choice: Assignment) -> None:
        """Place one or more tasks."""
        for name, machine in choice.items():
            self.machines[name] = machine
            self.room[machine] = self.room[machine].without(self._tasks[name])

    def remove(self, choice: Assignment) -> None:
        """Undo :meth:`place`."""
        for name, machine in choice.items():
            del self.machines[name]
            self.room[machine] = self.room[machine].without(self._tasks[name], -1)

    def can_place(self, name: str, machine: str) -> bool:
        """Whether a task can be on a machine together with all tasks that are placed."""
        task = self._tasks[name]
        return (
            task.pinned in ("", machine)
            and self.room[machine].fits(task)
            and all(self.machines.get(other) != machine for other in self._apart[name])
            and all(self._meets(bound, machine) for bound in self._bounds[name])
        )

    def _meets(self, bound: tuple[str, str, float | None], machine: str) -> bool:
        """Whether two tasks can reach each other, or are near, if each that is not placed is on a machine."""
        one, other, most = bound
        pair = Pair(self.machines.get(one, machine), self.machines.get(other, machine))
        return pair not in self._dead if most is None else are_near(self.problem, *pair, most)

    def rest_fits(self) -> bool:
        """Whether first fit, largest task first, finds room for all open tasks."""
        free = list(self.room.values())
        for task in sorted(self.open_tasks(), key=lambda task: -task.cores):
            place = next((index for index, room in enumerate(free) if room.fits(task)), None)
            if place is None:
                return False
            free[place] = free[place].without(task)
        return True

    def explain_refusal(self, name: str) -> str:
        """Return why a task cannot be placed on any machine."""
        task = self._tasks[name]
        fitting = sorted(machine for machine, room in self.room.items() if room.fits(task))
        if not fitting:
            return explain_no_room(task, self.room)
        forbids = "apart, within or a path without a known rate forbids it there"
        return f"fits on {', '.join(fitting[:3])}, but {forbids}"

"""The words of placement: machines, tasks, applications, and where tasks are.

Bytes, not rates, are what an application asks of a network ([CHOREO] 2.1).  Inside one machine they take no
time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, combinations

from adon.placement.methods import Method
from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.snapshot.model import Snapshot

Assignment = Mapping[str, str]
"""The machine of each task."""


class Impossible(ValueError):
    """No placement keeps what is asked for, or none was found where it was looked for.

    :ivar field: what cannot be had, as a dotted path into the application.
    :ivar cause: why, in words.
    """

    def __init__(self, field: str, cause: str) -> None:
        self.field = field
        self.cause = cause
        super().__init__(f"{field}: {cause}")


@dataclass(frozen=True, slots=True)
class Machine:
    """What tasks can be placed on.

    :param cores: that are free for tasks; C_m in the paper's program.
    :param memory: bytes that are free; None if nobody knows.
    :raises ValueError: for fewer than none.
    """

    name: str
    cores: float
    memory: int | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name: is empty")
        if not (math.isfinite(self.cores) and self.cores >= 0):
            raise ValueError(f"cores: machine {self.name}: {self.cores} is not a finite number from 0 on")
        if self.memory is not None and self.memory < 0:
            raise ValueError(f"memory: machine {self.name}: {self.memory} bytes is below 0")

    @classmethod
    def of(cls, instance: Instance) -> Machine:
        """An instance, all of it free.

        :raises ValueError: if nobody said how many cores it has.
        """
        if instance.cores is None:
            raise ValueError(f"cores: instance {instance.name}: is required where tasks are placed")
        return cls(instance.name, instance.cores, instance.memory)


@dataclass(frozen=True, slots=True)
class Task:
    """A part of an application that runs on one machine.

    :param cores: that it keeps busy; CR_j in the paper's program.
    :param memory: bytes that it needs.
    :param pinned: the machine that it must be on; empty if any will do.
    :raises ValueError: for a name that is none, or less than nothing.
    """

    name: str
    cores: float
    memory: int = 0
    pinned: str = ""

    def __post_init__(self) -> None:
        if not self.name or self.name != "".join(self.name.split()):
            raise ValueError(f"name: {self.name[:80]!r} is empty or has spaces in it")
        if not (math.isfinite(self.cores) and self.cores >= 0):
            raise ValueError(f"cores: task {self.name}: {self.cores} is not a finite number from 0 on")
        if self.memory < 0:
            raise ValueError(f"memory: task {self.name}: {self.memory} bytes is below 0")


@dataclass(frozen=True, slots=True)
class Application:
    """Tasks, what they send each other, and what must hold wherever they are.

    :param tasks: in the order of a matrix's rows.
    :param sent: bytes from one task to another (B_ij); what is absent is 0.
    :param apart: groups of tasks of which no two may be on one machine.
    :param within: the longest round-trip time between two tasks, in seconds, either way round; on one machine
        it always holds.
    :raises ValueError: for what cannot be one; it names field and tasks.
    """

    name: str
    tasks: tuple[Task, ...]
    sent: Mapping[tuple[str, str], int] = field(default_factory=dict)
    apart: tuple[frozenset[str], ...] = ()
    within: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ValueError("tasks: there is none")
        names = [task.name for task in self.tasks]
        known = {*names}
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"tasks: {twice} is there twice")
        for field_, pair in chain(
            (("sent", one) for one in self.sent), (("within", one) for one in self.within)
        ):
            unknown = sorted({*pair} - known)
            if unknown:
                raise ValueError(f"{field_}: {' > '.join(pair)}: {unknown[0]} is none of the tasks")
            if pair[0] == pair[1]:
                raise ValueError(f"{field_}: {' > '.join(pair)}: is one task, not two")
        for pair, count in self.sent.items():
            if count < 0:
                raise ValueError(f"sent: {' > '.join(pair)}: {count} bytes is below 0")
        for pair, seconds in self.within.items():
            if not (math.isfinite(seconds) and seconds >= 0):
                raise ValueError(f"within: {' > '.join(pair)}: {seconds} s is not a finite time from 0 on")
        for group in self.apart:
            unknown = sorted(group - known)
            if unknown:
                raise ValueError(f"apart: {unknown[0]} is none of the tasks")
            self._check_pins(group)

    def _check_pins(self, group: frozenset[str]) -> None:
        pinned = {task.name: task.pinned for task in self.tasks if task.name in group and task.pinned}
        for one, other in combinations(sorted(pinned), 2):
            if pinned[one] == pinned[other]:
                raise ValueError(f"apart: {one} and {other} are both pinned to {pinned[one]}")


def combined(applications: Iterable[Application], name: str = "all") -> Application:
    """Several as one that is placed at once ([CHOREO] 6.2); tasks are named ``application/task`` then.

    :raises ValueError: for two applications of one name.
    """
    listed = list(applications)
    names = [one.name for one in listed]
    if len({*names}) < len(names):
        raise ValueError(f"applications: {max(names, key=names.count)} is there twice")
    return Application(
        name,
        tuple(replace(task, name=f"{one.name}/{task.name}") for one in listed for task in one.tasks),
        {_named(one, pair): count for one in listed for pair, count in one.sent.items()},
        tuple(frozenset(f"{one.name}/{task}" for task in group) for one in listed for group in one.apart),
        {_named(one, pair): seconds for one in listed for pair, seconds in one.within.items()},
    )


def _named(application: Application, pair: tuple[str, str]) -> tuple[str, str]:
    return f"{application.name}/{pair[0]}", f"{application.name}/{pair[1]}"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be placed, where, over which network.

    :param load: bytes that others, whom we know, will still send between machines; they take part of the
        links, and nobody moves them.
    :raises ValueError: for machines that the snapshot does not know, and the like; it names field and name.
    """

    application: Application
    machines: tuple[Machine, ...]
    snapshot: Snapshot
    load: Mapping[Pair, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [machine.name for machine in self.machines]
        if not names:
            raise ValueError("machines: there is none")
        if len({*names}) < len(names):
            raise ValueError(f"machines: {max(names, key=names.count)} is there twice")
        unmeasured = sorted({*names} - {*self.snapshot.instances})
        if unmeasured:
            raise ValueError(f"machines: {unmeasured[0]} is not in the snapshot")
        for task in self.application.tasks:
            if task.pinned and task.pinned not in names:
                raise ValueError(
                    f"tasks: {task.name} is pinned to {task.pinned}, which is none of the machines"
                )
        for pair, count in self.load.items():
            if not {*pair} <= {*self.snapshot.instances} or not (math.isfinite(count) and count >= 0):
                raise ValueError(f"load: {' > '.join(pair)}: {count} bytes is none between two instances")
        wanting = next((task for task in self.application.tasks if task.memory), None)
        unsaid = next((machine for machine in self.machines if machine.memory is None), None)
        if wanting is not None and unsaid is not None:
            raise ValueError(
                f"machines: {unsaid.name}: its memory is not known, and task {wanting.name} needs some"
            )


class Kind(StrEnum):
    """Where a limit is."""

    PATH = "path"
    """One pair's own: the pipe model."""
    HOSE = "hose"
    """Everything out of one machine: the hose model."""
    SHARED = "shared"
    """A link inside the network that several paths share."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a placement's time comes from: bytes over a rate.

    :param pairs: whose bytes it carries; of those, the ones that carry some.
    :param carried: bytes of the application over it.
    :param waiting: bytes of others before it is free, see :attr:`Problem.load`.
    :param rate: bits/s for all of them together.
    """

    kind: Kind
    pairs: tuple[Pair, ...]
    carried: float
    waiting: float
    rate: float

    @property
    def seconds(self) -> float:
        """How long it takes; infinite where nothing gets through."""
        bits = 8 * (self.carried + self.waiting)
        return bits / self.rate if self.rate > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Placement:
    """Where tasks are.

    :param machines: of each task, in the tasks' order.
    :param seconds: until the last transfer is over; 0 if nothing leaves a machine.
    :param limit: what decides that; None if nothing leaves a machine.
    :param proven: whether no placement is faster.
    :param bound: seconds below which no placement is.
    """

    machines: Assignment
    seconds: float
    limit: Limit | None
    method: Method
    proven: bool = False
    bound: float = 0.0

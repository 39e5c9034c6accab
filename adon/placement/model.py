"""Values of placement: machines, tasks, applications, problems and placements.

An application asks a network for bytes, not for rates ([CHOREO] 2.1).  Bytes inside one machine take no time.
Times are in seconds, rates in bits/s.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from itertools import combinations
from typing import Any, Literal

from adon.errors import InvalidInput
from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.snapshot.model import Snapshot

MAX_TASKS = 10_000
"""Tasks of a placement, at most."""
Assignment = Mapping[str, str]
"""The machine of each task."""


class Method(StrEnum):
    """How a placement was found."""

    GREEDY = "greedy"
    EXACT = "exact"
    LINEAR_PROGRAM = "linear-program"
    RANDOM = "random"
    ROUND_ROBIN = "round-robin"
    MINIMUM_MACHINES = "minimum-machines"


BASELINES = (Method.RANDOM, Method.ROUND_ROBIN, Method.MINIMUM_MACHINES)
"""Methods that know nothing of the network; the paper compares with them ([CHOREO] 6)."""


class NoPlacement(InvalidInput):
    """No placement meets the constraints, or the method found none.

    The field of its problem is a dotted path into the application: ``tasks.map-1``.
    """

    code = "no-placement"
    title = "No placement"


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _check_amount(field_: str, owner: str, amount: float) -> None:
    _check(
        math.isfinite(amount) and amount >= 0,
        f"{field_}: {owner}: {amount} is out of range; expected a finite number of at least 0",
    )


def _check_unique(field_: str, names: list[str]) -> None:
    _check(bool(names), f"{field_}: is empty; expected at least one")
    _check(len({*names}) == len(names), f"{field_}: {max(names, key=names.count)} occurs twice")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine for tasks.

    :param cores: free cores; C_m in the paper's program.
    :param memory: free bytes; None if unknown.
    :raises ValueError: for an empty name or a negative amount.
    """

    name: str
    cores: float
    memory: int | None = None

    def __post_init__(self) -> None:
        _check(bool(self.name), "name: is empty; expected the name of an instance")
        _check_amount("cores", f"machine {self.name}", self.cores)
        _check_amount("memory", f"machine {self.name}", self.memory or 0)

    @classmethod
    def of(cls, instance: Instance) -> Machine:
        """Return an instance as a machine without tasks.

        :raises ValueError: if the instance has no number of cores.
        """
        _check(instance.cores is not None, f"cores: instance {instance.name}: is missing; expected cores: 4")
        return cls(instance.name, instance.cores or 0.0, instance.memory)


@dataclass(frozen=True, slots=True)
class Task:
    """A part of an application that runs on one machine.

    :param cores: cores that it occupies; CR_j in the paper's program.
    :param memory: bytes that it needs.
    :param pinned: the only machine that it can run on; empty for any machine.
    :raises ValueError: for a name that is empty or has spaces, or a negative amount.
    """

    name: str
    cores: float
    memory: int = 0
    pinned: str = ""

    def __post_init__(self) -> None:
        valid = bool(self.name) and self.name == "".join(self.name.split())
        _check(valid, f"name: {self.name[:80]!r} is empty or has spaces; expected a name such as map-1")
        _check_amount("cores", f"task {self.name}", self.cores)
        _check_amount("memory", f"task {self.name}", self.memory)


@dataclass(frozen=True, slots=True)
class Application:
    """Tasks, the bytes that they send each other, and constraints.

    :param tasks: in the order of a matrix's rows.
    :param sent: bytes from task to task (B_ij); an absent pair sends nothing.
    :param apart: groups of tasks; no two tasks of a group can be on one machine.
    :param within: the longest round-trip time between two tasks in seconds, in both directions.
    :raises ValueError: naming the field and the tasks.
    """

    name: str
    tasks: tuple[Task, ...]
    sent: Mapping[tuple[str, str], int] = field(default_factory=dict)
    apart: tuple[frozenset[str], ...] = ()
    within: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [task.name for task in self.tasks]
        _check_unique("tasks", names)
        for field_, values in (("sent", self.sent), ("within", self.within)):
            for pair, amount in values.items():
                written = " > ".join(pair)
                unknown = sorted({*pair}.difference(names))
                _check(not unknown, f"{field_}: {written}: {', '.join(unknown)} is not a task")
                _check(pair[0] != pair[1], f"{field_}: {written}: is one task; expected two")
                _check_amount(field_, written, amount)
        for group in self.apart:
            unknown = sorted(group.difference(names))
            _check(not unknown, f"apart: {', '.join(unknown)} is not a task")
            for one, other in combinations([task for task in self.tasks if task.name in group], 2):
                both = f"{one.name} and {other.name} are both pinned to {one.pinned}"
                _check(not one.pinned or one.pinned != other.pinned, f"apart: {both}; expected two machines")


def combine_applications(applications: Iterable[Application], name: str = "all") -> Application:
    """Return several applications as one, to place them at once ([CHOREO] 6.2).

    The tasks are named ``application/task``.

    :raises ValueError: for two applications of one name.
    """
    listed = list(applications)
    _check_unique("applications", [one.name for one in listed])

    def join(one: Application, pair: tuple[str, str]) -> tuple[str, str]:
        return f"{one.name}/{pair[0]}", f"{one.name}/{pair[1]}"

    return Application(
        name,
        tuple(replace(task, name=f"{one.name}/{task.name}") for one in listed for task in one.tasks),
        {join(one, pair): count for one in listed for pair, count in one.sent.items()},
        tuple(frozenset(f"{one.name}/{task}" for task in group) for one in listed for group in one.apart),
        {join(one, pair): seconds for one in listed for pair, seconds in one.within.items()},
    )


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    """An application, the machines for it and the network between them.

    :param load: bytes that other applications still send between machines, before those of this one.
    :raises ValueError: for machines that are not in the snapshot and the like, naming field and name.
    """

    application: Application
    machines: tuple[Machine, ...]
    snapshot: Snapshot
    load: Mapping[Pair, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [machine.name for machine in self.machines]
        _check_unique("machines", names)
        unmeasured = sorted({*names} - {*self.snapshot.instances})
        _check(not unmeasured, f"machines: {', '.join(unmeasured)} is not in the snapshot")
        for task in self.application.tasks:
            known = task.pinned in ("", *names)
            _check(known, f"tasks: {task.name} is pinned to {task.pinned}, which is not a machine")
        for pair, count in self.load.items():
            known = {*pair} <= {*self.snapshot.instances}
            _check(known, f"load: {' > '.join(pair)}: is not a pair of instances of the snapshot")
            _check_amount("load", " > ".join(pair), count)
        unknown = [machine.name for machine in self.machines if machine.memory is None]
        needing = [task.name for task in self.application.tasks if task.memory]
        _check(
            not (unknown and needing),
            f"machines: {', '.join(unknown)}: memory is unknown, but tasks need some: {', '.join(needing)}",
        )


class LinkKind(StrEnum):
    """Where the rate of transfers is limited."""

    PATH = "path"
    """On the path of one pair: the pipe model."""
    HOSE = "hose"
    """At a machine, for all that it sends: the hose model."""
    SHARED = "shared"
    """On a link of the network that several paths cross."""


@dataclass(frozen=True, slots=True)
class DecidingLink:
    """The link that the completion time of a placement comes from.

    :param pairs: the paths over it that carry bytes of the application.
    :param carried_bytes: bytes of the application.
    :param waiting_bytes: bytes of others that are sent before, see :attr:`PlacementProblem.load`.
    :param rate_bps: rate of all transfers together.
    """

    kind: LinkKind
    pairs: tuple[Pair, ...]
    carried_bytes: float
    waiting_bytes: float
    rate_bps: float

    def __post_init__(self) -> None:
        _check(bool(self.pairs), "pairs: is empty; expected at least one")
        for name in ("carried_bytes", "waiting_bytes", "rate_bps"):
            _check_amount(name, self.kind, getattr(self, name))

    @property
    def seconds(self) -> float:
        """The time of all bytes; inf if the link has no rate."""
        bits = 8 * (self.carried_bytes + self.waiting_bytes)
        return bits / self.rate_bps if self.rate_bps > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Placement:
    """The machines of an application's tasks.  As JSON it has the same names.

    :param application: its name.
    :param snapshot_at: when the network was measured, in seconds since 1970.
    :param machines: of each task, in the order of the tasks.
    :param completion_time_s: time until the last transfer is complete; 0 if nothing leaves a machine.
    :param limit: the link that decides it; None if nothing leaves a machine.
    :param proven: no placement is faster.
    :param lower_bound_s: no placement is faster than this.
    :raises ValueError: for values that contradict each other, naming the field.
    """

    application: str
    snapshot_at: float
    method: Method
    machines: Assignment
    completion_time_s: float
    limit: DecidingLink | None
    proven: bool = False
    lower_bound_s: float = 0.0
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        count = len(self.machines)
        _check(0 < count <= MAX_TASKS, f"machines: {count} tasks; expected 1 to {MAX_TASKS}")
        for name in ("snapshot_at", "completion_time_s", "lower_bound_s"):
            _check_amount(name, self.application, getattr(self, name))
        possible = self.lower_bound_s <= self.completion_time_s * (1 + 1e-9)
        _check(possible, "lower_bound_s: is above completion_time_s; expected at most that")
        _check(self.limit is not None or not self.completion_time_s, "limit: is missing; expected a link")


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # not needed at the start of the command line

    return TypeAdapter(Placement)


def placement_to_json(placement: Placement) -> dict[str, Any]:
    """Return a placement as a JSON object."""
    document: dict[str, Any] = _adapter().dump_python(placement, mode="json")
    return document


def placement_from_json(document: Mapping[str, Any]) -> Placement:
    """Return the placement of a JSON object.

    :raises InvalidInput: with every problem that was found.
    """
    from pydantic import ValidationError

    from adon.yamlfile import causes

    try:
        placement: Placement = _adapter().validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        found = ((".".join(map(str, one["loc"])), causes(one)) for one in error.errors())
        raise InvalidInput(
            one.under(place) if place else one for place, problems in found for one in problems
        ) from None
    return placement

"""Input files of commands: applications (docs/placement.md) and tasks (docs/choreo.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from adon import yamlfile
from adon.config.types import Section
from adon.errors import InvalidInput, Problem
from adon.placement.model import Application, Task
from adon.units import Duration, Size
from measurement import document, matrix
from measurement.profiling.model import Profile
from measurement.profiling.tasks import Tasks

MOST = 2000
Name = Annotated[str, Field(min_length=1, max_length=200)]


class TaskEntry(Section):
    """Task, as :class:`adon.placement.model.Task` describes it."""

    name: Name
    cores: float
    memory: Size = 0
    pinned: str = ""

    def _problems(self) -> Iterator[str]:
        self.task()
        yield from ()

    def task(self) -> Task:
        """Return it as a value of :mod:`adon.placement`.

        :raises ValueError: if it cannot be one; it names the field.
        """
        return Task(self.name, self.cores, self.memory, self.pinned)


class TransferEntry(Section):
    """Bytes from one task to another."""

    source: Name = Field(alias="from")
    to: Name
    size: Size


class RttLimit(Section):
    """Maximum round-trip time between two tasks."""

    tasks: tuple[Name, Name]
    rtt: Duration


class ApplicationFile(Section):
    """Application file with one of ``transfers``, ``matrix`` and ``profile``.

    :param matrix: a row per sender and a column per receiver, in the order of the tasks; null or ``0 B``
        where nothing is sent.
    :param profile: a profile's file (``adon place profile -o``), relative to this file's folder.
    :param apart: groups of tasks that must be on different machines.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    tasks: Annotated[tuple[TaskEntry, ...], Field(min_length=1, max_length=MOST)]
    transfers: tuple[TransferEntry, ...] | None = None
    matrix: tuple[tuple[Size | None, ...], ...] | None = None
    profile: Path | None = None
    apart: tuple[tuple[Name, ...], ...] = ()
    within: tuple[RttLimit, ...] = ()

    def _problems(self) -> Iterator[str]:
        given = [name for name in ("transfers", "matrix", "profile") if getattr(self, name) is not None]
        if len(given) > 1:
            yield f"{given[1]}: {given[0]} states the transfers already; write only one of both"
        elif self.profile is None:
            self.application({})

    def application(self, profiled: dict[tuple[str, str], int]) -> Application:
        """Return it as a value of :mod:`adon.placement`.

        :param profiled: bytes from task to task by the profile.
        :raises ValueError: if it cannot be one; it names the field.
        """
        names = [task.name for task in self.tasks]
        sent = dict(profiled)
        if self.matrix is not None:
            sent = matrix.pairs("matrix", names, self.matrix)
        for one in self.transfers or ():
            if (one.source, one.to) in sent:
                raise ValueError(f"transfers: {one.source} > {one.to}: is there twice")
            sent[one.source, one.to] = one.size
        within = dict[tuple[str, str], float]()
        for near in self.within:
            if near.tasks in within:
                raise ValueError(f"within: {' > '.join(near.tasks)}: is there twice")
            within[near.tasks] = near.rtt
        for group in self.apart:
            if len({*group}) < len(group) or len(group) < 2:
                raise ValueError(f"apart: [{', '.join(group)}] is no group of different tasks, at least two")
        field = "matrix" if self.matrix is not None else "transfers" if self.profile is None else "profile"
        try:
            return Application(
                self.name,
                tuple(task.task() for task in self.tasks),
                sent,
                tuple(frozenset(group) for group in self.apart),
                within,
            )
        except ValueError as error:
            where, _, cause = str(error).partition(": ")
            raise ValueError(f"{field if where == 'sent' else where}: {cause}") from None


def load_application(path: Path) -> Application:
    """Read and check an application file, and the profile that it names.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    found = yamlfile.load_model(path, ApplicationFile)
    if found.profile is None:
        return found.application({})
    file = path.parent / found.profile
    try:
        return found.application(dict(document.loads(Profile, file.read_bytes()).sent))
    except OSError as error:
        raise InvalidInput(Problem("profile", f"{file}: {error.strerror}", str(path))) from error
    except ValueError as error:
        raise InvalidInput(Problem("profile", f"{file}: {error}", str(path))) from error


Ends = Annotated[tuple[str, ...], Field(min_length=1)]
"""IP addresses with or without a port: ``10.0.0.1``, ``10.0.0.1:7000``, ``"[2001:db8::1]:7000"``."""


class TasksFile(Section):
    """Tasks file."""

    tasks: Annotated[dict[str, Ends], Field(min_length=2, max_length=MOST)]

    def _problems(self) -> Iterator[str]:
        self.mapping()
        yield from ()

    def mapping(self) -> Tasks:
        """Return it as a value of :mod:`measurement`.

        :raises ValueError: for an invalid value; it names the task.
        """
        return Tasks.of(self.tasks)


def load_tasks(path: Path) -> Tasks:
    """Read and check a tasks file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, TasksFile).mapping()

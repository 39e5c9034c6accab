"""The tasks file: which hosts, or hosts and ports, are which task of an application (docs/choreo.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from adon import yamlfile
from adon.config.parts import Section
from measurement.profiling.tasks import Tasks

MOST = 2000

Ends = Annotated[tuple[str, ...], Field(min_length=1)]
"""IP addresses, with a port or without: ``10.0.0.1``, ``10.0.0.1:7000``, ``"[2001:db8::1]:7000"``."""


class TasksFile(Section):
    """The whole file."""

    tasks: Annotated[dict[str, Ends], Field(min_length=2, max_length=MOST)]

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.mapping()
        return self

    def mapping(self) -> Tasks:
        """The same, as a value of the measurement's.

        :raises ValueError: if it cannot be one; it names the task.
        """
        return Tasks.of(self.tasks)


def load(path: Path) -> Tasks:
    """Read and check a tasks file.

    :raises InvalidInput: with every problem found, each with file, line and field.
    """
    return yamlfile.load_model(path, TasksFile).mapping()

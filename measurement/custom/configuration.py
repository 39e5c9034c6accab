"""Which custom metrics a host has: a TOML file.

::

    host = "dtn1.example.org"           # its name elsewhere; default: what its own system says

    [system]                            # leave it out and there are none of these
    disks = ["/", "/scratch"]
    interfaces = ["eth0"]               # default: all but loopback

    [[command]]
    name = "queue.length"
    argv = ["/usr/local/bin/queue-length", "--all"]
    unit = "jobs"
    period = 5                          # seconds; so for all
    timeout = 3
    memory = 268435456                  # bytes
    cpu = 2                             # seconds
    environment = ["HOME"]              # variables that it gets, beside PATH, LC_ALL and TZ

    [[pegasus]]
    name = "soykb"
    database = "/home/soykb/.pegasus/workflow.db"   # all of a user's workflows, or
    # folder = "/home/soykb/runs/run0001"           # one, until it is done or failed

    [[batch]]
    name = "hpc"
    system = "slurm"                    # or "htcondor"
    cores = 16                          # the size of job whose queue wait is asked
    nodes = 1
    duration = 3600

A file with a mistake in it is refused as a whole.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from measurement.custom.errors import NotConfigured
from measurement.custom.model import PERIOD

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$", max_length=100)]
_Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Absolute = Annotated[str, Field(pattern=r"^/")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class System(_Section):
    """The host itself."""

    disks: tuple[_Absolute, ...] = ("/",)
    interfaces: tuple[str, ...] = ()
    period: _Positive = PERIOD


class Command(_Section):
    """A program."""

    name: _Name
    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    unit: str = ""
    period: _Positive = PERIOD
    timeout: _Positive = 3.0
    memory: Annotated[int, Field(gt=0)] = 512 * 2**20
    cpu: Annotated[int, Field(gt=0)] | None = None
    output: Annotated[int, Field(gt=0, le=16 * 2**20)] = 65536
    environment: tuple[str, ...] = ()


class Pegasus(_Section):
    """Workflows."""

    name: _Label
    folder: _Absolute | None = None
    database: _Absolute | None = None
    period: _Positive = PERIOD
    timeout: _Positive = 60.0
    environment: tuple[str, ...] = ("HOME",)

    @model_validator(mode="after")
    def _one_or_all(self) -> Pegasus:
        if (self.folder is None) == (self.database is None):
            raise ValueError("needs either folder (one workflow) or database (all of a user's)")
        return self


class Batch(_Section):
    """A batch system."""

    name: _Label
    system: Literal["slurm", "htcondor"]
    partition: str | None = None
    cores: Annotated[int, Field(gt=0)] = 1
    nodes: Annotated[int, Field(gt=0)] = 1
    duration: _Positive = 3600.0
    period: _Positive = PERIOD

    @model_validator(mode="after")
    def _possible(self) -> Batch:
        if self.cores < self.nodes:
            raise ValueError(f"cores: {self.cores} on {self.nodes} nodes leaves one without")
        if self.partition is not None and self.system != "slurm":
            raise ValueError("partition: only Slurm has them")
        return self


class Configuration(_Section):
    """The whole file."""

    host: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$")] | None = None
    system: System | None = None
    command: tuple[Command, ...] = ()
    pegasus: tuple[Pegasus, ...] = ()
    batch: tuple[Batch, ...] = ()


DEFAULT = Configuration(system=System())
"""Without a file: the host itself."""


def read_configuration(path: Path) -> Configuration:
    """What a file says.

    :raises NotConfigured: for a file that cannot be read or says something wrong, naming file and field.
    """
    try:
        return Configuration.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(map(str, found["loc"]))
        raise NotConfigured(f"{path}: {where}: {found['msg']}") from None
    except OSError as error:
        raise NotConfigured(f"{path}: {error.strerror}", code="unreadable") from None
    except ValueError as error:
        raise NotConfigured(f"{path}: {error}") from None

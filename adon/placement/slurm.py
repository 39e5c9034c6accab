"""A placement as Slurm takes it: see srun(1), ``--nodelist`` and ``--distribution=arbitrary``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adon.placement.model import Placement


class Form(StrEnum):
    """What of it is told."""

    NODELIST = "nodelist"
    """The nodes, for ``--nodelist``."""
    HOSTFILE = "hostfile"
    """A node per line and task, in the order of the tasks, for the file that SLURM_HOSTFILE names."""
    OPTIONS = "options"
    """The options of srun that go with the host file; with ``--nodelist`` besides, srun makes no step."""


def told(placement: Placement, form: Form) -> str:
    """A placement in one of the forms, without a line's end.

    Machines are taken to be named as Slurm's nodes are; the task of rank 0 is the first.
    """
    ranks = list(placement.machines.values())
    nodes = ",".join(dict.fromkeys(ranks))
    match form:
        case Form.NODELIST:
            return nodes
        case Form.HOSTFILE:
            return "\n".join(ranks)
        case Form.OPTIONS:
            return f"--ntasks={len(ranks)} --distribution=arbitrary"

"""What became of planned runs, in words and figures: plan against truth.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from apps.collector.timeline import LeftOut
from measurement.model import PathKey

_REASONS = frozenset(LeftOut)
_TASK = re.compile(r"(([^:]+):([^>]+)>([^/]+)/([^/]+))(/on demand \d+)?")


@dataclass(frozen=True, slots=True)
class TaskName:
    """What a task's name says (:func:`adon.measurement_plan.task_id`).

    :param planned: the name of the planned task that it is, or is like.
    :param demanded: whether it is a test beside the plan.
    """

    planned: str
    key: PathKey
    kind: str
    demanded: bool


def read_task(name: str) -> TaskName | None:
    """What a task's name says; None if it is of another form."""
    found = _TASK.fullmatch(name)
    if found is None:
        return None
    return TaskName(found[1], PathKey(found[2], found[3], found[4]), found[5], found[6] is not None)


class Fate(StrEnum):
    """How a run ended."""

    MEASURED = "measured"
    FAILED = "failed"
    LEFT_OUT = "left_out"


def fate_of(outcome: str) -> Fate:
    """What an outcome's words mean (:mod:`apps.collector.conductor`)."""
    if outcome == Fate.MEASURED.value:
        return Fate.MEASURED
    return Fate.LEFT_OUT if outcome in _REASONS else Fate.FAILED


def classify_loss(outcome: str) -> str | None:
    """Return the short name of why a run gave no value; None if it gave one."""
    if outcome == Fate.MEASURED.value:
        return None
    return LeftOut(outcome).name.lower() if outcome in _REASONS else Fate.FAILED.value


LOST = (*(reason.name.lower() for reason in LeftOut), Fate.FAILED.value)
"""What :func:`classify_loss` returns."""


def planned(name: str) -> str:
    """The planned task that a run's task is, or is like."""
    read = read_task(name)
    return name if read is None else read.planned

"""What can be wrong with a pSConfig template, and why one of its tasks is not planned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from measurement.errors import MeasurementError, shorten


class TemplateError(MeasurementError):
    """A template that cannot be used.

    :ivar problems: one line each: the place in the document, and what is wrong there.
    """

    code = "bad-template"

    def __init__(self, problems: Sequence[str], *, code: str | None = None) -> None:
        self.problems = tuple(shorten(problem) for problem in problems)
        super().__init__("; ".join(self.problems[:5]), code=code)

    @classmethod
    def at(cls, place: str, cause: str, code: str | None = None) -> TemplateError:
        """One problem."""
        return cls([f"{place}: {cause}"], code=code)


class SkipReason(StrEnum):
    """Why a task is not planned, for some or all of its addresses."""

    ADDRESS = "bad-address"
    ADDRESS_CLASS = "address-class"
    BACKGROUND = "background"
    CONTEXTS = "contexts"
    INCLUDE = "include"
    JQ = "jq"
    NO_PATH = "no-path"
    NOT_PERIODIC = "not-periodic"
    PLANNED = "already-planned"
    SCHEDULE = "bad-schedule"
    SCHEDULED_BY = "scheduled-by"
    SPEC = "bad-spec"
    SUBTASK = "subtask"
    TEST = "unknown-test"
    TOOL = "unknown-tool"
    UNREADABLE = "unreadable"
    VARIABLE = "unknown-variable"


@dataclass(frozen=True, slots=True)
class SkippedTask:
    """A task of a template that is not planned.

    :param text: the cause; where causes differ from pair to pair, that of the first.
    :param count: how many lists of addresses the reason concerns; 1 where it concerns the whole task.
    """

    task: str
    reason: SkipReason
    text: str
    count: int = 1

    def __str__(self) -> str:
        times = "" if self.count == 1 else f", {self.count} times"
        return shorten(f"{self.task}: {self.text} [{self.reason}{times}]")


class CannotPlan(Exception):
    """A task cannot be planned.

    :ivar reason: the kind of cause.
    """

    def __init__(self, reason: SkipReason, text: str) -> None:
        self.reason = reason
        super().__init__(text)

    def skip(self, task: str) -> SkippedTask:
        """Return the record of this error for a task."""
        return SkippedTask(task, self.reason, str(self))


def merge_skipped(records: Iterable[SkippedTask]) -> tuple[SkippedTask, ...]:
    """Return one record for each task and reason, with the sum of the counts."""
    merged: dict[tuple[str, SkipReason], SkippedTask] = {}
    for record in records:
        key = (record.task, record.reason)
        known = merged.get(key)
        merged[key] = record if known is None else replace(known, count=known.count + record.count)
    return tuple(merged.values())

"""The states of a pScheduler run, as one table."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """What has become of a run."""

    PENDING = "pending"
    ON_DECK = "on-deck"
    RUNNING = "running"
    CLEANUP = "cleanup"
    FINISHED = "finished"
    FAILED = "failed"
    OVERDUE = "overdue"
    MISSED = "missed"
    PREEMPTED = "preempted"
    NONSTART = "nonstart"
    CANCELED = "canceled"

    @property
    def terminal(self) -> bool:
        """True when nothing more will come of this run; an overdue one may still end either way."""
        return self not in _GOING_ON


_GOING_ON = frozenset(
    {RunState.PENDING, RunState.ON_DECK, RunState.RUNNING, RunState.CLEANUP, RunState.OVERDUE}
)

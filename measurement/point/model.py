"""Tasks and runs of a measurement point, and the table of what a run's state may become.  Pure.

Tasks and runs are values; a change makes a new one.  Times are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from measurement.pscheduler.states import RunState


class SchedulingClass(StrEnum):
    """What a test tolerates beside itself on the same point."""

    EXCLUSIVE = "exclusive"
    NORMAL = "normal"
    BACKGROUND = "background"
    BACKGROUND_MULTI = "background-multi"
    """As background, with many results in one run."""

    def excludes(self, other: SchedulingClass) -> bool:
        """True when the two may not overlap: exclusive with exclusive or normal."""
        pair = {self, other}
        return self.EXCLUSIVE in pair and pair <= {self.EXCLUSIVE, self.NORMAL}

    @property
    def anytime(self) -> bool:
        """True when a test of this class runs whatever else does."""
        return self in (self.BACKGROUND, self.BACKGROUND_MULTI)


@dataclass(frozen=True, slots=True)
class TestType:
    """A test this point can do, with the one tool it uses for it."""

    name: str
    description: str
    scheduling: SchedulingClass
    tool: str
    participants: int = 1
    __test__ = False  # not a test case, whatever pytest thinks of the name


TESTS: Mapping[str, TestType] = {
    test.name: test
    for test in (
        TestType("throughput", "TCP or UDP throughput", SchedulingClass.EXCLUSIVE, "iperf3", 2),
        TestType("latency", "One-way delay and loss", SchedulingClass.NORMAL, "adon-owd"),
        TestType(
            "latencybg", "Continuous one-way delay and loss", SchedulingClass.BACKGROUND_MULTI, "adon-owd"
        ),
        TestType("rtt", "Round-trip time", SchedulingClass.BACKGROUND, "ping"),
        TestType("trace", "Path of a packet", SchedulingClass.BACKGROUND, "traceroute"),
        TestType("adon-train", "Throughput by a packet train", SchedulingClass.EXCLUSIVE, "adon-probe"),
        TestType("adon-health", "Indicators of a path's health", SchedulingClass.EXCLUSIVE, "adon-probe"),
        TestType("adon-metric", "A metric of this host", SchedulingClass.BACKGROUND_MULTI, "adon-metric"),
    )
}

_S = RunState
TRANSITIONS: Mapping[RunState, frozenset[RunState]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.CANCELED, _S.MISSED}),
    _S.RUNNING: frozenset({_S.CLEANUP, _S.FINISHED, _S.FAILED, _S.CANCELED}),
    _S.CLEANUP: frozenset({_S.FINISHED, _S.FAILED, _S.CANCELED}),
}
"""From each state a run of ours may leave; a state that is missing is final."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a task runs.

    :param start: earliest start.
    :param repeat: seconds between starts; None for a single run.
    """

    start: float
    slip: float = 0.0
    repeat: float | None = None
    until: float | None = None
    max_runs: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task as accepted.

    :param document: as posted, for answering with.
    :param spec: the test's specification, checked.
    :param participant: this host's number; 0 leads.
    :param lasts: length of its time slot, seconds.
    :param owner: name of the known party that posted it; empty without a trust file.
    """

    uuid: str
    document: Mapping[str, Any]
    test: TestType
    spec: Any
    schedule: Schedule
    participants: tuple[str, ...]
    participant: int
    lasts: float
    added: float
    requester: str
    key: str = field(repr=False)
    owner: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a task.

    :param result: this host's raw tool output.
    :param merged: the test's result; the lead has it.
    :param errors: why there is none.
    """

    uuid: str
    task: str
    start: float
    end: float
    added: float
    state: RunState = RunState.PENDING
    result: Mapping[str, Any] | None = None
    merged: Mapping[str, Any] | None = None
    errors: str | None = None

    def in_state(self, state: RunState, **changes: Any) -> Run:
        """This run in its next state.

        :raises ValueError: when the table does not allow the step.
        """
        if state not in TRANSITIONS.get(self.state, frozenset()):
            raise ValueError(f"a run that is {self.state} cannot become {state}")
        return replace(self, state=state, **changes)

    @property
    def holds_slot(self) -> bool:
        """Return whether its time slot is reserved."""
        return not self.state.terminal

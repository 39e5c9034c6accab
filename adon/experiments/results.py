"""What a run leaves: rows of flows, of throughput, measurements, decisions and events, per trial.

Times are seconds since the trial's beginning (its first flow's time 0), rates bits/s, sizes bytes, all as
they were on the testbed: nothing is multiplied by the scale.  None is what is not known or did not happen.
Each kind of row is a table of its own; the fields are its columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, PlainSerializer

from adon.experiments.parts import Scalar
from adon.values import FrozenMap


def _seconds(value: object) -> object:
    return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else value


def _rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


Time = Annotated[float, BeforeValidator(_seconds), PlainSerializer(_rfc3339, when_used="json")]
"""Seconds since the epoch; RFC 3339 in UTC in ``run.json``."""


class FlowState(StrEnum):
    """What had become of a flow when its trial was over."""

    FINISHED = "finished"
    """Every byte was counted at the receiver."""
    FAILED = "failed"
    REJECTED = "rejected"
    WAITING = "waiting"
    """Asked for, and never begun."""
    RUNNING = "running"
    """Not over when the trial was."""


class FlowRow(NamedTuple):
    """One flow of one trial.

    :param path: where it was last carried; None if nowhere.
    :param paths: all paths it was given, in order, each as ``NAME`` with `` > `` between them.
    :param asked, decided, began, ended: when it was requested, first decided on, sent its first byte, and
        when its last byte arrived.
    :param size: bytes it was to send; None for one that lasts a time.
    :param received: bytes that its receiver counted.
    :param deadline: seconds since the trial's beginning; of one that was never asked for, as if it had been
        then.
    :param floor: bits/s that its QSpec asks for at least; None if it says nothing of it.
    :param packets_sent: UDP datagrams, or TCP segments where the system tells.
    :param packets_lost: datagrams missed, or segments sent again.
    :param rtt: mean round trip of its own packets, in seconds.
    :param jitter: mean difference of consecutive delays, in seconds (UDP).
    :param trouble: what went wrong, in words.
    """

    trial: int
    flow: str
    flow_id: str
    template: str
    source: str
    destination: str
    state: str
    path: str | None
    paths: str
    asked: float | None
    decided: float | None
    began: float | None
    ended: float | None
    size: int | None
    received: int
    streams: int
    window: int | None
    priority: int | None
    deadline: float | None
    floor: float | None
    packets_sent: int | None
    packets_lost: int | None
    rtt: float | None
    jitter: float | None
    trouble: str


class ThroughputRow(NamedTuple):
    """What one receiver counted in one second.

    :param at: when the second begins.
    :param flow: of the workload, or the name of the event whose load it is.
    :param path: the path that carried it when the second began; None if that is not known.
    :param received: bytes (not bits).
    """

    trial: int
    at: float
    flow: str
    path: str | None
    received: int


class MeasurementRow(NamedTuple):
    """One result of a measurement point.

    :param metric: as :class:`measurement.model.Metric` calls it, in its own unit.
    :param value: None where a test ended without a result.
    """

    trial: int
    at: float
    path: str
    source: str
    destination: str
    metric: str
    value: float | None


class DecisionRow(NamedTuple):
    """One decision about one flow.

    :param outcome: as :class:`adon.broker.decision.Outcome` calls it; other policies: ``admit``, ``move``,
        ``queue`` and ``reject``.
    :param site: where its data is computed; None where its template has no cost model.
    :param quality: Q of the path chosen ([ADON] equation 1); None for other policies.
    :param reason: in words.
    """

    trial: int
    at: float
    flow: str
    outcome: str
    path: str | None
    site: str | None
    quality: float | None
    reason: str


class EventRow(NamedTuple):
    """Something of the file's events that was carried out, or of the trial itself.

    :param kind: ``load``, ``link``, ``controller`` or ``move``; ``trial`` for what nobody ordered (a crash).
    :param phase: ``begins`` or ``ends``.
    :param about: in words.
    :param trouble: why it was not done; empty if it was.
    """

    trial: int
    at: float
    event: str
    kind: str
    phase: str
    about: str
    trouble: str


class State(StrEnum):
    """How far a run or a trial came."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Something is missing; what there is, is kept."""


@dataclass(frozen=True, slots=True)
class TrialDone:
    """One trial of the plan, as it was carried out.

    :param key: what the plan calls it: the same in every run of the file.
    :param point: values of what is swept, ``case`` among them.
    :param began_at: seconds since the epoch.
    :param seconds: how long it took, with everything.
    :param why: why it is partial; empty if it is complete.
    """

    number: int
    key: str
    policy: str
    point: Mapping[str, Scalar]
    repetition: int
    seed: int
    began_at: Time
    seconds: float
    state: State = State.COMPLETE
    why: str = ""


NONE: Mapping[str, str] = FrozenMap()


@dataclass(frozen=True, slots=True)
class About:
    """What a run says of itself: ``run.json``.

    :param experiment: the file's name.
    :param run: the run's own name: its folder's.
    :param scale: what rates and windows were divided by.
    :param sizes: what sizes were divided by.
    :param follows: thesis, journal or own.
    :param began_at: seconds since the epoch.
    :param planned: trials of the whole plan.
    :param state: partial if any trial is, or any is missing.
    :param why: why it is partial; empty if it is complete.
    :param platform: name, why it was chosen, and what it cannot do, each in words.
    :param versions: of programs and libraries.
    :param machine: processors, memory, kernel, each in words.
    :param digest: SHA-256 of what the file says.
    """

    experiment: str
    run: str
    title: str
    source: str
    follows: str
    seed: int
    scale: float
    sizes: float
    repetitions: int
    policies: tuple[str, ...]
    began_at: Time
    ended_at: Time
    planned: int
    digest: str
    state: State
    why: str = ""
    platform: Mapping[str, str] = NONE
    versions: Mapping[str, str] = NONE
    machine: Mapping[str, str] = NONE
    trials: tuple[TrialDone, ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """All rows, of all trials or of one."""

    flows: Sequence[FlowRow] = ()
    throughput: Sequence[ThroughputRow] = ()
    measurements: Sequence[MeasurementRow] = ()
    decisions: Sequence[DecisionRow] = ()
    events: Sequence[EventRow] = ()

    def by_trial(self) -> dict[int, Tables]:
        """The rows of each trial that has any."""
        found: defaultdict[int, tuple[list[Any], ...]] = defaultdict(lambda: tuple([] for _ in ROWS))
        for number, rows in enumerate(self.all()):
            for row in rows:
                found[row.trial][number].append(row)
        return {trial: Tables(*rows) for trial, rows in found.items()}

    def all(self) -> tuple[Sequence[Any], ...]:
        """The tables, in the order of :data:`ROWS`."""
        return (self.flows, self.throughput, self.measurements, self.decisions, self.events)


ROWS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "flows": FlowRow,
        "throughput": ThroughputRow,
        "measurements": MeasurementRow,
        "decisions": DecisionRow,
        "events": EventRow,
    }
)
"""The tables by name, and what their rows are."""


@dataclass(frozen=True, slots=True)
class Run:
    """A whole run: what it says of itself, and what it found."""

    about: About
    tables: Tables = field(default_factory=Tables)

"""A flow, and its life as a table.

::

    requested ──► queued ──► installing ──► active ──► finished
                     │  ▲         │  │         │  └──► (moves stay in active)
                     │  └─────────┘  │         │
                     └─► expired     └─► failed◄┘      cancelled: from every state that is not final

Steps that are not in :data:`STEPS` raise and change nothing.  What is granted is kept beside what was
asked.  Units: sizes in bytes, times in seconds since the epoch, rates in bits/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from pydantic import Field, field_validator

from adon.broker.diary import NOTHING_YET, Diary
from adon.broker.queueing.booking import Booking
from adon.broker.triggers.record import NOTHING, Triggered
from adon.errors import Conflict
from adon.flowvisor.rules.queue_ladder import GrantRecord
from adon.flowvisor.topology.path import FiveTuple
from adon.marking import Marking
from adon.templates_catalog.model import QSpec, check_weights
from adon.timestamps import When
from adon.units import Duration, Size
from adon.values import Name, Value
from measurement.model import Metric

MAX_SIZE = 10**18
"""An exabyte.  A larger request is a slip of the pen."""


class FlowState(StrEnum):
    """Where a flow is in its life."""

    REQUESTED = "requested"
    QUEUED = "queued"
    INSTALLING = "installing"
    ACTIVE = "active"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def final(self) -> bool:
        """Whether nothing can happen to the flow any more."""
        return not STEPS[self]

    @property
    def holds_rules(self) -> bool:
        """Whether rules for this flow belong in the switches."""
        return self in (FlowState.INSTALLING, FlowState.ACTIVE)


STEPS: Mapping[FlowState, frozenset[FlowState]] = {
    FlowState.REQUESTED: frozenset({FlowState.QUEUED, FlowState.INSTALLING, FlowState.CANCELLED}),
    FlowState.QUEUED: frozenset({FlowState.INSTALLING, FlowState.EXPIRED, FlowState.CANCELLED}),
    FlowState.INSTALLING: frozenset(
        {FlowState.ACTIVE, FlowState.QUEUED, FlowState.FINISHED, FlowState.FAILED, FlowState.CANCELLED}
    ),
    FlowState.ACTIVE: frozenset(
        {FlowState.QUEUED, FlowState.FINISHED, FlowState.FAILED, FlowState.CANCELLED}
    ),
    FlowState.FINISHED: frozenset(),
    FlowState.FAILED: frozenset(),
    FlowState.CANCELLED: frozenset(),
    FlowState.EXPIRED: frozenset(),
}


class Quality(StrEnum):
    """How a running flow's path keeps its QSpec (spec section 1)."""

    MET = "met"
    DEGRADED = "degraded"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class FlowJob(Value):
    """A program to run on the data where it arrives, by its name at a compute site there."""

    job: Name
    arguments: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=20)


class FlowRequest(Value):
    """What a researcher asks for.

    Either ``template`` (``soykb`` or ``soykb@3``) or ``application`` names the need; with neither, the
    ports or the DSCP choose the template.  Without ``ports`` the flow's 5-tuples are learnt from its
    first packets.  ``not_before`` asks for bandwidth in advance; ``deadline`` is when it is to be done.
    ``pausable`` says whether the transfer stops while the flow waits, and goes on where it was.
    """

    source: Name
    destination: Name
    size: Size
    template: str | None = Field(default=None, max_length=80)
    application: Name | None = None
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = Field(default=(), max_length=16)
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    weights: Mapping[Metric, float] | None = None
    qspec: QSpec | None = None
    priority: Annotated[int, Field(ge=0, le=999)] | None = None
    streams: Annotated[int, Field(ge=1, le=128)] | None = None
    queue_patience: Duration | None = None
    not_before: When | None = None
    deadline: When | None = None
    label: str = Field(default="", max_length=200)
    slice: Name | None = None
    marking: Marking | None = None
    job: FlowJob | None = None
    pausable: bool | None = None

    @field_validator("size")
    @classmethod
    def _size(cls, size: int) -> int:
        if not 1 <= size <= MAX_SIZE:
            raise ValueError(f"{size} B is not between 1 B and 1 EB")
        return size

    @field_validator("weights")
    @classmethod
    def _weights(cls, weights: Mapping[Metric, float] | None) -> Mapping[Metric, float] | None:
        if weights is not None:
            check_weights(weights)
        return weights


@dataclass(frozen=True, slots=True)
class Flow:
    """A researcher's transfer, from request to outcome; replaced as a whole at every step.

    :param number: counts up from 1; the owner number in the cookies of its rules.
    :param template: the template version it is served by (``soykb@3``).
    :param path: the name of the transit path it is on, or None.
    :param reason: why it is in its present state, in words.
    :param unannounced: it came of a packet; each of its connections has a rule of its own at the near edge.
    :param advised: nothing is sent for it; it is active on paper (:mod:`adon.broker.dry_run`).
    :param misses: consecutive measurements at which its path missed the QSpec (``patience``).
    :param slice: the name of the slice it belongs to, if there are slices.
    :param roles, groups: the requester's when it was asked for, sorted: what they may use goes by them.
    :param granted: what the queue ladder of its port gives it, beside what it asked.
    :param triggered: what its template's triggers did to it.
    :param aggregated: it had more connections than a switch has room for: they share one pair of rules.
    :param diary: what it has met so far.
    :param not_before, deadline: as the request says, in seconds since the epoch.
    :param booking: what it has reserved in advance.
    :param ends_by: when it is expected to have given back what it holds, at the latest.
    """

    number: int
    request: FlowRequest
    requester: str
    template: str
    submitted_at: float
    state: FlowState = FlowState.REQUESTED
    state_since: float = 0.0
    path: str | None = None
    path_since: float | None = None
    compute_site: str | None = None
    transfer_size: int = 0
    tuples: tuple[FiveTuple, ...] = ()
    quality: Quality = Quality.UNKNOWN
    misses: int = 0
    reason: str = ""
    decision: str | None = None
    bytes_sent: int = 0
    bytes_delivered: int = 0
    bytes_reported: int | None = None
    evidence: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    moves: int = 0
    slice: str | None = None
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    granted: GrantRecord | None = None
    aggregated: bool = False
    advised: bool = False
    unannounced: bool = False
    triggered: Triggered = NOTHING
    diary: Diary = NOTHING_YET
    not_before: float | None = None
    deadline: float | None = None
    booking: Booking | None = None
    ends_by: float | None = None

    @property
    def hosts(self) -> tuple[str, str]:
        """The DTNs that it leads from and to."""
        return self.request.source, self.request.destination

    @property
    def id(self) -> str:
        """``f-17``: how the flow is named at the borders."""
        return f"f-{self.number}"

    @property
    def bytes_moved(self) -> int:
        """What is known to have arrived, at most what was to be moved.

        Whichever knows more, the transfer's own report or the switch's counters: these are read every few
        seconds, so they lag; and they count headers, so they may end above.
        """
        return min(self.transfer_size, self._arrived)

    @property
    def left(self) -> int:
        """Bytes that are not known to have arrived: what is left of a transfer that was interrupted."""
        size = self.transfer_size if self.transfer_size > 0 else self.request.size
        return max(0, size - self._arrived)

    @property
    def _arrived(self) -> int:
        return max(self.bytes_delivered, 0 if self.bytes_reported is None else self.bytes_reported)

    def priority(self, usual: int) -> int:
        """What the request asked for, else the template's, and what triggers made of it; 0..999.

        :param usual: the template's.
        """
        asked = self.request.priority
        return min(999, max(0, (usual if asked is None else asked) + self.triggered.priority))

    def step(self, to: FlowState, at: float, reason: str, **changes: object) -> Flow:
        """The flow after one step of its life.

        :raises Conflict: if the table knows no such step; the flow is unchanged.
        """
        if to not in STEPS[self.state]:
            raise Conflict("state", f"flow {self.id} is {self.state}; it cannot become {to}")
        diary = self.diary if to.holds_rules else self._without_path(to, at)
        return replace(self, state=to, state_since=at, reason=reason, diary=diary, **changes)  # type: ignore[arg-type]

    def onto(self, path: str, at: float, decision: str) -> Flow:
        """The flow on a path by a decision: what was found about the path before counts no more."""
        diary = self._end_stay(at) if self.state.holds_rules and self.path not in (None, path) else self.diary
        diary = diary.record_arrival(at, decision)
        return replace(
            self,
            path=path,
            path_since=at,
            quality=Quality.UNKNOWN,
            misses=0,
            decision=decision,
            diary=diary,
        )

    def with_quality(self, quality: Quality, at: float) -> Flow:
        """The flow with the quality that its path has now; itself if that is what it had."""
        if quality is self.quality:
            return self
        return replace(self, quality=quality, diary=self.diary.record_quality(self.quality, at))

    def _end_stay(self, at: float) -> Diary:
        return self.diary.record_departure(str(self.path), self.path_since, self.quality, at)

    def _without_path(self, to: FlowState, at: float) -> Diary:
        """Its diary when it has no path any more."""
        if not self.state.holds_rules or self.path is None:
            return self.diary
        if self.state is FlowState.INSTALLING and to is not FlowState.FINISHED:
            return self.diary.undone()
        return self._end_stay(at)

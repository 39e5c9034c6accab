"""Everything the broker can want done.

Effects are carried out in the order they are returned, by one executor whose last branch refuses the
unknown.  The order is a promise: what must survive is saved before a switch is told (R3).  Each effect
names its cause, the id of the event that led to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.maintenance import Window
from adon.broker.outcomes import FlowOutcome
from adon.broker.recompute.seen import Snapshot
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import SiteJob
from adon.errors import AdonError
from adon.flowvisor.rules.rule import Change, Entry, Rule
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.reasons import AnnouncementCode
from adon.templates_catalog.model import Template
from measurement.model import Metric, Observation, PathKey
from measurement.psconfig.mesh import Need
from measurement.sites.model import JobOrder, Shape


@dataclass(frozen=True, slots=True)
class Effect:
    """Base of all effects."""

    cause: str


class RuleState(StrEnum):
    """How far a desired rule has come (R3)."""

    PENDING = "pending"
    INSTALLED = "installed"
    FAILED = "failed"
    REMOVED = "removed"
    ADVISED = "advised"
    """Worked out and kept, and not sent (:mod:`adon.broker.dry_run`)."""


@dataclass(frozen=True, slots=True)
class SaveFlow(Effect):
    """Keep this state of a flow."""

    flow: Flow


@dataclass(frozen=True, slots=True)
class SaveDecision(Effect):
    """Keep a decision."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class SaveTemplate(Effect):
    """Keep a template version."""

    template: Template


@dataclass(frozen=True, slots=True)
class SaveMaintenance(Effect):
    """Keep a maintenance window."""

    window: Window


@dataclass(frozen=True, slots=True)
class SaveRules(Effect):
    """Keep the state of desired rules; ``error`` is the switch's own text when it refused."""

    rules: tuple[Entry, ...]
    state: RuleState
    error: str = ""


@dataclass(frozen=True, slots=True)
class SaveCircuits(Effect):
    """Keep the overlays' circuits: which links, which VLAN, which number."""

    paths: OverlayPaths


@dataclass(frozen=True, slots=True)
class SendBatch(Effect):
    """Send these changes to one switch, in order, then a barrier; the answer is an event."""

    dpid: int
    batch: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ReadRules(Effect):
    """Ask a switch for all its rules with their counters."""

    dpid: int


@dataclass(frozen=True, slots=True)
class ReadFeatures(Effect):
    """Ask a switch what it can do; the answer is an event.

    :param whole: about everything; otherwise only about what may change while it is connected.
    """

    dpid: int
    whole: bool = True


@dataclass(frozen=True, slots=True)
class SendPacket(Effect):
    """Have a switch send this frame out of one of its ports; nothing comes back of it."""

    dpid: int
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class AdmitConnections(Effect):
    """Let packets of an unannounced flow through; a connection's first one brings its rule with it.

    No barrier, and nothing is saved: what connections have in a switch is soft state.

    :param rule: what each connection gets, without the port that it comes from.
    :param number: by which the switch's refusal is told (:class:`~adon.broker.events.ConnectionsRefused`).
    :param packets: the port that each comes from, the frame, whether its connection is new.
    """

    dpid: int
    rule: Rule
    number: int
    packets: tuple[tuple[int, bytes, bool], ...]


@dataclass(frozen=True, slots=True)
class DropConnections(Effect):
    """Have a switch drop refused connections for a while, by this rule; soft state too.

    :param packets: how many were refused with it.
    """

    rule: Rule
    packets: int


@dataclass(frozen=True, slots=True)
class ReadCounters(Effect):
    """Ask a switch for the counters of all flows' rules; the answer comes in parts."""

    dpid: int


@dataclass(frozen=True, slots=True)
class Answer(Effect):
    """Answer a command: with a value, or with an error of ours."""

    command: str
    value: Flow | Template | Mapping[str, object] | AdonError


@dataclass(frozen=True, slots=True)
class QuietPaths(Effect):
    """Tell the collector on which paths no load-generating test may run now (policy; spec section 2)."""

    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class RequestMeasurement(Effect):
    """Ask the collector to measure this now, outside its plan, where its schedule has room for it.

    :param reason: why, in words.
    """

    key: PathKey
    metric: Metric
    reason: str


@dataclass(frozen=True, slots=True)
class NeedsChanged(Effect):
    """Tell the collector what the registered templates need to know of every path."""

    needs: Mapping[Metric, Need]


@dataclass(frozen=True, slots=True)
class SendFirefly(Effect):
    """Send one UDP packet to the collector of scitags' flow records; it may be lost."""

    payload: bytes


@dataclass(frozen=True, slots=True)
class EstimateScored(Effect):
    """How far off a decision's estimate was: one more value of a series that the collector archives."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class Announce(Effect):
    """Announcement for the event stream and the log: one line, and its flow if any."""

    level: str
    code: AnnouncementCode
    text: str
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class WakeAt(Effect):
    """Send a Tick at this time; a later WakeAt with an earlier time brings it forward."""

    at: float


@dataclass(frozen=True, slots=True)
class SaveJob(Effect):
    """Keep this state of a job at a compute site."""

    job: SiteJob


@dataclass(frozen=True, slots=True)
class OrderJob(Effect):
    """Have the collector hand a job over to its site, or end it there."""

    order: JobOrder


@dataclass(frozen=True, slots=True)
class ShapesChanged(Effect):
    """Tell the collector for which sizes of request sites are to be asked for T_q."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Watching:
    """A metric, as the measurement point of a site names it, is to be sampled so often (seconds)."""

    site: str
    metric: str
    period: float


@dataclass(frozen=True, slots=True)
class MonitoringChanged(Effect):
    """Tell the collector all that is to be watched for the flows that run now, in the place of what was.

    :param series: pairs of site and series whose values the broker wants to be told of.
    """

    watches: tuple[Watching, ...]
    series: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SaveOutcome(Effect):
    """Keep what a flow leaves behind; saved after the flow's own last state."""

    outcome: FlowOutcome


@dataclass(frozen=True, slots=True)
class SaveSnapshot(Effect):
    """Keep what a decision saw, so that it can be made again; nothing waits for this."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class SaveReservation(Effect):
    """Keep a reservation of resources."""

    reservation: Reservation

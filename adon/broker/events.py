"""Everything that can happen to the broker.

Each event carries its ``id``, which every effect it leads to repeats as its cause, and ``at``, the time
it happened: the core reads no clock.  The shell assigns both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adon.broker.flow import FlowRequest
from adon.broker.maintenance import WindowRequest
from adon.broker.resources.reservation import ReservationRequest
from adon.broker.scenario import Scenario
from adon.broker.sites.jobs import JobRequest
from adon.flowvisor.rules.rule import GroupEntry, MeterEntry, ReportedRule, Rule, Slot
from adon.flowvisor.rules.switch_features import SwitchFeatures
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.path import FiveTuple
from adon.templates_catalog.model import Template
from adon.values import FrozenMap
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, Observation
from measurement.sites.model import JobNews, SiteReport


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    id: str
    at: float


@dataclass(frozen=True, slots=True)
class MeasurementArrived(Event):
    """The collector has a new value."""

    measurement: Measurement


@dataclass(frozen=True, slots=True)
class AlarmRaised(Event):
    """The collector's detectors found that a series changed, or have news of an alarm that is on."""

    alarm: Alarm


@dataclass(frozen=True, slots=True)
class AlarmCleared(Event):
    """What an alarm was about is over."""

    alarm: Alarm


@dataclass(frozen=True, slots=True)
class FlowSubmitted(Event):
    """A researcher asks for a transfer; ``command`` names the request to answer.

    :param roles, groups: the requester's, which slices go by.
    """

    command: str
    request: FlowRequest
    requester: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PreviewAsked(Event):
    """Somebody wants to know what would become of a request; it is not one, and nothing is kept of it.

    :param roles, groups: as of :class:`FlowSubmitted`.
    """

    command: str
    request: FlowRequest
    requester: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FlowCancelled(Event):
    """Somebody who may do so cancels a flow."""

    command: str
    number: int
    requester: str


@dataclass(frozen=True, slots=True)
class TransferReported(Event):
    """The transfer itself says how it stands; ``finished`` and ``failed`` end the flow."""

    command: str
    number: int
    status: Literal["started", "progress", "finished", "failed"]
    bytes: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TemplateSaved(Event):
    """A performance engineer saved a new template version."""

    command: str
    template: Template


@dataclass(frozen=True, slots=True)
class SwitchUp(Event):
    """A configured switch completed its handshake and told us its ports, by name."""

    dpid: int
    ports: Mapping[str, PortState]


@dataclass(frozen=True, slots=True)
class SwitchDown(Event):
    """The connection to a switch is gone; its rules may well still be there.

    :param why: why we let go of it ourselves; empty if the switch went.
    """

    dpid: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class PortChanged(Event):
    """A port appeared, changed its state, or (``state`` None) went away."""

    dpid: int
    name: str
    state: PortState | None


@dataclass(frozen=True, slots=True)
class RulesReported(Event):
    """The answer to :class:`~adon.broker.effects.ReadRules`: all rules of ours in one switch.

    :param foreign: the slots of the rules in the switch that are not ours (counted and reported; a rule
        of ours is never put on top of one; R1, R2).
    :param equipment: the groups and meters in the switch whose numbers are ours.
    :param connections: how many connections each unannounced flow has there; its rules are told as one
        (:func:`adon.flowvisor.rules.connections.folded`).
    """

    dpid: int
    rules: tuple[ReportedRule, ...]
    foreign: frozenset[Slot] = frozenset()
    equipment: tuple[GroupEntry | MeterEntry, ...] = ()
    connections: Mapping[str, int] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class CountersReported(Event):
    """A part of the answer to :class:`~adon.broker.effects.ReadCounters`: all rules of some flows.

    In parts, so that the decision thread is free for something else between the flows of a large network.
    """

    dpid: int
    rules: tuple[ReportedRule, ...]


@dataclass(frozen=True, slots=True)
class FeaturesReported(Event):
    """The answer to :class:`~adon.broker.effects.ReadFeatures`, as far as the switch gave one.

    :param whole: it was asked about everything.
    """

    dpid: int
    features: SwitchFeatures
    whole: bool = True


@dataclass(frozen=True, slots=True)
class BatchConfirmed(Event):
    """The barrier behind a batch was answered and no message of it failed."""

    dpid: int
    batch: str


@dataclass(frozen=True, slots=True)
class BatchFailed(Event):
    """A message of a batch was refused, or the switch went away or did not answer in time.

    :param refused: the changes that the switch refused, by their place in the batch, with its own words; all
        others were done then.  Empty if nothing is known of single changes.
    """

    dpid: int
    batch: str
    error: str
    refused: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleRemoved(Event):
    """FLOW_REMOVED for a rule of ours: it idled out, or somebody deleted it."""

    dpid: int
    rule: Rule
    reason: Literal["idle", "hard", "delete", "group"]
    packets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FirstPacket(Event):
    """A learning rule of ours saw a packet of a connection that has no rule of its own yet."""

    dpid: int
    cookie: int
    source: str
    destination: str
    tuple: FiveTuple


@dataclass(frozen=True, slots=True)
class UnannouncedPackets(Event):
    """Reactive rules showed packets that came together: pairs of port and frame (R18: opt-in)."""

    dpid: int
    packets: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class ConnectionsRefused(Event):
    """A switch refused the rule of a connection.

    :param number: what :class:`~adon.broker.effects.AdmitConnections` was numbered.
    """

    dpid: int
    number: int
    error: str


@dataclass(frozen=True, slots=True)
class LldpReceived(Event):
    """Complete LLDP frame that a port received, not yet validated."""

    dpid: int
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Tick(Event):
    """The time the broker asked to be woken at (or a little later)."""


@dataclass(frozen=True, slots=True)
class SnapshotAsked(Event):
    """Somebody wants the prepared read-out of paths, switches and queue."""

    command: str


@dataclass(frozen=True, slots=True)
class DifferenceAsked(Event):
    """Somebody wants to see how the switches differ from what should be; nothing is done about it."""

    command: str


@dataclass(frozen=True, slots=True)
class SyncAsked(Event):
    """An operator wants every switch compared and repaired now."""

    command: str


@dataclass(frozen=True, slots=True)
class MaintenanceAsked(Event):
    """A performance engineer announces a maintenance window."""

    command: str
    request: WindowRequest
    requester: str


@dataclass(frozen=True, slots=True)
class MaintenanceCancelled(Event):
    """Somebody who may do so cancels a maintenance window, before it or in the middle of it."""

    command: str
    number: int
    requester: str


@dataclass(frozen=True, slots=True)
class WhatIfAsked(Event):
    """Somebody wants to know what a failure would do; None: which single failures there are."""

    command: str
    scenario: Scenario | None


@dataclass(frozen=True, slots=True)
class SiteReported(Event):
    """The collector has asked a compute site: what there is and T_q, or that it does not answer."""

    report: SiteReport


@dataclass(frozen=True, slots=True)
class JobAsked(Event):
    """Somebody wants a configured program to run at a compute site."""

    command: str
    request: JobRequest
    requester: str


@dataclass(frozen=True, slots=True)
class JobCancelled(Event):
    """Somebody who may do so ends a job at a compute site."""

    command: str
    number: int
    requester: str


@dataclass(frozen=True, slots=True)
class JobTold(Event):
    """The collector has news of a job: handed over, started, over, refused."""

    news: JobNews


@dataclass(frozen=True, slots=True)
class ObservationArrived(Event):
    """A value of a host that a trigger of a running flow waits for."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class WaitingAsked(Event):
    """Somebody wants to know what a waiting flow waits for, and what would help it."""

    command: str
    number: int


@dataclass(frozen=True, slots=True)
class ReservationAsked(Event):
    """Somebody wants resources kept for them."""

    command: str
    request: ReservationRequest
    requester: str


@dataclass(frozen=True, slots=True)
class ReservationReleased(Event):
    """Somebody who may do so ends a reservation, before it or in the middle of it."""

    command: str
    number: int
    requester: str

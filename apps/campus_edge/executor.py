"""Carries out effects, in order; the only place that writes the store or sends to a switch.

All saves of an event share one transaction, which is committed before anything is sent or answered (R3):
when a link fails, the hundred flows that leave it are saved at once, not one by one between their messages.
Announcements come last: nobody is told what could still be lost, and no switch waits for a log line.

What the controller would find out again by itself is committed without waiting for the disk
(:func:`recurs`): that a running flow moved, how far its rules came.  A crash of the process loses none of it.
After a power failure the store may be some seconds behind the switches; reconciliation (R10) then takes the
flow back to the path that the store knows, make before break, and the next measurement decides anew.  What
somebody was told, or what has an end or a beginning in it, is on disk before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from adon.broker.decision import Outcome
from adon.broker.effects import (
    AdmitConnections,
    Announce,
    Answer,
    DropConnections,
    Effect,
    EstimateScored,
    MonitoringChanged,
    NeedsChanged,
    OrderJob,
    QuietPaths,
    ReadCounters,
    ReadFeatures,
    ReadRules,
    RequestMeasurement,
    SaveCircuits,
    SaveDecision,
    SaveFlow,
    SaveJob,
    SaveMaintenance,
    SaveOutcome,
    SaveReservation,
    SaveRules,
    SaveSnapshot,
    SaveTemplate,
    SendBatch,
    SendFirefly,
    SendPacket,
    ShapesChanged,
    WakeAt,
    Watching,
)
from adon.broker.events import Event
from adon.broker.flow import FlowState
from adon.broker.recompute.seen import Snapshot
from adon.store.store import Store
from apps.campus_edge import changes, fireflies
from apps.campus_edge.commands import Commands
from apps.journal import Noted
from measurement.model import to_json
from measurement.psconfig.needs import to_json as needs_to_json
from measurement.sites import codec as sites_codec

log = logging.getLogger(__name__)
SAVES = (
    SaveFlow,
    SaveDecision,
    SaveRules,
    SaveTemplate,
    SaveCircuits,
    SaveMaintenance,
    SaveJob,
    SaveOutcome,
    SaveReservation,
)
LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Switches(Protocol):
    """What carries messages to switches: the switchboard, or a fake network in a test."""

    def send_batch(self, effect: SendBatch) -> None:
        """Send changes and a barrier."""

    def read_rules(self, effect: ReadRules) -> None:
        """Ask for all rules."""

    def read_counters(self, effect: ReadCounters) -> None:
        """Ask for the counters of flows."""

    def read_features(self, effect: ReadFeatures) -> None:
        """Ask what it can do."""

    def send_packet(self, effect: SendPacket) -> None:
        """Send a frame out of a port."""

    def admit_connections(self, effect: AdmitConnections) -> None:
        """Let packets of unannounced flows through, with the rules of new connections."""

    def drop_connections(self, effect: DropConnections) -> None:
        """Have refused packets dropped."""


@dataclass(slots=True)
class Executor:
    """Does what effects say.

    :param tell: sends a message of a kind to the other processes (of one role, or all).
    :param note: keeps what was sent to a switch, for people.
    :param firefly: sends a packet to the collector of scitags' flow records.
    :param remember: keeps what decisions saw; not asked before all else is done.
    """

    store: Store
    switches: Switches
    commands: Commands
    tell: Callable[[str, dict[str, object], str | None], None]
    note: Callable[[Noted], None]
    firefly: Callable[[bytes], None] = fireflies.nowhere
    remember: Callable[[Iterable[Snapshot]], None] = lambda _: None
    _changes: changes.Changes = field(default_factory=changes.Changes)

    def carry_out(self, event: Event, effects: Iterable[Effect]) -> None:
        """Carry out the effects of one event.

        :raises TypeError: for an effect that nobody taught this executor.
        """
        listed = list(effects)
        if len(listed) == 1 and isinstance(listed[0], AdmitConnections):
            self._act(listed[0])  # what comes by the thousands has nothing to save and nobody to tell
            return
        answers = [effect for effect in listed if isinstance(effect, Answer)]
        self._commit(event, [effect for effect in listed if isinstance(effect, SAVES)], answers)
        for effect in listed:
            if not isinstance(effect, (*SAVES, Announce, SaveSnapshot)):
                self._act(effect)
        self._announce(event, [effect for effect in listed if isinstance(effect, Announce)])
        for message in self._changes.of(event, listed):
            self.tell("changed", message, "web")
        snapshots = [effect.snapshot for effect in listed if isinstance(effect, SaveSnapshot)]
        if snapshots:
            self.remember(snapshots)

    def _act(self, effect: Effect) -> None:
        match effect:
            case AdmitConnections():
                self.switches.admit_connections(effect)
                self.note(effect)
            case SendBatch():
                self.switches.send_batch(effect)
                self.note(effect)
            case ReadRules():
                self.switches.read_rules(effect)
            case ReadFeatures():
                self.switches.read_features(effect)
            case SendPacket():
                self.switches.send_packet(effect)
            case ReadCounters():
                self.switches.read_counters(effect)
            case DropConnections():
                self.switches.drop_connections(effect)
                self.note(effect)
            case Answer():
                self.commands.answer(effect)
            case QuietPaths():
                self.tell("quiet", {"paths": sorted(effect.paths)}, "collector")
            case RequestMeasurement():
                self._request(effect)
            case MonitoringChanged():
                self.tell("monitor", monitoring_to_json(effect.watches, effect.series), "collector")
            case NeedsChanged():
                self.tell("needs", dict(needs_to_json(effect.needs)), "collector")
            case ShapesChanged():
                self.tell("shapes", sites_codec.shapes_to_json(effect.shapes), "collector")
            case OrderJob():
                self.tell("job", to_json(effect.order), "collector")
            case EstimateScored():
                self.tell("observation", to_json(effect.observation), "collector")
            case SendFirefly():
                self.firefly(effect.payload)
            case WakeAt():
                pass  # the loop has read it
            case _:
                raise TypeError(f"unknown effect {type(effect).__name__}")

    def _request(self, effect: RequestMeasurement) -> None:
        body: dict[str, object] = {
            "key": to_json(effect.key),
            "metric": effect.metric.value,
            "reason": effect.reason,
            "cause": effect.cause,
        }
        self.tell("measure", body, "collector")

    def _commit(self, event: Event, saves: list[Effect], answers: list[Answer]) -> None:
        if saves:
            durable = bool(answers) or not all(recurs(save) for save in saves)
            with self.store.transaction(durable=durable):
                for save in saves:
                    self._save(save, event)
                for answer in answers:
                    self.commands.remember(answer, self.store, event.at)

    def _announce(self, event: Event, told: list[Announce]) -> None:
        for line in told:
            # %r: names that people chose cannot forge a line of the log.
            where = (line.code, line.cause, line.flow or "-", line.text)
            log.log(LEVELS[line.level], "event=announce code=%s cause=%s flow=%s text=%r", *where)
            body: dict[str, object] = {
                "at": event.at,
                "cause": line.cause,
                "level": line.level,
                "code": line.code,
                "text": line.text,
                "flow": line.flow,
            }
            self.tell("announce", body, "web")

    def _save(self, save: Effect, event: Event) -> None:
        match save:
            case SaveFlow():
                self.store.save_flow(save.flow, save.cause, event.at)
            case SaveDecision():
                self.store.save_decision(save.decision)
            case SaveRules():
                self.store.save_rules(save.rules, save.state, save.error, event.at)
            case SaveCircuits():
                self.store.save_circuits(save.paths, event.at)
            case SaveJob():
                self.store.save_job(save.job)
            case SaveMaintenance():
                self.store.save_window(save.window)
            case SaveOutcome():
                self.store.save_outcome(save.outcome)
            case SaveReservation():
                self.store.save_reservation(save.reservation)
            case SaveTemplate():
                self.store.save_template(save.template, self.commands.author(save.cause), event.at)


def monitoring_to_json(watches: Iterable[Watching], series: Iterable[tuple[str, str]]) -> dict[str, object]:
    """What the collector is told to watch."""
    return {
        "watches": [{"site": one.site, "metric": one.metric, "period": one.period} for one in watches],
        "series": [list(pair) for pair in sorted(series)],
    }


def recurs(save: Effect) -> bool:
    """Whether a power failure may take this back, because the controller would come to it again (R3)."""
    if isinstance(save, SaveFlow):
        return save.flow.state is FlowState.ACTIVE
    if isinstance(save, SaveDecision):
        return save.decision.outcome in (Outcome.MOVE, Outcome.STAY)
    return isinstance(save, SaveRules)

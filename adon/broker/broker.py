"""The decision core: one event in, effects out.

Start reading here.  Each event has one handler; the commands and the short answers are handled in this
module, the rest by six parts that work on one :class:`~adon.broker.world.World`:

- :mod:`adon.broker.flow_placement`: which path a flow gets, when it moves, who waits, how a flow ends;
- :mod:`adon.broker.evidence`: what counters, idle rules and first packets say about a flow;
- :mod:`adon.broker.alarm_events`: what is done about an alarm;
- :mod:`adon.broker.housekeeping`: what is due by the clock;
- :mod:`adon.broker.unannounced`: packets of unregistered connections;
- :mod:`adon.broker.network`: the switches.

The core reads no clock (events carry the time), does no input or output (effects say what is wanted), and
is driven by one thread.  The order of effects keeps the promise of R3: decisions, flows and pending rules
are saved before a switch is told.  Sources: [ADON] figure 4 and 3.3, spec sections 2 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from adon.broker import (
    alarm_events,
    compute,
    evidence,
    feature_events,
    maintenance_events,
    request_preview,
    state_report,
    whatif,
)
from adon.broker.effects import (
    AdmitConnections,
    Announce,
    Answer,
    Effect,
    NeedsChanged,
    ReadFeatures,
    SaveFlow,
    SaveTemplate,
    ShapesChanged,
)
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    BatchConfirmed,
    BatchFailed,
    ConnectionsRefused,
    CountersReported,
    DifferenceAsked,
    Event,
    FeaturesReported,
    FirstPacket,
    FlowCancelled,
    FlowSubmitted,
    JobAsked,
    JobCancelled,
    JobTold,
    LldpReceived,
    MaintenanceAsked,
    MaintenanceCancelled,
    MeasurementArrived,
    ObservationArrived,
    PortChanged,
    PreviewAsked,
    ReservationAsked,
    ReservationReleased,
    RuleRemoved,
    RulesReported,
    SiteReported,
    SnapshotAsked,
    SwitchDown,
    SwitchUp,
    SyncAsked,
    TemplateSaved,
    Tick,
    TransferReported,
    UnannouncedPackets,
    WaitingAsked,
    WhatIfAsked,
)
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_placement import Placing
from adon.broker.housekeeping import Housekeeping
from adon.broker.inheritance import Inheritance, inherit
from adon.broker.links import Links
from adon.broker.maintenance import Window, Windows
from adon.broker.meters import Meters
from adon.broker.network import Network
from adon.broker.queueing import line_updates
from adon.broker.queueing.queue_reasons import explain_waiting
from adon.broker.queueing.queue_request import asked_for
from adon.broker.reactive import Taken
from adon.broker.register import Register
from adon.broker.resources import reservation_events
from adon.broker.resources.offer import configured_offers
from adon.broker.resources.reservation import Reservation
from adon.broker.sites import job_events
from adon.broker.sites.jobs import Jobs, SiteJob
from adon.broker.sites.site_state import Standings
from adon.broker.triggers.monitoring import Monitoring, Watchkeeper
from adon.broker.triggers.trigger_values import Triggers
from adon.broker.unannounced import Unannounced
from adon.broker.watch import Watch
from adon.broker.world import World
from adon.config import Configuration
from adon.errors import AdonError, Conflict, InvalidInput, NotFound
from adon.flowvisor.discovery.lldp import Identity
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.selection.performance import streams_of
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.flowvisor.topology.topology import Topology
from adon.templates_catalog.catalog import Catalog, needs
from adon.units import format_size
from measurement.model import Measurement, Metric
from measurement.psconfig.mesh import Need
from measurement.sites.model import JobOrder, Shape

NO_CIRCUITS = OverlayPaths()
SAME_COMPANY = 0.5
"""Streams by which those there now may differ from those beside a test for counters to be of both."""


class Broker:
    """The decision core; see the module's text.

    :param configuration: the network, the compute sites and the policy.
    :param catalog: the templates known at start.
    :param flows: flows that had not ended when the last run did.
    :param rules: the rules that run wanted.
    :param windows: every maintenance window ever asked for.
    :param reservations: every reservation ever made.
    :param last_number: the highest flow number ever given.
    :param circuits: the overlays' paths that the last run had.
    :param identity: sender of the LLDP probes; required if ``discovery`` is configured.
    :param jobs: the jobs at compute sites that are not over, and before them those that ended lately.
    :param last_job: the highest job number ever given.
    """

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        *,
        flows: Iterable[Flow] = (),
        rules: Iterable[Entry] = (),
        windows: Iterable[Window] = (),
        reservations: Iterable[Reservation] = (),
        last_number: int = 0,
        identity: Identity | None = None,
        circuits: OverlayPaths = NO_CIRCUITS,
        jobs: Iterable[SiteJob] = (),
        last_job: int = 0,
    ) -> None:
        policy, topology = configuration.policy, Topology(configuration, overlay_paths=circuits)
        left, known_jobs = tuple(flows), tuple(jobs)
        heir = inherit(left, rules, catalog, topology)
        self.world = World(
            configuration=configuration,
            catalog=catalog,
            network=Network(
                topology,
                heir.rules,
                drain=policy.drain,
                check_period=policy.consistency_period,
                settle=policy.settle,
            ),
            flows=Register(
                (),
                lambda name: self.world.catalog.resolve(name),
                topology.site_of,
                lambda flow: line_updates.update_line(self.world, flow),
            ),
            ledger=compute.restore_ledger(configuration, heir.flows, catalog, reservations),
            offers=configured_offers(configuration),
            links=Links(configuration, identity),
            meters=Meters(heir.rules),
            windows=Windows(windows),
            standings=Standings(configuration.compute, known_jobs),
            jobs=Jobs(known_jobs, last_job),
            line=line_updates.line_of(policy),
        )
        for flow in heir.flows:
            self.world.flows.put(flow)
        self._placing = Placing(self.world)
        self._watch = Watch(self.world)
        self._housekeeping = Housekeeping(self.world, self._placing)
        self._unannounced = Unannounced(self.world, self._placing, self._begin_unannounced)
        self._triggers = Triggers(self.world, self._placing)
        self._watchkeeper = Watchkeeper(self.world)
        self._last_number = max([last_number, *(flow.number for flow in left)])
        self._inheritance: Inheritance | None = heir
        self._now = -math.inf

    @property
    def flows(self) -> Register:
        """The flows that have not ended or still have rules in a switch."""
        return self.world.flows

    @property
    def unannounced_refused(self) -> int:
        """How many unannounced packets were refused since the start."""
        return self._unannounced.refused

    @property
    def quiet(self) -> frozenset[str]:
        """The paths on which no load-generating test may run."""
        return self.world.quiet

    @property
    def monitoring(self) -> Monitoring:
        """What is to be watched at the ends of the flows that run."""
        return self._watchkeeper.now

    @property
    def needs(self) -> Mapping[Metric, Need]:
        """What the latest version of every template needs to know of every path."""
        return needs(self.world.catalog.latest)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The sizes of request that compute sites are to be asked about."""
        return job_events.shapes(self.world.catalog.latest)

    @property
    def orders(self) -> tuple[JobOrder, ...]:
        """What the collector is to do about the jobs that are not over."""
        return tuple(job.order() for job in self.world.jobs)

    def handle(self, event: Event) -> list[Effect]:
        """Take one event; say what is to be done about it, in order.

        :raises ValueError: for an event whose time is before that of an earlier one.
        """
        if event.at < self._now:
            raise ValueError(f"event {event.id}: its time {event.at!r} is before {self._now!r}")
        self._now = event.at
        self._placing.begin()
        effects = self._settle_inheritance(event)
        if isinstance(event, PreviewAsked):
            # Nothing has happened: people who try things out must not keep the thread from what does.
            return [
                *effects,
                *self._answer_command(event.id, event.command, lambda: self._handle_preview(event)),
            ]
        if isinstance(event, UnannouncedPackets):
            return [*effects, *self._unannounced_came(event)]
        heeded = self.world.links.take(event)
        effects += heeded.effects
        if isinstance(event, LldpReceived) and not heeded.changed:
            # There are hundreds of these per second: whatever goes over all flows is for the others.
            return [*effects, *self._housekeeping.next_wake(event)]
        effects += self._dispatch(event)
        news = isinstance(event, PortChanged) and self.world.network.port_changed(event)
        if news or heeded.changed:
            effects += self._placing.network_changed(event)
        effects += self._unannounced.settle(event)
        fired = self._triggers.heed(event)
        effects += [*fired, *self._watchkeeper.publish_change(event, fired=bool(fired))]
        return [*effects, *self._closing(event)]

    def _closing(self, event: Event) -> list[Effect]:
        """What is asked after every event that may change a flow."""
        effects = self._after_an_end(event)
        effects += self._placing.regrade(event)
        effects += self._housekeeping.quiet_paths(event)
        effects += self._housekeeping.next_wake(event)
        return effects

    def _after_an_end(self, event: Event) -> list[Effect]:
        """Who runs may do better with what a flow has given back; those who waited have had their turn."""
        effects: list[Effect] = []
        for ends in self._placing.pop_freed_ends():
            for flow in self._watch.uneasy(ends, event.at, None):
                effects += self._placing.look_again(flow, event)
        return effects

    def _unannounced_came(self, event: UnannouncedPackets) -> list[Effect]:
        effects = self._unannounced.handle_packets(event)
        if all(isinstance(effect, AdmitConnections) for effect in effects):
            return effects  # thousands in a second: no flow is another one by them
        return [*effects, *self._closing(event)]

    def _settle_inheritance(self, event: Event) -> list[Effect]:
        heir, self._inheritance = self._inheritance, None
        return [] if heir is None else heir.settle(event.id, event.at)

    def _dispatch(self, event: Event) -> list[Effect]:
        world, network, placing = self.world, self.world.network, self._placing
        match event:
            case MeasurementArrived():
                return self._handle_measurement(event)
            case AlarmRaised():
                return alarm_events.handle_alarm(world, placing, event)
            case AlarmCleared():
                return alarm_events.handle_alarm_cleared(world, placing, event)
            case FlowSubmitted():
                return self._answer_command(event.id, event.command, lambda: self._handle_submission(event))
            case FlowCancelled():
                return self._answer_command(event.id, event.command, lambda: self._handle_cancellation(event))
            case TransferReported():
                return self._answer_command(event.id, event.command, lambda: self._transfer(event))
            case TemplateSaved():
                return self._answer_command(event.id, event.command, lambda: self._template(event))
            case MaintenanceAsked():
                return self._answer_command(
                    event.id, event.command, lambda: maintenance_events.handle_window(world, placing, event)
                )
            case MaintenanceCancelled():
                return self._answer_command(
                    event.id,
                    event.command,
                    lambda: maintenance_events.handle_window_cancel(world, placing, event),
                )
            case ReservationAsked():
                return self._answer_command(
                    event.id, event.command, lambda: reservation_events.handle_reservation(world, event)
                )
            case ReservationReleased():
                return self._answer_command(
                    event.id, event.command, lambda: reservation_events.handle_release(world, placing, event)
                )
            case SwitchUp():
                # The answers come in this order: what it can do is known before it counts as connected.
                return [ReadFeatures(event.id, event.dpid), *network.switch_up(event).effects]
            case FeaturesReported():
                return feature_events.handle_features(world, placing, event)
            case SwitchDown():
                return placing.act(network.switch_down(event), event)
            case PortChanged():
                return []  # what it changes is looked at when the links have been, too
            case RulesReported():
                return self._handle_rules_report(event)
            case CountersReported():
                effects = evidence.count_some(world, placing, event)
                self._watch.look_ahead(event.at)
                return effects
            case BatchConfirmed():
                return placing.act(network.batch_confirmed(event), event)
            case BatchFailed():
                for words in (event.error, *(words for _, words in event.refused)):
                    world.room.record_refusal(event.dpid, words, world.holdoff_end(event.at))
                return placing.act(network.batch_failed(event), event)
            case RuleRemoved():
                effects = placing.act(network.rule_removed(event), event)
                return [*effects, *evidence.rule_removed(world, placing, event)]
            case ObservationArrived():
                return []  # only triggers wait for it
            case ConnectionsRefused():
                return self._unannounced.refused_by_switch(event)
            case FirstPacket():
                return evidence.first_packet(world, placing, event)
            case SnapshotAsked():
                return [Answer(event.id, event.command, state_report.snapshot(world, event.at))]
            case DifferenceAsked():
                return [Answer(event.id, event.command, state_report.differences(world, event.at))]
            case WhatIfAsked():
                return self._answer_command(
                    event.id,
                    event.command,
                    lambda: [
                        Answer(
                            event.id, event.command, whatif.answer_what_if(world, event.scenario, event.at)
                        )
                    ],
                )
            case WaitingAsked():
                return self._answer_command(
                    event.id,
                    event.command,
                    lambda: [
                        Answer(
                            event.id,
                            event.command,
                            explain_waiting(world, self._flow(event.number), event.at),
                        )
                    ],
                )
            case SyncAsked():
                connected = network.topology.connected
                known = world.configuration.switches.items()
                answer = {"switches": [name for name, switch in known if switch.dpid in connected]}
                return [*network.recheck(event.id).effects, Answer(event.id, event.command, answer)]
            case SiteReported():
                return job_events.handle_site_report(world, placing, event)
            case JobAsked():
                return self._answer_command(
                    event.id, event.command, lambda: job_events.handle_job(world, event)
                )
            case JobCancelled():
                return self._answer_command(
                    event.id, event.command, lambda: job_events.handle_job_cancel(world, event)
                )
            case JobTold():
                return job_events.handle_job_report(world, placing, event)
            case LldpReceived():
                return []  # all that it meant is what the links made of it
            case Tick():
                return self._housekeeping.tick(event)
            case _:
                raise TypeError(f"unknown event {type(event).__name__}")

    # -- commands -------------------------------------------------------------------------------------

    def _answer_command(self, cause: str, command: str, act: Callable[[], list[Effect]]) -> list[Effect]:
        try:
            return act()
        except AdonError as error:
            return [Answer(cause, command, error)]

    def _handle_submission(self, event: FlowSubmitted) -> list[Effect]:
        rivals = self.world.flows.rivals(event.request)
        effects = self._begin_flow(event, [flow for flow in rivals if not flow.unannounced], event)
        return [*effects, Answer(event.id, event.command, self._flow(self._last_number))]

    def _handle_preview(self, event: PreviewAsked) -> list[Effect]:
        found = request_preview.preview_request(self.world, event, self._last_number + 1)
        return [Answer(event.id, event.command, request_preview.as_json(found))]

    def _begin_flow(
        self, asked: FlowSubmitted, others: Iterable[Flow], event: Event, *, unannounced: bool = False
    ) -> list[Effect]:
        """A flow as it is asked for, checked, saved and placed; it has the last number."""
        number = self._last_number + 1
        flow = asked_for(self.world, number, asked, others)
        rivals = [] if unannounced else self.world.flows.rivals(asked.request)
        self._last_number = number
        self.world.flows.put(replace(flow, unannounced=unannounced))
        effects = [SaveFlow(event.id, self._flow(number)), *self._unannounced.gives_way(rivals, event)]
        return [*effects, *self._placing.place(self._flow(number), event)]

    def _begin_unannounced(self, taken: Taken, event: Event) -> tuple[Flow, list[Effect]]:
        """An unannounced flow begins as any other does.

        :raises AdonError: as for any other.
        """
        asked = FlowSubmitted(event.id, event.at, "", taken.request, taken.requester)
        rivals = self.world.flows.rivals(taken.request)
        effects = self._begin_flow(asked, rivals, event, unannounced=True)
        return self._flow(self._last_number), effects

    def _handle_cancellation(self, event: FlowCancelled) -> list[Effect]:
        flow = self._flow(event.number)
        if flow.state.final:
            raise Conflict("state", f"flow {flow.id} is already {flow.state}")
        ended, effects = self._placing.end(
            flow, FlowState.CANCELLED, f"cancelled by {event.requester}", event
        )
        return [*effects, Answer(event.id, event.command, ended)]

    def _transfer(self, event: TransferReported) -> list[Effect]:
        flow = self._flow(event.number)
        if not flow.state.holds_rules:
            raise Conflict("state", f"flow {flow.id} is {flow.state}; it has no transfer to report on")
        started = event.at if flow.started_at is None else flow.started_at
        flow = self.world.flows.put(replace(flow, bytes_reported=event.bytes, started_at=started))
        effects: list[Effect] = [SaveFlow(event.id, flow)]
        if event.status == "finished":
            reason = f"the transfer reported its end after {format_size(event.bytes)}"
            flow, effects = self._placing.end(flow, FlowState.FINISHED, reason, event)
            effects += job_events.after_transfer(self.world, flow, event)
        elif event.status == "failed":
            reason = f"the transfer failed: {event.detail}" if event.detail else "the transfer failed"
            flow, effects = self._placing.end(flow, FlowState.FAILED, reason, event)
        return [*effects, Answer(event.id, event.command, flow)]

    def _template(self, event: TemplateSaved) -> list[Effect]:
        self.world.catalog, saved = self.world.catalog.add(event.template)
        return [
            SaveTemplate(event.id, saved),
            NeedsChanged(event.id, self.needs),
            ShapesChanged(event.id, self.shapes),
            Announce(event.id, "info", "template-saved", f"template {saved.reference} is in the catalog"),
            Answer(event.id, event.command, saved),
        ]

    def _flow(self, number: int) -> Flow:
        flow = self.world.flows.get(number)
        if flow is None:
            if 1 <= number <= self._last_number:
                raise Conflict("state", f"flow f-{number} has ended")
            raise NotFound("flow", f"f-{number}")
        return flow

    # -- measurements and switches ------------------------------------------------------------------------

    def _handle_measurement(self, event: MeasurementArrived) -> list[Effect]:
        beside = self._beside(event.measurement)
        try:
            if not self.world.performance.record(event.measurement, event.at, beside):
                return []
        except InvalidInput as error:
            return [Announce(event.id, "warning", "result-in-future", f"{event.measurement.key}: {error}")]
        key, effects = event.measurement.key, list[Effect]()
        self._note_carried(event.measurement, beside)
        for flow in self._watch.uneasy((key.source, key.destination), event.at, key):
            effects += self._placing.reexamine(flow, event, event.measurement)
        return [*effects, *self._placing.serve_queue(event)]

    def _beside(self, tested: Measurement) -> float:
        """With how many streams of our flows a test shared its path, on average."""
        load = self.world.flows.loads((tested.key.source, tested.key.destination)).get(tested.key.path)
        return 0.0 if load is None else load.average(tested.started_at, tested.observed_at)

    def _note_carried(self, tested: Measurement, beside: float) -> None:
        """Keep what a path carried in all during a throughput test, where counters tell it."""
        if tested.metric is not Metric.THROUGHPUT:
            return
        load = self.world.flows.loads((tested.key.source, tested.key.destination)).get(tested.key.path)
        self.world.performance.note_beside(tested, beside)
        used = None if load is None else load.used_bandwidth()
        fresh = used is not None and used.observed_at >= tested.started_at
        if load is not None and used is not None and fresh and abs(load.streams - beside) < SAME_COMPANY:
            self.world.performance.note_test_load(tested, used.used, load.streams)
        elif beside > 0:  # each stream had what one of the test's had
            self.world.performance.note_test_load(tested, tested.value * beside / streams_of(tested), beside)

    def _handle_rules_report(self, event: RulesReported) -> list[Effect]:
        """A switch's rules: repair them, count, and if it was new look at everything again."""
        before = self.world.network.topology.connected
        effects = self._placing.act(self.world.network.rules_reported(event), event)
        now = self.world.network.topology.connected
        if event.dpid not in now:
            return effects
        effects += self._unannounced.handle_rules_report(event)
        fresh = now != before
        effects += evidence.count(self.world, self._placing, event, fresh=fresh)
        self._watch.look_ahead(event.at)
        return [*effects, *self._placing.network_changed(event)] if fresh else effects

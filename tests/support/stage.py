"""A broker with two fake switches, and a clock that the test moves.

A test calls verbs (:meth:`Stage.measure`, :meth:`Stage.submit`, ...) and looks at read-outs
(:meth:`Stage.flow`, :meth:`Stage.installed`, ...).  The laws of :mod:`tests.support.laws` are checked at each
step.  Only this package reads the broker's internals, one place per read-out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from adon.broker.decision import Decision
from adon.broker.effects import (
    AdmitConnections,
    Announce,
    Effect,
    EstimateScored,
    MonitoringChanged,
    NeedsChanged,
    OrderJob,
    QuietPaths,
    ReadFeatures,
    RequestMeasurement,
    SendBatch,
    SendFirefly,
    ShapesChanged,
)
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    BatchConfirmed,
    BatchFailed,
    Event,
    FeaturesReported,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    ObservationArrived,
    PortChanged,
    ReservationAsked,
    RuleRemoved,
    SnapshotAsked,
    SwitchDown,
    SyncAsked,
    TransferReported,
)
from adon.broker.flow import Flow
from adon.broker.maintenance import Window
from adon.broker.recompute.codec import Decoder, Encoder
from adon.broker.recompute.encoded import Encoded
from adon.broker.recompute.seen import Snapshot
from adon.broker.resources.reservation import ReservationRequest
from adon.broker.scenario import Scenario
from adon.broker.whatif import Report, rehearse
from adon.config import Configuration
from adon.explain.event_player import SAVES, EventPlayer, SavedState
from adon.flowvisor.rules.pipeline import is_ours, owner_of
from adon.flowvisor.rules.rule import Change, Entry, MeterEntry, Rule, Slot
from adon.flowvisor.topology.network_graph import PortState
from adon.templates_catalog.catalog import Catalog
from measurement.anomaly.alarm import Alarm
from measurement.model import Metric, Observation, PathKey
from measurement.psconfig.mesh import Need
from measurement.sites.model import JobOrder, Shape
from tests.support.controller_view import ControllerView
from tests.support.factories import make_catalog, make_measurement, make_request
from tests.support.fake_switch import FakeSwitch, SwitchFaults
from tests.support.laws import EFFECT_LAWS, STATE_LAWS
from tests.support.memory import MEMORIES
from tests.support.network_factories import make_configuration

MU_EDGE, OSU_EDGE = 0xA01, 0xA02
PORTS = {
    MU_EDGE: {"mu-edge-dtn": 1, "mu-edge-al2s": 2, "mu-edge-rtr": 3},
    OSU_EDGE: {"osu-edge-dtn": 1, "osu-edge-al2s": 2, "osu-edge-rtr": 3},
}
"""The ports of the example network's edges by name."""
ARRIVES_AT = {"al2s": 2, "internet": 3}
"""The OSU edge's port behind each path."""
BARRIER_TIMEOUT_S = 5.0
ANY: Any = object()


class ControllerDied(Exception):
    """The controller died before it answered."""


class Stage(EventPlayer):
    """See the module's text.

    :param ports: per datapath id the numbers of its ports by name, if they are not numbered in the order of
        the configuration.
    """

    FLOWS_PER_REPORT = 2
    switches: Mapping[int, FakeSwitch]

    def __init__(
        self,
        configuration: Configuration | None = None,
        catalog: Catalog | None = None,
        *,
        now: float = 1_000_000.0,
        ports: Mapping[int, Mapping[str, int]] | None = None,
    ) -> None:
        super().__init__(
            make_configuration() if configuration is None else configuration,
            make_catalog() if catalog is None else catalog,
            now=now,
            switches=FakeSwitch,
        )
        for dpid, numbers in (ports or {}).items():
            self.ports[dpid] = {name: PortState(number, True) for name, number in numbers.items()}
        self.promised = SavedState()  # the fold in the order in which the broker returned the effects
        self.event_ids: set[str] = set()
        self.decision_ids: set[str] = set()
        self.saved_entries: set[Entry] = set()
        self.view = ControllerView(self.configuration.policy.settle)
        self.foreign: dict[Slot, Entry] = {}
        self.expressible = is_expressible(self.configuration)
        self.observers.append(self._observe)
        self._encoder, self._decoder = Encoder(), Decoder(lambda part: self.parts[part])
        self._unanswered: dict[str, SendBatch] = {}
        self._steps_to_death: int | None = None
        self.batches: list[SendBatch] = []
        self.announced: list[Announce] = []
        self.fireflies: list[bytes] = []
        self.orders: list[JobOrder] = []
        self.shapes: tuple[Shape, ...] = ()
        self.quiet: frozenset[str] = frozenset()
        self.needs: Mapping[Metric, Need] = {}
        self.monitoring: MonitoringChanged | None = None
        self.requested: list[RequestMeasurement] = []
        self.scores: list[Observation] = []
        self.released: list[bytes] = []
        self.snapshots: list[Snapshot] = []
        self.encoded: list[Encoded] = []
        self.parts: dict[str, str] = {}

    # -- what happens -----------------------------------------------------------------------------------

    def measure(
        self,
        path: str,
        mbps: float | None = None,
        *,
        rtt: float | None = None,
        loss: float | None = None,
        back: bool = False,
        duration: float = 5.0,
        streams: int = 1,
        age: float = 0.0,
    ) -> None:
        """Report results of tests that ended ``age`` seconds ago, from mu to osu unless ``back``.

        :param mbps: of a throughput test with these streams and this duration; ``rtt`` in seconds.
        """
        key = PathKey(path, *(("osu", "mu") if back else ("mu", "osu")))
        if loss is not None:
            self._report(key, Metric.LOSS, loss, "owd", age)
        if rtt is not None:
            self._report(key, Metric.RTT, rtt, "ping", age)
        if mbps is not None:
            parameters = {"streams": streams}
            self._report(key, Metric.THROUGHPUT, mbps * 1e6, "iperf3", age, duration, parameters)

    def _report(
        self,
        key: PathKey,
        metric: Metric,
        value: float,
        tool: str,
        age: float,
        duration: float = 1.0,
        parameters: Mapping[str, int] | None = None,
    ) -> None:
        event_id, at = self.stamp()
        result = make_measurement(
            key=key,
            metric=metric,
            value=value,
            observed_at=at - age,
            lasted=duration,
            source=f"test-{event_id}",
            tool=tool,
            parameters=parameters or {},
        )
        self.feed(MeasurementArrived(event_id, at, result))

    def observe(self, site: str, metric: str, value: float, part: str = "") -> None:
        """Report a value of a host."""
        stamp = self.stamp()
        self.feed(
            ObservationArrived(
                *stamp, Observation(PathKey("", site, part), metric, value, self.now, stamp[0])
            )
        )

    def alarm(self, alarm: Alarm) -> list[Decision]:
        """Report an alarm, raised or cleared; return the decisions that it led to."""
        kind = AlarmRaised if alarm.cleared_at is None else AlarmCleared
        before = len(self.saved.decisions)
        self.feed(kind(*self.stamp(), alarm))
        return self.saved.decisions[before:]

    def submit(self, template: str = "soykb", **fields: Any) -> Flow:
        """Ask for a transfer (``by``: the requester, with ``roles`` and ``groups``); raise a refusal."""
        by = fields.pop("by", "ann")
        roles, groups = fields.pop("roles", ("researcher",)), fields.pop("groups", ())
        event_id, at = self.stamp()
        body = {"size": "100 MB", "template": template, "ports": [5000 + int(event_id[1:])]}
        request = make_request(**{**body, **fields})
        command = f"c-{event_id}"
        self.feed(FlowSubmitted(event_id, at, command, request, by, frozenset(roles), frozenset(groups)))
        answer = self._answer(command)
        assert isinstance(answer, Flow)
        return self.saved.flows[answer.number]

    def cancel(self, flow: Flow, by: str = "ann") -> Flow:
        """Cancel a flow."""
        self.command(FlowCancelled, flow.number, by)
        return self.flow(flow)

    def report(self, flow: Flow, status: Any = "finished", size: int = 1) -> Flow:
        """Let a transfer report its status."""
        self.command(TransferReported, flow.number, status, size)
        return self.flow(flow)

    def reserve(self, by: str = "ann", lasts: float = 3600.0, **fields: Any) -> str:
        """Reserve resources of a compute site or path from now on; return the reservation's id."""
        request = ReservationRequest.model_validate({"ends": self.now + lasts, **fields})
        return str(self.command(ReservationAsked, request, by)["id"])

    def reserve_nodes(self, by: str = "zoe", **fields: Any) -> None:
        """Reserve the free worker nodes of all compute sites, as many as the policy lets."""
        for name in self.configuration.compute:
            nodes = self.resources(name)["free"]["nodes"] - self.configuration.policy.reserve_nodes
            self.reserve(by, compute=name, worker_nodes=nodes, **fields)

    def command(self, kind: Any, *fields: Any) -> Any:
        """Give a command; return its answer, or raise it."""
        event_id, at = self.stamp()
        self.feed(kind(event_id, at, f"c-{event_id}", *fields))
        return self._answer(f"c-{event_id}")

    def _answer(self, command: str) -> Any:
        if command not in self.answers:
            raise ControllerDied
        answer = self.answers.pop(command)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.advance(self.now + seconds)

    def carry(self, flow: Flow, octets: int, *, arrive: bool = True) -> None:
        """Count a flow's packets at the ingress rule and at the delivery rule of its path."""
        enters = ARRIVES_AT.get(str(self.flow(flow).path))
        for dpid, kind in ((MU_EDGE, 0x10), (OSU_EDGE, 0x11)):
            for entry in self.switches[dpid].table.values():
                rule = entry.rule
                if not isinstance(rule, Rule):
                    continue
                mine = owner_of(rule) == flow.id and rule.cookie >> 48 & 0xFF == kind
                delivered = arrive and rule.match.in_port == enters
                if mine and rule.match.ip_src == "10.1.0.10" and (kind == 0x10 or delivered):
                    entry.bytes += octets
                    entry.packets += max(1, octets // 1500)
                    entry.used = self.now

    def change_port(self, dpid: int, name: str, state: PortState | None) -> None:
        """Let a switch report a port's state; None if the port is gone."""
        self.feed(PortChanged(*self.stamp(), dpid, name, state))

    def port_down(self, dpid: int, name: str) -> None:
        """Let a port lose its link."""
        self.change_port(dpid, name, replace(self.ports[dpid][name], live=False))

    def port_up(self, dpid: int, name: str) -> None:
        """Let a port have its link again."""
        self.change_port(dpid, name, self.ports[dpid][name])

    def wipe(self, dpid: int) -> None:
        """Restart a switch that has forgotten everything."""
        self.disconnect(dpid)
        self.switches[dpid].table.clear()
        self.foreign = {slot: entry for slot, entry in self.foreign.items() if entry.dpid != dpid}
        self.connect(dpid)

    def put_in(self, *entries: Entry) -> None:
        """Put entries into switches by hand."""
        for entry in entries:
            self.switches[entry.dpid].put(entry, now=self.now)
            self.foreign.pop(entry.slot, None)
            if not is_ours(entry):
                self.foreign[entry.slot] = entry

    def remove_foreign(self) -> None:
        """Remove everything by hand that is not ours."""
        for entry in self.foreign.values():
            self.switches[entry.dpid].remove(entry)
        self.foreign.clear()

    def delete_by_hand(self, entry: Entry, *, reported: bool = True) -> None:
        """Delete an entry by hand, and the rules that go with it; a connected switch reports rules."""
        switch = self.switches[entry.dpid]
        for gone in (entry, *switch.remove(entry)):
            if reported and isinstance(gone, Rule) and gone.dpid in self.connected:
                self.feed(RuleRemoved(*self.stamp(), gone.dpid, gone, "delete", 0, 0))

    def sync(self) -> Any:
        """Have every switch read and repaired; return the answer."""
        return self.command(SyncAsked)

    # -- faults -----------------------------------------------------------------------------------------

    def refuse(self, dpid: int, error: str) -> None:
        """Let a switch refuse every batch with an error, or none for an empty one."""
        self.switches[dpid].faults.refuse_batch = error

    def refuse_changes(self, refuse: Callable[[Change], str]) -> None:
        """Let all switches refuse single changes."""
        for switch in self.switches.values():
            switch.faults.refuse = refuse

    def silence(self, *dpids: int) -> None:
        """Let switches answer no batch."""
        for dpid in dpids:
            self.switches[dpid].faults.silent = True

    def end_faults(self) -> None:
        """Let all switches work again."""
        for switch in self.switches.values():
            switch.faults = SwitchFaults()

    def answer_late(self) -> None:
        """Let silent switches carry out and confirm the batches that they have kept."""
        kept, self._unanswered = self._unanswered, {}
        for batch in kept.values():
            for change in batch.changes:
                self.switches[batch.dpid].apply(change, self.now)
            self.feed(BatchConfirmed(*self.stamp(), batch.dpid, batch.batch))

    def die_after(self, steps: int | None) -> None:
        """Let the controller die after so many steps.

        All that one event saves is one step, and so is each other effect.
        """
        self._steps_to_death = steps

    def restart(self) -> None:
        """Restart the controller; it knows what was saved."""
        self._steps_to_death = None
        self._unanswered.clear()
        self.promised = SavedState(
            **{one.name: copy.copy(getattr(self.saved, one.name)) for one in fields(SavedState)}
        )
        super().restart()

    # -- what is looked at ------------------------------------------------------------------------------

    def flow(self, flow: Flow | int) -> Flow:
        """Return a flow as it was last saved."""
        return self.saved.flows[flow if isinstance(flow, int) else flow.number]

    def decision(self, flow: Flow) -> Decision:
        """Return the last decision about a flow."""
        return next(one for one in reversed(self.saved.decisions) if one.flow == flow.id)

    def verdicts(self, flow: Flow) -> Mapping[str, str]:
        """Return the verdict of each candidate of a flow's last decision."""
        return verdicts(self.decision(flow))

    def expect(
        self,
        flow: Flow,
        *,
        state: str | None = None,
        path: str | None = ANY,
        code: str | None = None,
        why: Mapping[str, str] | None = None,
        missed: Mapping[str, str] | None = None,
    ) -> None:
        """Check a flow and its last decision.

        :param code: of the decision; ``why``: per path the code of the candidate.
        :param missed: per path the metric whose bound it misses.
        """
        now = self.flow(flow)
        assert state is None or now.state == state
        assert path is ANY or now.path == path
        if code is None and why is None and missed is None:
            return
        decision = self.decision(flow)
        codes = {candidate.path: candidate.code for candidate in decision.candidates}
        assert code in (None, decision.code), (decision.code, codes)
        assert why is None or codes.items() >= why.items(), (decision.code, codes)
        found = {
            candidate.path: metric.metric
            for candidate in decision.candidates
            for metric in candidate.metrics
            if metric.bound_met is False
        }
        assert missed is None or found == missed

    def announcements(self, *codes: str) -> list[tuple[str, str, str | None]]:
        """Return code, level and flow of each announcement, or of those with these codes."""
        return [(a.code, a.level, a.flow) for a in self.announced if not codes or a.code in codes]

    def installed(self, dpid: int | None = None) -> set[Entry]:
        """Return our entries in the switches."""
        return {
            entry
            for number, switch in self.switches.items()
            for entry in switch.entries()
            if is_ours(entry) and dpid in (None, number)
        }

    def rules_in(self, dpid: int | None = None) -> list[Rule]:
        """Return our rules in the switches, without groups and meters."""
        return [entry for entry in self.installed(dpid) if isinstance(entry, Rule)]

    def meters(self, dpid: int) -> dict[int, MeterEntry]:
        """Return the meters in a switch by number."""
        return {e.number: e for e in self.switches[dpid].equipment() if isinstance(e, MeterEntry)}

    def rules_of(self, flow: Flow) -> set[Rule]:
        """Return a flow's rules in the switches."""
        return {rule for rule in self.installed() if isinstance(rule, Rule) and owner_of(rule) == flow.id}

    def output_of(self, flow: Flow) -> int:
        """Return the port that the flow's forward ingress rule sends to, at the MU edge."""
        (rule,) = (r for r in self.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x10 and r.dpid == MU_EDGE)
        return int(rule.actions[-1].port)  # type: ignore[union-attr]

    def desired(self, dpid: int | None = None) -> set[Entry]:
        """Return the entries that the broker wants in the switches."""
        network = self.broker.world.network
        return {
            entry
            for number in self.ports
            if dpid in (None, number)
            for entry in network.desired_rules(number)
        }

    def desired_by_owner(self) -> Iterator[tuple[str, tuple[Entry, ...]]]:
        """Return the entries that the broker wants in the switches, by owner."""
        wanted = self.broker.world.network._wanted
        return ((owner, wanted.of(owner)) for owner in wanted)

    def desired_of(self, flow: Flow) -> set[Entry]:
        """Return the entries that the broker wants in the switches for a flow."""
        return {entry for entry in self.desired() if self.owner(entry) == flow.id}

    def is_installed(self, flow: Flow) -> bool:
        """Return whether a flow has entries, and all that the broker wants for it are in the switches."""
        desired = self.desired_of(flow)
        return bool(desired) and desired <= self.installed()

    def owner(self, entry: Entry) -> str:
        """Return the owner of an entry that the broker wants."""
        return self.broker.world.network._wanted.owner(entry)

    def queue_order(self) -> list[int]:
        """Return the numbers of the queued flows in their order."""
        return [flow.number for flow in self.broker.world.queue()]

    def claimed_path(self, flow: Flow) -> str | None:
        """Return the path that the queue keeps for a waiting flow."""
        alike = self.broker.world.line.alike(flow.number)
        return None if alike is None or alike.wants is None else alike.wants.path

    def open_windows(self) -> list[Window]:
        """Return the maintenance windows that are not over."""
        return list(self.broker.world.windows)

    def holders(self) -> dict[int, str]:
        """Return the compute site that each flow holds, by flow number."""
        return dict(self.broker.world.ledger.holders)

    def memory_of(self, flow: Flow) -> set[str]:
        """Return the names of the broker's memories that name a flow."""
        return {name for name, numbers in MEMORIES.items() if flow.number in set(numbers(self.broker))}

    def snapshot(self) -> Any:
        """Return the controller's read-out of the present."""
        return self.command(SnapshotAsked)

    def resources(self, site: str) -> Any:
        """Return the read-out of a compute site's resources."""
        return next(one for one in self.snapshot()["resources"] if one["name"] == site)

    def is_changing(self, flow: Flow) -> bool:
        """Return whether a flow's rules are being changed."""
        return self.broker.world.network.busy(flow.id)

    def known_switches(self) -> set[int]:
        """Return the datapath ids of the switches that count as connected."""
        return set(self.broker.world.network.topology.connected)

    def rehearse(self, scenario: Scenario) -> Report:
        """Return what a failure would do."""
        return rehearse(self.broker.world, scenario, self.now)

    def edge(self, site: str) -> int:
        """Return the datapath id of a site's edge."""
        return self.configuration.switches[self.configuration.sites[site].edge].dpid

    def capacity(self, dpid: int, port: str) -> float:
        """Return the largest capacity of the paths and links at a port of an edge, in bit/s."""
        read = self.configuration
        capacities = [
            path.capacity
            for path in read.paths.values()
            for site, end in path.ends.items()
            if (self.edge(site), end.port) == (dpid, port)
        ]
        for link in read.links.values():
            ends = {(read.switches[switch].dpid, end) for switch, end in link.ends.items()}
            capacities += [link.capacity] if (dpid, port) in ends else []
        return max(capacities)

    # -- effects ----------------------------------------------------------------------------------------

    def stamp(self) -> tuple[str, float]:
        """Return the id and the time of the next event."""
        event_id, at = super().stamp()
        self.event_ids.add(event_id)
        return event_id, at

    def feed(self, event: Event) -> list[Effect]:
        """Feed one event and all that follow from it, and check the laws."""
        try:
            effects = super().feed(event)
        except ControllerDied:
            self.restart()
            return []
        for law in STATE_LAWS if effects else ():
            law(self, effects[-1])
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Let the broker handle one event."""
        self.view.take(event)
        return super().handle(event)

    def _observe(self, _: Event, effect: Effect) -> None:
        for law in EFFECT_LAWS:
            law(self, effect)
        self.promised.save(effect)

    def play(self, effects: Iterable[Effect]) -> list[Event]:
        """Carry out the effects of one event: first all that it saves, as one transaction."""
        following: list[Event] = []
        listed = list(effects)
        saves: list[Effect] = [effect for effect in listed if isinstance(effect, SAVES)]
        steps: list[list[Effect]] = [saves] if saves else []
        steps += [[effect] for effect in listed if not isinstance(effect, SAVES)]
        for step in steps:
            if self._steps_to_death is not None:
                self._steps_to_death -= 1
                if self._steps_to_death < 0:
                    raise ControllerDied
            for effect in step:
                following.extend(self.carry_out(effect))
        return following

    def carry_out(self, effect: Effect) -> Iterable[Event]:
        """Carry out one effect, and keep what a test may look at."""
        match effect:
            case ReadFeatures(dpid=dpid, whole=whole):
                features = self.switches[dpid].features if dpid in self.connected else None
                return () if features is None else (FeaturesReported(*self.stamp(), dpid, features, whole),)
            case AdmitConnections(packets=packets):
                self.released += [frame for _, frame, _ in packets]
            case QuietPaths(paths=paths):
                self.quiet = paths
            case MonitoringChanged():
                self.monitoring = effect
            case RequestMeasurement():
                self.requested.append(effect)
            case EstimateScored(observation=observation):
                self.scores.append(observation)
            case Announce():
                self.announced.append(effect)
            case SendFirefly(payload=payload):
                self.fireflies.append(payload)
            case OrderJob(order=order):
                self.orders.append(order)
            case ShapesChanged(shapes=shapes):
                self.shapes = shapes
            case NeedsChanged(needs=needs):
                self.needs = needs
        return super().carry_out(effect)

    def encode(self, snapshot: Snapshot) -> Encoded:
        """Return what a decision saw as text, and keep it."""
        encoded = self._encoder.encode(snapshot)
        self.snapshots.append(snapshot)
        self.encoded.append(encoded)
        self.parts |= encoded.parts
        return encoded

    def decode(self, encoded: Encoded) -> Snapshot:
        """Return what a decision saw from its text."""
        return self._decoder.decode(encoded.text)

    def send(self, batch: SendBatch) -> Iterable[Event]:
        """Send a batch to its switch, with the switch's faults."""
        self.batches.append(batch)
        self.view.note_sent(batch, self.now)
        faults = self.switches[batch.dpid].faults
        if batch.dpid not in self.connected:
            return super().send(batch)
        if faults.hang_up_after is not None:
            self.apply(replace(batch, changes=batch.changes[: faults.hang_up_after]))
            faults.hang_up_after = None
            self.connected.discard(batch.dpid)
            return (SwitchDown(*self.stamp(), batch.dpid),)
        if faults.silent:
            self._unanswered[batch.batch] = batch
            self.schedule(self.now + BARRIER_TIMEOUT_S, partial(self._time_out, batch))
            return ()
        if faults.refuse_batch:
            return (BatchFailed(*self.stamp(), batch.dpid, batch.batch, faults.refuse_batch),)
        return super().send(batch)

    def _time_out(self, batch: SendBatch) -> None:
        if self._unanswered.pop(batch.batch, None) is not None:
            self.feed(BatchFailed(*self.stamp(), batch.dpid, batch.batch, "no barrier reply within 5 s"))

    def disconnect(self, dpid: int) -> None:
        """End the connection to a switch; its rules stay."""
        self._unanswered = {name: sent for name, sent in self._unanswered.items() if sent.dpid != dpid}
        super().disconnect(dpid)


def is_expressible(configuration: Configuration) -> bool:
    """Return whether a file can express a configuration: some tests bend a part of it until nothing fits."""
    try:
        return Configuration.model_validate(configuration.model_dump(mode="json")) == configuration
    except ValidationError:
        return False


def verdicts(decision: Decision) -> Mapping[str, str]:
    """Return the verdict of each candidate of a decision."""
    return {record.path: record.verdict.value for record in decision.candidates}


def make_stage(configuration: Configuration | None = None, **mbps: float) -> Stage:
    """Return a stage with both switches connected and both paths measured; 0 for an unmeasured path."""
    stage = Stage(configuration)
    stage.connect()
    know(stage, **{"al2s": 58.0, "internet": 6.5, **mbps})
    return stage


def know(stage: Stage, **mbps: float) -> None:
    """Measure loss and throughput of these paths."""
    for path, rate in mbps.items():
        if rate:
            stage.measure(path, rate, loss=0.0)

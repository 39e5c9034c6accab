"""A stage for transcripts: the broker with two working fake switches, and a clock that the test moves.

Effects are carried out as the shell would: batches are applied to :class:`FakeSwitch` and answered by
:class:`BatchConfirmed`, reads by :class:`RulesReported`, until nothing is left to do.  A test says what
happens (:meth:`Stage.measure`, :meth:`Stage.submit`, …) and looks at what followed.

Laws are checked at every step, so that each test gets them free: a rule is saved as pending before it is
sent (R3), every effect names an event that happened, and our changes never touch a foreign rule (R1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adon.broker.broker import Broker
from adon.broker.counters import by_flows
from adon.broker.decision import Decision
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
    RuleState,
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
    ShapesChanged,
    WakeAt,
)
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    BatchConfirmed,
    BatchFailed,
    CountersReported,
    Event,
    FeaturesReported,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    ObservationArrived,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
    SyncAsked,
    Tick,
    TransferReported,
)
from adon.broker.flow import Flow, FlowRequest
from adon.broker.maintenance import Window
from adon.broker.outcomes import FlowOutcome
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.codec import Decoder, Encoder
from adon.broker.recompute.differences import differences
from adon.broker.recompute.encoded import Encoded
from adon.broker.recompute.seen import Snapshot
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import SiteJob
from adon.config import Configuration, load
from adon.flowvisor.connections import folded
from adon.flowvisor.cookie import FLOWS_MASK, FLOWS_PREFIX
from adon.flowvisor.features import SwitchFeatures
from adon.flowvisor.overlay import OverlayPaths
from adon.flowvisor.pipeline import is_ours, owner_of
from adon.flowvisor.port import PortState
from adon.flowvisor.rule import Change, Entry, Op, Rule
from adon.templates_catalog.builtins import builtin_templates, scaled
from adon.templates_catalog.catalog import Catalog
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, Metric, Observation, PathKey
from measurement.psconfig.mesh import Need
from measurement.sites.model import JobOrder, Shape
from tests.flowvisor.fake_switch import FakeSwitch

MU_EDGE, OSU_EDGE = 0xA01, 0xA02
PORTS = {
    MU_EDGE: {"mu-edge-dtn": 1, "mu-edge-al2s": 2, "mu-edge-rtr": 3},
    OSU_EDGE: {"osu-edge-dtn": 1, "osu-edge-al2s": 2, "osu-edge-rtr": 3},
}
ARRIVES_AT = {"al2s": 2, "internet": 3}
"""The OSU edge's port behind each path."""
BARRIER_TIMEOUT_S = 5.0
NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"


def configuration(**policy: Any) -> Configuration:
    """The example network, with some of its policy changed."""
    read = load(NETWORK)
    return read.model_copy(update={"policy": read.policy.model_copy(update=policy)})


def sayable(read: Configuration) -> bool:
    """Whether a file could say this: some tests bend a part of it until nothing fits."""
    try:
        return Configuration.model_validate(read.model_dump(mode="json")) == read
    except ValidationError:
        return False


def catalog() -> Catalog:
    """The built-in templates at the testbed's scale of 1:100, not hesitant to move."""
    return Catalog.of(scaled(template, 0.01) for template in builtin_templates())


class Stage:
    """See the module's text."""

    def __init__(
        self,
        read: Configuration | None = None,
        *,
        templates: Catalog | None = None,
        now: float = 1_000_000.0,
        ports: Mapping[int, Mapping[str, int]] = PORTS,
    ) -> None:
        self.configuration = configuration() if read is None else read
        self.now = now
        self.templates = catalog() if templates is None else templates
        self.ports = ports
        self.switches = {dpid: FakeSwitch(dpid) for dpid in ports}
        self.circuits = OverlayPaths()
        self.connected: set[int] = set()
        self.refuse: dict[int, str] = {}
        self.features: dict[int, SwitchFeatures] = {}
        self.refuse_one: Callable[[Change], str] = lambda _: ""
        self.silent: set[int] = set()
        self.flows: dict[int, Flow] = {}
        self.rules: dict[object, tuple[Entry, RuleState]] = {}
        self.fireflies: list[bytes] = []
        self.windows: dict[int, Window] = {}
        self.jobs: dict[int, SiteJob] = {}
        self.orders: list[JobOrder] = []
        self.shapes: tuple[Shape, ...] = ()
        self.outcomes: dict[int, FlowOutcome] = {}
        self.reservations: dict[int, Reservation] = {}
        self.decisions: list[Decision] = []
        self.said: list[str] = []
        self.answers: dict[str, Any] = {}
        self.quiet: frozenset[str] = frozenset()
        self.needs: Mapping[Metric, Need] = {}
        self.batches: list[SendBatch] = []
        self.requested: list[RequestMeasurement] = []
        self.monitoring: MonitoringChanged | None = None
        self.scores: list[Observation] = []
        self.parts: dict[str, str] = {}
        self.snapshots: list[Snapshot] = []
        self.encoded: list[Encoded] = []
        self._encoder, self._decoder = Encoder(), Decoder(self.parts.__getitem__)
        self._sayable = sayable(self.configuration)
        self.released: list[bytes] = []
        self._events: set[str] = set()
        self._number = 0
        self._wake: float | None = None
        self._unanswered: list[tuple[float, SendBatch]] = []
        self.broker = self._start()

    def _start(self) -> Broker:
        unfinished = [flow for flow in self.flows.values() if not flow.state.final]
        wanted = [rule for rule, state in self.rules.values() if state is not RuleState.REMOVED]
        last = max(self.flows, default=0)
        return Broker(
            self.configuration,
            self.templates,
            flows=unfinished,
            rules=wanted,
            windows=self.windows.values(),
            jobs=self.jobs.values(),
            last_job=max(self.jobs, default=0),
            reservations=self.reservations.values(),
            last_number=last,
            circuits=self.circuits,
        )

    def restart_controller(self) -> None:
        """The controller dies and comes back with what was saved; the switches keep forwarding."""
        self.connected.clear()
        self._unanswered.clear()
        self._wake = None
        self.broker = self._start()
        self.connect()

    # -- what happens ---------------------------------------------------------------------------------

    def connect(self, *dpids: int) -> None:
        for dpid in dpids or tuple(self.ports):
            self.connect_with(dpid, self.ports[dpid])

    def connect_with(self, dpid: int, numbers: Mapping[str, int]) -> None:
        """A switch connects and reports ports of these numbers, all live."""
        self.connected.add(dpid)
        ports = {name: PortState(number, True) for name, number in numbers.items()}
        self.happen(SwitchUp(*self.stamp(), dpid, ports))

    def disconnect(self, dpid: int) -> None:
        self.connected.discard(dpid)
        self._unanswered = [(at, sent) for at, sent in self._unanswered if sent.dpid != dpid]
        self.happen(SwitchDown(*self.stamp(), dpid))

    def measure(
        self, path: str, mbps: float, *, duration: float = 5.0, streams: int = 1, age: float = 0.0
    ) -> None:
        """A single-stream throughput test that has just ended (or ``age`` seconds ago), mu to osu."""
        end = self.now - age
        key = PathKey(path, "mu", "osu")
        self.happen(
            MeasurementArrived(
                *self.stamp(),
                Measurement(
                    key,
                    Metric.THROUGHPUT,
                    mbps * 1e6,
                    end - duration,
                    end,
                    f"test-{self._number}",
                    "iperf3",
                    {"streams": streams},
                ),
            )
        )

    def measure_loss(self, path: str, loss: float = 0.0) -> None:
        self._result(PathKey(path, "mu", "osu"), Metric.LOSS, loss, "owd")

    def measure_rtt(self, path: str, rtt: float) -> None:
        self._result(PathKey(path, "mu", "osu"), Metric.RTT, rtt, "ping")

    def measure_back(self, path: str, mbps: float) -> None:
        """Loss and throughput, osu to mu."""
        self._result(PathKey(path, "osu", "mu"), Metric.LOSS, 0.0, "owd")
        self._result(PathKey(path, "osu", "mu"), Metric.THROUGHPUT, mbps * 1e6, "iperf3")

    def _result(self, key: PathKey, metric: Metric, value: float, tool: str) -> None:
        found = Measurement(key, metric, value, self.now - 1, self.now, f"{tool}-{self._number}", tool)
        self.happen(MeasurementArrived(*self.stamp(), found))

    def observe(self, site: str, metric: str, value: float, part: str = "") -> None:
        """The collector tells of a value of a host."""
        seen = Observation(PathKey("", site, part), metric, value, self.now, f"host-{self._number}")
        self.happen(ObservationArrived(*self.stamp(), seen))

    def alarm(self, alarm: Alarm) -> list[Decision]:
        """The collector reports an alarm, raised or cleared; the decisions it led to."""
        kind = AlarmRaised if alarm.cleared_at is None else AlarmCleared
        before = len(self.decisions)
        self.happen(kind(*self.stamp(), alarm))
        return self.decisions[before:]

    def submit(self, template: str = "soykb", **fields: Any) -> Flow:
        """A researcher asks (``by``: who, ``groups``); the flow as it is afterwards.  A refusal is raised."""
        by = fields.pop("by", "ann")
        roles, groups = fields.pop("roles", ("researcher",)), fields.pop("groups", ())
        body = {"source": "mu-dtn", "destination": "osu-dtn", "size": "100 MB", "template": template}
        request = FlowRequest.model_validate({"ports": [5000 + self._number], **body, **fields})
        answer = self.command(FlowSubmitted, request, by, frozenset(roles), frozenset(groups))
        assert isinstance(answer, Flow)
        return self.flows[answer.number]

    def cancel(self, flow: Flow, by: str = "ann") -> Flow:
        self.command(FlowCancelled, flow.number, by)
        return self.flows[flow.number]

    def report(self, flow: Flow, status: Any = "finished", size: int = 1) -> Flow:
        self.command(TransferReported, flow.number, status, size)
        return self.flows[flow.number]

    def command(self, kind: Any, *fields: Any) -> Any:
        event_id, at = self.stamp()
        self.happen(kind(event_id, at, f"c-{event_id}", *fields))
        answer = self.answers.pop(f"c-{event_id}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pass_time(self, seconds: float) -> None:
        """Let time pass; the broker is woken when it asked to be, idle rules go when they must.

        A batch that a silent switch swallowed fails when its barrier is overdue.
        """
        end = self.now + seconds
        ticks = 0
        while self._next() <= end:
            ticks = ticks + 1 if self._next() <= self.now else 0
            assert ticks < 20, "the broker wants to be woken again and again at one instant"
            self.now = max(self.now, self._next())
            if self._wake is not None and self._wake <= self.now:
                self._wake = None
                self.happen(Tick(*self.stamp()))
            self._time_out()
            self._expire()
        self.now = end
        self._expire()

    def _next(self) -> float:
        return min([self._wake or float("inf"), *(at for at, _ in self._unanswered)])

    def _time_out(self) -> None:
        late = [sent for at, sent in self._unanswered if at <= self.now]
        self._unanswered = [(at, sent) for at, sent in self._unanswered if at > self.now]
        for sent in late:
            self.happen(BatchFailed(*self.stamp(), sent.dpid, sent.batch, "no barrier reply within 5 s"))

    def _expire(self) -> None:
        for dpid, switch in self.switches.items():
            for rule in switch.expire(self.now):
                if dpid in self.connected:
                    self.happen(RuleRemoved(*self.stamp(), dpid, rule, "idle", 0, 0))

    def carry(self, flow: Flow, octets: int, *, arrive: bool = True) -> None:
        """The flow's packets pass: count them at the ingress rule and at the delivery rule of its path."""
        enters = ARRIVES_AT.get(str(self.flows[flow.number].path))
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

    def stamp(self) -> tuple[str, float]:
        self._number += 1
        self._events.add(f"e{self._number}")
        return f"e{self._number}", self.now

    def happen(self, event: Event) -> None:
        """Feed one event, and everything that follows from it."""
        waiting = [event]
        while waiting:
            following: list[Event] = []
            for effect in self.broker.handle(waiting.pop(0)):
                following += self._carry_out(effect)
            waiting += following

    # -- what follows ---------------------------------------------------------------------------------

    def _carry_out(self, effect: Effect) -> Iterable[Event]:
        assert effect.cause in self._events, f"{effect} has no cause"
        match effect:
            case SaveFlow(flow=flow):
                self.flows[flow.number] = flow
            case SaveDecision(decision=decision):
                assert decision.id not in {known.id for known in self.decisions}
                self.decisions.append(decision)
            case SaveReservation(reservation=reservation):
                self.reservations[reservation.number] = reservation
            case SaveMaintenance(window=window):
                self.windows[window.number] = window
            case SaveOutcome(outcome=outcome):
                assert self.flows[outcome.flow].state.final, "the flow is saved before its outcome"
                assert outcome.flow not in self.outcomes, "a flow ends once"
                self.outcomes[outcome.flow] = outcome
            case SaveSnapshot(snapshot=snapshot):
                self._recomputes(snapshot)
            case SaveRules(rules=rules, state=state):
                self.rules.update({rule.slot: (rule, state) for rule in rules})
            case SendBatch():
                return self._send(effect)
            case ReadCounters(dpid=dpid):
                return self._counters(dpid)
            case AdmitConnections():
                self._admit(effect)
            case DropConnections(rule=rule):
                self.switches[rule.dpid].apply(Change(Op.ADD, rule), self.now)
            case ReadRules(dpid=dpid):
                return self._report(dpid)
            case ReadFeatures(dpid=dpid, whole=whole):
                said = self.features.get(dpid) if dpid in self.connected else None
                return () if said is None else (FeaturesReported(*self.stamp(), dpid, said, whole),)
            case Answer(command=command, value=value):
                self.answers[command] = value
            case QuietPaths(paths=paths):
                self.quiet = paths
            case MonitoringChanged():
                self.monitoring = effect
            case RequestMeasurement():
                self.requested.append(effect)
            case EstimateScored(observation=observation):
                self.scores.append(observation)
            case Announce(text=text):
                self.said.append(text)
            case WakeAt(at=at):
                self._wake = at if self._wake is None else min(at, self._wake)
            case SendFirefly(payload=payload):
                self.fireflies.append(payload)
            case SaveJob(job=job):
                self.jobs[job.number] = job
            case OrderJob(order=order):
                self.orders.append(order)
            case ShapesChanged(shapes=shapes):
                self.shapes = shapes
            case NeedsChanged():
                self.needs = effect.needs
            case SaveCircuits(paths=paths):
                self.circuits = OverlayPaths.from_json(paths.to_json())
            case SaveTemplate():
                pass
            case _:
                raise AssertionError(f"unknown effect {effect}")
        return ()

    def _send(self, effect: SendBatch) -> Iterable[Event]:
        self.batches.append(effect)
        for change in effect.changes:
            self._obeys_the_laws(change)
        if effect.dpid in self.silent and effect.dpid in self.connected:
            self._unanswered.append((self.now + BARRIER_TIMEOUT_S, effect))
            return ()
        if effect.dpid not in self.connected:
            return (BatchFailed(*self.stamp(), effect.dpid, effect.batch, "the switch is not connected"),)
        if effect.dpid in self.refuse:
            error = self.refuse[effect.dpid]
            return (BatchFailed(*self.stamp(), effect.dpid, effect.batch, error),)
        refused = []
        for place, change in enumerate(effect.changes):
            words = self.refuse_one(change) or self.switches[effect.dpid].objection(change)
            if words:
                refused.append((place, words))
            else:
                self.switches[effect.dpid].apply(change, self.now)
        if refused:
            error = refused[0][1]
            return (BatchFailed(*self.stamp(), effect.dpid, effect.batch, error, tuple(refused)),)
        return (BatchConfirmed(*self.stamp(), effect.dpid, effect.batch),)

    def _recomputes(self, snapshot: Snapshot) -> None:
        """What a decision saw gives the same decision, after a round trip through text."""
        if not self._sayable:
            return
        recorded = next(one for one in reversed(self.decisions) if one.id == snapshot.decision)
        encoded = self._encoder.encode(snapshot)
        self.snapshots.append(snapshot)
        self.encoded.append(encoded)
        self.parts |= encoded.parts
        again = decided_again(self._decoder.decode(encoded.text))
        assert differences(recorded, again) == ()

    def _admit(self, effect: AdmitConnections) -> None:
        """Packets are let through, connections get their rules."""
        owner = self.rules.get(effect.rule.slot, (None,))[0]
        assert owner == effect.rule, "what connections get is wanted and saved (R3)"
        for port, frame, new in effect.packets:
            self.released.append(frame)
            if new:
                match = replace(effect.rule.match, tp_src=int.from_bytes(port))
                rule = replace(effect.rule, match=match)
                self.switches[effect.dpid].apply(Change(Op.ADD, rule), self.now)

    def _obeys_the_laws(self, change: Change) -> None:
        rule = change.rule
        assert is_ours(rule)
        if change.op is not Op.DELETE:  # a delete obeys the cookie filter, whatever is in the slot
            held = self.switches[rule.dpid].table.get(rule.slot)
            assert held is None or is_ours(held.rule), "a rule on top of a foreign one"
            assert self.rules.get(rule.slot, (None,))[0] == rule, "sent before it was saved (R3)"

    def _report(self, dpid: int) -> Iterable[Event]:
        if dpid not in self.connected:
            return ()
        reports = self.switches[dpid].report(self.now)
        found = folded(r for r in reports if is_ours(r.rule))
        ours = found.rules
        foreign = frozenset(r.rule.slot for r in reports if not is_ours(r.rule))
        equipment = self.switches[dpid].equipment()
        return (RulesReported(*self.stamp(), dpid, ours, foreign, equipment, found.connections),)

    def _counters(self, dpid: int) -> Iterable[Event]:
        if dpid not in self.connected:
            return ()
        ours = [r for r in self.switches[dpid].report(self.now) if r.rule.cookie & FLOWS_MASK == FLOWS_PREFIX]
        return [CountersReported(*self.stamp(), dpid, part) for part in by_flows(ours, 2)]

    def port(self, dpid: int, name: str, state: PortState | None) -> None:
        self.happen(PortChanged(*self.stamp(), dpid, name, state))

    def set_clock_back(self, by: float) -> None:
        """The clock of the controller's host is corrected; then everything is measured again."""
        self.now -= by
        self._unanswered = [(at - by, sent) for at, sent in self._unanswered]
        for switch in self.switches.values():
            for entry in switch.table.values():
                entry.used, entry.installed = entry.used - by, entry.installed - by
        self.measure_loss("al2s")
        self.measure("al2s", 58.0)

    def answer_late(self) -> None:
        """The batches that a silent switch has kept are carried out and answered now."""
        kept, self._unanswered = self._unanswered, []
        for _, sent in kept:
            for change in sent.changes:
                self.switches[sent.dpid].apply(change, self.now)
            self.happen(BatchConfirmed(*self.stamp(), sent.dpid, sent.batch))

    def sync(self) -> Any:
        """An operator has every switch read and repaired now; the answer."""
        return self.command(SyncAsked)

    def wipe(self, dpid: int) -> None:
        """A switch restarts and has forgotten all rules."""
        self.disconnect(dpid)
        self.switches[dpid].table.clear()
        self.connect(dpid)

    def delete(self, rule: Rule) -> None:
        """Somebody deletes a rule by hand; the switch says so if it is connected."""
        del self.switches[rule.dpid].table[rule.slot]
        if rule.dpid in self.connected:
            self.happen(RuleRemoved(*self.stamp(), rule.dpid, rule, "delete", 0, 0))

    # -- what is looked at ------------------------------------------------------------------------------

    def flow(self, flow: Flow) -> Flow:
        return self.flows[flow.number]

    def last_decision(self, flow: Flow) -> Decision:
        return [decision for decision in self.decisions if decision.flow == flow.id][-1]

    def installed(self, dpid: int | None = None) -> set[Entry]:
        """Our rules in the switches."""
        return {
            entry.rule
            for number, switch in self.switches.items()
            for entry in switch.table.values()
            if is_ours(entry.rule) and dpid in (None, number)
        }

    def rules_of(self, flow: Flow) -> set[Rule]:
        return {rule for rule in self.installed() if isinstance(rule, Rule) and owner_of(rule) == flow.id}

    def output_of(self, flow: Flow) -> int:
        """The port that the flow's forward ingress rule sends to, at the MU edge."""
        (rule,) = (r for r in self.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x10 and r.dpid == MU_EDGE)
        return int(rule.actions[-1].port)  # type: ignore[union-attr]


def verdicts(decision: Decision) -> Mapping[str, str]:
    return {record.path: record.verdict.value for record in decision.candidates}


def ready(read: Configuration | None = None, **known: float) -> Stage:
    """A stage with both switches connected and both paths measured; rates in Mbit/s, ``0`` for unmeasured."""
    stage = Stage(read)
    stage.connect()
    know(stage, **{"al2s": 58.0, "internet": 6.5, **known})
    return stage


def know(stage: Stage, **mbps: float) -> None:
    """Measure loss and throughput of these paths now."""
    for path, rate in mbps.items():
        if rate:
            stage.measure_loss(path)
            stage.measure(path, rate)

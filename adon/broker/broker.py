"""The decision core: one event in, effects out.

The broker holds the flows, the catalog, what is measured and the ledger of compute resources, and
leaves the switches to :class:`~adon.broker.network.Network`.  It reads no clock (events carry the
time), does no input or output (effects say what is wanted), and is driven by one thread.

The order of effects keeps the promise of R3: decisions, flows and pending rules are saved before a
switch is told.  Sources: [ADON] figure 4 and 3.3 (selection), algorithm 2 (admission), spec sections 2
to 4 (hysteresis, queue, life of a flow).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from adon.broker import compute, reading, scheduler
from adon.broker.choice import Choice, Need, Situation, choose
from adon.broker.counters import FlowCounters
from adon.broker.decision import Decision, Outcome
from adon.broker.effects import (
    Announce,
    Answer,
    Effect,
    QuietPaths,
    ReadRules,
    SaveDecision,
    SaveFlow,
    SaveTemplate,
    WakeAt,
)
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    Event,
    FirstPacket,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SnapshotAsked,
    SwitchDown,
    SwitchUp,
    SyncAsked,
    TemplateSaved,
    Tick,
    TransferReported,
)
from adon.broker.flow import Flow, FlowState, Quality
from adon.broker.intake import PROTOCOLS, new_flow
from adon.broker.network import Network
from adon.broker.network import Outcome as NetworkOutcome
from adon.config import Configuration
from adon.errors import AdonError, Conflict, NotFound
from adon.flowvisor.assessment import Verdict
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.performance import Counters, FlowLoad, PerformanceView
from adon.flowvisor.rule import Kind, Rule, cookie_owner
from adon.flowvisor.rules import flow_rules, learn_rules, measurement_rules
from adon.flowvisor.selection import hysteresis, quality
from adon.flowvisor.topology import Topology
from adon.templates_catalog.catalog import Catalog
from adon.units import format_duration
from measurement.model import PathKey

MAX_LEARNT = 64
"""Connections learnt per flow; more share the learning rule's path without rules of their own."""


class Broker:
    """The decision core; see the module's text.

    :param configuration: the network, the compute sites and the policy.
    :param catalog: the templates known at start.
    :param flows: flows that had not ended when the last run did.
    :param rules: the rules that run wanted.
    :param last_number: the highest flow number ever given.
    """

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        *,
        flows: Iterable[Flow] = (),
        rules: Iterable[Rule] = (),
        last_number: int = 0,
    ) -> None:
        policy = configuration.policy
        self.configuration = configuration
        self.catalog = catalog
        self.performance = PerformanceView()
        self.network = Network(
            Topology(configuration), rules, drain=policy.drain, check_period=policy.consistency_period
        )
        self.flows: dict[int, Flow] = {flow.number: flow for flow in flows}
        self.ledger = compute.restored(configuration, self.flows.values(), catalog)
        self.quiet: frozenset[str] = frozenset()
        self._last_number = max([last_number, *self.flows])
        self._counters: dict[int, FlowCounters] = {}
        self._delivered: dict[int, tuple[int, float]] = {}
        self._shunned: dict[str, tuple[float, str]] = {}
        self._digests: dict[int, str] = {}
        self._polled_at = 0.0
        self._decided = 0
        self._announced_wake: float | None = None

    def handle(self, event: Event) -> list[Effect]:
        """Take one event; say what is to be done about it, in order."""
        self._decided = 0
        effects = self._dispatch(event)
        effects += self._quiet_paths(event)
        effects += self._next_wake(event)
        return effects

    def _dispatch(self, event: Event) -> list[Effect]:
        match event:
            case MeasurementArrived():
                return self._measured(event)
            case FlowSubmitted():
                return self._answered(event.id, event.command, lambda: self._submitted(event))
            case FlowCancelled():
                return self._answered(event.id, event.command, lambda: self._cancelled(event))
            case TransferReported():
                return self._answered(event.id, event.command, lambda: self._transfer(event))
            case TemplateSaved():
                return self._answered(event.id, event.command, lambda: self._template(event))
            case SwitchUp():
                return self.network.switch_up(event).effects
            case SwitchDown():
                return [*self._act(self.network.switch_down(event.dpid, event.id), event)]
            case PortChanged():
                self.network.port_changed(event)
                return self._network_changed(event)
            case RulesReported():
                return self._reported(event)
            case BatchConfirmed():
                return self._act(self.network.batch_confirmed(event), event)
            case BatchFailed():
                return self._act(self.network.batch_failed(event), event)
            case RuleRemoved():
                return self._removed(event)
            case FirstPacket():
                return self._learnt(event)
            case SnapshotAsked():
                snapshot = reading.snapshot(self, event.at)
                return [Answer(event.id, event.command, snapshot)]
            case SyncAsked():
                answer: dict[str, object] = {"switches": sorted(self.network.topology.connected)}
                effects = self.network.recheck(event.id).effects
                return [*effects, Answer(event.id, event.command, answer)]
            case Tick():
                return self._tick(event)
            case _:
                raise TypeError(f"unknown event {type(event).__name__}")

    # -- commands -------------------------------------------------------------------------------------

    def _answered(self, cause: str, command: str, act: Callable[[], list[Effect]]) -> list[Effect]:
        try:
            return act()
        except AdonError as error:
            return [Answer(cause, command, error)]

    def _submitted(self, event: FlowSubmitted) -> list[Effect]:
        running = [flow for flow in self.flows.values() if not flow.state.final]
        flow = new_flow(self._last_number + 1, event, self.catalog, self.network.topology, running)
        self._last_number = flow.number
        self.flows[flow.number] = flow
        effects = [SaveFlow(event.id, flow), *self._place(flow, event)]
        return [*effects, Answer(event.id, event.command, self.flows[flow.number])]

    def _cancelled(self, event: FlowCancelled) -> list[Effect]:
        flow = self._flow(event.number)
        if flow.state.final:
            raise Conflict("state", f"flow {flow.id} is already {flow.state}")
        effects = self._end(flow, FlowState.CANCELLED, f"cancelled by {event.requester}", event)
        return [*effects, Answer(event.id, event.command, self.flows.get(flow.number, flow))]

    def _transfer(self, event: TransferReported) -> list[Effect]:
        flow = self._flow(event.number)
        if not flow.state.holds_rules:
            raise Conflict("state", f"flow {flow.id} is {flow.state}; it has no transfer to report on")
        flow = replace(flow, bytes_reported=event.bytes)
        if flow.started_at is None:
            flow = replace(flow, started_at=event.at)
        self.flows[flow.number] = flow
        if event.status == "finished":
            reason = f"the transfer reported its end after {event.bytes} bytes"
            effects = self._end(flow, FlowState.FINISHED, reason, event)
        elif event.status == "failed":
            reason = f"the transfer failed: {event.detail}" if event.detail else "the transfer failed"
            effects = self._end(flow, FlowState.FAILED, reason, event)
        else:
            effects = [SaveFlow(event.id, flow)]
        return [*effects, Answer(event.id, event.command, self.flows.get(flow.number, flow))]

    def _template(self, event: TemplateSaved) -> list[Effect]:
        self.catalog, saved = self.catalog.add(event.template)
        return [
            SaveTemplate(event.id, saved),
            Announce(event.id, "info", f"template {saved.reference} is in the catalog"),
            Answer(event.id, event.command, saved),
        ]

    def _flow(self, number: int) -> Flow:
        flow = self.flows.get(number)
        if flow is None:
            if 1 <= number <= self._last_number:
                raise Conflict("state", f"flow f-{number} has ended")
            raise NotFound("flow", f"f-{number}")
        return flow

    # -- measurements ---------------------------------------------------------------------------------

    def _measured(self, event: MeasurementArrived) -> list[Effect]:
        if not self.performance.record(event.measurement):
            return []
        key, effects = event.measurement.key, list[Effect]()
        for flow in self._running():
            if self._ends(flow) == (key.source, key.destination):
                effects += self._reexamine(flow, event, event.measurement.key)
        return [*effects, *self._serve_queue(event)]

    def _running(self) -> list[Flow]:
        return [flow for flow in self.flows.values() if flow.state is FlowState.ACTIVE]

    def _ends(self, flow: Flow) -> tuple[str, str]:
        topology = self.network.topology
        return topology.site_of(flow.request.source), topology.site_of(flow.request.destination)

    def _reexamine(self, flow: Flow, event: Event, measured: PathKey | None = None) -> list[Effect]:
        """Look again at a running flow: move it, or note how its path keeps the QSpec."""
        if self.network.busy(flow.id):
            return []
        need, choice = self._choose(flow, event.at)
        current = choice.record(flow.path)
        if current is None:
            return []
        missed = current.verdict is Verdict.UNQUALIFIED
        if measured is not None and measured.path == flow.path:
            flow = replace(flow, misses=flow.misses + 1 if missed else 0)
        policy = need.template.selection
        best = choice.record(choice.selection.path)
        lost = current.verdict is Verdict.EXCLUDED
        advice = hysteresis(
            current,
            best,
            misses=policy.patience if lost else flow.misses,
            patience=policy.patience,
            margin=policy.switch_margin,
            dwelt=float("inf") if lost or flow.path_since is None else event.at - flow.path_since,
            min_dwell=policy.min_dwell,
        )
        if advice.move and best is not None:
            return self._move(flow, need, choice, best.path, advice.reason, event)
        return self._stay(flow, need, choice, advice.reason, event)

    def _stay(self, flow: Flow, need: Need, choice: Choice, why: str, event: Event) -> list[Effect]:
        record = choice.record(flow.path)
        now_is = Quality.UNKNOWN if record is None else Quality(quality(record, need.qspec))
        changed = now_is is not flow.quality
        flow = replace(flow, quality=now_is)
        self.flows[flow.number] = flow
        if not changed:
            return []
        reason = f"QSpec {now_is}: {record.why if record is not None else why}"
        decision = self._decision(flow, need, choice, Outcome.STAY, reason, event)
        level = "warning" if now_is is Quality.VIOLATED else "info"
        flow = replace(flow, decision=decision.id)
        self.flows[flow.number] = flow
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, level, f"flow {flow.id} on {flow.path}: {reason}", flow.id),
        ]

    # -- placing and moving ---------------------------------------------------------------------------

    def _choose(self, flow: Flow, now: float) -> tuple[Need, Choice]:
        need = Need.of(self.catalog.resolve(flow.template), flow.request)
        ends = self._ends(flow)
        situation = Situation(
            now=now,
            topology=self.network.topology,
            performance=self.performance,
            policy=self.configuration.policy,
            window=self.configuration.measurements.window,
            loads=self._loads(flow, ends),
            used=self._used(ends),
            shunned={path: why for path, (until, why) in self._shunned.items() if until > now},
            own=self._counters.get(flow.number) if flow.state is FlowState.ACTIVE else None,
        )
        return need, choose(flow, need, situation)

    def _loads(self, flow: Flow, ends: tuple[str, str]) -> dict[str, list[FlowLoad]]:
        loads: dict[str, list[FlowLoad]] = {}
        for other in self.flows.values():
            if other.number == flow.number or not other.state.holds_rules or self._ends(other) != ends:
                continue
            if other.path is not None and other.path_since is not None:
                latest = self._latest_rate(other.number)
                need = Need.of(self.catalog.resolve(other.template), other.request)
                load = FlowLoad(need.streams, other.path_since, None, None if latest is None else latest[0])
                loads.setdefault(other.path, []).append(load)
        return loads

    def _used(self, ends: tuple[str, str]) -> dict[str, Counters]:
        """Per path what our flows use by their own counters, where every one of them has a rate."""
        used: dict[str, list[tuple[float, float] | None]] = {}
        for flow in self.flows.values():
            if flow.path is not None and flow.state.holds_rules and self._ends(flow) == ends:
                used.setdefault(flow.path, []).append(self._latest_rate(flow.number))
        totals = {}
        for path, rates in used.items():
            known = [rate for rate in rates if rate is not None]
            if len(known) == len(rates):
                at = min(at for _, at in known)
                totals[path] = Counters(sum(rate for rate, _ in known), at, "rule counters of our flows")
        return totals

    def _latest_rate(self, number: int) -> tuple[float, float] | None:
        counters = self._counters.get(number)
        return None if counters is None else counters.latest()

    def _place(self, flow: Flow, event: Event) -> list[Effect]:
        """Admit a flow that has no path, or queue it with the reason (algorithm 2, figure 4)."""
        need, choice = self._choose(flow, event.at)
        sites = compute.sites(
            flow, need, choice, self.network.topology, self.performance, self.ledger, event.at
        )
        path = choice.selection.path
        if path is None or sites.refused:
            reason = choice.selection.reason if path is None else sites.reason
            return self._enqueue(flow, need, choice, sites, reason, event)
        flow = replace(flow, compute_site=sites.site, transfer_size=sites.transfer_size)
        reason = choice.selection.reason + (f"; {sites.reason}" if sites.reason else "")
        decision = self._decision(flow, need, choice, Outcome.ADMIT, reason, event, path, sites)
        flow = replace(
            flow.step(FlowState.INSTALLING, event.at, reason),
            path=path,
            path_since=event.at,
            quality=Quality.UNKNOWN,
            misses=0,
            decision=decision.id,
        )
        self.flows[flow.number] = flow
        self.ledger = sites.ledger
        self._counters.setdefault(flow.number, FlowCounters())
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, "info", f"flow {flow.id} is admitted to {path}: {reason}", flow.id),
            *self._act(self._install(flow, need, choice, event), event),
        ]

    def _enqueue(
        self, flow: Flow, need: Need, choice: Choice, sites: compute.Sites, reason: str, event: Event
    ) -> list[Effect]:
        decision = self._decision(flow, need, choice, Outcome.QUEUE, reason, event, None, sites)
        if flow.state is FlowState.QUEUED and self._digests.get(flow.number) == decision.digest():
            return []
        self._digests[flow.number] = decision.digest()
        if flow.state is not FlowState.QUEUED:
            flow = flow.step(FlowState.QUEUED, event.at, reason)
        flow = replace(flow, path=None, path_since=None, decision=decision.id, reason=reason)
        self.flows[flow.number] = flow
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, "info", f"flow {flow.id} waits: {reason}", flow.id),
        ]

    def _move(
        self, flow: Flow, need: Need, choice: Choice, path: str, reason: str, event: Event
    ) -> list[Effect]:
        decision = self._decision(flow, need, choice, Outcome.MOVE, reason, event, path)
        moved = replace(
            flow, path=path, path_since=event.at, misses=0, moves=flow.moves + 1, decision=decision.id
        )
        self.flows[flow.number] = moved
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, moved),
            Announce(event.id, "info", f"flow {flow.id} moves from {flow.path} to {path}: {reason}", flow.id),
            *self._act(self._install(moved, need, choice, event), event),
        ]

    def _install(self, flow: Flow, need: Need, choice: Choice, event: Event) -> NetworkOutcome:
        topology = self.network.topology
        source = topology.attachment(flow.request.source)
        destination = topology.attachment(flow.request.destination)
        chosen = choice.paths[str(flow.path)]
        standby = tuple(choice.paths.values())
        priority = need.template.priority if flow.request.priority is None else flow.request.priority
        idle = int(need.template.selection.idle_timeout)
        rules: tuple[Rule, ...] = ()
        if not flow.request.ports:
            protocol = PROTOCOLS[need.template.protocol]
            rules = learn_rules(flow.number, source, destination, protocol, chosen, standby)
        if flow.tuples:
            rules += flow_rules(
                flow.number, source, destination, flow.tuples, chosen, standby, priority, idle
            )
        return self.network.want(flow.id, rules, event.id, event.at)

    def _decision(
        self,
        flow: Flow,
        need: Need,
        choice: Choice,
        outcome: Outcome,
        reason: str,
        event: Event,
        path: str | None = None,
        sites: compute.Sites = compute.NO_SITES,
    ) -> Decision:
        self._decided += 1
        return Decision(
            id=f"d-{event.id}.{self._decided}",
            flow=flow.id,
            at=event.at,
            cause=event.id,
            outcome=outcome,
            path=flow.path if path is None and outcome is Outcome.STAY else path,
            previous_path=flow.path,
            reason=reason,
            template=need.template.reference,
            weights={metric.value: weight for metric, weight in need.weights.items()},
            candidates=choice.selection.records,
            tables={m.value: table.model_dump(mode="json") for m, table in choice.tables.items()},
            compute=sites.costs,
            compute_site=sites.site,
        )

    # -- what the network answers ---------------------------------------------------------------------

    def _act(self, outcome: NetworkOutcome, event: Event) -> list[Effect]:
        effects = list(outcome.effects)
        for owner, error in outcome.failed:
            effects += self._install_failed(owner, error, event)
        for owner in outcome.installed:
            effects += self._installed(owner, event)
        for owner in outcome.removed:
            self._forget(owner)
        return effects

    def _owner(self, owner: str) -> Flow | None:
        return self.flows.get(int(owner[2:])) if owner.startswith("f-") else None

    def _installed(self, owner: str, event: Event) -> list[Effect]:
        flow = self._owner(owner)
        if flow is None or flow.state is not FlowState.INSTALLING:
            return []
        flow = flow.step(FlowState.ACTIVE, event.at, flow.reason)
        self.flows[flow.number] = flow
        text = f"flow {flow.id}: its rules are in the switches; the transfer can begin"
        return [SaveFlow(event.id, flow), Announce(event.id, "info", text, flow.id)]

    def _install_failed(self, owner: str, error: str, event: Event) -> list[Effect]:
        """A switch refused: shun that path for a while and look for another (R6)."""
        flow = self._owner(owner)
        effects: list[Effect] = [Announce(event.id, "error", f"{owner}: {error}", owner)]
        if flow is None or not flow.state.holds_rules or flow.path is None:
            return effects
        self._shun(flow.path, error, event.at)
        if flow.state is FlowState.INSTALLING:
            flow = flow.step(FlowState.QUEUED, event.at, error)
            flow = replace(flow, path=None, path_since=None)
            self._release(flow)
            effects += self.network.want(flow.id, (), event.id, event.at).effects
            return [*effects, *self._place(flow, event)]
        return [*effects, *self._reexamine(flow, event)]

    def _shun(self, path: str, why: str, now: float) -> None:
        until = now + self.configuration.policy.failed_path_holdoff
        self._shunned[path] = (until, f"not used for {format_duration(until - now)}: {why}")

    def _forget(self, owner: str) -> None:
        flow = self._owner(owner)
        if flow is not None and flow.state.final:
            for kept in (self.flows, self._counters, self._digests, self._delivered):
                kept.pop(flow.number, None)

    def _network_changed(self, event: Event) -> list[Effect]:
        effects = self._measurement_rules(event)
        for flow in self._running():
            effects += self._reexamine(flow, event)
        return [*effects, *self._serve_queue(event)]

    def _measurement_rules(self, event: Event) -> list[Effect]:
        """Pin the measurement addresses to their paths, as soon as both edges are known."""
        effects: list[Effect] = []
        topology = self.network.topology
        by_path: dict[int, tuple[Rule, ...]] = {}
        for test in self.configuration.measurements.tests:
            found = topology.candidate(PathKey(test.path, test.from_, test.to))
            if found.path is None:
                continue
            source, destination = topology.test_ends(test)
            rules = measurement_rules(source, destination, found.path)
            known = by_path.get(found.path.index, ())
            by_path[found.path.index] = known + tuple(r for r in rules if r not in known)
        for index, rules in by_path.items():
            owner = f"path-{index}"
            if self.network.wanted(owner) != rules:
                effects += self._act(self.network.want(owner, rules, event.id, event.at), event)
        return effects

    def _reported(self, event: RulesReported) -> list[Effect]:
        fresh = event.dpid not in self.network.topology.connected
        effects = self._act(self.network.rules_reported(event), event)
        effects += self._count(event)
        if fresh:
            effects += self._network_changed(event)
        return effects

    def _removed(self, event: RuleRemoved) -> list[Effect]:
        effects = self.network.rule_removed(event).effects
        kind, number = cookie_owner(event.rule.cookie)
        flow = self.flows.get(number) if kind is Kind.FLOW_INGRESS else None
        if flow is None or event.reason != "idle" or not flow.state.holds_rules:
            return effects
        if self.network.has(flow.id, Kind.FLOW_INGRESS):
            return effects  # another connection of it still carries packets
        idle = format_duration(event.rule.idle_timeout)
        reason = f"no packet for {idle}: the flow is over"
        return [*effects, *self._end(flow, FlowState.FINISHED, reason, event)]

    def _learnt(self, event: FirstPacket) -> list[Effect]:
        """Give a connection of a flow without declared ports a rule of its own."""
        _, number = cookie_owner(event.cookie)
        flow = self.flows.get(number)
        if flow is None or not flow.state.holds_rules or flow.path is None:
            return []
        learnt = _forward(event, self.network.topology.attachment(flow.request.source).address)
        if learnt in flow.tuples or len(flow.tuples) >= MAX_LEARNT or self.network.busy(flow.id):
            return []
        need, choice = self._choose(flow, event.at)
        flow = replace(flow, tuples=(*flow.tuples, learnt))
        self.flows[flow.number] = flow
        return [SaveFlow(event.id, flow), *self._act(self._install(flow, need, choice, event), event)]

    # -- evidence -------------------------------------------------------------------------------------

    def _count(self, event: RulesReported) -> list[Effect]:
        effects: list[Effect] = []
        for number, counters in self._counters.items():
            flow = self.flows.get(number)
            if flow is None or not flow.state.holds_rules:
                continue
            source = self.network.topology.attachment(flow.request.source)
            destination = self.network.topology.attachment(flow.request.destination)
            mine = [r for r in event.rules if cookie_owner(r.rule.cookie)[1] == number]
            counters.report(event.at, event.dpid, mine, source, destination)
            effects += self._evidence(flow, counters, event)
        return effects

    def _evidence(self, flow: Flow, counters: FlowCounters, event: Event) -> list[Effect]:
        """Say whether packets really arrive (R22); a path that swallows them is left."""
        delivered, since = self._delivered.get(flow.number, (0, event.at))
        if counters.delivered > delivered or flow.number not in self._delivered:
            self._delivered[flow.number] = (counters.delivered, event.at)
            since = event.at
        silent = event.at - since > self.configuration.policy.evidence_after
        sent, arrived = counters.sent > flow.bytes_sent, counters.delivered > flow.bytes_delivered
        evidence = "packets arrive" if arrived else "no packets yet" if counters.sent == 0 else flow.evidence
        if silent:
            evidence = "packets leave but none arrive" if sent else "installed, but no packets"
        changed = evidence != flow.evidence
        flow = replace(flow, bytes_sent=counters.sent, bytes_delivered=counters.delivered, evidence=evidence)
        self.flows[flow.number] = flow
        effects: list[Effect] = [SaveFlow(event.id, flow)] if sent or arrived or changed else []
        if silent and sent and flow.path is not None and flow.state is FlowState.ACTIVE:
            self._shun(flow.path, f"packets of {flow.id} leave but none arrive", event.at)
            self._delivered[flow.number] = (counters.delivered, event.at)
            effects.append(Announce(event.id, "warning", f"flow {flow.id}: {evidence}", flow.id))
            effects += self._reexamine(flow, event)
        return effects

    # -- ends, queue, clock ---------------------------------------------------------------------------

    def _end(self, flow: Flow, state: FlowState, reason: str, event: Event) -> list[Effect]:
        held_rules = flow.state.holds_rules
        flow = replace(flow.step(state, event.at, reason), ended_at=event.at)
        self.flows[flow.number] = flow
        self._release(flow)
        effects: list[Effect] = [
            SaveFlow(event.id, flow),
            Announce(event.id, "info", f"flow {flow.id} is {state}: {reason}", flow.id),
        ]
        if not held_rules:
            self._forget(flow.id)
            return effects
        effects += self._act(self.network.want(flow.id, (), event.id, event.at), event)
        return [*effects, *self._serve_queue(event)]

    def _release(self, flow: Flow) -> None:
        self.ledger = self.ledger.release(flow.number)
        self.flows[flow.number] = flow

    def flows_on(self, key: PathKey) -> list[str]:
        """The ids of the flows that hold rules on one directed path."""
        return [
            flow.id
            for flow in self.flows.values()
            if flow.state.holds_rules and flow.path == key.path and self._ends(flow) == key[1:]
        ]

    def queue(self, now: float) -> list[str]:
        """The ids of the waiting flows, first to be served first."""
        policy = self.configuration.policy
        return [flow.id for flow in scheduler.order(self._queued(), now, self._priority, policy.aging)]

    def _queued(self) -> list[Flow]:
        return [flow for flow in self.flows.values() if flow.state is FlowState.QUEUED]

    def _serve_queue(self, event: Event) -> list[Effect]:
        effects: list[Effect] = []
        for flow in scheduler.order(
            self._queued(), event.at, self._priority, self.configuration.policy.aging
        ):
            effects += self._place(flow, event)
        return effects

    def _priority(self, flow: Flow) -> int:
        asked = flow.request.priority
        return self.catalog.resolve(flow.template).priority if asked is None else asked

    def _patience(self, flow: Flow) -> float:
        asked = flow.request.queue_patience
        return self.catalog.resolve(flow.template).selection.queue_patience if asked is None else asked

    def _tick(self, event: Tick) -> list[Effect]:
        effects = self._act(self.network.wake(event.id, event.at), event)
        for flow in scheduler.expired(self._queued(), event.at, self._patience):
            waited = format_duration(event.at - flow.submitted_at)
            effects += self._end(flow, FlowState.EXPIRED, f"waited {waited}; last: {flow.reason}", event)
        over = [path for path, (until, _) in self._shunned.items() if until <= event.at]
        for path in over:
            del self._shunned[path]
        if over:
            effects += self._network_changed(event)
        return [*effects, *self._poll(event)]

    def _poll(self, event: Tick) -> list[Effect]:
        if event.at < self._poll_due():
            return []
        self._polled_at = event.at
        return [ReadRules(event.id, dpid) for dpid in sorted(self.network.topology.connected)]

    def _poll_due(self) -> float:
        policy = self.configuration.policy
        moving = any(flow.state.holds_rules for flow in self.flows.values())
        period = policy.counters_period if moving else policy.consistency_period
        return self._polled_at + period

    def _next_wake(self, event: Event) -> list[Effect]:
        times = [
            self._poll_due(),
            self.network.next_wake(),
            scheduler.next_wake(self._queued(), self._patience),
            *(until for until, _ in self._shunned.values()),
        ]
        wake = min(time for time in times if time is not None)
        if wake == self._announced_wake and not isinstance(event, Tick):
            return []
        self._announced_wake = wake
        return [WakeAt(event.id, wake)]

    def _quiet_paths(self, event: Event) -> list[Effect]:
        """Where admitted bounds take more than the allowed share of a path, no test may load it."""
        share = self.configuration.policy.no_test_above_reserved
        if share is None:
            return []
        reserved: dict[str, float] = {}
        for flow in self.flows.values():
            if flow.path is not None and flow.state.holds_rules:
                need = Need.of(self.catalog.resolve(flow.template), flow.request)
                bound = 0.0 if need.qspec.throughput is None else need.qspec.throughput.min
                reserved[flow.path] = reserved.get(flow.path, 0.0) + bound
        paths = self.configuration.paths
        quiet = frozenset(p for p, bits in reserved.items() if bits > share * paths[p].capacity)
        if quiet == self.quiet:
            return []
        self.quiet = quiet
        return [QuietPaths(event.id, quiet)]


def _forward(event: FirstPacket, source_address: str) -> FiveTuple:
    """The connection in the flow's forward direction; only the listening port identifies it."""
    if event.source == source_address:
        return event.tuple
    seen = event.tuple
    return FiveTuple(seen.protocol, int(seen.source_port or 0), seen.destination_port)

"""The decision core: one event in, effects out.

The broker decides: which path a flow gets, when it moves, who waits, when a flow is over.  It leaves the
switches to :class:`~adon.broker.network.Network`, and what all flows together come to, to
:class:`~adon.broker.register.Register`.  It reads no clock (events carry the time), does no input or
output (effects say what is wanted), and is driven by one thread.

The order of effects keeps the promise of R3: decisions, flows and pending rules are saved before a
switch is told.  Sources: [ADON] figure 4 and 3.3 (selection), algorithm 2 (admission), spec sections 2
to 4 (hysteresis, queue, life of a flow).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from adon.broker import compute, reading, scheduler
from adon.broker.choice import Choice, Need, Situation, choose
from adon.broker.counters import Evidence
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
    DifferenceAsked,
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
from adon.broker.inheritance import Inheritance, inherit
from adon.broker.intake import PROTOCOLS, new_flow
from adon.broker.network import Network, owner_of
from adon.broker.network import Outcome as NetworkOutcome
from adon.broker.preemption import Holder, gives_way
from adon.broker.register import Register
from adon.config import Configuration
from adon.errors import AdonError, Conflict, NotFound, Unavailable
from adon.flowvisor.assessment import CandidateRecord
from adon.flowvisor.path import Attachment, FiveTuple, Layer
from adon.flowvisor.performance import PerformanceView
from adon.flowvisor.rule import Kind, ReportedRule, Rule, cookie_owner
from adon.flowvisor.rules import flow_rules, learn_rules, measurement_rules
from adon.flowvisor.selection import hysteresis, quality
from adon.flowvisor.topology import Topology
from adon.templates_catalog.catalog import Catalog
from adon.units import format_duration
from measurement.model import Measurement, Metric, PathKey

MAX_LEARNT = 64
"""Connections learnt per flow; more share the learning rule's path without rules of their own."""

MIN_HOLDOFF_S = 1.0
"""A path that failed is not tried again at once, whatever the policy says: that would be for ever."""

CLOCK_SLACK_S = 30.0
"""Events may be handled so much out of order; one that is older says that the clock was set back."""


@dataclass(frozen=True, slots=True)
class _Before:
    """An active flow and its rules before a change that is under way, to go back to if it fails."""

    flow: Flow
    rules: tuple[Rule, ...]


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
        policy, topology = configuration.policy, Topology(configuration)
        left = tuple(flows)
        heir = inherit(left, rules, catalog, topology)
        self.configuration = configuration
        self.catalog = catalog
        self.performance = PerformanceView()
        self.network = Network(
            topology, heir.rules, drain=policy.drain, check_period=policy.consistency_period
        )
        self.flows = Register(heir.flows, lambda name: self.catalog.resolve(name), topology.site_of)
        self.ledger = compute.restored(configuration, heir.flows, catalog)
        self.quiet: frozenset[str] = frozenset()
        self._last_number = max([last_number, *(flow.number for flow in left)])
        self._inheritance: Inheritance | None = heir
        self._before: dict[int, _Before] = {}
        self._overlooked: set[int] = set()
        self._deaf: set[int] = set()
        self._shunned: dict[str, tuple[float, str]] = {}
        self._digests: dict[int, str] = {}
        self._now = 0.0
        self._polled_at = 0.0
        self._decided = 0
        self._announced_wake: float | None = None

    def handle(self, event: Event) -> list[Effect]:
        """Take one event; say what is to be done about it, in order."""
        self._decided = 0
        self._mind_the_clock(event.at)
        effects = self._settle_inheritance(event)
        effects += self._dispatch(event)
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
                return self._act(self.network.switch_down(event), event)
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
            case DifferenceAsked():
                return [Answer(event.id, event.command, reading.differences(self, event.at))]
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
        others = self.flows.unfinished()
        flow = new_flow(self._last_number + 1, event, self.catalog, self.network.topology, others)
        self._last_number = flow.number
        self.flows.put(flow)
        effects = [SaveFlow(event.id, flow), *self._place(flow, event)]
        return [*effects, Answer(event.id, event.command, self._flow(flow.number))]

    def _cancelled(self, event: FlowCancelled) -> list[Effect]:
        flow = self._flow(event.number)
        if flow.state.final:
            raise Conflict("state", f"flow {flow.id} is already {flow.state}")
        ended, effects = self._end(flow, FlowState.CANCELLED, f"cancelled by {event.requester}", event)
        return [*effects, Answer(event.id, event.command, ended)]

    def _transfer(self, event: TransferReported) -> list[Effect]:
        flow = self._flow(event.number)
        if not flow.state.holds_rules:
            raise Conflict("state", f"flow {flow.id} is {flow.state}; it has no transfer to report on")
        started = event.at if flow.started_at is None else flow.started_at
        flow = self.flows.put(replace(flow, bytes_reported=event.bytes, started_at=started))
        effects: list[Effect] = [SaveFlow(event.id, flow)]
        if event.status == "finished":
            reason = f"the transfer reported its end after {event.bytes} bytes"
            flow, effects = self._end(flow, FlowState.FINISHED, reason, event)
        elif event.status == "failed":
            reason = f"the transfer failed: {event.detail}" if event.detail else "the transfer failed"
            flow, effects = self._end(flow, FlowState.FAILED, reason, event)
        return [*effects, Answer(event.id, event.command, flow)]

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
        if not self.performance.record(event.measurement, event.at):
            return []
        key, effects = event.measurement.key, list[Effect]()
        for flow in self.flows.running():
            if self.flows.ends(flow) == (key.source, key.destination):
                effects += self._reexamine(flow, event, event.measurement)
        return [*effects, *self._serve_queue(event)]

    def _reexamine(self, flow: Flow, event: Event, measured: Measurement | None = None) -> list[Effect]:
        """Look again at a running flow: move it, or note how its path keeps the QSpec.

        One whose rules are being changed is looked at when that is done.
        """
        if flow.state is FlowState.INSTALLING or self.network.busy(flow.id):
            self._overlooked.add(flow.number)
            return []
        need, choice = self._choose(flow, event.at)
        current = choice.record(flow.path)
        flow = _with_misses(flow, current, measured)
        policy = need.template.selection
        best = choice.record(choice.selection.path)
        advice = hysteresis(
            current,
            best,
            misses=flow.misses,
            patience=policy.patience,
            margin=policy.switch_margin,
            dwelt=float("inf") if flow.path_since is None else event.at - flow.path_since,
            min_dwell=policy.min_dwell,
        )
        if advice.move and best is not None:
            return self._move(flow, need, choice, best.path, advice.reason, event)
        effects = self._stay(flow, need, choice, advice.reason, event)
        return effects if measured is not None else [*effects, *self._refresh(flow, need, choice, event)]

    def _stay(self, flow: Flow, need: Need, choice: Choice, why: str, event: Event) -> list[Effect]:
        record = choice.record(flow.path)
        now_is = Quality.UNKNOWN if record is None else Quality(quality(record, need.qspec))
        changed = now_is is not flow.quality
        flow = self.flows.put(replace(flow, quality=now_is))
        if not changed:
            return []
        reason = f"QSpec {now_is}: {record.why if record is not None else why}"
        decision = self._decision(flow, need, choice, Outcome.STAY, reason, event)
        level = "warning" if now_is is Quality.VIOLATED else "info"
        flow = self.flows.put(replace(flow, decision=decision.id))
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, level, f"flow {flow.id} on {flow.path}: {reason}", flow.id),
        ]

    # -- placing and moving ---------------------------------------------------------------------------

    def _choose(
        self, flow: Flow, now: float, without: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Need, Choice]:
        """What is known of a flow's candidates now; ``without``: paths it may not have, and why."""
        need = self.flows.need(flow)
        situation = Situation(
            now=now,
            topology=self.network.topology,
            performance=self.performance,
            policy=self.configuration.policy,
            window=self.configuration.measurements.window,
            loads=self.flows.loads(flow),
            used=self.flows.used(flow),
            shunned={
                **{path: why for path, (until, why) in self._shunned.items() if until > now},
                **without,
            },
            own=self.flows.counters(flow) if flow.state is FlowState.ACTIVE else None,
        )
        return need, choose(flow, need, situation)

    def _place(self, flow: Flow, event: Event) -> list[Effect]:
        """Admit a flow that has no path, or queue it with the reason (algorithm 2, figure 4)."""
        need, choice = self._choose(flow, event.at)
        giving_way = self._giving_way(flow, need, choice, event.at) if choice.selection.path is None else None
        if giving_way is not None:
            instead = f"{giving_way.path}: in the place of {giving_way.id}, whose priority is lower"
            choice = choice.taking(str(giving_way.path), f"{instead}; {choice.selection.reason}")
        sites = compute.sites(
            flow, need, choice, self.network.topology, self.performance, self.ledger, event.at
        )
        path = choice.selection.path
        if path is None or sites.refused:
            reason = choice.selection.reason if path is None else sites.reason
            return self._enqueue(flow, need, choice, sites, reason, event)
        self.ledger = sites.ledger
        room = [] if giving_way is None else self._displace(giving_way, flow, event)
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
        self.flows.put(flow)
        self._digests.pop(flow.number, None)
        return [
            *room,
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, "info", f"flow {flow.id} is admitted to {path}: {reason}", flow.id),
            *self._act(self._install(flow, need, choice, event), event),
        ]

    def _giving_way(self, flow: Flow, need: Need, choice: Choice, now: float) -> Flow | None:
        """The running flow whose place on a full layer-2 path a new one may take (algorithm 2, P_min)."""
        if not self.configuration.policy.preemption or need.qspec.throughput is None:
            return None
        layer2 = {name: path for name, path in choice.paths.items() if path.layer is Layer.L2}
        since = now - self.configuration.measurements.window
        best = {n: self.performance.best([p.key], Metric.THROUGHPUT, since) for n, p in layer2.items()}
        holder = gives_way(
            self.flows.priority(flow),
            need.qspec.throughput.min,
            [
                Holder(other.number, self.flows.priority(other), str(other.path), self.flows.bound(other))
                for other in self.flows.alongside(flow)
                if other.path in layer2
                and other.state is FlowState.ACTIVE
                and not self.network.busy(other.id)
            ],
            choice.selection.records,
            {name: value for name, value in best.items() if value is not None},
        )
        return None if holder is None else self.flows.get(holder.number)

    def _displace(self, flow: Flow, newcomer: Flow, event: Event) -> list[Effect]:
        """Decide again about a flow that gives way: another path, or the queue; it is never dropped."""
        ours, theirs = self.flows.priority(flow), self.flows.priority(newcomer)
        why = f"gives way to {newcomer.id} (priority {theirs} above {ours})"
        need, choice = self._choose(flow, event.at, {str(flow.path): why})
        if choice.selection.path is not None:
            reason = f"{why}; {choice.selection.reason}"
            return self._move(flow, need, choice, choice.selection.path, reason, event)
        reason = f"{why}; {choice.selection.reason}"
        decision = self._decision(flow, need, choice, Outcome.QUEUE, reason, event)
        self.ledger = self.ledger.release(flow.number)
        waiting = self.flows.put(
            flow.step(
                FlowState.QUEUED,
                event.at,
                reason,
                path=None,
                path_since=None,
                compute_site=None,
                decision=decision.id,
            )
        )
        self._digests[flow.number] = decision.digest()
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, waiting),
            Announce(event.id, "warning", f"flow {flow.id} {reason}", flow.id),
            *self._act(self.network.want(flow.id, (), event.id, event.at), event),
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
        flow = self.flows.put(replace(flow, decision=decision.id, reason=reason))
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, "info", f"flow {flow.id} waits: {reason}", flow.id),
        ]

    def _move(
        self, flow: Flow, need: Need, choice: Choice, path: str, reason: str, event: Event
    ) -> list[Effect]:
        decision = self._decision(flow, need, choice, Outcome.MOVE, reason, event, path)
        self._before[flow.number] = _Before(flow, self.network.wanted(flow.id))
        self.flows.counters(flow).begin_anew()
        moved = self.flows.put(
            replace(
                flow,
                path=path,
                path_since=event.at,
                quality=Quality.UNKNOWN,
                misses=0,
                moves=flow.moves + 1,
                decision=decision.id,
            )
        )
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, moved),
            Announce(event.id, "info", f"flow {flow.id} moves from {flow.path} to {path}: {reason}", flow.id),
            *self._act(self._install(moved, need, choice, event), event),
        ]

    def _install(self, flow: Flow, need: Need, choice: Choice, event: Event) -> NetworkOutcome:
        rules = self._rules(flow, need, choice)
        if rules is None:
            return NetworkOutcome(failed=[(flow.id, f"a port that {flow.path} needs is not there")])
        return self.network.want(flow.id, rules, event.id, event.at)

    def _refresh(self, flow: Flow, need: Need, choice: Choice, event: Event) -> list[Effect]:
        """Give a flow the rules it would get today: ports have new numbers, or a path came to stand by."""
        rules = self._rules(flow, need, choice)
        if rules is None or set(rules) == set(self.network.wanted(flow.id)):
            return []
        return self._act(self.network.want(flow.id, rules, event.id, event.at), event)

    def _rules(self, flow: Flow, need: Need, choice: Choice) -> tuple[Rule, ...] | None:
        """The rules of a flow on its path; None as long as a switch has not reported a port they need."""
        ends, chosen = self._attached(flow), choice.paths.get(str(flow.path))
        if ends is None or chosen is None:
            return None
        standby = tuple(choice.paths.values())
        offset = self.configuration.policy.priority_offset
        rules: tuple[Rule, ...] = ()
        if not flow.request.ports:
            protocol = PROTOCOLS[need.template.protocol]
            rules = learn_rules(flow.number, *ends, protocol, chosen, standby, offset=offset)
        if flow.tuples:
            idle = int(need.template.selection.idle_timeout)
            priority = self.flows.priority(flow)
            rules += flow_rules(
                flow.number, *ends, flow.tuples, chosen, standby, priority, idle, offset=offset
            )
        return rules

    def _attached(self, flow: Flow) -> tuple[Attachment, Attachment] | None:
        """Where a flow's hosts hang; None as long as a switch has not reported the port of one."""
        topology = self.network.topology
        try:
            return topology.attachment(flow.request.source), topology.attachment(flow.request.destination)
        except Unavailable:
            return None

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
        if flow is None:
            return []
        effects: list[Effect] = []
        self._before.pop(flow.number, None)
        if flow.state is FlowState.INSTALLING:
            flow = self.flows.put(flow.step(FlowState.ACTIVE, event.at, flow.reason))
            text = f"flow {flow.id}: its rules are in the switches; the transfer can begin"
            effects += [SaveFlow(event.id, flow), Announce(event.id, "info", text, flow.id)]
        if flow.number in self._overlooked:
            self._overlooked.discard(flow.number)
            effects += self._reexamine(flow, event)
        return effects

    def _install_failed(self, owner: str, error: str, event: Event) -> list[Effect]:
        flow = self._owner(owner)
        if flow is None or not flow.state.holds_rules:
            return [Announce(event.id, "error", f"{owner}: {error}")]
        if flow.state is FlowState.INSTALLING:
            return self._not_admitted(flow, error, event)
        before = self._before.pop(flow.number, None)
        return [] if before is None else self._not_changed(flow, before, error, event)

    def _not_admitted(self, flow: Flow, error: str, event: Event) -> list[Effect]:
        """A switch refused a new flow: shun that path for a while and look for another (R6)."""
        self._shun(flow.path, error, event.at)
        self.ledger = self.ledger.release(flow.number)
        waiting = flow.step(FlowState.QUEUED, event.at, error, path=None, path_since=None, compute_site=None)
        self.flows.put(waiting)
        return [
            Announce(event.id, "error", f"flow {flow.id} on {flow.path}: {error}", flow.id),
            *self.network.want(flow.id, (), event.id, event.at).effects,
            *self._place(waiting, event),
        ]

    def _not_changed(self, flow: Flow, before: _Before, error: str, event: Event) -> list[Effect]:
        """A switch refused to change the rules of a running flow: it goes on with those it had.

        If it was to move, the path it was to move to is shunned (R6); if it was to get a rule for one
        more connection, it learns no more of them.
        """
        was = before.flow
        if flow.path != was.path:
            self._shun(flow.path, error, event.at)
        else:
            self._deaf.add(flow.number)
        self.flows.counters(flow).begin_anew()
        back = self.flows.put(
            replace(
                flow,
                path=was.path,
                path_since=was.path_since,
                quality=was.quality,
                tuples=was.tuples,
                moves=was.moves,
                decision=was.decision,
            )
        )
        return [
            SaveFlow(event.id, back),
            Announce(event.id, "error", f"flow {flow.id} stays on {was.path}: {error}", flow.id),
            *self._act(self.network.want(flow.id, before.rules, event.id, event.at), event),
            *self._reexamine(self._flow(flow.number), event),  # as it is by now
        ]

    def _shun(self, path: str | None, why: str, now: float) -> None:
        if path is not None:
            until = now + max(MIN_HOLDOFF_S, self.configuration.policy.failed_path_holdoff)
            self._shunned[path] = (until, f"not used for {format_duration(until - now)}: {why}")

    def _forget(self, owner: str) -> None:
        flow = self._owner(owner)
        if flow is not None and flow.state.final:
            self.flows.forget(flow.number)
            self._before.pop(flow.number, None)
            self._digests.pop(flow.number, None)
            self._overlooked.discard(flow.number)
            self._deaf.discard(flow.number)

    def _network_changed(self, event: Event) -> list[Effect]:
        effects = self._measurement_rules(event)
        for flow in self.flows.running():
            effects += self._reexamine(flow, event)
        return [*effects, *self._serve_queue(event)]

    def _measurement_rules(self, event: Event) -> list[Effect]:
        """Pin the measurement addresses to their paths, as soon as both edges are known."""
        effects: list[Effect] = []
        topology = self.network.topology
        offset = self.configuration.policy.priority_offset
        by_path: dict[int, tuple[Rule, ...]] = {}
        for test in self.configuration.measurements.tests:
            found = topology.candidate(PathKey(test.path, test.from_, test.to))
            if found.path is None:
                continue
            try:
                source, destination = topology.test_ends(test)
            except Unavailable:
                continue
            rules = measurement_rules(source, destination, found.path, offset=offset)
            known = by_path.get(found.path.index, ())
            by_path[found.path.index] = known + tuple(r for r in rules if r not in known)
        for index, rules in by_path.items():
            owner = f"path-{index}"
            if self.network.wanted(owner) != rules:
                effects += self._act(self.network.want(owner, rules, event.id, event.at), event)
        return effects

    def _reported(self, event: RulesReported) -> list[Effect]:
        before = self.network.topology.connected
        effects = self._act(self.network.rules_reported(event), event)
        now = self.network.topology.connected
        if event.dpid not in now:
            return effects
        fresh = now != before
        effects += self._count(event, fresh)
        return [*effects, *self._network_changed(event)] if fresh else effects

    def _removed(self, event: RuleRemoved) -> list[Effect]:
        """An idle ingress rule: the flow is over if all of them are; if not, the rule comes back."""
        effects = self._act(self.network.rule_removed(event), event)
        flow = self._owner(owner_of(event.rule))
        if flow is None or event.reason != "idle" or not flow.state.holds_rules:
            return effects
        wanted = self.network.wanted(flow.id)
        ingress = [rule for rule in wanted if cookie_owner(rule.cookie)[0] is Kind.FLOW_INGRESS]
        if event.rule.slot not in {rule.slot for rule in ingress}:
            return effects
        counters = self.flows.counters(flow)
        counters.idled_out(event.rule, event.at)
        if counters.idle(ingress, event.at):
            reason = f"no packet for {format_duration(event.rule.idle_timeout)}: the flow is over"
            return [*effects, *self._end(flow, FlowState.FINISHED, reason, event)[1]]
        connection = [rule for rule in ingress if _ports(rule) == _ports(event.rule)]
        if not flow.request.ports and counters.idle(connection, event.at):
            ended = _ports(event.rule)
            kept = tuple(c for c in flow.tuples if {c.destination_port, c.source_port} != ended)
            flow = self.flows.put(replace(flow, tuples=kept))
            effects.append(SaveFlow(event.id, flow))
            wanted = tuple(rule for rule in wanted if _ports(rule) != ended)
        return [*effects, *self._act(self.network.want(flow.id, wanted, event.id, event.at), event)]

    def _learnt(self, event: FirstPacket) -> list[Effect]:
        """Give a connection of a flow without declared ports a rule of its own."""
        flow = self.flows.get(cookie_owner(event.cookie)[1])
        if flow is None or flow.state is not FlowState.ACTIVE or self.network.busy(flow.id):
            return []
        ends = self._attached(flow)
        if ends is None or len(flow.tuples) >= MAX_LEARNT or flow.number in self._deaf:
            return []
        learnt = _forward(event, ends[0].address)
        need, choice = self._choose(flow, event.at)
        if learnt in flow.tuples or flow.path not in choice.paths:
            return []
        self._before[flow.number] = _Before(flow, self.network.wanted(flow.id))
        flow = self.flows.put(replace(flow, tuples=(*flow.tuples, learnt)))
        return [SaveFlow(event.id, flow), *self._act(self._install(flow, need, choice, event), event)]

    # -- evidence -------------------------------------------------------------------------------------

    def _count(self, event: RulesReported, fresh: bool) -> list[Effect]:
        """Share out a switch's counters among the flows."""
        mine: dict[str, list[ReportedRule]] = {}
        for item in event.rules:
            mine.setdefault(owner_of(item.rule), []).append(item)
        effects: list[Effect] = []
        for flow in self.flows.running():
            ends = self._attached(flow)
            if ends is None or event.dpid not in (ends[0].dpid, ends[1].dpid):
                continue
            counters = self.flows.counters(flow)
            if fresh:
                counters.begin_anew()
            counters.report(event.at, event.dpid, mine.get(flow.id, []), *ends)
            effects += self._evidence(flow, event, at_far_edge=event.dpid == ends[1].dpid)
        return effects

    def _evidence(self, flow: Flow, event: RulesReported, *, at_far_edge: bool) -> list[Effect]:
        """Say whether packets really arrive (R22), as the far edge tells; leave a path that loses all."""
        counters = self.flows.counters(flow)
        evidence = flow.evidence
        if at_far_edge and flow.state is FlowState.ACTIVE:
            after = self.configuration.policy.evidence_after
            evidence = counters.evidence(event.at, flow.state_since, after)
        counted = replace(
            flow,
            bytes_sent=max(flow.bytes_sent, counters.sent),
            bytes_delivered=max(flow.bytes_delivered, counters.delivered),
            evidence=evidence,
        )
        self.flows.put(counted)
        effects: list[Effect] = [] if counted == flow else [SaveFlow(event.id, counted)]
        if not at_far_edge or counted.state is not FlowState.ACTIVE:
            return effects
        if evidence is Evidence.SWALLOWED:
            counters.begin_anew()
            self._shun(flow.path, f"packets of {flow.id} leave but none arrive", event.at)
            effects.append(Announce(event.id, "warning", f"flow {flow.id}: {evidence}", flow.id))
            return [*effects, *self._reexamine(counted, event)]
        return [*effects, *self._end_unused(counted, event)]

    def _end_unused(self, flow: Flow, event: Event) -> list[Effect]:
        """End a flow without ports that nothing was learnt of: its learning rules have no idle time-out."""
        if flow.request.ports or flow.tuples:
            return []
        idle = self.flows.need(flow).template.selection.idle_timeout
        last = self.flows.counters(flow).last_sent
        if event.at - (flow.state_since if last is None else last) <= idle:
            return []
        reason = f"no packet for {format_duration(idle)}: the flow is over"
        return self._end(flow, FlowState.FINISHED, reason, event)[1]

    # -- ends, queue, clock ---------------------------------------------------------------------------

    def _end(self, flow: Flow, state: FlowState, reason: str, event: Event) -> tuple[Flow, list[Effect]]:
        """A flow's last step: it gives back what it holds, and others may have it."""
        held_rules = flow.state.holds_rules
        ended = self.flows.put(flow.step(state, event.at, reason, ended_at=event.at))
        self.ledger = self.ledger.release(flow.number)
        effects: list[Effect] = [
            SaveFlow(event.id, ended),
            Announce(event.id, "info", f"flow {flow.id} is {state}: {reason}", flow.id),
        ]
        if not held_rules:
            self._forget(flow.id)
            return ended, effects
        effects += self._act(self.network.want(flow.id, (), event.id, event.at), event)
        return ended, [*effects, *self._serve_queue(event)]

    def queue(self, now: float) -> list[str]:
        """The ids of the waiting flows, first to be served first."""
        return [flow.id for flow in self._in_order(now)]

    def _in_order(self, now: float) -> tuple[Flow, ...]:
        aging = self.configuration.policy.aging
        return scheduler.order(self.flows.queued(), now, self.flows.priority, aging)

    def _serve_queue(self, event: Event) -> list[Effect]:
        effects: list[Effect] = []
        for flow in self._in_order(event.at):
            effects += self._place(flow, event)
        return effects

    def _tick(self, event: Tick) -> list[Effect]:
        effects = self._act(self.network.wake(event.id, event.at), event)
        for flow in scheduler.expired(self.flows.queued(), event.at, self.flows.patience):
            waited = format_duration(event.at - scheduler.waiting_since(flow))
            effects += self._end(flow, FlowState.EXPIRED, f"waited {waited}; last: {flow.reason}", event)[1]
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
        moving = any(flow.state.holds_rules for flow in self.flows)
        period = policy.counters_period if moving else policy.consistency_period
        return self._polled_at + period

    def _next_wake(self, event: Event) -> list[Effect]:
        times = [
            self._poll_due(),
            self.network.next_wake(),
            scheduler.next_wake(self.flows.queued(), self.flows.patience),
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
        paths = self.configuration.paths
        quiet = frozenset(
            path
            for path, bits in self.flows.reserved().items()
            if path in paths and bits > share * paths[path].capacity
        )
        if quiet == self.quiet:
            return []
        self.quiet = quiet
        return [QuietPaths(event.id, quiet)]

    def _mind_the_clock(self, at: float) -> None:
        """Shift what was noted for later when the clock was set back; forget measurements "of later"."""
        by = self._now - at
        if by <= CLOCK_SLACK_S:
            self._now = max(self._now, at)
            return
        self._now = at
        self._polled_at -= by
        self._announced_wake = None
        self._shunned = {path: (until - by, why) for path, (until, why) in self._shunned.items()}
        self.network.clock_set_back(by)
        self.performance = PerformanceView()
        for flow in self.flows.running():
            self.flows.counters(flow).begin_anew()
            if flow.path_since is not None:
                self.flows.put(replace(flow, path_since=min(flow.path_since, at)))

    def _settle_inheritance(self, event: Event) -> list[Effect]:
        heir, self._inheritance = self._inheritance, None
        return [] if heir is None else heir.settle(event.id, event.at)


def _with_misses(flow: Flow, current: CandidateRecord | None, measured: Measurement | None) -> Flow:
    """Count consecutive measurements *of a metric whose bound is missed*: others neither add nor clear."""
    if measured is None or current is None or measured.key.path != flow.path:
        return flow
    missed = [metric.metric for metric in current.metrics if metric.bound_met is False]
    if measured.metric in missed:
        return replace(flow, misses=flow.misses + 1)
    return flow if missed else replace(flow, misses=0)


def _ports(rule: Rule) -> set[int | None]:
    """The two ports of a connection, whichever direction the rule is for."""
    return {rule.match.tp_src, rule.match.tp_dst}


def _forward(event: FirstPacket, source_address: str) -> FiveTuple:
    """The connection in the flow's forward direction; only the listening port identifies it."""
    if event.source == source_address:
        return event.tuple
    seen = event.tuple
    return FiveTuple(seen.protocol, int(seen.source_port or 0), seen.destination_port)

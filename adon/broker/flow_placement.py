"""Which path a flow has: admitted, queued, moved, displaced, taken back, ended.

What the network answers belongs here too, because a refusal is a reason to decide again: one story, told
by methods that call each other in a circle.  Decisions are made in
:mod:`adon.broker.decision_records`; this module carries them out.  Sources: [ADON] figure 4, algorithm 2;
spec sections 2 to 4; R6.

Decisions and flows are saved before a switch is told (R3): the order of effects says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from adon.broker import (
    circuits,
    decision_rules,
    dry_run,
    estimates,
    evacuation,
    fireflies,
    flow_end,
    ladder_grants,
    limits,
)
from adon.broker.alarms import Waived, words
from adon.broker.choice import Choice, Need
from adon.broker.decision import Decision, Outcome
from adon.broker.decision_records import advise, choose_path, decision_of, with_misses
from adon.broker.decision_rules import Ruling
from adon.broker.desired_rules import rules_for_flow, rules_for_paths, rules_for_switches
from adon.broker.effects import (
    Announce,
    Effect,
    EstimateScored,
    SaveDecision,
    SaveFlow,
    SaveOutcome,
    SaveSnapshot,
)
from adon.broker.evacuation import Fled
from adon.broker.events import Event, LldpReceived, PortChanged, SwitchDown, TransferReported
from adon.broker.flow import Flow, FlowState, Quality
from adon.broker.forecasting.interval import NETWORK
from adon.broker.hold_down import ATTEMPTS
from adon.broker.network import Outcome as NetworkOutcome
from adon.broker.optimisation.placement import NOWHERE, Placement
from adon.broker.optimisation.plan import UNPLANNED, Arranged
from adon.broker.outcomes import FlowOutcome
from adon.broker.queueing import claims
from adon.broker.queueing.ground import token
from adon.broker.queueing.queue_round import Serving
from adon.broker.queueing.refusal import Kept
from adon.broker.queueing.trial import Trial, try_flow
from adon.broker.recompute.capture import Looking, capture_trial
from adon.broker.recompute.seen import Displaced, Expelled, Looked, Seen, Snapshot
from adon.broker.refusals import of_a_meter
from adon.broker.register import Ends
from adon.broker.resources.reservation import Reservation
from adon.broker.room import table_full
from adon.broker.site_comparison import terms_for
from adon.broker.world import World
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.selection.assessment import Verdict
from adon.flowvisor.topology.path import FiveTuple
from adon.reasons import AnnouncementCode, Reason
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, PathKey

AT_ONCE = 100
"""So many flows are looked at again before another event has its turn."""


@dataclass(frozen=True, slots=True)
class _Before:
    """An active flow and its rules before a change that is under way, to go back to if it fails."""

    flow: Flow
    rules: tuple[Entry, ...]


class Placing:
    """See the module's text; per flow number it keeps what concerns its placing alone.

    :param world: what the broker holds; changed here.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._looking = Looking(world)
        self._decided: list[int] = []  # the flows that this event led to a decision about
        self._before: dict[int, _Before] = {}  # to go back to while rules of a running flow change
        # Something happened while their rules were being changed: an alarm, or anything else.
        self._overlooked: dict[int, Alarm | None] = {}
        # To be looked at again since the network changed, and after them the queue; None if all was.
        self._behind: dict[int, None] | None = None
        self._deaf: set[int] = set()  # they learn no more connections: a switch refused one
        self._digests: dict[int, str] = {}  # the last to queue or stay: an equal one is not recorded again
        self._freed: dict[Ends, None] = {}  # between which sites flows gave their place back
        self._serving = Serving(world, self._attempt, self._look, self._enqueue)

    def begin(self) -> None:
        """An event comes: number its decisions from 1."""
        self._decided.clear()

    # -- a flow that has no path --------------------------------------------------------------------------

    def place(self, flow: Flow, event: Event) -> list[Effect]:
        """Admit a flow that has no path, or queue it with the reason (algorithm 2, figure 4)."""
        effects, refused = self._attempt(flow, claims.kept_from_flow(self._world, flow, event.at), event)
        if refused is None:
            return effects
        return self._enqueue(flow, refused, event)

    def _attempt(
        self, flow: Flow, kept: Kept, event: Event, plan: Arranged = UNPLANNED
    ) -> tuple[list[Effect], Trial | None]:
        """Admit a flow that has no path, if it can be admitted now; else why it cannot.

        :param kept: what it may not have, because it is kept for somebody before it in the queue.
        :param plan: of several flows together, this one maybe among them.
        """
        trial = self._look(flow, kept, event, plan)
        if trial.path is not None:
            return self._admit(flow, trial, trial.path, event), None
        return [], trial

    def _look(self, flow: Flow, kept: Kept, event: Event, plan: Arranged = UNPLANNED) -> Trial:
        return try_flow(self._world, flow, event.at, kept, self._decided, plan=plan)

    def _capture(self, flow: Flow, trial: Trial, event: Event) -> Seen:
        return self._looking.capture(flow, trial.choice, capture_trial(trial), event)

    def _admit(self, flow: Flow, trial: Trial, path: str, event: Event) -> list[Effect]:
        world, need, choice, sites = self._world, trial.need, trial.choice, trial.sites
        seen = self._capture(flow, trial, event)
        world.ledger = sites.hold(world.ledger, flow, event.at)
        room = [] if trial.holder is None else self._displace(trial.holder, flow, event)
        decision = self._decide(flow, need, choice, trial.ruled, event, sites)
        flow = flow.step(
            FlowState.INSTALLING,
            event.at,
            trial.reason,
            compute_site=sites.site,
            transfer_size=sites.transfer_size,
            ends_by=sites.ends_by(event.at),
        )
        flow = flow_end.expecting(flow.onto(path, event.at, decision.id), need, decision)
        flow = world.flows.put(replace(flow, granted=decision.granted))
        self._record_promise(flow, need, choice, decision)
        self._digests.pop(flow.number, None)
        text = f"flow {flow.id} is admitted to {path}: {trial.reason}"
        return [
            *room,
            *self._record_decision(event, decision, flow, seen, "info", "flow-admitted", text),
            *self.act(self._install(flow, need, choice, event), event),
        ]

    def _enqueue(self, flow: Flow, trial: Trial, event: Event) -> list[Effect]:
        """Let a flow wait, and tell why; nothing if it waits already, for the same."""
        reason = trial.reason
        decision = self._decide(flow, trial.need, trial.choice, trial.ruled, event, trial.sites)
        if flow.state is FlowState.QUEUED and self._digests.get(flow.number) == decision.digest():
            self._decided.pop()
            return []
        seen = self._capture(flow, trial, event)
        self._digests[flow.number] = decision.digest()
        if flow.state is not FlowState.QUEUED:
            flow = flow.step(FlowState.QUEUED, event.at, reason)
        flow = self._world.flows.put(replace(flow, decision=decision.id, reason=reason))
        self._serving.record_reason(flow.number, token(trial))
        text = f"flow {flow.id} waits: {reason}"
        return self._record_decision(event, decision, flow, seen, "info", "flow-queued", text)

    def serve_queue(self, event: Event) -> list[Effect]:
        """Try the waiting flows, in order (:mod:`adon.broker.queueing.queue_round`)."""
        return self._serving.serve(event)

    def resources_freed(self, reservations: Iterable[Reservation], event: Event) -> list[Effect]:
        """What these reservations kept may be had again: who waits, or runs, may want it."""
        gone = list(reservations)
        if any(one.place.key is not None for one in gone):
            return self.network_changed(event)
        return self.serve_queue(event) if gone else []

    # -- a flow that has one ------------------------------------------------------------------------------

    def network_changed(self, event: Event) -> list[Effect]:
        """Look again at everything that a port, a switch or a path that came back may concern."""
        before = {circuit.index for circuit in self._world.network.topology.overlay_paths.circuits}
        effects: list[Effect] = circuits.follow_network(self._world, event)
        topology = self._world.network.topology
        gone = before - {circuit.index for circuit in topology.overlay_paths.circuits}
        for owner in (f"path-{index}" for index in sorted(gone)):
            effects += self.act(self._want(owner, (), event), event)
        intended = self._world.network.intended_rules
        paths = rules_for_paths(topology, intended)
        for owner, rules in (*rules_for_switches(topology).items(), *paths.items()):
            if intended(owner) != rules:
                effects += self.act(self._want(owner, rules, event), event)
        displaced = self._flee(self._world.flows.running(), event, effects)
        self._behind = {
            flow.number: None for flow in self._world.flows.running() if flow.number not in displaced
        }
        # Who has lost the path goes first: the others still send, and are looked at behind them.
        return effects if displaced else [*effects, *self.catch_up(event)]

    @property
    def behind(self) -> bool:
        """Whether flows or the queue are still to be looked at."""
        return self._behind is not None or self._serving.behind

    def catch_up(self, event: Event) -> list[Effect]:
        """Look again at flows that a change of the network may concern, some at a time; then at the queue."""
        if self._behind is None:
            return self._serving.go_on(event)
        effects: list[Effect] = []
        for number in tuple(itertools.islice(self._behind, AT_ONCE)):
            del self._behind[number]
            flow = self._world.flows.get(number)
            if flow is not None and flow.state.holds_rules:
                effects += self.reexamine(flow, event)
        if self._behind:
            return effects
        self._behind = None
        return [*effects, *self.serve_queue(event)]

    def _flee(self, flows: Iterable[Flow], event: Event, effects: list[Effect]) -> frozenset[int]:
        """Find places for those of these flows whose path cannot be used, all together; who they are.

        Those whose rules are being changed are planned for too, and go when that is done.
        """
        busy = {flow.number: flow for flow in self._world.flows.running() if self._changing(flow)}
        concerned = {flow.number: flow for flow in flows} | busy
        lost = evacuation.losses(self._world, concerned.values(), event.at)
        # Capture the inputs of all decisions first: each reroute changes the inputs of the others.
        planned = [
            (fled, self._looking.capture(fled.flow, fled.choice, Expelled(fled.loss, fled.exodus), event))
            for fled in evacuation.plan_evacuation(self._world, lost, event.at)
        ]
        for fled, seen in planned:
            if fled.flow.number in busy:
                self._overlooked.setdefault(fled.flow.number, None)
            else:
                effects += self._evacuate(fled, seen, event)
        return frozenset(lost)

    def _changing(self, flow: Flow) -> bool:
        return flow.state is FlowState.INSTALLING or self._world.network.busy(flow.id)

    def _evacuate(self, fled: Fled, seen: Seen, event: Event) -> list[Effect]:
        """Bring one flow to its place; without one it stays, marked (spec section 2)."""
        flow, need, choice, ruled = fled.flow, fled.need, fled.choice, decision_rules.rule_evacuation(fled)
        if ruled.path is not None:
            if isinstance(event, PortChanged | SwitchDown | LldpReceived):
                self._world.failovers.moving(flow.number, event.id, event.at)
            return self._move(flow, need, choice, ruled, event, seen)
        if ruled.outcome is Outcome.QUEUE:
            return self._vacate(flow, need, choice, ruled, event, seen)
        effects = self._stay(flow, need, choice, ruled, event, lambda: seen, tell=True)
        return [*effects, *self._refresh(flow, need, choice, event)]

    def look_again(self, flow: Flow, event: Event) -> list[Effect]:
        """Look at a running flow beside which another has ended, if this event has not decided about it."""
        return [] if flow.number in self._decided else self.reexamine(flow, event, rules=False)

    def reexamine(
        self,
        flow: Flow,
        event: Event,
        measured: Measurement | None = None,
        alarm: Alarm | None = None,
        trigger: str | None = None,
        *,
        rules: bool = True,
    ) -> list[Effect]:
        """Look again at a running flow: move it, or note how its path keeps the QSpec.

        One whose rules are being changed is looked at when that is done.

        :param alarm: an alarm on its path that is acted on: it waives caution, and the decision is recorded
            whatever it is.
        :param trigger: what of its template's triggers has fired: patience is waived, and the decision is
            recorded whatever it is.
        :param rules: whether those it would get today are looked at, too; a result changes none.
        """
        if self._changing(flow):
            self._overlooked[flow.number] = self._overlooked.get(flow.number) if alarm is None else alarm
            return []
        need, choice = choose_path(self._world, flow, event.at)
        present = choice.record(flow.path)
        if alarm is None and (present is None or present.verdict is Verdict.EXCLUDED):
            fled: list[Effect] = []
            if flow.number in self._flee((flow,), event, fled):
                return fled
        flow = with_misses(flow, present, measured)
        waived = self._waive(flow, need, choice, alarm, event)
        if trigger is not None and waived is Waived.NOTHING:
            waived = Waived.PATIENCE
        dwell = self._world.damping.dwell(flow.number, need.template.selection.min_dwell)
        urged = trigger if alarm is None else words(alarm)
        step = Looked(waived, dwell, urged or "")
        ruled = decision_rules.rule_review(flow, need, choice, event.at, step.waived, step.dwell, step.urged)
        see = partial(self._looking.capture, flow, choice, step, event)
        if ruled.path is not None:
            if not advise(flow, need, choice, event.at, Waived.PATIENCE, dwell).move:
                self._world.alarms.record_early_move(flow.number, event.at)
            return self._move(flow, need, choice, ruled, event, see(), trigger)
        always = urged is not None
        effects = self._stay(flow, need, choice, ruled, event, see, always=always, trigger=trigger)
        if measured is not None or not rules:
            return effects
        return [*effects, *self._refresh(flow, need, choice, event)]

    def _waive(self, flow: Flow, need: Need, choice: Choice, alarm: Alarm | None, event: Event) -> Waived:
        if alarm is None:
            return Waived.NOTHING
        dwell = self._world.damping.dwell(flow.number, need.template.selection.min_dwell)
        return self._world.alarms.waives(alarm, flow.number, choice.record(flow.path), event.at, dwell)

    def _stay(
        self,
        flow: Flow,
        need: Need,
        choice: Choice,
        ruled: Ruling,
        event: Event,
        see: Callable[[], Seen],
        *,
        always: bool = False,
        tell: bool = False,
        trigger: str | None = None,
    ) -> list[Effect]:
        now_is = decision_rules.quality_now(flow, need, choice)
        changed = now_is is not flow.quality
        before, flow = flow, self._world.flows.put(flow.with_quality(now_is, event.at))
        if not changed and not always and not tell:
            return []
        decision = self._decide(before, need, choice, ruled, event, trigger=trigger)
        if tell and not changed and self._digests.get(flow.number) == decision.digest():
            return []
        self._digests[flow.number] = decision.digest()
        level = "warning" if now_is is Quality.VIOLATED else "info"
        flow = self._world.flows.put(replace(flow, decision=decision.id))
        text = f"flow {flow.id} on {flow.path}: {ruled.reason}"
        return self._record_decision(event, decision, flow, see(), level, "flow-stays", text)

    def _refresh(self, flow: Flow, need: Need, choice: Choice, event: Event) -> list[Effect]:
        """Give a flow the rules it would get today: ports have new numbers, or a path came to stand by."""
        rules, wanted = self._rules(flow, need, choice), self._world.network.intended_rules(flow.id)
        if rules is None:
            return []
        if len(choice.paths) < len(choice.selection.records):
            # A path whose ports are not known yet: after a restart its rules are there all the same (R10).
            slots = {rule.slot for rule in rules}
            rules = (*rules, *(rule for rule in wanted if rule.slot not in slots))
        if set(rules) == set(wanted):
            return []
        return self.act(self._want(flow.id, rules, event), event)

    def _move(
        self,
        flow: Flow,
        need: Need,
        choice: Choice,
        ruled: Ruling,
        event: Event,
        seen: Seen,
        trigger: str | None = None,
    ) -> list[Effect]:
        self._digests.pop(flow.number, None)
        decision = self._decide(flow, need, choice, ruled, event, trigger=trigger)
        self._remember(flow)
        self._world.flows.counters(flow).begin_anew()
        self._world.damping.record_move(flow.number, event.at, need.template.selection.min_dwell)
        moved = flow.onto(str(ruled.path), event.at, decision.id)
        moved = flow_end.expecting(moved, need, decision)
        moved = replace(moved, moves=flow.moves + 1, granted=decision.granted)
        self._world.flows.put(moved)
        self._record_promise(moved, need, choice, decision)
        text = f"flow {flow.id} is rerouted from {flow.path} to {ruled.path}: {ruled.reason}"
        return [
            *self._record_decision(event, decision, moved, seen, "info", "flow-rerouted", text),
            *self.act(self._install(moved, need, choice, event), event),
        ]

    def _displace(self, flow: Flow, newcomer: Flow, event: Event) -> list[Effect]:
        """Decide again about a flow that gives way: another path, or the queue; it is never dropped."""
        world = self._world
        ours, theirs = world.flows.priority(flow), world.flows.priority(newcomer)
        why = f"gives way to {newcomer.id} (priority {theirs} above {ours})"
        need, choice = choose_path(world, flow, event.at, {str(flow.path): Reason("preempted", why)})
        seen = self._looking.capture(flow, choice, Displaced(why), event)
        ruled = decision_rules.rule_preemption(choice, why)
        if ruled.path is not None:
            return self._move(flow, need, choice, ruled, event, seen)
        return self._vacate(flow, need, choice, ruled, event, seen)

    def _vacate(
        self, flow: Flow, need: Need, choice: Choice, ruled: Ruling, event: Event, seen: Seen
    ) -> list[Effect]:
        """A running flow goes back to the queue."""
        decision = self._decide(flow, need, choice, ruled, event)
        self._digests[flow.number] = decision.digest()
        waiting = self._world.flows.put(
            replace(self._without_path(flow, ruled.reason.text, event), decision=decision.id)
        )
        text = f"flow {flow.id} {ruled.reason}"
        return [
            *self._record_decision(event, decision, waiting, seen, "warning", "flow-requeued", text),
            *self.act(self._want(flow.id, (), event), event),
        ]

    def learn(self, flow: Flow, connection: FiveTuple, event: Event) -> list[Effect]:
        """Give one more connection of an active flow rules of its own."""
        if flow.number in self._deaf or flow.aggregated or connection in flow.tuples:
            return []
        need, choice = choose_path(self._world, flow, event.at)
        if flow.path not in choice.paths:
            return []
        self._remember(flow)
        grown = replace(flow, tuples=(*flow.tuples, connection))
        short = limits.no_room(self._world, grown, self._rules(grown, need, choice))
        if short:
            return self._aggregate(flow, need, choice, short, event)
        flow = self._world.flows.put(grown)
        return [
            SaveFlow(event.id, flow),
            *fireflies.began(self._world, flow, connection, event),
            *self.act(self._install(flow, need, choice, event), event),
        ]

    def _aggregate(self, flow: Flow, need: Need, choice: Choice, short: str, event: Event) -> list[Effect]:
        """Let all connections of a flow share its one pair of rules between the hosts (R9)."""
        flow = self._world.flows.put(replace(flow, tuples=(), aggregated=True))
        text = f"flow {flow.id}: its connections share one pair of rules: {short}"
        return [
            SaveFlow(event.id, flow),
            Announce(event.id, "warning", "connections-aggregated", text, flow.id),
            *self.act(self._install(flow, need, choice, event), event),
        ]

    def regrade(self, event: Event) -> list[Effect]:
        """Give every settled flow what its port's ladder grants it now that others came or went."""
        world, effects = self._world, list[Effect]()
        if world.configuration.policy.ladder.mode == "off":
            return []
        for flow in world.flows.running():
            now_is = ladder_grants.grant_on_path(world, flow, flow.path)
            if now_is == flow.granted or flow.state is FlowState.INSTALLING or world.network.busy(flow.id):
                continue
            flow = world.flows.put(replace(flow, granted=now_is))
            need, choice = choose_path(world, flow, event.at)
            effects += [SaveFlow(event.id, flow), *self._refresh(flow, need, choice, event)]
        return effects

    # -- what the network answers -------------------------------------------------------------------------

    def act(self, outcome: NetworkOutcome, event: Event) -> list[Effect]:
        """Do for the flows what follows from what one event meant for the network."""
        effects = list(outcome.effects)
        for owner, error in outcome.failed:
            effects += self._install_failed(owner, error, event)
        for owner in outcome.installed:
            effects += self._handle_installed(owner, event)
        for owner in outcome.removed:
            self._forget(owner)
        return effects

    def _handle_installed(self, owner: str, event: Event) -> list[Effect]:
        flow = self._world.flows.owner(owner)
        if flow is None:
            return []
        effects: list[Effect] = []
        self._before.pop(flow.number, None)
        self._world.failovers.record_move(flow.number, event.at)
        self._world.damping.record_acceptance(flow.number, str(flow.path))
        if flow.state is FlowState.INSTALLING:
            only = self._is_dry_run(flow)
            flow = self._world.flows.put(flow.step(FlowState.ACTIVE, event.at, flow.reason, advised=only))
            effects += [SaveFlow(event.id, flow), dry_run.announce_activation(flow, event.id)]
        elif flow.state is FlowState.ACTIVE and flow.advised is not self._is_dry_run(flow):
            flow = self._world.flows.put(replace(flow, advised=not flow.advised))
            effects += [SaveFlow(event.id, flow), dry_run.announce_activation(flow, event.id)]
        if flow.number in self._overlooked:
            alarm = self._overlooked.pop(flow.number)
            if alarm is not None and not self._still_concerns(alarm, flow):
                alarm = None
            effects += self.reexamine(flow, event, alarm=alarm)
        return effects

    def _still_concerns(self, alarm: Alarm, flow: Flow) -> bool:
        return alarm.series.path == flow.path and self._world.alarms.in_force(alarm)

    def _install_failed(self, owner: str, error: str, event: Event) -> list[Effect]:
        flow = self._world.flows.owner(owner)
        if flow is None or not flow.state.holds_rules:
            return [Announce(event.id, "error", "install-failed", f"{owner}: {error}")]
        if flow.state is FlowState.INSTALLING:
            return self._not_admitted(flow, error, event)
        before = self._before.pop(flow.number, None)
        return [] if before is None else self._not_changed(flow, before, error, event)

    def _not_admitted(self, flow: Flow, error: str, event: Event) -> list[Effect]:
        """A switch refused a new flow: shun that path for a while and look for another (R6, R17)."""
        if of_a_meter(error):
            self._world.damping.give_up(flow.number, str(flow.path), error)
        elif not table_full(error):  # that closes the switch, not the path: who is on it stays
            self._world.shun(flow.path, error, event.at)
            self._world.damping.record_refusal(flow.number, str(flow.path))
        given_up = self._world.damping.given_up(flow.number)
        candidates = choose_path(self._world, flow, event.at)[1].selection.records
        if given_up and all(candidate.path in given_up for candidate in candidates):
            often = "" if of_a_meter(error) else f" after {ATTEMPTS} refusals on each of its paths"
            reason = f"given up{often}; last: {error}"
            return self.end(flow, FlowState.FAILED, reason, event)[1]
        waiting = self._world.flows.put(self._without_path(flow, error, event))
        text = f"flow {flow.id} on {flow.path}: {error}"
        return [
            Announce(event.id, "error", "install-failed", text, flow.id),
            *self._want(flow.id, (), event).effects,
            *self.place(waiting, event),
        ]

    def _not_changed(self, flow: Flow, before: _Before, error: str, event: Event) -> list[Effect]:
        """A switch refused to change the rules of a running flow: it goes on with those it had.

        If it was to move, the path it was to move to is shunned (R6); if it was to get a rule for one
        more connection, it learns no more of them.
        """
        flows, was = self._world.flows, before.flow
        self._world.failovers.left_out(flow.number)
        crowded = flow.path == was.path and table_full(error)
        if flow.path != was.path:
            self._world.shun(flow.path, error, event.at)
            self._world.damping.record_refusal(flow.number, str(flow.path))
        elif not crowded:
            self._deaf.add(flow.number)
        flows.counters(flow).begin_anew()
        back = flows.put(
            replace(
                flow,
                path=was.path,
                path_since=was.path_since,
                quality=was.quality,
                tuples=() if crowded else was.tuples,
                moves=was.moves,
                decision=was.decision,
                granted=was.granted,
                aggregated=was.aggregated or crowded,
                diary=was.diary,
            )
        )
        text = f"flow {flow.id} stays on {was.path}: {error}"
        effects: list[Effect] = [
            SaveFlow(event.id, back),
            Announce(event.id, "error", "install-failed", text, flow.id),
            *self.act(self._want(flow.id, before.rules, event), event),
        ]
        as_it_is_by_now = flows.get(flow.number)
        return effects if as_it_is_by_now is None else [*effects, *self.reexamine(as_it_is_by_now, event)]

    # -- ends ---------------------------------------------------------------------------------------------

    def end(self, flow: Flow, state: FlowState, reason: str, event: Event) -> tuple[Flow, list[Effect]]:
        """A flow's last step: it leaves its outcome and gives back what it holds, and others may have it."""
        held_rules, before = flow.state.holds_rules, self._world.line.wants(flow.number)
        ended = self._world.flows.put(flow.step(state, event.at, reason, ended_at=event.at))
        self._world.ledger = self._world.ledger.release(flow.number)
        reported = isinstance(event, TransferReported) and state is FlowState.FINISHED
        got = self._achieved_rate(ended, reported=reported) if held_rules else None
        effects: list[Effect] = [
            SaveFlow(event.id, ended),
            SaveOutcome(event.id, self._outcome(ended, got, reported=reported)),
            Announce(event.id, "info", "flow-ended", f"flow {flow.id} is {state}: {reason}", flow.id),
            *fireflies.announce_end(self._world, ended, event),
        ]
        if not held_rules:
            self._forget(flow.id)
            return ended, [*effects, *self._left_room(ended, before, event)]
        self._freed[self._world.flows.ends(ended)] = None
        effects += self._score_promise(ended, got, event)
        self._took(ended, reported=reported)
        effects += self.act(self._want(flow.id, (), event), event)
        return ended, [*effects, *self.serve_queue(event)]

    def _left_room(self, ended: Flow, kept: bool, event: Event) -> list[Effect]:
        """A flow that waited has ended: what was kept for it, or reserved, others may have.

        :param kept: whether it waited for room.
        """
        return self.serve_queue(event) if kept or ended.booking is not None else []

    def pop_freed_ends(self) -> list[Ends]:
        """Between which sites flows gave their place back since this was asked last."""
        ends = list(self._freed)
        self._freed.clear()
        return ends

    def _achieved_rate(self, ended: Flow, *, reported: bool) -> estimates.Achieved | None:
        return estimates.achieved_rate(ended, self._world.flows.counters(ended), reported=reported)

    def _outcome(self, ended: Flow, got: estimates.Achieved | None, *, reported: bool) -> FlowOutcome:
        flows = self._world.flows
        streams, priority = flows.need(ended).streams, flows.priority(ended)
        return flow_end.outcome_of(ended, streams=streams, priority=priority, got=got, reported=reported)

    def _forget(self, owner: str) -> None:
        flow = self._world.flows.owner(owner)
        if flow is not None and flow.state.final:
            self._world.flows.forget(flow.number)
            self._before.pop(flow.number, None)
            self._world.failovers.left_out(flow.number)
            self._digests.pop(flow.number, None)
            self._serving.forget(flow.number)
            self._overlooked.pop(flow.number, None)
            self._deaf.discard(flow.number)
            self._world.alarms.forget_flow(flow.number)
            self._world.damping.forget(flow.number)
            self._world.estimates.forget(flow.number)
            self._world.meters.forget(flow.number)

    # -- estimates ----------------------------------------------------------------------------------------

    def _record_promise(self, flow: Flow, need: Need, choice: Choice, decision: Decision) -> None:
        key = PathKey(str(flow.path), *self._world.flows.ends(flow))
        terms = terms_for(flow, need, choice, key.path)
        throttled = None if terms is None or terms.bucket is None else terms.available_for(flow.transfer_size)
        self._world.estimates.note(flow.number, key, need, choice, decision.id, throttled)

    def _score_promise(self, ended: Flow, got: estimates.Achieved | None, event: Event) -> list[Effect]:
        """Compare what a flow was promised with what it got."""
        scored = self._world.estimates.score(ended, self._world.flows.need(ended), got, event.at)
        return [] if scored is None else [EstimateScored(event.id, scored)]

    def _took(self, ended: Flow, *, reported: bool) -> None:
        """Learn how long a transfer took that went one way, and said itself when it was done."""
        diary, at = ended.diary, ended.ended_at
        if not reported or at is None or diary.admitted_at is None or diary.forecast is None:
            return
        alone = diary.forecast.terms.get(NETWORK)
        if alone is not None and ended.path_since == diary.admitted_at:
            key = PathKey(str(ended.path), *self._world.flows.ends(ended))
            waited, took = diary.admitted_at > ended.submitted_at, at - diary.admitted_at
            self._world.estimates.took(key, alone, took, waited=waited)

    # -- steps shared by these ----------------------------------------------------------------------------

    def _without_path(self, flow: Flow, reason: str, event: Event) -> Flow:
        """A flow back in the queue, what it held of a site given back."""
        self._world.ledger = self._world.ledger.release(flow.number)
        self._world.flows.counters(flow).begin_anew()
        nothing = dict.fromkeys(("path", "path_since", "compute_site", "granted", "ends_by"))
        return flow.step(FlowState.QUEUED, event.at, reason, **nothing)

    def _remember(self, flow: Flow) -> None:
        self._before[flow.number] = _Before(flow, self._world.network.wanted_rules(flow.id))

    def _install(self, flow: Flow, need: Need, choice: Choice, event: Event) -> NetworkOutcome:
        rules = self._rules(flow, need, choice)
        if rules is None:
            return NetworkOutcome(failed=[(flow.id, f"a port that {flow.path} needs is missing")])
        return self._want(flow.id, rules, event)

    def _rules(self, flow: Flow, need: Need, choice: Choice) -> tuple[Entry, ...] | None:
        world = self._world
        priority, topology = world.flows.priority(flow), world.network.topology
        return rules_for_flow(flow, need, choice, priority, topology, ladder_grants.treatment(world, flow))

    def _is_dry_run(self, flow: Flow) -> bool:
        flows = self._world.flows
        return dry_run.is_dry_run(self._world.configuration, flows.need(flow).template, flows.ends(flow))

    def _want(self, owner: str, rules: tuple[Entry, ...], event: Event) -> NetworkOutcome:
        flow = self._world.flows.owner(owner)
        only = flow is not None and self._is_dry_run(flow)
        return self._world.network.want(owner, rules, event.id, event.at, advised=only)

    def _decide(
        self,
        flow: Flow,
        need: Need,
        choice: Choice,
        ruled: Ruling,
        event: Event,
        sites: Placement = NOWHERE,
        trigger: str | None = None,
    ) -> Decision:
        self._decided.append(flow.number)
        number, where = len(self._decided), flow.path if ruled.outcome is Outcome.STAY else ruled.path
        granted = ladder_grants.grant_on_path(self._world, flow, where)
        outcome, reason, path = ruled.outcome, ruled.reason, ruled.path
        return decision_of(number, flow, need, choice, outcome, reason, event, path, sites, granted, trigger)

    def _record_decision(
        self,
        event: Event,
        decision: Decision,
        flow: Flow,
        seen: Seen,
        level: str,
        code: AnnouncementCode,
        text: str,
    ) -> list[Effect]:
        """A decision in the store and in the log, with the flow as it is by it, and what it saw."""
        meter = None
        if decision.granted is not None and decision.granted.by == "meter":
            meter = decision.granted.number
        gate = ladder_grants.gate(self._world, flow, decision.path)
        snapshot = Snapshot(
            decision.id, seen, decision.alarm, gate, meter, decision.trigger, decision.cause_text
        )
        return [
            SaveDecision(event.id, decision),
            SaveFlow(event.id, flow),
            Announce(event.id, level, code, text, flow.id),
            SaveSnapshot(event.id, snapshot),
        ]

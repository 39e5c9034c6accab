"""Which rules should be in the switches, which are, and what is being done about the difference.

Each owner (a flow, or a path's measurement rules) *wants* a set of rules; the union is the desired
state.  What is in the switches is a belief (:mod:`adon.broker.belief`).  The difference becomes phases
(:mod:`adon.flowvisor.rules.reconcile`) and the phases become batches (:mod:`adon.broker.installer`).  First
install, move, end, switch restart and controller restart are all this one mechanism: nothing is ever
wiped (R10), nothing without our cookie is touched (R1).

A switch counts as connected for decisions only when its rules have been read once: before that we
could put a rule on top of somebody else's.  A switch that is not connected is left alone; what is to
be changed there is found when it is back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adon.broker.belief import SETTLE_S, Belief
from adon.broker.checks import Checks
from adon.broker.drift import Drift, Kind, Tampering, find_tampering
from adon.broker.dry_run import Advice
from adon.broker.effects import Announce, Effect, ReadRules, RuleState, SaveRules, SendBatch
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
)
from adon.broker.installer import Installer, Progress
from adon.broker.refusals import RETRY_S, Refusals, replacement_for
from adon.broker.wanted import Wanted
from adon.flowvisor.rules.connections import is_connections
from adon.flowvisor.rules.reconcile import Difference, Phase, compare_entries, order_changes, plan_restore
from adon.flowvisor.rules.rule import Change, Entry, MeterEntry, Op, Slot, rule_text
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.path import dpid_text
from adon.flowvisor.topology.topology import Topology
from adon.units import format_duration


@dataclass(slots=True)
class Outcome:
    """What one event meant for the network.

    :param installed: owners all of whose wanted rules are now confirmed.
    :param removed: owners that want no rules and have none left.
    :param failed: owners whose rules could not be put in, with the switch's own words.  A failed repair
        of a switch names the repair (``sync-…``) and every owner whose rules it was to put in.
    """

    effects: list[Effect] = field(default_factory=list)
    installed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def absorb(self, other: Outcome) -> None:
        """Append what another outcome brought."""
        self.effects += other.effects
        self.installed += other.installed
        self.removed += other.removed
        self.failed += other.failed


class Network:
    """Desired and believed rules of all switches; see the module's text.

    :param topology: the configured network, no switch connected yet.
    :param rules: what an earlier run of the controller wanted (a restart changes nothing).
    """

    def __init__(
        self,
        topology: Topology,
        rules: Iterable[Entry],
        *,
        drain: float,
        check_period: float,
        settle: float = SETTLE_S,
    ) -> None:
        self.topology = topology
        self.reconcile_totals = {"missing": 0, "extra": 0, "wrong": 0, "blocked": 0}
        self._advice = Advice(topology.configuration)
        self._installer = Installer(drain)
        self._belief = Belief(settle)
        self._settle = settle
        told = {s.dpid for s in topology.configuration.switches.values() if s.drift == "report"}
        self._drift = Drift(self._advice.switches | told)
        self._checks = Checks(check_period)
        self._wanted = Wanted(rules)
        self._refusals = Refusals()
        self._unconfirmed: set[str] = set(self._wanted)  # owners not known to be installed since they changed
        self._foreign: dict[int, frozenset[Slot]] = {}
        self._greeting: dict[int, Mapping[str, PortState]] = {}
        self._given_up: dict[Slot, Entry] = {}  # saved as failed: may turn out to be there after all

    # -- what is wanted ---------------------------------------------------------------------------

    def wanted_rules(self, owner: str) -> tuple[Entry, ...]:
        """The rules an owner wants at present."""
        return self._wanted.of(owner)

    def intended_rules(self, owner: str) -> tuple[Entry, ...]:
        """The rules an owner would have in the switches if nothing were only advised."""
        kept = self._advice.of(owner)
        return self.wanted_rules(owner) if kept is None else kept

    def busy(self, owner: str) -> bool:
        """Whether this owner's rules are being changed."""
        return self._installer.busy(owner)

    def changing(self) -> tuple[str, ...]:
        """The owners whose rules are being changed."""
        return self._installer.owners()

    def complete(self, owner: str) -> bool:
        """Whether every rule this owner wants is in its switch for sure, exactly so, and stays there."""
        return all(self._holds(rule) for rule in self.wanted_rules(owner))

    def want(
        self, owner: str, rules: tuple[Entry, ...], cause: str, now: float, *, advised: bool = False
    ) -> Outcome:
        """Let an owner want exactly these rules, and begin to bring that about.

        A plan of the same owner that is under way is given up: what it sent may be there, so the new
        plan removes it where it is not wanted any more, and adds it again where it is.  Where a rule
        that is not ours is in the way nothing changes, and the owner has failed.

        :param advised: the rules are kept and shown, not sent; as if one is for an advised switch.
        """
        before = self.wanted_rules(owner)
        if rules and (advised or self._advice.concerns(rules)):
            return Outcome(self._advice.keep(owner, rules, before, cause), installed=[owner])
        diff = self._missing_from(owner, rules)
        if diff.blocked:
            self.reconcile_totals["blocked"] += len(diff.blocked)
            taken = rule_text(diff.blocked[0])
            return Outcome(failed=[(owner, f"a foreign rule occupies the slot of: {taken}")])
        self._installer.abandon(owner)
        self._wanted.put(owner, rules)
        self._unconfirmed.add(owner)
        outcome = Outcome(self._advice.drop(owner, cause))
        kept = set(rules)
        gone = tuple(rule for rule in before if rule not in kept)
        for rule in gone:
            self._given_up.pop(rule.slot, None)
        in_hand = (rule for rule in rules if self._installer.changing(rule.slot))
        self._repair_after_repair((*gone, *in_hand), now)
        pending = tuple(rule for rule in rules if not self._holds(rule))
        replaced = {rule.slot for rule in pending}  # saving these overwrites what was there
        removed = tuple(rule for rule in gone if rule.slot not in replaced)
        if removed:
            outcome.effects.append(SaveRules(cause, removed, RuleState.REMOVED))
        if pending:
            outcome.effects.append(SaveRules(cause, pending, RuleState.PENDING))
        # Given up, and wanted again before it was taken out: it is saved as removed, and is there.
        back = tuple(rule for rule in rules if rule not in before and self._holds(rule))
        if back:
            outcome.effects.append(SaveRules(cause, back, RuleState.INSTALLED))
        outcome.absorb(self._execute(owner, order_changes(diff), cause, now))
        return outcome

    # -- what switches say ------------------------------------------------------------------------

    def switch_up(self, event: SwitchUp) -> Outcome:
        """Greet a switch: read its rules before anything else."""
        self._greeting[event.dpid] = event.ports
        self._checks.at_once(event.dpid)
        return Outcome([ReadRules(event.id, event.dpid)])

    def switch_down(self, event: SwitchDown) -> Outcome:
        """Note that a switch is unreachable; its rules stay as they are (fail_mode=secure, R10)."""
        dpid = event.dpid
        self._greeting.pop(dpid, None)
        self._checks.forget_switch(dpid)
        self._drift.forgive(dpid)
        self.topology = self.topology.switch_down(dpid)
        told = Announce(
            event.id, "warning", "switch-disconnected", f"switch {dpid_text(dpid)} is disconnected"
        )
        if event.why:
            text = f"switch {dpid_text(dpid)} is left alone: {event.why}"
            told = Announce(event.id, "error", "switch-refused", text)
        outcome = Outcome([told])
        for batch in self._installer.batches_to(dpid):
            lost = BatchFailed(event.id, event.at, dpid, batch, "the switch disconnected")
            outcome.absorb(self.batch_failed(lost))
        return outcome

    def port_changed(self, event: PortChanged) -> bool:
        """Take a port's new state; whether it says anything new of a switch that is connected.

        Open vSwitch announces a port that goes down with a message that says it is up still.
        """
        if event.dpid in self._greeting:
            ports = dict(self._greeting[event.dpid])
            if event.state is None:
                ports.pop(event.name, None)
            else:
                ports[event.name] = event.state
            self._greeting[event.dpid] = ports
            return False
        before = self.topology.ports.get(event.dpid, {}).get(event.name)
        self.topology = self.topology.change_port(event.dpid, event.name, event.state)
        return event.state != before

    def rules_reported(self, event: RulesReported) -> Outcome:
        """Compare a switch's report with what is wanted there, and repair where it is time to.

        A report that a switch sent before its connection was lost says nothing any more.
        """
        dpid, now = event.dpid, event.at
        greeted = dpid in self._greeting
        if not greeted and dpid not in self.topology.connected:
            return Outcome()
        if greeted:
            self.topology = self.topology.switch_up(dpid, self._greeting.pop(dpid))
            self._belief.record_reconnection(dpid)
            self._refusals.forgive(dpid)
        self._foreign[dpid] = event.foreign
        unsettled = self._installer.slots() | self._belief.find_unsettled(now)
        held = (*(item.rule for item in event.rules), *event.equipment, *self._without_connections(event))
        if not greeted and not self._checks.is_requested(dpid):
            self._look_for_drift(dpid, held, unsettled, now)
        self._belief.record_report(dpid, held, unsettled)
        outcome = self._greet(event) if greeted else Outcome()
        outcome.effects += self._after_all(dpid, event.id)
        outcome.effects += self._news(dpid, event.id)
        if dpid in self._advice.switches:
            return outcome
        if self._checks.due(dpid, now):
            outcome.absorb(self._repair(dpid, event.id, now, unsettled))
        return outcome

    def batch_confirmed(self, event: BatchConfirmed) -> Outcome:
        """Take a barrier reply."""
        outcome = self._digest(self._installer.confirm_batch(event.batch, event.at), event.id, event.at)
        outcome.absorb(self._heal(event.id, event.at))
        return outcome

    def batch_failed(self, event: BatchFailed) -> Outcome:
        """Take a refusal: drop the plan, and find out in a while what the switches really hold."""
        single = self._without_refused(event)
        if single is not None:
            return single
        progress = self._installer.fail_batch(event.batch)
        if progress.failed is None:
            return Outcome()
        owner, error = progress.failed, f"switch {dpid_text(event.dpid)}: {event.error}"
        outcome = Outcome(failed=[(owner, error)])
        refused = self._still_wanted(progress.dropped)
        self._unconfirmed.update(self._wanted.owner(rule) for rule in refused)
        if refused:
            self._given_up.update((rule.slot, rule) for rule in refused)
            outcome.effects.append(SaveRules(event.id, refused, RuleState.FAILED, error))
        if _is_repair(owner):
            owners = dict.fromkeys(self._wanted.owner(rule) for rule in refused)
            outcome.failed += [(named, error) for named in owners]
        pause = RETRY_S if _is_repair(owner) else self._settle
        for dpid in {change.rule.dpid for change in progress.dropped}:
            self._read_again(dpid, event.at + pause)
        outcome.absorb(self._heal(event.id, event.at))
        return outcome

    def _without_refused(self, event: BatchFailed) -> Outcome | None:
        """Go on without single changes that were refused, or with others in their place (R13).

        A repair is many owners' business: those whose entries were refused fail, the rest goes on.  None if
        the whole plan has failed: a flow has all of its rules or none.
        """
        sent = self._installer.find_batch(event.batch)
        if sent is None or not event.refused:
            return None
        owner, changes = sent
        refused = {changes[place]: words for place, words in event.refused}
        instead = {
            change: None
            if self._installer.is_replaced(event.batch, change.rule.slot)
            else replacement_for(change, words)
            for change, words in refused.items()
        }
        lost = {change: words for change, words in refused.items() if instead[change] is None}
        if lost and not _is_repair(owner):
            return None
        failed = {self._wanted.owner(change.rule): words for change, words in lost.items()}

        def unwanted(change: Change) -> bool:
            return change.op is not Op.DELETE and self._wanted.owner(change.rule) in failed

        progress = self._installer.without(event.batch, instead, unwanted, event.at)
        outcome = self._digest(progress, event.id, event.at)
        for one, words in failed.items():
            mine = [change for change in progress.dropped if self._wanted.owner(change.rule) == one]
            outcome.absorb(self._repair_without(one, mine, words, event))
        return outcome

    def _repair_without(
        self, owner: str, changes: Iterable[Change], words: str, event: BatchFailed
    ) -> Outcome:
        """A repair goes on without these of an owner's; they are tried again after a time that grows."""
        error = f"switch {dpid_text(event.dpid)}: {words}"
        until = self._refusals.record_refusal((change.rule.slot for change in changes), event.at)
        self._read_again(event.dpid, until)
        self._unconfirmed.add(owner)
        text = f"{owner}: {error}; retried in {format_duration(until - event.at)}"
        outcome = Outcome([Announce(event.id, "error", "repair-refused", text)], failed=[(owner, error)])
        missing = self._still_wanted(changes)
        if missing:
            self._given_up.update((rule.slot, rule) for rule in missing)
            outcome.effects.append(SaveRules(event.id, missing, RuleState.FAILED, error))
        return outcome

    def rule_removed(self, event: RuleRemoved) -> Outcome:
        """Handle FLOW_REMOVED; announce an unexpected removal and restore the rule (R20)."""
        slot, owner = event.rule.slot, self._wanted.owner(event.rule)
        by_us = self._belief.deleting(slot)
        self._belief.record_removed(event.rule)
        self._unconfirmed.add(owner)
        wanted = next((rule for rule in self.wanted_rules(owner) if rule.slot == slot), None)
        known = event.dpid in self.topology.connected
        if event.reason in ("idle", "hard") or wanted is None or not known:
            return Outcome()
        self._read_again(event.dpid, event.at + self._settle)
        if not by_us:
            self._note_drift(Tampering(Kind.MISSING, wanted), event.at)
        return Outcome()

    # -- the clock, and questions -------------------------------------------------------------------

    def wake(self, cause: str, now: float) -> Outcome:
        """Go on with what waited for the clock."""
        outcome = Outcome()
        for progress in self._installer.wake(now):
            outcome.absorb(self._digest(progress, cause, now))
        outcome.effects += [ReadRules(cause, dpid) for dpid in self._checks.wake(now)]
        self._drift.wake(now)
        outcome.absorb(self._heal(cause, now))
        return outcome

    def next_wake(self) -> float | None:
        """When :meth:`wake` is wanted next."""
        times = (self._installer.next_wake(), self._drift.next_wake(), self._checks.next_wake())
        return min((time for time in times if time is not None), default=None)

    def recheck(self, cause: str) -> Outcome:
        """Read and repair every connected switch now, whatever the period and the policy of drift say."""
        connected = sorted(self.topology.connected)
        self._checks.order(connected)
        for dpid in connected:
            self._drift.forgive(dpid)
            self._refusals.forgive(dpid)
        return Outcome([ReadRules(cause, dpid) for dpid in connected])

    def desired_rules(self, dpid: int) -> tuple[Entry, ...]:
        """All rules that belong in one switch."""
        return self._wanted.at(dpid)

    def rules(self, dpid: int) -> int:
        """How many rules belong in one switch."""
        return self._wanted.count(dpid)

    def compare(self, dpid: int) -> Difference:
        """How one switch differs from what should be, as far as is known; nothing is done about it (R4)."""
        return compare_entries(
            self.desired_rules(dpid), self._belief.at(dpid), foreign=self._foreign_at(dpid)
        )

    def foreign_rules(self, dpid: int) -> int:
        """How many rules in one switch are not ours."""
        return len(self._foreign.get(dpid, ()))

    # -- inside -----------------------------------------------------------------------------------

    def _foreign_at(self, dpid: int) -> frozenset[Slot]:
        return self._foreign.get(dpid, frozenset())

    def _holds(self, rule: Entry) -> bool:
        """Whether this very rule is in its switch for sure, and no plan under way takes it out."""
        return self._belief.holds(rule) and not self._installer.removing(rule.slot)

    def _missing_from(self, owner: str, rules: tuple[Entry, ...]) -> Difference:
        """One owner's difference in the connected switches.

        A slot whose rule was sent but never confirmed, or that a plan under way empties, may be empty, where
        a modify would do nothing: a wanted rule is added there, an unwanted one deleted.
        """
        here = self.topology.connected
        desired = [rule for rule in rules if rule.dpid in here]
        slots = {rule.slot for rule in desired}
        present = [
            rule
            for rule in self._believed_rules(owner, rules)
            if rule.dpid in here and (rule.slot not in slots or self._sure(rule.slot))
        ]
        foreign = frozenset(slot for slot in slots if slot in self._foreign_at(slot[0]))
        return compare_entries(desired, present, foreign=foreign)

    def _sure(self, slot: Slot) -> bool:
        return self._belief.sure(slot) and not self._installer.removing(slot)

    def _believed_rules(self, owner: str, rules: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """What is believed to be in the switches of an owner's entries, the meters among them."""
        meters = {
            entry.slot for entry in (*self.wanted_rules(owner), *rules) if isinstance(entry, MeterEntry)
        }
        held = (self._belief.get(slot) for slot in meters)
        return (*self._belief.of(owner), *(entry for entry in held if entry is not None))

    def _without_connections(self, event: RulesReported) -> tuple[Entry, ...]:
        """What unannounced flows without a connection want here: of none, all are as they should be."""
        told = {item.rule.slot for item in event.rules if is_connections(item.rule)}
        desired = (rule for rule in self.desired_rules(event.dpid) if is_connections(rule))
        return tuple(rule for rule in desired if rule.slot not in told)

    def _greet(self, event: RulesReported) -> Outcome:
        text = (
            f"switch {dpid_text(event.dpid)} is connected: "
            f"{len(event.rules)} rules of ADON, {len(event.foreign)} of others"
        )
        outcome = Outcome([Announce(event.id, "info", "switch-connected", text)])
        found = tuple(rule for rule in self.desired_rules(event.dpid) if self._belief.holds(rule))
        if found:
            outcome.effects.append(SaveRules(event.id, found, RuleState.INSTALLED))
        return outcome

    def _after_all(self, dpid: int, cause: str) -> list[Effect]:
        """What was given up with its plan and is there: another switch had refused, this one had not."""
        found = tuple(r for r in self._given_up.values() if r.dpid == dpid and self._belief.holds(r))
        for rule in found:
            del self._given_up[rule.slot]
        kept = tuple(rule for rule in found if rule in self.wanted_rules(self._wanted.owner(rule)))
        return [SaveRules(cause, kept, RuleState.INSTALLED)] if kept else []

    def _read_again(self, dpid: int, at: float) -> None:
        if dpid in self.topology.connected:
            self._checks.again(dpid, at)

    def _repair_after_repair(self, concerned: Iterable[Entry], now: float) -> None:
        """A repair under way goes by what was wanted when it began: look again after it.

        It may still put in what is not wanted any more, and take out what is wanted by now.
        """
        for dpid in {rule.dpid for rule in concerned}:
            if self._installer.busy(_repair_of(dpid)):
                self._read_again(dpid, now + self._settle)

    def _look_for_drift(
        self, dpid: int, held: Iterable[Entry], unsettled: frozenset[Slot], now: float
    ) -> None:
        """What somebody else changed since the last report, and what is right again by itself."""
        wanted, reported = self.desired_rules(dpid), tuple(held)

        def ours(slot: Slot) -> bool:
            return slot in unsettled or not self._sure(slot)

        for change in find_tampering(wanted, self._belief.at(dpid), reported, ours):
            self._note_drift(change, now)
        found = compare_entries(wanted, reported)
        wrong = (*found.missing, *found.extra, *(right for right, _ in found.wrong))
        self._drift.record_comparison(dpid, frozenset(entry.slot for entry in wrong))

    def _note_drift(self, change: Tampering, now: float) -> None:
        if self._drift.note(change, now) and self._drift.only_told(change.entry.dpid):
            self.reconcile_totals[change.kind] += 1

    def _news(self, dpid: int, cause: str) -> list[Effect]:
        return [Announce(cause, "warning", "rules-changed", line) for line in self._drift.news(dpid)]

    def _heal(self, cause: str, now: float) -> Outcome:
        """Put right what is ready for it, without reading first: what else there is, the next report shows.

        What becomes ready while a repair is under way is put right by the next one, all of it at once.
        """
        outcome = Outcome()
        ready: dict[int, set[Slot]] = {}
        for slot in self._drift.ready():
            if not self._installer.busy(_repair_of(slot[0])) and not self._installer.changing(slot):
                ready.setdefault(slot[0], set()).add(slot)
        for dpid, slots in ready.items():
            for slot in slots:
                self._drift.settle_slot(slot)
            wanted = [rule for rule in self.desired_rules(dpid) if rule.slot in slots]
            present = [rule for rule in self._belief.at(dpid) if rule.slot in slots]
            diff = compare_entries(wanted, present, foreign=self._foreign_at(dpid))
            outcome.effects += self._news(dpid, cause)
            outcome.absorb(self._put_right(dpid, diff, cause, now))
        return outcome

    def _repair(self, dpid: int, cause: str, now: float, unsettled: frozenset[Slot]) -> Outcome:
        owner = _repair_of(dpid)
        if self._installer.busy(owner):
            return Outcome()
        partial = self._checks.urgent(dpid) and any(slot[0] == dpid for slot in unsettled)
        if partial:
            self._read_again(dpid, now + self._settle)
        self._checks.looked_at(dpid, now, whole=not partial)
        skip = unsettled | self._drift.untouchable(dpid) | self._refusals.held_slots(dpid, now)
        diff = compare_entries(
            self.desired_rules(dpid), self._belief.at(dpid), foreign=self._foreign_at(dpid), skip=skip
        )
        return self._put_right(dpid, diff, cause, now)

    def _put_right(self, dpid: int, diff: Difference, cause: str, now: float) -> Outcome:
        self._unconfirmed.update(self._wanted.owner(rule) for rule in (*diff.missing, *diff.blocked))
        self._unconfirmed.update(self._wanted.owner(rule) for rule, _ in diff.wrong)
        self._unconfirmed.update(self._wanted.owner(rule) for rule in diff.extra)
        outcome = self._report_difference(dpid, diff, cause)
        plan = order_changes(diff) if diff.wrong or diff.extra else plan_restore(diff)
        outcome.absorb(self._execute(_repair_of(dpid), plan, cause, now))
        return outcome

    def _report_difference(self, dpid: int, diff: Difference, cause: str) -> Outcome:
        """Count and announce what a comparison found; owners that are blocked have failed."""
        outcome = Outcome()
        for name in self.reconcile_totals:
            self.reconcile_totals[name] += len(getattr(diff, name))
        if not diff.is_settled or diff.blocked:
            text = (
                f"switch {dpid_text(dpid)}: {len(diff.missing)} rules missing, {len(diff.wrong)} wrong, "
                f"{len(diff.extra)} obsolete, {len(diff.blocked)} blocked by foreign rules"
            )
            outcome.effects.append(Announce(cause, "info", "rules-repaired", text))
        error = f"switch {dpid_text(dpid)}: a foreign rule occupies the slot of one of its rules"
        outcome.failed += [(owner, error) for owner in dict.fromkeys(map(self._wanted.owner, diff.blocked))]
        return outcome

    def _execute(self, owner: str, plan: Iterable[Phase], cause: str, now: float) -> Outcome:
        plan = self._advice.keep_active_phases(tuple(plan))
        return self._digest(self._installer.start(owner, plan, cause, now), cause, now)

    def _digest(self, progress: Progress, cause: str, now: float) -> Outcome:
        outcome = Outcome(list(progress.effects))
        for batch in progress.effects:
            self._note_sent(batch, now)
        for change in progress.changes:
            self._belief.record_confirmed(change, now)
            self._given_up.pop(change.rule.slot, None)
            self._refusals.record_acceptance(change.rule.slot)
        confirmed = self._still_wanted(progress.changes)
        if confirmed:
            outcome.effects.append(SaveRules(cause, confirmed, RuleState.INSTALLED))
        if progress.done is not None:
            outcome.absorb(self._finish_plan(progress.done))
        return outcome

    def _still_wanted(self, changes: Iterable[Change]) -> tuple[Entry, ...]:
        """What some changes were to put in, less what was given up meanwhile: that is saved as removed."""
        rules = [change.rule for change in changes if change.op is not Op.DELETE]
        owners = {self._wanted.owner(rule) for rule in rules}
        wanted = {(owner, entry.slot): entry for owner in owners for entry in self.wanted_rules(owner)}
        return tuple(rule for rule in rules if wanted.get((self._wanted.owner(rule), rule.slot)) == rule)

    def _note_sent(self, batch: SendBatch, now: float) -> None:
        for change in batch.changes:
            self._belief.record_sent(change, now)
            self._drift.settle_slot(change.rule.slot)

    def _finish_plan(self, owner: str) -> Outcome:
        owners = tuple(sorted(self._unconfirmed)) if _is_repair(owner) else (owner,)
        idle = [one for one in owners if not self.busy(one)]
        outcome = Outcome(
            installed=[one for one in idle if self.wanted_rules(one) and self.complete(one)],
            removed=[one for one in idle if not self.wanted_rules(one) and not self._here(one)],
        )
        for one in outcome.removed:
            self._wanted.drop(one)
        self._unconfirmed.difference_update(outcome.installed, outcome.removed)
        return outcome

    def _here(self, owner: str) -> bool:
        """Whether a rule of this owner is believed to be in a switch that can be told to remove it."""
        told = self.topology.connected - self._advice.switches
        return any(rule.dpid in told for rule in self._belief.of(owner))


def _repair_of(dpid: int) -> str:
    return f"sync-{dpid_text(dpid)}"


def _is_repair(owner: str) -> bool:
    return owner.startswith("sync-")

"""Which rules should be in the switches, which are, and what is being done about the difference.

Each owner (a flow, or a path's measurement rules) *wants* a set of rules; the union is the desired
state.  What is *believed* to be in the switches is what they reported, plus what was sent since.  The
difference becomes phases (:mod:`adon.flowvisor.reconcile`) and the phases become batches
(:mod:`adon.broker.installer`).  First install, move, end, switch restart and controller restart are
all this one mechanism: nothing is ever wiped (R10), nothing without our cookie is touched (R1).

A switch counts as connected for decisions only when its rules have been read once: before that we
could put a rule on top of somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adon.broker.effects import Announce, Effect, ReadRules, RuleState, SaveRules, SendBatch
from adon.broker.events import BatchConfirmed, BatchFailed, PortChanged, RuleRemoved, RulesReported, SwitchUp
from adon.broker.installer import Installer, Progress
from adon.flowvisor.reconcile import Difference, Phase, difference, phases
from adon.flowvisor.rule import Kind, Op, Rule, Slot, cookie_owner, dpid_text, rule_text
from adon.flowvisor.topology import PortState, Topology

SETTLE_S = 2.0
"""Statistics read within this time of a change may predate it: no verdict on that slot yet."""


@dataclass(slots=True)
class Outcome:
    """What one event meant for the network.

    :param installed: owners all of whose wanted rules are now confirmed.
    :param removed: owners none of whose rules are left.
    :param failed: owners whose rules could not be put in, with the switch's own words.
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


def owner_of(rule: Rule) -> str:
    """The owner that a rule's cookie names: ``f-17`` for flows, ``path-0`` for measurement rules."""
    kind, number = cookie_owner(rule.cookie)
    return f"path-{number}" if kind is Kind.MEASUREMENT else f"f-{number}"


class Network:
    """Desired and believed rules of all switches; see the module's text.

    :param topology: the configured network, no switch connected yet.
    :param rules: what an earlier run of the controller wanted (a restart changes nothing).
    """

    def __init__(
        self, topology: Topology, rules: Iterable[Rule], *, drain: float, check_period: float
    ) -> None:
        self.topology = topology
        self.reconcile_totals = {"missing": 0, "extra": 0, "wrong": 0, "blocked": 0}
        self._installer = Installer(drain)
        self._check_period = check_period
        self._wanted: dict[str, tuple[Rule, ...]] = {}
        self._believed: dict[Slot, Rule] = {}
        self._foreign: dict[int, frozenset[Slot]] = {}
        self._greeting: dict[int, Mapping[str, PortState]] = {}
        self._changed_at: dict[Slot, float] = {}
        self._checked_at: dict[int, float] = {}
        self._urgent: set[int] = set()
        for rule in rules:
            owner = owner_of(rule)
            self._wanted[owner] = (*self._wanted.get(owner, ()), rule)

    # -- what is wanted ---------------------------------------------------------------------------

    def wanted(self, owner: str) -> tuple[Rule, ...]:
        """The rules an owner wants at present."""
        return self._wanted.get(owner, ())

    def owners(self) -> tuple[str, ...]:
        """Everybody who wants rules."""
        return tuple(self._wanted)

    def has(self, owner: str, kind: Kind) -> bool:
        """Whether a rule of this kind and owner is believed to be in some switch."""
        return any(
            owner_of(rule) == owner and cookie_owner(rule.cookie)[0] is kind
            for rule in self._believed.values()
        )

    def busy(self, owner: str) -> bool:
        """Whether this owner's rules are being changed."""
        return self._installer.busy(owner)

    def complete(self, owner: str) -> bool:
        """Whether every rule this owner wants is believed to be in its switch, exactly so."""
        return all(self._believed.get(rule.slot) == rule for rule in self.wanted(owner))

    def want(self, owner: str, rules: tuple[Rule, ...], cause: str, now: float) -> Outcome:
        """Let an owner want exactly these rules, and begin to bring that about.

        A plan of the same owner that is under way is given up: what it sent is believed to be there, so
        that the new plan removes it where it is not wanted any more.
        """
        before = self._wanted.get(owner, ())
        self._wanted[owner] = rules
        self._installer.abandon(owner)
        present = [r for slot, r in self._believed.items() if owner_of(r) == owner]
        wanted_now = [r for r in rules if r.dpid in self.topology.connected]
        diff = difference(wanted_now, present, foreign=self._all_foreign())
        outcome = Outcome()
        if diff.blocked:
            self._wanted[owner] = before
            self.reconcile_totals["blocked"] += len(diff.blocked)
            taken = rule_text(diff.blocked[0])
            outcome.failed.append((owner, f"a rule that is not ours is in the place of: {taken}"))
            return outcome
        gone = tuple(r for r in before if r not in rules)
        if gone:
            outcome.effects.append(SaveRules(cause, gone, RuleState.REMOVED))
        if rules and rules != before:
            outcome.effects.append(SaveRules(cause, rules, RuleState.PENDING))
        outcome.absorb(self._execute(owner, diff, cause, now))
        return outcome

    # -- what switches say ------------------------------------------------------------------------

    def switch_up(self, event: SwitchUp) -> Outcome:
        """Greet a switch: read its rules before anything else."""
        self._greeting[event.dpid] = event.ports
        self._urgent.add(event.dpid)
        return Outcome([ReadRules(event.id, event.dpid)])

    def switch_down(self, dpid: int, cause: str) -> Outcome:
        """Note that a switch is unreachable; its rules stay as they are (fail_mode=secure, R10)."""
        self._greeting.pop(dpid, None)
        self.topology = self.topology.switch_down(dpid)
        outcome = Outcome([Announce(cause, "warning", f"switch {dpid_text(dpid)} is disconnected")])
        for batch in self._installer.batches_to(dpid):
            lost = BatchFailed(cause, 0.0, dpid, batch, "the switch disconnected")
            outcome.absorb(self.batch_failed(lost))
        return outcome

    def port_changed(self, event: PortChanged) -> None:
        """Take a port's new state."""
        if event.dpid in self._greeting:
            ports = dict(self._greeting[event.dpid])
            if event.state is None:
                ports.pop(event.name, None)
            else:
                ports[event.name] = event.state
            self._greeting[event.dpid] = ports
        else:
            self.topology = self.topology.port_changed(event.dpid, event.name, event.state)

    def rules_reported(self, event: RulesReported) -> Outcome:
        """Compare a switch's report with what is wanted there, and repair where it is time to."""
        dpid, now = event.dpid, event.at
        outcome = Outcome()
        if dpid in self._greeting:
            self.topology = self.topology.switch_up(dpid, self._greeting.pop(dpid))
            # What was sent over the connection before is in this report, or was lost with it.
            self._changed_at = {slot: at for slot, at in self._changed_at.items() if slot[0] != dpid}
            text = (
                f"switch {dpid_text(dpid)} is connected: "
                f"{len(event.rules)} rules of ours, {len(event.foreign)} of others"
            )
            outcome.effects.append(Announce(event.id, "info", text))
        self._foreign[dpid] = event.foreign
        unsettled = self._unsettled(now)
        kept = {s: r for s, r in self._believed.items() if s[0] != dpid or s in unsettled}
        reported = {r.rule.slot: r.rule for r in event.rules if r.rule.slot not in unsettled}
        self._believed = {**reported, **kept}
        if dpid in self._urgent or now - self._checked_at.get(dpid, 0.0) >= self._check_period:
            outcome.absorb(self._repair(dpid, event.id, now, unsettled))
        return outcome

    def batch_confirmed(self, event: BatchConfirmed) -> Outcome:
        """Take a barrier reply."""
        return self._digest(self._installer.confirmed(event.batch, event.at), event.id, event.at)

    def batch_failed(self, event: BatchFailed) -> Outcome:
        """Take a refusal: drop the plan, and find out what the switches really hold."""
        progress = self._installer.failed(event.batch)
        outcome = Outcome()
        if progress.failed is None:
            return outcome
        owner = progress.failed
        error = f"switch {dpid_text(event.dpid)}: {event.error}"
        outcome.failed.append((owner, error))
        if self.wanted(owner):
            outcome.effects.append(SaveRules(event.id, self.wanted(owner), RuleState.FAILED, error))
        for dpid in sorted({rule.dpid for rule in self.wanted(owner)} | {event.dpid}):
            if dpid in self.topology.connected:
                self._urgent.add(dpid)
                outcome.effects.append(ReadRules(event.id, dpid))
        return outcome

    def rule_removed(self, event: RuleRemoved) -> Outcome:
        """Take FLOW_REMOVED; one that nobody here asked for is an alarm, and the rule comes back (R20)."""
        slot = event.rule.slot
        self._believed.pop(slot, None)
        wanted = any(r.slot == slot for r in self.wanted(owner_of(event.rule)))
        if event.reason in ("idle", "hard") or not wanted or slot in self._installer.slots():
            return Outcome()
        self._urgent.add(event.dpid)
        text = f"somebody removed a rule of ours from {dpid_text(event.dpid)}: {rule_text(event.rule)}"
        return Outcome([Announce(event.id, "warning", text), ReadRules(event.id, event.dpid)])

    def wake(self, cause: str, now: float) -> Outcome:
        """Go on with what waited for the clock."""
        outcome = Outcome()
        for progress in self._installer.wake(now):
            outcome.absorb(self._digest(progress, cause, now))
        return outcome

    def next_wake(self) -> float | None:
        """When :meth:`wake` is wanted next."""
        return self._installer.next_wake()

    def recheck(self, cause: str) -> Outcome:
        """Read and repair every connected switch now, whatever the period says."""
        connected = sorted(self.topology.connected)
        self._urgent.update(connected)
        return Outcome([ReadRules(cause, dpid) for dpid in connected])

    def desired(self, dpid: int) -> tuple[Rule, ...]:
        """All rules that belong in one switch."""
        return tuple(r for rules in self._wanted.values() for r in rules if r.dpid == dpid)

    def foreign_rules(self, dpid: int) -> int:
        """How many rules in one switch are not ours."""
        return len(self._foreign.get(dpid, ()))

    # -- inside -----------------------------------------------------------------------------------

    def _all_foreign(self) -> frozenset[Slot]:
        return frozenset().union(*self._foreign.values())

    def _unsettled(self, now: float) -> frozenset[Slot]:
        self._changed_at = {s: at for s, at in self._changed_at.items() if now - at < SETTLE_S}
        return self._installer.slots() | frozenset(self._changed_at)

    def _repair(self, dpid: int, cause: str, now: float, unsettled: frozenset[Slot]) -> Outcome:
        owner = f"sync-{dpid_text(dpid)}"
        if self._installer.busy(owner):
            return Outcome()
        self._urgent.discard(dpid)
        self._checked_at[dpid] = now
        present = [r for slot, r in self._believed.items() if slot[0] == dpid]
        diff = difference(self.desired(dpid), present, foreign=self._all_foreign(), skip=unsettled)
        self._count(diff)
        outcome = Outcome()
        if diff.missing or diff.extra or diff.wrong or diff.blocked:
            text = (
                f"switch {dpid_text(dpid)}: {len(diff.missing)} rules missing, {len(diff.wrong)} wrong, "
                f"{len(diff.extra)} not wanted any more, {len(diff.blocked)} blocked by rules of others"
            )
            outcome.effects.append(Announce(cause, "info", text))
        outcome.absorb(self._execute(owner, diff, cause, now))
        return outcome

    def _count(self, diff: Difference) -> None:
        for name in ("missing", "extra", "wrong", "blocked"):
            self.reconcile_totals[name] += len(getattr(diff, name))

    def _execute(self, owner: str, diff: Difference, cause: str, now: float) -> Outcome:
        steps: tuple[Phase, ...] = phases(diff)
        return self._digest(self._installer.start(owner, steps, cause, now), cause, now)

    def _digest(self, progress: Progress, cause: str, now: float) -> Outcome:
        outcome = Outcome(list(progress.effects))
        for effect in progress.effects:
            if isinstance(effect, SendBatch):
                self._note_sent(effect, now)
        for change in progress.changes:
            self._changed_at[change.rule.slot] = now
            if change.op is Op.DELETE:
                self._believed.pop(change.rule.slot, None)
        confirmed = tuple(c.rule for c in progress.changes if c.op is not Op.DELETE)
        if confirmed:
            outcome.effects.append(SaveRules(cause, confirmed, RuleState.INSTALLED))
        if progress.done is not None:
            outcome.absorb(self._finished(progress.done))
        return outcome

    def _note_sent(self, effect: SendBatch, now: float) -> None:
        for change in effect.changes:
            self._changed_at[change.rule.slot] = now
            if change.op is not Op.DELETE:
                self._believed[change.rule.slot] = change.rule

    def _finished(self, owner: str) -> Outcome:
        if owner.startswith("sync-"):
            return Outcome(installed=[o for o in self._wanted if not self.busy(o) and self.complete(o)])
        if self._wanted.get(owner):
            return Outcome(installed=[owner])
        self._wanted.pop(owner, None)
        return Outcome(removed=[owner])

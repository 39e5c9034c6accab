"""From phases of changes to batches on the wire, one phase at a time.

:mod:`adon.flowvisor.rules.reconcile` says *what* must change and in which order (R5, R6); this module walks
through the phases: it sends a phase's batches, waits until every switch has answered its barrier,
waits out the drain where a phase asks for one (a barrier reply comes before the data path has really
changed), and goes on.  One plan per owner at a time; an owner is a flow (``f-17``) or a switch being
repaired (``sync-0000000000000a01``).

It is a value machine: time is an argument, nothing is sent from here.  A plan's life::

    waiting for barriers ──► (draining) ──► waiting ... ──► done
            └──► failed: the rest of the plan is dropped; the broker re-reads the switches and repairs

A plan need not fail for a single change that a switch refused: :meth:`Installer.without` goes on without it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from adon.broker.effects import SendBatch
from adon.flowvisor.rules.reconcile import Phase
from adon.flowvisor.rules.rule import Change, Op, Slot


@dataclass(frozen=True, slots=True)
class Progress:
    """What one answer brought about.

    :param effects: what to send next.
    :param done: the owner whose plan is complete, if this was its last answer.
    :param failed: the owner whose plan was dropped, if this was a failure.
    :param changes: the changes that are now known to be in the switch.
    :param dropped: the changes of a dropped plan that are not known to be in the switch; or those that a plan
        goes on without.
    """

    effects: tuple[SendBatch, ...] = ()
    done: str | None = None
    failed: str | None = None
    changes: tuple[Change, ...] = ()
    dropped: tuple[Change, ...] = ()


NOTHING = Progress()


@dataclass(slots=True)
class _Plan:
    owner: str
    cause: str
    phases: list[Phase]
    waiting: dict[str, tuple[int, tuple[Change, ...]]] = field(default_factory=dict)
    resume_at: float | None = None
    mended: set[Slot] = field(default_factory=set)

    def leave_out(self, unwanted: Callable[[Change], bool]) -> tuple[Change, ...]:
        """Take changes out of the phases that are still ahead; which they were."""
        ahead = [c for phase in self.phases for changes in phase.batches.values() for c in changes]
        kept = [replace(phase, batches=_keep_wanted(phase.batches, unwanted)) for phase in self.phases]
        self.phases = [phase for phase in kept if phase.batches]
        return tuple(change for change in ahead if unwanted(change))

    def open_changes(self) -> tuple[Change, ...]:
        """The changes that are not confirmed yet, sent or not."""
        sent = [change for _, changes in self.waiting.values() for change in changes]
        ahead = [c for phase in self.phases for changes in phase.batches.values() for c in changes]
        return (*sent, *ahead)


class Installer:
    """All plans under way.

    :param drain: seconds between shifting traffic away from rules and removing them.
    """

    def __init__(self, drain: float) -> None:
        self._drain = drain
        self._plans: dict[str, _Plan] = {}
        self._owners: dict[str, str] = {}
        self._count = 0
        self._draining: list[tuple[float, str]] = []  # a heap; an entry whose plan has gone on is stale
        self._changing: Counter[Slot] = Counter()
        self._removing: Counter[Slot] = Counter()

    def busy(self, owner: str) -> bool:
        """Whether a plan of this owner is under way."""
        return owner in self._plans

    def owners(self) -> tuple[str, ...]:
        """The owners of the plans under way."""
        return tuple(self._plans)

    def slots(self) -> frozenset[Slot]:
        """The slots that plans under way are about to change: no verdict on them before they are done."""
        return frozenset(self._changing)

    def changing(self, slot: Slot) -> bool:
        """Whether a plan under way is about to change this slot."""
        return slot in self._changing

    def removing(self, slot: Slot) -> bool:
        """Whether a plan under way is about to remove what is in this slot."""
        return slot in self._removing

    def start(self, owner: str, phases: Iterable[Phase], cause: str, now: float) -> Progress:
        """Begin a plan; with no phases it is done at once.

        :raises ValueError: if a plan of this owner is under way (a bug of the caller).
        """
        if owner in self._plans:
            raise ValueError(f"{owner} has a plan under way")
        plan = _Plan(owner, cause, list(phases))
        self._plans[owner] = plan
        self._open(plan.open_changes())
        return self._advance(plan, now)

    def confirm_batch(self, batch: str, now: float) -> Progress:
        """Take a barrier reply; answers to batches of dropped plans are ignored."""
        plan = self._plan_of(batch)
        if plan is None:
            return NOTHING
        _, changes = plan.waiting.pop(batch)
        self._close(changes)
        del self._owners[batch]
        if plan.waiting:
            return Progress(changes=changes)
        step = self._advance(plan, now)
        return Progress(step.effects, step.done, None, changes)

    def abandon(self, owner: str) -> None:
        """Drop an owner's plan, if any: a newer wish of the owner's replaces it."""
        plan = self._plans.get(owner)
        if plan is not None:
            self._drop(plan)

    def fail_batch(self, batch: str) -> Progress:
        """Take a refusal, a lost connection or a barrier that never came: drop the plan."""
        plan = self._plan_of(batch)
        if plan is None:
            return NOTHING
        dropped = plan.open_changes()
        self._drop(plan)
        return Progress(failed=plan.owner, dropped=dropped)

    def find_batch(self, batch: str) -> tuple[str, tuple[Change, ...]] | None:
        """Whose a batch under way is, and what is in it; None if its plan was dropped."""
        plan = self._plan_of(batch)
        return None if plan is None else (plan.owner, plan.waiting[batch][1])

    def is_replaced(self, batch: str, slot: Slot) -> bool:
        """Whether the same plan has sent something in the place of a refused change of this slot before."""
        plan = self._plan_of(batch)
        return plan is not None and slot in plan.mended

    def without(
        self,
        batch: str,
        refused: Mapping[Change, Change | None],
        unwanted: Callable[[Change], bool],
        now: float,
    ) -> Progress:
        """Take a refusal of some of a batch's changes; the others were done.

        :param refused: what was refused, with what is to be sent in its place; None: nothing.
        :param unwanted: which changes of the phases ahead are left out too.
        """
        plan = self._plans[self._owners.pop(batch)]
        dpid, changes = plan.waiting.pop(batch)
        left_out = plan.leave_out(unwanted)
        self._close((*changes, *left_out))
        done = tuple(change for change in changes if change not in refused)
        lost = tuple(change for change, instead in refused.items() if instead is None)
        instead = tuple(change for change in refused.values() if change is not None)
        step = NOTHING
        if instead:
            plan.mended.update(change.rule.slot for change in instead)
            self._open(instead)
            step = Progress((self._send(plan, dpid, instead),))
        elif not plan.waiting:
            step = self._advance(plan, now)
        return Progress(step.effects, step.done, None, done, (*lost, *left_out))

    def wake(self, now: float) -> tuple[Progress, ...]:
        """Go on with the plans whose drain is over."""
        due: list[_Plan] = []
        while (at := self.next_wake()) is not None and at <= now:
            due.append(self._plans[heapq.heappop(self._draining)[1]])
        return tuple(self._resume(plan) for plan in due)

    def next_wake(self) -> float | None:
        """When the earliest drain is over."""
        while self._draining:
            at, owner = self._draining[0]
            plan = self._plans.get(owner)
            if plan is not None and plan.resume_at == at:
                return at
            heapq.heappop(self._draining)
        return None

    def batches_to(self, dpid: int) -> tuple[str, ...]:
        """The batches that one switch still owes an answer for."""
        return tuple(b for p in self._plans.values() for b, (to, _) in p.waiting.items() if to == dpid)

    def _plan_of(self, batch: str) -> _Plan | None:
        owner = self._owners.get(batch)
        return None if owner is None else self._plans.get(owner)

    def _drop(self, plan: _Plan) -> None:
        for batch in plan.waiting:
            del self._owners[batch]
        self._close(plan.open_changes())
        del self._plans[plan.owner]

    def _open(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._changing[change.rule.slot] += 1
            if change.op is Op.DELETE:
                self._removing[change.rule.slot] += 1

    def _close(self, changes: Iterable[Change]) -> None:
        for change in changes:
            _less(self._changing, change.rule.slot)
            if change.op is Op.DELETE:
                _less(self._removing, change.rule.slot)

    def _advance(self, plan: _Plan, now: float) -> Progress:
        if not plan.phases:
            self._drop(plan)
            return Progress(done=plan.owner)
        if plan.phases[0].drain_before and self._drain > 0:
            plan.resume_at = now + self._drain
            heapq.heappush(self._draining, (plan.resume_at, plan.owner))
            return NOTHING
        return self._resume(plan)

    def _resume(self, plan: _Plan) -> Progress:
        plan.resume_at = None
        phase = plan.phases.pop(0)
        return Progress(tuple(self._send(plan, dpid, changes) for dpid, changes in phase.batches.items()))

    def _send(self, plan: _Plan, dpid: int, changes: tuple[Change, ...]) -> SendBatch:
        self._count += 1
        batch = f"{plan.owner}/{self._count}"
        plan.waiting[batch] = (dpid, changes)
        self._owners[batch] = plan.owner
        return SendBatch(plan.cause, dpid, batch, changes)


def _keep_wanted(
    batches: Mapping[int, tuple[Change, ...]], unwanted: Callable[[Change], bool]
) -> dict[int, tuple[Change, ...]]:
    found = {dpid: tuple(c for c in changes if not unwanted(c)) for dpid, changes in batches.items()}
    return {dpid: changes for dpid, changes in found.items() if changes}


def _less(counted: Counter[Slot], slot: Slot) -> None:
    counted[slot] -= 1
    if not counted[slot]:
        del counted[slot]

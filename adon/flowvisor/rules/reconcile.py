"""From what should be and what is, to the smallest ordered list of changes.

The same two functions serve first install, reroute, switch restart and controller restart (R4, R10):
:func:`difference` compares values, :func:`phases` orders the changes so that a live flow never meets a
gap (make before break; R5, R6).  The order is the table :data:`ORDER`:

======  ==============  ================================================  ===========================
phase   name            changes                                           why there
======  ==============  ================================================  ===========================
1       equip           add or correct groups and meters                  rules refer to them
2       prepare         add or correct delivery, transit, policy and      the far end first
                        measurement rules
3       shift           add or correct ingress and learning rules         now packets change their way
4       retire          remove ingress and learning rules                 nobody enters the old way
5       clear           remove delivery, transit and policy rules         the old way is empty
6       strip           remove groups and meters                          nobody refers to them
======  ==============  ================================================  ===========================

Each phase ends with a barrier in every switch it touches.  A barrier reply is not the end: Open vSwitch
answers it milliseconds before its data path has changed, and packets are still under way; therefore a
phase may ask for a *drain* (a pause, ``policy.drain``) before it starts, wherever an earlier phase of
the same plan has changed where packets go.

Only rules with our cookie are ever changed (R1), and none is put on top of a foreign one (R2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from adon.flowvisor.rules.cookie import Kind, cookie_kind
from adon.flowvisor.rules.pipeline import is_ours
from adon.flowvisor.rules.rule import Change, Entry, Op, ReportedRule, Rule, Slot


@dataclass(frozen=True, slots=True)
class Difference:
    """How the switches differ from what should be.

    :param missing: should be, and is not.
    :param wrong: pairs (desired, reported) in one slot that differ.
    :param extra: rules of ours that should not be.
    :param blocked: should be, and cannot: the slot holds a foreign rule, or a desired entry of another
        owner that came first.
    """

    missing: tuple[Entry, ...] = ()
    wrong: tuple[tuple[Entry, Entry], ...] = ()
    extra: tuple[Entry, ...] = ()
    blocked: tuple[Entry, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether nothing can be done: all that should be is there, or is blocked."""
        return not (self.missing or self.wrong or self.extra)


def difference(
    desired: Iterable[Entry],
    reported: Iterable[Entry | ReportedRule],
    *,
    foreign: frozenset[Slot] = frozenset(),
    skip: frozenset[Slot] = frozenset(),
) -> Difference:
    """Compare what should be with what the switches report.

    :param reported: may contain foreign rules: they block their slot and appear in no change.
    :param foreign: slots of further rules that are not ours.
    :param skip: slots not to be judged now, because they were changed a moment ago (R4).
    """
    present = [item.rule if isinstance(item, ReportedRule) else item for item in reported]
    taken = foreign | {rule.slot for rule in present if not is_ours(rule)}
    ours = {rule.slot: rule for rule in present if is_ours(rule)}
    wanted, blocked = _by_slot(desired, taken)
    judged = [(slot, rule) for slot, rule in wanted.items() if slot not in skip]
    return Difference(
        missing=tuple(rule for slot, rule in judged if slot not in ours),
        wrong=tuple((rule, ours[slot]) for slot, rule in judged if slot in ours and ours[slot] != rule),
        extra=tuple(rule for slot, rule in ours.items() if slot not in wanted and slot not in skip),
        blocked=blocked,
    )


def _by_slot(desired: Iterable[Entry], taken: frozenset[Slot]) -> tuple[dict[Slot, Entry], tuple[Entry, ...]]:
    """Desired rules by slot, and those that find their slot occupied."""
    wanted: dict[Slot, Entry] = {}
    blocked: dict[Entry, None] = {}
    for rule in desired:
        if rule.slot in taken or wanted.setdefault(rule.slot, rule) != rule:
            blocked[rule] = None
    return wanted, tuple(blocked)


class Role(Enum):
    """What an entry does on a packet's way."""

    INGRESS = "ingress"
    DELIVERY = "delivery"
    PINNED = "pinned"
    EQUIPMENT = "equipment"


_ROLE: Mapping[Kind, Role] = {
    Kind.FLOW_INGRESS: Role.INGRESS,
    Kind.FLOW_LEARN: Role.INGRESS,
    Kind.REACTIVE: Role.INGRESS,
    Kind.REFUSED: Role.INGRESS,
    Kind.FLOW_CONNECTION: Role.INGRESS,
    Kind.FLOW_DELIVERY: Role.DELIVERY,
    Kind.FLOW_POLICY: Role.DELIVERY,
    Kind.TRANSIT: Role.DELIVERY,
    Kind.PIPELINE: Role.DELIVERY,
    Kind.DISCOVERY: Role.PINNED,
    Kind.MEASUREMENT: Role.PINNED,
}


def role(entry: Entry) -> Role:
    """The role of one of our entries; a rule of a kind this version does not know: ingress, removed early."""
    if not isinstance(entry, Rule):
        return Role.EQUIPMENT
    kind = cookie_kind(entry.cookie)
    return Role.INGRESS if kind is None else _ROLE[kind]


@dataclass(frozen=True, slots=True)
class Step:
    """A row of :data:`ORDER`: which changes belong to a phase, and how it starts.

    :param steers: whether the phase changes where packets go.
    :param drain: whether it must wait until a steering phase before it has taken effect.
    """

    name: str
    removes: bool
    roles: frozenset[Role]
    steers: bool
    drain: bool


ORDER: tuple[Step, ...] = (
    Step("equip", False, frozenset({Role.EQUIPMENT}), steers=True, drain=False),
    Step("prepare", False, frozenset({Role.DELIVERY, Role.PINNED}), steers=False, drain=False),
    Step("shift", False, frozenset({Role.INGRESS}), steers=True, drain=False),
    Step("retire", True, frozenset({Role.INGRESS, Role.PINNED}), steers=True, drain=True),
    Step("clear", True, frozenset({Role.DELIVERY}), steers=False, drain=True),
    Step("strip", True, frozenset({Role.EQUIPMENT}), steers=False, drain=True),
)
"""Make before break, as data."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Changes that may be sent together, per switch; the next phase waits for all their barriers.

    :param drain_before: wait ``policy.drain`` before sending.
    """

    name: str
    batches: Mapping[int, tuple[Change, ...]]
    drain_before: bool = False


def phases(found: Difference) -> tuple[Phase, ...]:
    """The changes that settle a difference, in order; phases without a change are left out."""
    changes = _changes(found)
    plan: list[Phase] = []
    steered = False
    for step in ORDER:
        chosen = [
            change
            for change in changes
            if (change.op is Op.DELETE) is step.removes and role(change.rule) in step.roles
        ]
        if chosen:
            plan.append(Phase(step.name, _by_switch(chosen), drain_before=step.drain and steered))
            steered = steered or step.steers
    return tuple(plan)


def plan_restore(found: Difference) -> tuple[Phase, ...]:
    """The phases that put back what one switch has lost, if that is all that is to be done.

    No packet of these flows has its way now, so none can lose it: delivery and ingress go out together, one
    barrier sooner.

    :raises ValueError: if something is to be changed or removed, too (a bug of the caller).
    """
    if found.wrong or found.extra:
        raise ValueError("not everything that is to be done is to put something back")
    plan = phases(found)
    equip = tuple(phase for phase in plan if phase.name == "equip")
    rules = [phase for phase in plan if phase.name != "equip"]
    batches: dict[int, tuple[Change, ...]] = {}
    for phase in rules:
        for dpid, changes in phase.batches.items():
            batches[dpid] = (*batches.get(dpid, ()), *changes)
    return (*equip, Phase("restore", batches)) if batches else equip


def _changes(found: Difference) -> list[Change]:
    return [
        *(Change(Op.ADD, rule) for rule in found.missing),
        *(Change(_correction(wanted, present), wanted) for wanted, present in found.wrong),
        *(Change(Op.DELETE, rule) for rule in found.extra),
    ]


def _correction(wanted: Entry, present: Entry) -> Op:
    """Modify keeps the counters, but changes instructions only (OpenFlow 1.3.5, 6.4); an add replaces all.

    A group or meter that is there can only be modified (6.5, 6.7).
    """
    if isinstance(wanted, Rule) and isinstance(present, Rule):
        return Op.MODIFY if _kept_by_modify(wanted) == _kept_by_modify(present) else Op.ADD
    return Op.MODIFY


def _kept_by_modify(rule: Rule) -> tuple[int, ...]:
    return rule.cookie, rule.idle_timeout, rule.hard_timeout


def _by_switch(changes: Sequence[Change]) -> dict[int, tuple[Change, ...]]:
    dpids = dict.fromkeys(change.rule.dpid for change in changes)
    return {dpid: tuple(change for change in changes if change.rule.dpid == dpid) for dpid in dpids}

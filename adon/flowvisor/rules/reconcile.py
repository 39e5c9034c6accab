"""Reconciliation: the smallest ordered list of changes from the reported to the desired rules.

The same two functions serve first install, reroute, switch restart and controller restart (R4, R10):
:func:`compare_entries` compares values, :func:`order_changes` orders the changes so that a live flow is never
interrupted (make before break; R5, R6).  The order is the table :data:`ORDER`:

======  ==============  ================================================  ===========================
phase   name            changes                                           reason
======  ==============  ================================================  ===========================
1       equip           add or correct groups and meters                  rules refer to them
2       prepare         add or correct delivery, transit, policy and      the far end first
                        measurement rules
3       shift           add or correct ingress and learning rules         packets take the new path
4       retire          remove ingress and learning rules                 no packet enters the old path
5       clear           remove delivery, transit and policy rules         the old path is empty
6       strip           remove groups and meters                          no rule refers to them
======  ==============  ================================================  ===========================

Each phase ends with a barrier in every switch that it changes.  Open vSwitch answers a barrier milliseconds
before its data path changes, and packets are in flight.  Therefore a phase may need a *drain* (a pause,
``policy.drain``) before it starts, if an earlier phase of the same plan changed the path of packets.

Only rules with ADON's cookie are changed (R1), and no rule replaces a foreign one (R2).
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
    """Difference of the reported from the desired entries.

    :param missing: desired entries that are absent.
    :param wrong: pairs (desired, reported) in one slot that differ.
    :param extra: entries of ADON that are not desired.
    :param blocked: desired entries whose slot has a foreign rule, or an earlier desired entry of another
        owner.
    """

    missing: tuple[Entry, ...] = ()
    wrong: tuple[tuple[Entry, Entry], ...] = ()
    extra: tuple[Entry, ...] = ()
    blocked: tuple[Entry, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether no change is possible: all desired entries are present or blocked."""
        return not (self.missing or self.wrong or self.extra)


def compare_entries(
    desired: Iterable[Entry],
    reported: Iterable[Entry | ReportedRule],
    *,
    foreign: frozenset[Slot] = frozenset(),
    skip: frozenset[Slot] = frozenset(),
) -> Difference:
    """Compare the desired entries with the reports of the switches.

    :param reported: may contain foreign rules, which block their slot and are never changed.
    :param foreign: slots of further foreign rules.
    :param skip: slots of very recent changes, which are not compared (R4).
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
    """Return the desired rules by slot, and those whose slot is occupied."""
    wanted: dict[Slot, Entry] = {}
    blocked: dict[Entry, None] = {}
    for rule in desired:
        if rule.slot in taken or wanted.setdefault(rule.slot, rule) != rule:
            blocked[rule] = None
    return wanted, tuple(blocked)


class EntryRole(Enum):
    """Role of an entry on a packet's path."""

    INGRESS = "ingress"
    DELIVERY = "delivery"
    PINNED = "pinned"
    EQUIPMENT = "equipment"


_ROLE: Mapping[Kind, EntryRole] = {
    Kind.FLOW_INGRESS: EntryRole.INGRESS,
    Kind.FLOW_LEARN: EntryRole.INGRESS,
    Kind.REACTIVE: EntryRole.INGRESS,
    Kind.REFUSED: EntryRole.INGRESS,
    Kind.FLOW_CONNECTION: EntryRole.INGRESS,
    Kind.FLOW_DELIVERY: EntryRole.DELIVERY,
    Kind.FLOW_POLICY: EntryRole.DELIVERY,
    Kind.TRANSIT: EntryRole.DELIVERY,
    Kind.PIPELINE: EntryRole.DELIVERY,
    Kind.DISCOVERY: EntryRole.PINNED,
    Kind.MEASUREMENT: EntryRole.PINNED,
}


def entry_role(entry: Entry) -> EntryRole:
    """Return the role of an entry; rules of an unknown kind count as ingress, which is removed early."""
    if not isinstance(entry, Rule):
        return EntryRole.EQUIPMENT
    kind = cookie_kind(entry.cookie)
    return EntryRole.INGRESS if kind is None else _ROLE[kind]


@dataclass(frozen=True, slots=True)
class Step:
    """A row of :data:`ORDER`: the changes of a phase, and its start.

    :param steers: whether the phase changes the path of packets.
    :param drain: whether it must wait for the effect of an earlier steering phase.
    """

    name: str
    removes: bool
    roles: frozenset[EntryRole]
    steers: bool
    drain: bool


ORDER: tuple[Step, ...] = (
    Step("equip", False, frozenset({EntryRole.EQUIPMENT}), steers=True, drain=False),
    Step("prepare", False, frozenset({EntryRole.DELIVERY, EntryRole.PINNED}), steers=False, drain=False),
    Step("shift", False, frozenset({EntryRole.INGRESS}), steers=True, drain=False),
    Step("retire", True, frozenset({EntryRole.INGRESS, EntryRole.PINNED}), steers=True, drain=True),
    Step("clear", True, frozenset({EntryRole.DELIVERY}), steers=False, drain=True),
    Step("strip", True, frozenset({EntryRole.EQUIPMENT}), steers=False, drain=True),
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


def order_changes(found: Difference) -> tuple[Phase, ...]:
    """Return the ordered phases that settle a difference, without empty phases."""
    changes = _changes(found)
    plan: list[Phase] = []
    steered = False
    for step in ORDER:
        chosen = [
            change
            for change in changes
            if (change.op is Op.DELETE) is step.removes and entry_role(change.rule) in step.roles
        ]
        if chosen:
            plan.append(Phase(step.name, _by_switch(chosen), drain_before=step.drain and steered))
            steered = steered or step.steers
    return tuple(plan)


def plan_restore(found: Difference) -> tuple[Phase, ...]:
    """Return the phases that restore lost entries of one switch, if no other change is due.

    No packet of these flows has a path now, so none can lose it: delivery and ingress are sent together,
    which saves a barrier.

    :raises ValueError: if entries are to be changed or removed, too (a bug of the caller).
    """
    if found.wrong or found.extra:
        raise ValueError("the difference has entries to change or remove, not only to restore")
    plan = order_changes(found)
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
    """Return the operation: modify keeps the counters, but changes only instructions (OpenFlow 1.3.5, 6.4).

    An add replaces the whole rule.  A present group or meter can only be modified (6.5, 6.7).
    """
    if isinstance(wanted, Rule) and isinstance(present, Rule):
        return Op.MODIFY if _kept_by_modify(wanted) == _kept_by_modify(present) else Op.ADD
    return Op.MODIFY


def _kept_by_modify(rule: Rule) -> tuple[int, ...]:
    return rule.cookie, rule.idle_timeout, rule.hard_timeout


def _by_switch(changes: Sequence[Change]) -> dict[int, tuple[Change, ...]]:
    dpids = dict.fromkeys(change.rule.dpid for change in changes)
    return {dpid: tuple(change for change in changes if change.rule.dpid == dpid) for dpid in dpids}

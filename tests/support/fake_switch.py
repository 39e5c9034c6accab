"""A switch as OpenFlow 1.3.5 specifies it: changes in, packets through, counters, time-outs and faults.

Sections 5 and 6.4 to 6.7, where our entries can tell: an add to a slot replaces, strict modifies and deletes
obey the cookie filter, the highest priority wins, an idle rule times out, rules go with their group or meter.
:mod:`tests.support.test_datapath` compares :mod:`tests.support.datapath` with a real Open vSwitch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from adon.explain.event_player import IdealSwitch, TableEntry
from adon.flowvisor.rules.action import ToGroup
from adon.flowvisor.rules.connections import is_connections, is_soft
from adon.flowvisor.rules.pipeline import owner_of
from adon.flowvisor.rules.rule import Change, Entry, GroupEntry, MeterEntry, Op, Rule, Slot
from adon.flowvisor.rules.switch_features import SwitchFeatures
from tests.support import datapath
from tests.support.datapath import Packet


def accept(_: Change) -> str:
    """Refuse no change."""
    return ""


@dataclass
class SwitchFaults:
    """What a switch does wrong.

    :param refuse: returns the error with which a change is refused, or nothing.
    :param refuse_batch: the error with which every batch is refused; nothing of it is carried out.
    :param silent: batches get no answer.
    :param hang_up_after: the number of changes of the next batch after which the connection ends.
    """

    refuse: Callable[[Change], str] = accept
    refuse_batch: str = ""
    silent: bool = False
    hang_up_after: int | None = None


class FakeSwitch(IdealSwitch):
    """See the module's text.

    :ivar dead: ports without a link.
    :ivar features: what the switch reports of itself; None for no answer.
    """

    def __init__(self, dpid: int) -> None:
        super().__init__(dpid)
        self.faults = SwitchFaults()
        self.dead: set[int] = set()
        self.features: SwitchFeatures | None = None

    def copy(self) -> FakeSwitch:
        """Return a switch with the same entries and no faults."""
        other = FakeSwitch(self.dpid)
        other.table = {
            slot: TableEntry(held.rule, held.packets, held.bytes, held.installed, held.used)
            for slot, held in self.table.items()
        }
        return other

    def rules(self) -> dict[Slot, Entry]:
        """Return everything in the switch by slot, without counters."""
        return {slot: held.rule for slot, held in self.table.items()}

    def entries(self) -> set[Entry]:
        """Return everything in the switch, without counters."""
        return {held.rule for held in self.table.values()}

    def put(self, *entries: Entry, now: float = 0.0) -> None:
        """Put entries in without a check, as another controller does."""
        for entry in entries:
            self.table[entry.slot] = TableEntry(entry, installed=now, used=now)

    def remove(self, entry: Entry) -> list[Rule]:
        """Remove an entry and the rules that go with it; return these rules."""
        del self.table[entry.slot]
        dependents = self.dependents(entry)
        for rule in dependents:
            del self.table[rule.slot]
        return dependents

    def objection(self, change: Change) -> str:
        """Return the error for a group or meter that is missing, or exists already (6.5, 6.7)."""
        entry, there = change.rule, change.rule.slot in self.table
        if isinstance(entry, Rule):
            if change.op is Op.DELETE:
                return ""
            if entry.meter is not None and (self.dpid, "meter", entry.meter) not in self.table:
                return "OFPET_METER_MOD_FAILED(12) OFPMMFC_INVALID_METER(2)"
            groups = [action.group for action in entry.actions if isinstance(action, ToGroup)]
            missing = any((self.dpid, "group", number) not in self.table for number in groups)
            return "OFPET_BAD_ACTION(2) OFPBAC_BAD_OUT_GROUP(9)" if missing else ""
        kind, short = ("METER", "MM") if isinstance(entry, MeterEntry) else ("GROUP", "GM")
        if change.op is Op.ADD and there:
            return f"OFPET_{kind}_MOD_FAILED OFP{short}FC_{kind}_EXISTS"
        if change.op is Op.MODIFY and not there:
            return f"OFPET_{kind}_MOD_FAILED OFP{short}FC_UNKNOWN_{kind}"
        return ""

    def apply(self, change: Change, now: float = 0.0) -> str:
        """Carry out a change, or return the error with which it is refused."""
        assert change.rule.dpid == self.dpid, "a change for another switch"
        error = self.faults.refuse(change) or self.objection(change)
        if not error:
            self._carry_out(change, now)
        return error

    def _carry_out(self, change: Change, now: float) -> None:
        rule = change.rule
        if isinstance(rule, Rule) and is_connections(rule) and rule.match.tp_src is None:
            self._change_all(change.op, rule)
            return
        held = self.table.get(rule.slot)
        if change.op is Op.ADD:
            self.put(rule, now=now)
        elif held is not None and (isinstance(rule, MeterEntry) or owner_of(held.rule) == owner_of(rule)):
            if change.op is Op.DELETE:
                self.remove(rule)
            elif isinstance(rule, Rule) and isinstance(held.rule, Rule):
                held.rule = _with_instructions_of(held.rule, rule)
            else:
                held.rule = rule

    def _change_all(self, op: Op, all_of: Rule) -> None:
        """Change every rule of a cookie: what stands for all connections of a flow makes none."""
        for slot, held in tuple(self.table.items()):
            if isinstance(held.rule, Rule) and held.rule.cookie == all_of.cookie:
                if op is Op.DELETE:
                    del self.table[slot]
                else:
                    held.rule = _with_instructions_of(held.rule, all_of)

    def dependents(self, entry: Entry) -> list[Rule]:
        """Return the rules that go with a group or meter (6.5, 6.7)."""
        return [
            held.rule
            for held in self.table.values()
            if isinstance(held.rule, Rule)
            and (
                (isinstance(entry, GroupEntry) and ToGroup(entry.number) in held.rule.actions)
                or (isinstance(entry, MeterEntry) and held.rule.meter == entry.number)
            )
        ]

    def forward(self, in_port: int, packet: Packet, now: float = 0.0) -> list[tuple[int, Packet]]:
        """Return where a packet leaves and how it looks then; nothing if no rule takes it."""
        self._check_priorities(in_port, packet)
        passage = datapath.forward(
            [held.rule for held in self.table.values()], in_port, packet, lambda port: port not in self.dead
        )
        for step in passage.steps:
            if step.rule is not None:
                held = self.table[step.rule.slot]
                held.packets, held.bytes, held.used = held.packets + 1, held.bytes + packet.size, now
        return list(passage.outputs)

    def _check_priorities(self, in_port: int, packet: Packet) -> None:
        """Refuse two rules of one priority for the same packet: which one takes it is undefined (5.3)."""
        first = [
            held.rule
            for held in self.table.values()
            if isinstance(held.rule, Rule)
            and held.rule.table == 0
            and datapath.matches(held.rule.match, in_port, packet)
        ]
        top = [rule for rule in first if rule.priority == max(one.priority for one in first)]
        assert len(top) <= 1, f"ambiguous: {top}"

    def next_expiry(self) -> float:
        """Return when the next rule times out if no packet comes."""
        return min((_expiry(held) for held in self.table.values()), default=math.inf)

    def expire(self, now: float) -> list[Rule]:
        """Remove the rules that have been idle for their time-out; return those that the switch reports."""
        idle = [held.rule for held in self.table.values() if _expiry(held) <= now]
        for entry in idle:
            del self.table[entry.slot]
        return [rule for rule in idle if isinstance(rule, Rule) and not is_soft(rule)]

    def equipment(self) -> tuple[GroupEntry | MeterEntry, ...]:
        """Return groups and meters; a switch does not know the owner of a meter."""
        return tuple(
            replace(entry, owner=None) if isinstance(entry, MeterEntry) else entry
            for entry in super().equipment()
        )


def _with_instructions_of(rule: Rule, other: Rule) -> Rule:
    """What a modify changes (6.4)."""
    return replace(rule, actions=other.actions, meter=other.meter, metadata=other.metadata, goto=other.goto)


def _expiry(held: TableEntry) -> float:
    timeout = held.rule.idle_timeout if isinstance(held.rule, Rule) else 0
    return held.used + timeout if timeout > 0 else math.inf

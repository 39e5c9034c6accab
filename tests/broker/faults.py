"""A stage on which the worst can happen at any point: a controller that dies between two effects, a switch
that hangs up half-way in a batch, hands that add, change and delete what they like.

What is saved in one event is one transaction: a controller that dies has saved all of it or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from adon import yamlfile
from adon.broker.effects import (
    Effect,
    SaveCircuits,
    SaveDecision,
    SaveFlow,
    SaveMaintenance,
    SaveOutcome,
    SaveRules,
    SaveTemplate,
    SendBatch,
)
from adon.broker.events import Event, RuleRemoved, SwitchDown
from adon.config import Configuration
from adon.flowvisor.action import Output
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import is_ours
from adon.flowvisor.rule import Change, Entry, GroupEntry, MeterEntry, Op, Rule, Slot
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from tests.broker.stage import NETWORK, Stage
from tests.broker.test_overlay import EDGES, PORTS, TEMPLATE

SAVES = (SaveCircuits, SaveDecision, SaveFlow, SaveMaintenance, SaveOutcome, SaveRules, SaveTemplate)


class Died(Exception):
    """The controller died before it answered."""


class Faults(Stage):
    """See the module's text.

    :ivar dies_after: how many steps of effects the controller still carries out: all that is saved is one.
    :ivar hangs_up: per switch, after how many changes of its next batch it hangs up.
    :ivar foreign: what hands put into switches that is not ours.
    """

    def __init__(self, read: Configuration, templates: Catalog) -> None:
        self.dies_after: int | None = None
        self.hangs_up: dict[int, int] = {}
        self.foreign: dict[Slot, Entry] = {}
        self._saved: set[Entry] = set()
        super().__init__(read, templates=templates, ports=PORTS)

    def happen(self, event: Event) -> None:
        waiting = [event]
        while waiting:
            effects = list(self.broker.handle(waiting.pop(0)))
            for step in _steps(effects):
                if self.dies_after is not None:
                    self.dies_after -= 1
                    if self.dies_after < 0:
                        self.restart_controller()
                        return
                for effect in step:
                    waiting += self._carry_out(effect)

    def restart_controller(self) -> None:
        self.dies_after = None
        away = set(self.ports) - self.connected
        self.connected.clear()
        self._unanswered.clear()
        self._wake = None
        self.broker = self._start()
        self.connect(*(dpid for dpid in self.ports if dpid not in away))

    def command(self, kind: Any, *fields: Any) -> Any:
        event_id, at = self.stamp()
        self.happen(kind(event_id, at, f"c-{event_id}", *fields))
        if f"c-{event_id}" not in self.answers:
            raise Died
        answer = self.answers.pop(f"c-{event_id}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _carry_out(self, effect: Effect) -> Iterable[Event]:
        if isinstance(effect, SaveRules):
            self._saved.update(effect.rules)
        return super()._carry_out(effect)

    def _obeys_the_laws(self, change: Change) -> None:
        """All that an event saves is saved first: a repair may send what that event then wanted otherwise."""
        held = self.switches[change.rule.dpid].table.get(change.rule.slot)
        assert is_ours(change.rule)
        if change.op is not Op.DELETE:
            assert held is None or is_ours(held.rule), "a rule on top of a foreign one"
            assert change.rule in self._saved, "sent before it was saved (R3)"

    def _send(self, effect: SendBatch) -> Iterable[Event]:
        if effect.dpid not in self.hangs_up or effect.dpid not in self.connected:
            return super()._send(effect)
        changes = effect.changes[: self.hangs_up.pop(effect.dpid)]
        super()._send(replace(effect, changes=changes))
        self.connected.discard(effect.dpid)
        return (SwitchDown(*self.stamp(), effect.dpid),)

    def ready(self, dpid: int) -> bool:
        return dpid in self.connected

    # -- hands ----------------------------------------------------------------------------------------------

    def ours(self, *kinds: type[Entry]) -> list[Entry]:
        return sorted((entry for entry in self.installed() if isinstance(entry, kinds)), key=repr)

    def take_out(self, entry: Entry, *, heard: bool) -> None:
        """Delete an entry by hand, and what hangs on it."""
        switch = self.switches[entry.dpid]
        del switch.table[entry.slot]
        gone = [entry, *switch.hanging_on(entry)]
        for rule in gone[1:]:
            del switch.table[rule.slot]
        for one in gone:
            if heard and isinstance(one, Rule) and one.dpid in self.connected:
                self.happen(RuleRemoved(*self.stamp(), one.dpid, one, "delete", 0, 0))

    def change(self, entry: Entry) -> None:
        """Change what an entry does."""
        self.switches[entry.dpid].table[entry.slot].rule = _changed(entry)

    def put_in(self, entry: Entry) -> None:
        switch = self.switches[entry.dpid]
        if entry.slot not in switch.table:
            switch.apply(Change(Op.ADD, entry), self.now)
            if not is_ours(entry):
                self.foreign[entry.slot] = entry

    def untouched(self) -> bool:
        """Whether everything that is not ours is as it was."""
        return all(
            (held := self.switches[slot[0]].table.get(slot)) is not None and held.rule == entry
            for slot, entry in self.foreign.items()
        )

    def wipe(self, dpid: int) -> None:
        self.foreign = {slot: entry for slot, entry in self.foreign.items() if slot[0] != dpid}
        super().wipe(dpid)

    def packets_pass(self, seconds: float) -> None:
        """Time passes while every rule sees packets."""
        end = self.now + seconds
        while self.now < end:
            for switch in self.switches.values():
                for held in switch.table.values():
                    held.used = self.now
            self.pass_time(min(5.0, end - self.now))


def _steps(effects: list[Effect]) -> Iterable[Sequence[Effect]]:
    saved = [effect for effect in effects if isinstance(effect, SAVES)]
    yield from [saved] if saved else []
    yield from ([effect] for effect in effects if not isinstance(effect, SAVES))


def _changed(entry: Entry) -> Entry:
    match entry:
        case Rule():
            return replace(entry, actions=(Output(77),), goto=None, metadata=None)
        case GroupEntry():
            return replace(entry, buckets=entry.buckets[:1])
        case MeterEntry():
            return replace(entry, rate=entry.rate + 1000)


def strange(dpid: int, number: int, *, ours: bool) -> tuple[Entry, ...]:
    """A rule, a group and a meter that nobody of us made; with our marks or without."""
    cookie, group, meter = (0xAD10 << 48 | 99, 0xAD00_7000, 0xA700) if ours else (7, 100, 100)
    return (
        Rule(dpid, 31_000 + number, Match(in_port=90 + number), (Output(9),), cookie),
        GroupEntry(dpid, group + number, "indirect", ()),
        MeterEntry(dpid, meter + number, 10**6, 10**5),
    )


def faults(pipeline: str, ladder: str) -> Faults:
    """The diamond of the overlay's tests, everything connected."""
    form = f", pipeline: {pipeline}"
    text = EDGES % (form, form)
    text = text.replace("policy: {drain: 0 s}", f"policy: {{drain: 200 ms, ladder: {{mode: {ladder}}}}}")
    read = yamlfile.parse_model(text, Configuration, NETWORK.name)
    stage = Faults(read, Catalog.of([yamlfile.check_model(TEMPLATE, Template)]))
    stage.connect()
    return stage

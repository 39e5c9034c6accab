"""Laws that hold whenever a Stage runs.

Every test with a :class:`~tests.support.stage.Stage` checks all of them; none can be switched off.
:data:`EFFECT_LAWS` are checked with each effect before it is carried out, :data:`STATE_LAWS` when an event
and all that follows from it have been handled; their effect is the last one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from adon.broker.effects import (
    AdmitConnections,
    Effect,
    SaveCircuits,
    SaveDecision,
    SaveOutcome,
    SaveRules,
    SaveSnapshot,
    SendBatch,
)
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.differences import differences
from adon.flowvisor.rules.pipeline import is_ours
from adon.flowvisor.rules.rule import Op
from adon.flowvisor.topology.overlay import OverlayPaths
from measurement.model import from_json, to_json
from tests.support.memory import MEMORIES

if TYPE_CHECKING:
    from tests.support.stage import Stage

Law = Callable[["Stage", Effect], None]


def effect_names_its_cause(stage: Stage, effect: Effect) -> None:
    """The cause of an effect is the id of an event that happened."""
    assert effect.cause in stage.event_ids, f"{effect} has no cause"


def saved_before_sent(stage: Stage, effect: Effect) -> None:
    """An entry is saved before it is sent, and packets pass by saved rules only (R3).

    A repair that is under way goes on with the entries of its beginning: they were saved then.
    """
    match effect:
        case SaveRules(rules=rules):
            stage.saved_entries.update(rules)
        case SendBatch(changes=changes, batch=batch):
            for entry in (change.rule for change in changes if change.op is not Op.DELETE):
                last = stage.promised.rules.get(entry.slot, (None,))[0]
                repair = batch.startswith("sync-") and entry in stage.saved_entries
                assert last == entry or repair, f"{entry} is sent and not saved"
        case AdmitConnections(rule=rule):
            assert stage.promised.rules.get(rule.slot, (None,))[0] == rule


def foreign_rules_untouched(stage: Stage, effect: Effect) -> None:
    """A change concerns our entries only, and never puts one on top of a foreign one (R1)."""
    for change in effect.changes if isinstance(effect, SendBatch) else ():
        assert is_ours(change.rule)
        held = stage.switches[change.rule.dpid].table.get(change.rule.slot)
        if change.op is not Op.DELETE:  # a delete obeys the cookie filter, whatever is in the slot
            assert held is None or is_ours(held.rule), f"{change} replaces {held}"


def batch_twice_is_batch_once(stage: Stage, effect: Effect) -> None:
    """A batch that is carried out again changes nothing more."""
    if isinstance(effect, SendBatch):
        switch = stage.switches[effect.dpid].copy()
        for change in effect.changes:
            switch.apply(change)
        once = switch.rules()
        for change in effect.changes:
            switch.apply(change)
        assert switch.rules() == once


def decision_is_saved_once(stage: Stage, effect: Effect) -> None:
    """Each decision has an id of its own."""
    if isinstance(effect, SaveDecision):
        assert effect.decision.id not in stage.decision_ids
        stage.decision_ids.add(effect.decision.id)


def decision_replays_bit_for_bit(stage: Stage, effect: Effect) -> None:
    """A decision follows from what it saw, also after a round trip through text.

    This holds for configurations that a file can express.
    """
    if isinstance(effect, SaveSnapshot) and stage.expressible:
        decisions = reversed(stage.promised.decisions)
        recorded = next(one for one in decisions if one.id == effect.snapshot.decision)
        replayed = decided_again(stage.decode(stage.encode(effect.snapshot)))
        assert differences(recorded, replayed) == ()


def flow_ends_once(stage: Stage, effect: Effect) -> None:
    """A flow has one outcome, saved after its final state."""
    if isinstance(effect, SaveOutcome):
        number = effect.outcome.flow
        assert stage.promised.flows[number].state.final, "the flow is saved before its outcome"
        assert number not in stage.promised.outcomes, "a flow ends once"


def circuits_survive_the_store(stage: Stage, effect: Effect) -> None:
    """Circuits are the same after a round trip through JSON."""
    if isinstance(effect, SaveCircuits):
        assert from_json(OverlayPaths, to_json(effect.paths)) == effect.paths


def foreign_entries_stay(stage: Stage, _: Effect) -> None:
    """What another controller put into a switch is as it was (R1)."""
    for slot, entry in stage.foreign.items():
        held = stage.switches[entry.dpid].table.get(slot)
        assert held is not None, f"{entry} is gone"
        assert held.rule == entry


def desired_is_installed_when_quiet(stage: Stage, _: Effect) -> None:
    """An owner whose rules count as installed has each of them in its switch.

    What somebody else changed since the switch last reported does not count.
    """
    for owner, entries in stage.desired_by_owner():
        if not stage.view.knows_all(entries):
            assert not stage.broker.world.network.complete(owner), f"{owner} counts as installed"


def no_port_over_subscribed(stage: Stage, _: Effect) -> None:
    """The guarantees of running flows fit into each port of an edge."""
    guaranteed: dict[tuple[int, str], float] = defaultdict(float)
    for flow in stage.broker.flows.running():
        if flow.granted is not None:
            site = stage.broker.flows.ends(flow)[0]
            guaranteed[stage.edge(site), flow.granted.port] += flow.granted.guaranteed
    for (dpid, port), rate in guaranteed.items():
        assert rate <= stage.capacity(dpid, port) * (1 + 1e-9), f"{dpid:x} {port}: {rate:g} bit/s"


def ledger_equals_running_flows(stage: Stage, _: Effect) -> None:
    """A running flow holds its compute site; no other flow holds one."""
    running = {flow.number: flow.compute_site for flow in stage.broker.flows.running()}
    assert stage.holders() == {number: site for number, site in running.items() if site is not None}


def nothing_kept_of_ended_flows(stage: Stage, _: Effect) -> None:
    """Working memory names flows that exist only; rules that may be in a switch still have their owner."""
    exist = {flow.number for flow in stage.broker.flows}
    for name, numbers in MEMORIES.items():
        assert name == "rules" or set(numbers(stage.broker)) <= exist, f"{name} names an ended flow"


EFFECT_LAWS: tuple[Law, ...] = (
    effect_names_its_cause,
    saved_before_sent,
    foreign_rules_untouched,
    batch_twice_is_batch_once,
    decision_is_saved_once,
    decision_replays_bit_for_bit,
    flow_ends_once,
    circuits_survive_the_store,
)
STATE_LAWS: tuple[Law, ...] = (
    foreign_entries_stay,
    desired_is_installed_when_quiet,
    no_port_over_subscribed,
    ledger_equals_running_flows,
    nothing_kept_of_ended_flows,
)
LAWS = (*EFFECT_LAWS, *STATE_LAWS)

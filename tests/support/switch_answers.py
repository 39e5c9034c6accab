"""The network part of the broker with switches that a test answers for."""

from __future__ import annotations

import itertools

from adon.broker.drift import GATHER_S
from adon.broker.effects import RuleState, SaveRules, SendBatch
from adon.broker.events import BatchConfirmed, BatchFailed, RulesReported, SwitchUp
from adon.broker.network import Network, Outcome
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import ReportedRule, Rule
from adon.flowvisor.topology.topology import Topology
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE


def make_rule(dpid: int, owner: int = 1, port: int = 2, slot: int = 1) -> Rule:
    """Return the ingress rule of a flow on a switch."""
    return Rule(dpid, 30_000, Match(in_port=slot), (Output(port),), cookie(Kind.FLOW_INGRESS, owner))


NEAR, FAR = make_rule(MU_EDGE), make_rule(OSU_EDGE)


class Wire:
    """A network whose switches the test answers for; times count up by ten seconds an event."""

    def __init__(self, *rules: Rule) -> None:
        self.network = Network(Topology(make_configuration()), rules, drain=0.0, check_period=60.0)
        self._numbers = itertools.count(1)
        self.now = 0.0

    def stamp(self) -> tuple[str, float]:
        self.now += 10.0
        return f"e{next(self._numbers)}", self.now

    def connect(self, dpid: int, *found: Rule) -> Outcome:
        self.network.switch_up(SwitchUp(*self.stamp(), dpid, {}))
        return self.report(dpid, *found)

    def report(self, dpid: int, *found: Rule) -> Outcome:
        rules = tuple(ReportedRule(one, 0, 0, 1.0) for one in found)
        return self.network.rules_reported(RulesReported(*self.stamp(), dpid, rules))

    def want(self, *rules: Rule) -> Outcome:
        return self.network.want("f-1", rules, *self.stamp())

    def confirm(self, batch: SendBatch) -> Outcome:
        return self.network.batch_confirmed(BatchConfirmed(*self.stamp(), batch.dpid, batch.batch))

    def gathered(self) -> Outcome:
        """What was told of together is put right now."""
        return self.network.wake("e0", self.now + GATHER_S)

    def fail(self, batch: SendBatch) -> Outcome:
        return self.network.batch_failed(BatchFailed(*self.stamp(), batch.dpid, batch.batch, "no"))


def connect_both(*found: Rule, wanted: tuple[Rule, ...] = ()) -> Wire:
    """Return a network with both switches connected, that have these rules."""
    wire = Wire(*wanted)
    for dpid in (MU_EDGE, OSU_EDGE):
        for batch in sent_batches(wire.connect(dpid, *(one for one in found if one.dpid == dpid))):
            wire.confirm(batch)
    return wire


def sent_batches(outcome: Outcome) -> list[SendBatch]:
    """Return the batches that an outcome sends."""
    return [effect for effect in outcome.effects if isinstance(effect, SendBatch)]


def saved_rules(outcome: Outcome) -> list[tuple[RuleState, tuple[Rule, ...]]]:
    """Return the rules that an outcome saves, with their states."""
    return [(e.state, e.rules) for e in outcome.effects if isinstance(e, SaveRules)]

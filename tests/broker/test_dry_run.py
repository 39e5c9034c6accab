"""Advise mode: everything is decided and shown, and nothing is sent."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from adon.broker.decision import Outcome
from adon.broker.dry_run import Advice
from adon.broker.effects import RuleState
from adon.broker.flow import Flow, FlowState
from adon.config import Configuration
from adon.flowvisor.rules.reconcile import Phase
from adon.templates_catalog.catalog import Catalog
from adon.values import FrozenMap
from tests.depth import DEPTH
from tests.support.factories import make_catalog
from tests.support.history_machine import RATES, Histories
from tests.support.network_factories import make_configuration
from tests.support.scenes import SEVEN, cut_al2s, make_wide_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know, make_stage


def advised(read: Configuration | None = None, *names: str) -> Configuration:
    """The example network with these switches (the MU edge) advised."""
    found = make_configuration() if read is None else read
    chosen = names or ("mu-edge",)
    switches = {
        n: s.model_copy(update={"mode": "dry-run" if n in chosen else None})
        for n, s in found.switches.items()
    }
    return found.model_copy(update={"switches": FrozenMap(switches)})


def kept(stage: Stage, flow: Flow, state: RuleState = RuleState.ADVISED) -> set[Any]:
    number = flow.number
    return {
        rule
        for rule, now in stage.saved.rules.values()
        if now is state and rule.cookie & (1 << 36) - 1 == number and rule.cookie >> 52 & 0xF
    }


def test_a_flow_over_an_advised_switch_is_active_on_paper() -> None:
    stage = make_stage(advised())
    flow = stage.submit(**SEVEN)
    assert (flow.state, flow.path, flow.advised) == (FlowState.ACTIVE, "al2s", True)
    assert stage.batches == []
    assert stage.installed() == set()
    assert {rule.dpid for rule in kept(stage, flow)} == {MU_EDGE, OSU_EDGE}
    assert ("flow-dry-run", "info", flow.id) in stage.announcements()
    assert stage.decision(flow).outcome is Outcome.ADMIT


def test_it_moves_and_ends_on_paper() -> None:
    stage = make_stage(advised(make_wide_configuration()), internet=20.0)
    flow = stage.submit(**SEVEN)
    before = kept(stage, flow)
    cut_al2s(stage)
    assert stage.flow(flow).path == "internet"
    assert kept(stage, flow) != before
    stage.report(stage.flow(flow))
    assert kept(stage, flow) == set()
    assert stage.broker.flows.get(flow.number) is None
    assert stage.batches == []


def test_nothing_is_said_of_packets_that_nobody_counts() -> None:
    stage = make_stage(advised())
    flow = stage.submit(**SEVEN, ports=[])
    stage.pass_time(200)
    assert (stage.flow(flow).state, stage.flow(flow).evidence) == (FlowState.ACTIVE, "")


def test_what_is_unchanged_is_not_saved_again() -> None:
    stage = make_stage(advised())
    flow = stage.submit(**SEVEN)
    saved = dict(stage.saved.rules)
    stage.saved.rules.clear()
    stage.pass_time(1)
    know(stage, al2s=58.0)
    cut_al2s(stage, live=True)
    assert stage.flow(flow).path == "al2s"
    assert stage.saved.rules == {}
    assert saved


def test_when_the_mode_ends_the_rules_are_sent() -> None:
    stage = make_stage(advised())
    flow = stage.submit(**SEVEN)
    stage.configuration = make_configuration()
    stage.restart()
    assert (stage.flow(flow).state, stage.flow(flow).advised) == (FlowState.ACTIVE, False)
    assert stage.rules_of(flow) == kept(stage, flow, RuleState.INSTALLED) != set()


def test_what_was_in_a_switch_when_it_became_advised_stays_there() -> None:
    stage = make_stage()
    flow = stage.submit(**SEVEN)
    before = stage.installed(MU_EDGE)
    stage.configuration = advised()
    stage.batches.clear()
    stage.restart()
    assert stage.flow(flow).advised
    stage.sync()
    stage.pass_time(20)
    assert stage.installed(MU_EDGE) == before
    stage.cancel(stage.flow(flow))
    stage.pass_time(10)
    assert stage.installed(MU_EDGE) == before
    assert {sent.dpid for sent in stage.batches} <= {OSU_EDGE}
    assert stage.broker.flows.get(flow.number) is None


def test_a_template_can_be_advised_while_others_are_served() -> None:
    listed = [*make_catalog().latest]
    soykb = next(template for template in listed if template.name == "soykb")
    only = soykb.model_copy(update={"name": "trial", "mode": "dry-run"})
    stage = Stage(catalog=Catalog.of([*listed, only]))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    trial, real = stage.submit("trial", **SEVEN), stage.submit("soykb", **SEVEN)
    assert (trial.advised, real.advised) == (True, False)
    assert (trial.state, real.state) == (FlowState.ACTIVE, FlowState.ACTIVE)
    assert stage.rules_of(trial) == set()
    assert stage.rules_of(real)
    assert kept(stage, trial)


def test_the_read_out_says_which_switch_is_advised() -> None:
    stage = make_stage(advised())
    found = stage.snapshot()["switches"]
    assert [(one["name"], one["mode"]) for one in found] == [("mu-edge", "dry-run"), ("osu-edge", "active")]


def test_dry_run_of_the_network_holds_for_each_switch_without_a_mode() -> None:
    whole = make_configuration().model_copy(update={"mode": "dry-run"})
    active = whole.switches["mu-edge"].model_copy(update={"mode": "active"})
    switches = FrozenMap({**whole.switches, "mu-edge": active})
    assert Advice(whole).switches == {MU_EDGE, OSU_EDGE}
    assert Advice(whole.model_copy(update={"switches": switches})).switches == {OSU_EDGE}


def test_no_phase_reaches_an_advised_switch() -> None:
    advice = Advice(advised())
    plan = [Phase("prepare", {MU_EDGE: (), OSU_EDGE: ()}), Phase("shift", {MU_EDGE: ()}, drain_before=True)]
    assert advice.keep_active_phases(plan) == [Phase("prepare", {OSU_EDGE: ()})]
    assert Advice(make_configuration()).keep_active_phases(plan) == plan


# -- whatever happens -----------------------------------------------------------------------------------


class AdvisedHistories(Histories):
    """The histories of the other tests, with one switch advised: from the beginning, or later."""

    @initialize(rate=RATES, later=st.booleans())
    def begin(self, rate: float, later: bool) -> None:
        self.stage = Stage() if later else Stage(advised())
        self.stage.connect()
        know(self.stage, al2s=rate, internet=6.5)
        if later:
            self.stage.submit(qspec={"throughput": {"min": "1 Mbps"}})
            self.stage.configuration = advised()
            self.stage.restart()
        self.already = len([sent for sent in self.stage.batches if sent.dpid == MU_EDGE])

    @invariant()
    def nothing_is_sent_to_an_advised_switch(self) -> None:
        assert len([sent for sent in self.stage.batches if sent.dpid == MU_EDGE]) == self.already

    def teardown(self) -> None:
        """What the other histories end with is about rules that arrive."""
        if hasattr(self, "stage"):
            self.mend()
            self.nothing_is_sent_to_an_advised_switch()


TestAdvisedHistories = AdvisedHistories.TestCase
TestAdvisedHistories.settings = settings(
    max_examples=15 * DEPTH, derandomize=DEPTH == 1, suppress_health_check=list(HealthCheck)
)

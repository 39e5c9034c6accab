"""Transcripts of what goes wrong: refusals half-way, switches that go, restarts into another network."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.effects import RuleState
from adon.broker.events import FirstPacket, FlowCancelled, RulesReported, TransferReported
from adon.broker.flow import Flow, FlowState, Quality
from adon.config import Configuration
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.path import FiveTuple
from adon.templates_catalog.catalog import Catalog
from tests.support.factories import make_catalog
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, OSU_EDGE, PORTS, Stage, know, make_stage

L2_PORT, L3_PORT = 2, 3
SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}
REFUSAL = "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL"


def make_it_move(stage: Stage) -> None:
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
        stage.measure("al2s", loss=0.0)


def pass_with_traffic(stage: Stage, flow: Flow, seconds: int) -> None:
    for _ in range(seconds // 5):
        stage.carry(flow, 10_000)
        stage.pass_time(5)


def without(read: Configuration, **parts: Any) -> Configuration:
    return read.model_copy(update=parts)


# -- a move that fails ---------------------------------------------------------------------------------


def test_a_move_that_a_switch_refuses_leaves_the_flow_where_it_was() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    before = stage.rules_of(flow)
    stage.refuse(OSU_EDGE, REFUSAL)
    make_it_move(stage)
    stage.end_faults()
    found = stage.flow(flow)
    assert (found.state, found.path, found.moves) == (FlowState.ACTIVE, "al2s", 0)
    pass_with_traffic(stage, flow, 10)
    assert stage.rules_of(flow) == before, "one direction was left on the path it could not move to"
    assert ("install-failed", "error", flow.id) in stage.announcements()


def test_a_move_that_a_disconnection_cuts_short_is_taken_back() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    before = stage.rules_of(flow)
    stage.silence(OSU_EDGE)
    make_it_move(stage)
    assert stage.flow(flow).path == "internet"
    stage.disconnect(OSU_EDGE)
    assert stage.flow(flow).path == "al2s"
    stage.end_faults()
    stage.connect(OSU_EDGE)
    pass_with_traffic(stage, flow, 10)
    assert stage.rules_of(flow) == before


def test_what_happens_during_a_change_is_looked_at_after_it() -> None:
    """The port of the path goes down while the flow is being installed there."""
    stage = make_stage(internet=6.5)
    stage.silence(OSU_EDGE)
    flow = stage.submit(**SIX)
    assert (flow.state, flow.path) == (FlowState.INSTALLING, "al2s")
    stage.change_port(MU_EDGE, "mu-edge-al2s", PortState(L2_PORT, False))
    stage.end_faults()
    stage.answer_late()
    assert stage.flow(flow).path == "internet"


# -- refusals -------------------------------------------------------------------------------------------


def test_a_modify_is_not_sent_to_a_rule_that_was_refused() -> None:
    """It would do nothing and be confirmed: the flow would count as installed without its rule."""
    stage = make_stage(internet=6.5)
    stage.refuse(OSU_EDGE, REFUSAL)
    stage.submit(**SIX)
    stage.end_faults()
    stage.pass_time(1)
    know(stage, al2s=1.0, internet=6.5)
    stage.pass_time(31)
    know(stage, al2s=58.0)
    (flow,) = (flow for flow in stage.saved.flows.values() if flow.state is FlowState.ACTIVE)
    ingress = [r for r in stage.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x10]
    assert {rule.dpid for rule in ingress} == {MU_EDGE, OSU_EDGE}


def test_a_refused_repair_after_a_restart_is_no_installation() -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    stage.end_faults()
    stage.refuse(OSU_EDGE, REFUSAL)
    stage.restart()
    assert stage.flow(flow).state is FlowState.QUEUED
    stage.pass_time(20)
    assert stage.flow(flow).state is FlowState.QUEUED


def test_a_refused_deletion_is_tried_again_within_seconds() -> None:
    stage = make_stage()
    before = stage.installed()
    flow = stage.submit()
    stage.refuse(OSU_EDGE, REFUSAL)
    stage.report(flow)
    stage.pass_time(1)
    assert stage.installed() != before
    stage.end_faults()
    stage.pass_time(11)
    assert stage.installed() == before
    assert len(stage.broker.flows) == 0


def test_a_path_that_cannot_be_had_is_not_tried_for_ever_at_once() -> None:
    """Whatever the policy's hold-off: a foreign rule in our place answers at once, each time."""
    stage = make_stage(make_configuration(failed_path_holdoff=0.0))
    flow = stage.submit(ports=[7000])
    (ours,) = (r for r in stage.rules_of(flow) if r.dpid == MU_EDGE and r.match.tp_dst == 7000)
    stage.report(flow)
    stage.pass_time(1)
    foreign = Rule(MU_EDGE, ours.priority, ours.match, (Output(9),), cookie=7)
    stage.put_in(foreign)
    stage.sync()
    assert stage.submit(ports=[7000]).state is FlowState.QUEUED
    stage.pass_time(3)


def test_a_connection_that_cannot_be_given_a_rule_stays_on_the_learning_rule() -> None:
    stage = make_stage()
    flow = stage.submit(ports=[])
    before = stage.rules_of(flow)
    (learn,) = (r for r in before if r.cookie >> 48 & 0xFF == 0x12 and r.dpid == MU_EDGE)
    stage.refuse(OSU_EDGE, "OFPET_BAD_ACTION OFPBAC_BAD_TYPE")
    for port in (20_001, 20_002):
        seen = FiveTuple(6, port, 40_000)
        stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, learn.cookie, "10.1.0.10", "10.2.0.10", seen))
    stage.end_faults()
    pass_with_traffic(stage, flow, 10)
    assert (stage.flow(flow).path, stage.flow(flow).tuples) == ("al2s", ())
    assert stage.rules_of(flow) == before
    assert len(stage.announcements("install-failed")) == 1


# -- switches and ports that go ----------------------------------------------------------------------------


def test_a_flow_that_ends_while_a_switch_is_away_leaves_nothing_behind() -> None:
    stage = make_stage()
    before = stage.installed()
    flow = stage.submit()
    stage.disconnect(OSU_EDGE)
    stage.report(flow)
    stage.pass_time(1)
    assert stage.installed(MU_EDGE) == {rule for rule in before if rule.dpid == MU_EDGE}
    stage.connect(OSU_EDGE)
    stage.pass_time(1)
    assert stage.installed() == before
    assert len(stage.broker.flows) == 0


def test_a_report_from_before_the_disconnection_connects_nobody() -> None:
    stage = make_stage()
    stage.disconnect(OSU_EDGE)
    stage.feed(RulesReported(*stage.stamp(), OSU_EDGE, ()))
    assert stage.known_switches() == {MU_EDGE}


@pytest.mark.parametrize("port", ["mu-edge-dtn", "mu-edge-al2s"])
def test_a_port_that_goes_away_stops_nobody(port: str) -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.change_port(MU_EDGE, port, None)
    pass_with_traffic(stage, flow, 10)
    know(stage, al2s=58.0)
    stage.wipe(MU_EDGE)
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert stage.output_of(flow) == L2_PORT


def test_a_switch_that_numbers_its_ports_anew_gets_new_rules() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.disconnect(MU_EDGE)
    stage.ports[MU_EDGE]["mu-edge-al2s"] = PortState(12, True)
    stage.connect(MU_EDGE)
    assert stage.output_of(flow) == 12


def test_a_rule_of_a_kind_nobody_knows_is_removed_and_stops_nothing() -> None:
    stage = make_stage()
    later = Rule(MU_EDGE, 31_000, Match(in_port=9), (), cookie=0xAD7F << 48 | 1)
    stage.put_in(later)
    flow = stage.submit()
    pass_with_traffic(stage, flow, 65)
    assert later not in stage.installed()
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_new_flow_may_have_the_ports_of_one_that_has_just_ended() -> None:
    stage = make_stage()
    before = stage.installed()
    first = stage.submit(ports=[7000])
    stage.report(first)
    second = stage.submit(ports=[7000], **SIX)
    stage.pass_time(1)
    assert stage.output_of(second) in (L2_PORT, L3_PORT)
    assert not stage.rules_of(first)
    stage.report(second)
    stage.pass_time(1)
    assert stage.installed() == before


# -- what counters and time-outs say -------------------------------------------------------------------------


def test_one_bad_test_is_one_miss_however_many_other_metrics_arrive() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    stage.pass_time(31)
    know(stage, internet=6.5)
    stage.measure("al2s", 1.0)
    for _ in range(4):
        stage.pass_time(1)
        stage.measure("al2s", loss=0.0)
    assert stage.flow(flow).path == "al2s"
    assert stage.flow(flow).quality is Quality.VIOLATED


def test_a_pause_is_no_loss() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    for _ in range(3):
        pass_with_traffic(stage, flow, 15)
        stage.pass_time(25)
    assert stage.flow(flow).path == "al2s"
    assert stage.announcements("packets-lost") == []


@pytest.mark.parametrize("forgets", [False, True])
def test_a_far_edge_that_is_away_is_no_loss(forgets: bool) -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    pass_with_traffic(stage, flow, 10)
    stage.disconnect(OSU_EDGE)
    pass_with_traffic(stage, flow, 30)
    if forgets:
        stage.switches[OSU_EDGE].table.clear()
    stage.connect(OSU_EDGE)
    pass_with_traffic(stage, flow, 10)
    assert stage.flow(flow).path == "al2s"
    assert stage.announcements("packets-lost") == []


def test_a_flow_whose_answers_are_silent_lives_and_ends_when_it_is_silent_itself() -> None:
    """UDP: the way back has an idle time-out too, and nothing to say."""
    stage = make_stage()
    flow = stage.submit()
    pass_with_traffic(stage, flow, 200)
    assert stage.flow(flow).state is FlowState.ACTIVE
    back = [r for r in stage.rules_of(flow) if r.dpid == OSU_EDGE and r.cookie >> 48 & 0xFF == 0x10]
    assert len(back) == 1, "an answer would find no rule"
    stage.pass_time(65)
    assert stage.flow(flow).state is FlowState.FINISHED


def test_a_learning_flow_that_never_begins_ends_too() -> None:
    stage = make_stage()
    before = stage.installed()
    flow = stage.submit(ports=[])
    stage.pass_time(70)
    assert stage.flow(flow).state is FlowState.FINISHED
    assert stage.installed() == before


def test_a_learnt_connection_that_ends_is_forgotten_while_another_goes_on() -> None:
    stage = make_stage()
    flow = stage.submit(ports=[])
    (learn,) = (r for r in stage.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x12 and r.dpid == MU_EDGE)
    for port in (20_001, 20_002):
        seen = FiveTuple(6, port, 40_000)
        stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, learn.cookie, "10.1.0.10", "10.2.0.10", seen))
    for _ in range(14):
        for dpid in PORTS:
            for entry in stage.switches[dpid].table.values():
                if 20_002 in (entry.rule.match.tp_src, entry.rule.match.tp_dst):
                    entry.packets, entry.bytes, entry.used = 9, entry.bytes + 9000, stage.now
        stage.pass_time(5)
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert stage.flow(flow).tuples == (FiveTuple(6, 20_002, 40_000),)
    assert not [r for r in stage.rules_of(flow) if 20_001 in (r.match.tp_src, r.match.tp_dst)]


def test_a_flow_that_sends_nothing_says_nothing_about_its_path() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(11)
    stage.measure("al2s", loss=0.0)
    assert stage.flow(flow).quality is not Quality.VIOLATED


# -- restarts into another network -------------------------------------------------------------------------


def restart_with(stage: Stage, read: Configuration | None = None, templates: Catalog | None = None) -> None:
    stage.configuration = stage.configuration if read is None else read
    stage.catalog = stage.catalog if templates is None else templates
    stage.restart()
    stage.pass_time(1)


@pytest.mark.parametrize(
    ("al2s", "state"), [(58.0, FlowState.FAILED), (1.0, FlowState.CANCELLED)], ids=["running", "waiting"]
)
@pytest.mark.parametrize("gone", ["template", "host", "paths"])
def test_a_flow_that_cannot_be_served_any_more_ends_and_says_why(
    gone: str, al2s: float, state: FlowState
) -> None:
    stage = make_stage(al2s=al2s)
    flow = stage.submit()
    read, templates = stage.configuration, None
    if gone == "template":
        templates = Catalog.of(one for one in make_catalog().latest if one.name != "soykb")
    elif gone == "paths":
        read = without(read, paths={}, measurements=read.measurements.model_copy(update={"tests": ()}))
    else:
        site = read.sites["mu"].model_copy(
            update={"hosts": {"other": next(iter(read.sites["mu"].hosts.values()))}}
        )
        read = without(read, sites={**read.sites, "mu": site})
    restart_with(stage, read, templates)
    assert stage.flow(flow).state is state
    assert ("flow-not-restored", "warning", flow.id) in stage.announcements()
    assert not stage.rules_of(flow)


def test_a_flow_whose_path_is_gone_moves_to_one_that_is_there() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    read = stage.configuration
    tests = tuple(test for test in read.measurements.tests if test.path != "al2s")
    measurements = read.measurements.model_copy(update={"tests": tests})
    restart_with(stage, without(read, paths={"internet": read.paths["internet"]}, measurements=measurements))
    know(stage, internet=6.5)
    stage.pass_time(1)
    assert (stage.flow(flow).state, stage.flow(flow).path) == (FlowState.ACTIVE, "internet")
    assert stage.output_of(flow) == L3_PORT


def test_rules_of_tests_that_are_not_configured_any_more_go() -> None:
    stage = make_stage()
    read = stage.configuration
    restart_with(stage, without(read, measurements=read.measurements.model_copy(update={"tests": ()})))
    assert stage.installed() == set()
    assert {state for _, state in stage.saved.rules.values()} == {RuleState.REMOVED}


def test_a_compute_site_that_has_shrunk_is_no_reason_not_to_start() -> None:
    stage = make_stage()
    flow = stage.submit()
    site = str(flow.compute_site)
    compute = {
        name: one.model_copy(update={"worker_nodes": 0}) if name == site else one
        for name, one in stage.configuration.compute.items()
    }
    restart_with(stage, without(stage.configuration, compute=compute))
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert stage.resources(site)["limits"]["nodes"] == 0


def test_a_restarted_controller_goes_on_counting() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    pass_with_traffic(stage, flow, 20)
    stage.restart()
    know(stage, al2s=58.0, internet=6.5)
    pass_with_traffic(stage, flow, 10)
    assert stage.flow(flow).evidence == "packets arrive"
    assert stage.flow(flow).bytes_delivered >= 60_000 - 10_000


def test_rules_found_in_place_after_a_crash_count_as_installed() -> None:
    """The crash came between the switch's answer and the note of it."""
    stage = make_stage()
    flow = stage.submit()
    stage.saved.rules = {slot: (rule, RuleState.PENDING) for slot, (rule, _) in stage.saved.rules.items()}
    stage.restart()
    assert {stage.saved.rules[rule.slot][1] for rule in stage.rules_of(flow)} == {RuleState.INSTALLED}


# -- the rest ----------------------------------------------------------------------------------------------


def test_a_result_from_the_future_does_not_hide_the_present() -> None:
    stage = make_stage(al2s=0)
    stage.measure("al2s", 1.0, age=-7200.0)
    assert stage.announcements("result-in-future") == [("result-in-future", "warning", None)]
    know(stage, al2s=58.0)
    assert stage.submit().path == "al2s"


def test_the_answer_to_a_command_shows_what_it_did() -> None:
    stage = make_stage(al2s=1.0)
    waiting = stage.submit()
    assert stage.command(FlowCancelled, waiting.number, "ann").state is FlowState.CANCELLED
    stage.pass_time(5)
    know(stage, al2s=58.0)
    running = stage.submit()
    assert stage.command(TransferReported, running.number, "finished", 5).state is FlowState.FINISHED


@pytest.mark.parametrize("status", ["started", "progress"])
def test_a_report_while_installing_is_kept_and_ends_nothing(status: str) -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    found = stage.report(flow, status, 4096)
    assert (found.state, found.bytes_reported, found.started_at) == (FlowState.INSTALLING, 4096, stage.now)


def test_a_flow_does_not_move_to_a_path_that_its_packets_do_not_fit() -> None:
    """Spec section 2: path attributes are hard constraints on moves."""
    read = make_configuration()
    paths = {**read.paths, "al2s": read.paths["al2s"].model_copy(update={"mtu": 9000})}
    stage = make_stage(read.model_copy(update={"paths": paths}), internet=6.5)
    flow = stage.submit(**SIX)
    make_it_move(stage)
    stage.expect(flow, path="al2s", why={"internet": "mtu"})
    know(stage, al2s=1.0)
    assert stage.submit(**SIX).path == "internet", "a new flow may take it"


def test_a_weight_of_the_requests_own_is_scored() -> None:
    stage = make_stage()
    for path in ("al2s", "internet"):
        stage.measure(path, rtt=0.02)
    flow = stage.submit(weights={"rtt": 1.0, "throughput": 1.0})
    assert flow.path == "al2s"


def test_an_admission_that_fails_as_before_is_saved_all_the_same() -> None:
    """The outcome is the same as the one recorded last, the flow's state is not."""
    stage = make_stage()
    stage.refuse(OSU_EDGE, REFUSAL)
    flow = stage.submit()
    for _ in range(2):
        stage.pass_time(31)
        know(stage, al2s=58.0, internet=6.5)
        assert stage.flow(flow).state is FlowState.QUEUED
    stage.restart()
    stage.end_faults()
    stage.pass_time(31)
    know(stage, al2s=58.0)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_both_directions_of_a_path_are_reserved_apart() -> None:
    stage = make_stage(internet=6.5, al2s=1.0)
    for host in ("mu", "osu"):
        stage.measure("internet", 6.5, loss=0.0, back=True)
        other = "osu" if host == "mu" else "mu"
        flow = stage.submit(
            source=f"{host}-dtn", destination=f"{other}-dtn", qspec={"throughput": {"min": "3 Mbps"}}
        )
        assert flow.path == "internet"
    assert stage.quiet == frozenset(), "3 of 6.8 Mbit/s each way is less than half"


def test_an_ended_flow_cannot_be_found_but_is_known_to_have_been() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.report(flow)
    stage.pass_time(1)
    assert stage.flow(flow).state is FlowState.FINISHED
    assert stage.broker.flows.get(flow.number) is None

"""Transcripts of the decision loop: what happened, and what must follow."""

from __future__ import annotations

import pytest

from adon.broker.decision import Outcome
from adon.broker.events import TemplateSaved
from adon.broker.flow import FlowState, Quality
from adon.errors import Conflict, InvalidInput, NotFound
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Op, Rule
from adon.templates_catalog.builtin_templates import builtin_templates
from measurement.model import Metric
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import MU_EDGE, OSU_EDGE, PORTS, Stage, know, make_stage

L2_PORT, L3_PORT = 2, 3
SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}


def test_the_timeline_of_figure_18() -> None:
    """[ADON] 5.2, scaled 1:100: L2, then L2 by priority, then L3, then nobody; and what follows."""
    stage = make_stage()

    t1 = stage.submit()
    assert (t1.state, t1.path) == (FlowState.ACTIVE, "al2s")
    assert stage.verdicts(t1) == {"al2s": "qualified", "internet": "unqualified"}

    stage.pass_time(20)
    stage.report(t1, "finished", 100_000_000)  # t2
    assert stage.flow(t1).state is FlowState.FINISHED

    stage.pass_time(5)
    know(stage, al2s=58.0, internet=6.5)
    t3 = stage.submit("neuroblastoma", streams=12, size="700 MB")
    assert t3.path == "al2s"

    stage.pass_time(20)
    know(stage, al2s=5.0, internet=6.5)
    t4 = stage.submit(**SIX)
    stage.expect(t4, path="internet", code="only-qualified", missed={"al2s": "throughput"})

    stage.pass_time(20)
    stage.report(t4, "finished", 1)  # t5
    stage.pass_time(5)
    know(stage, al2s=5.0, internet=6.5)
    t6 = stage.submit()
    missed = {"al2s": "throughput", "internet": "throughput"}
    stage.expect(t6, state="queued", path=None, code="none-qualified", missed=missed)

    stage.report(t3, "finished", 1)
    assert stage.flow(t6).state is FlowState.QUEUED, "the test that counted Neuroblastoma still stands"
    stage.pass_time(10)
    know(stage, al2s=58.0)
    assert (stage.flow(t6).state, stage.flow(t6).path) == (FlowState.ACTIVE, "al2s")


def test_rules_lead_over_the_chosen_path_and_go_when_the_flow_ends() -> None:
    stage = make_stage()
    before = stage.installed()
    flow = stage.submit()
    assert stage.output_of(flow) == L2_PORT
    assert {rule.dpid for rule in stage.rules_of(flow)} == {MU_EDGE, OSU_EDGE}
    stage.report(flow)
    stage.pass_time(1)
    assert stage.installed() == before


def test_a_flow_admitted_since_the_test_counts_before_the_next_test() -> None:
    """Two requests on one measurement must not both get the whole path (spec section 2, last point)."""
    stage = make_stage()
    first = stage.submit("neuroblastoma", streams=12)
    second = stage.submit()
    assert first.path == "al2s"
    assert second.state is FlowState.QUEUED
    (al2s,) = (c for c in stage.decision(second).candidates if c.path == "al2s")
    (throughput,) = (m for m in al2s.metrics if m.metric == "throughput")
    assert throughput.value == pytest.approx(58e6 / 13)
    assert "fair share" in throughput.basis


def test_a_stale_measurement_is_neither_zero_nor_good() -> None:
    stage = make_stage()
    stage.pass_time(400)  # older than max_age
    flow = stage.submit()
    stage.expect(flow, state="queued", code="no-default-path")
    assert set(stage.verdicts(flow).values()) == {"unknown"}


def test_a_running_flow_moves_only_after_patience_and_dwell() -> None:
    """Spec section 2: hysteresis."""
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    assert flow.path == "al2s"
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
        stage.measure("al2s", loss=0.0)
    moved = stage.flow(flow)
    assert (moved.path, moved.moves) == ("internet", 1)
    assert [d.outcome for d in stage.saved.decisions if d.outcome is Outcome.MOVE] == [Outcome.MOVE]
    assert stage.output_of(flow) == L3_PORT


def test_a_move_modifies_one_rule_per_direction() -> None:
    """Standby paths are installed before they are needed, so a move is one rule each way."""
    stage = make_stage()
    flow = stage.submit(**SIX)
    stage.batches.clear()
    for _ in range(3):
        stage.pass_time(12)
        know(stage, internet=6.5)
        stage.measure("al2s", 1.0)
        stage.measure("al2s", loss=0.0)
    changes = [change for batch in stage.batches for change in batch.changes]
    assert [(change.op, change.rule.dpid) for change in changes] == [
        (Op.MODIFY, MU_EDGE),
        (Op.MODIFY, OSU_EDGE),
    ]
    assert stage.flow(flow).path == "internet"


def test_a_violated_flow_without_an_alternative_stays_and_says_so() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(31)
    for _ in range(4):
        stage.pass_time(12)
        know(stage, al2s=1.0, internet=2.0)
    assert stage.flow(flow).path == "al2s"
    assert stage.flow(flow).quality is Quality.VIOLATED
    assert ("flow-stays", "warning", flow.id) in stage.announcements()
    stays = [d for d in stage.saved.decisions if d.outcome is Outcome.STAY]
    assert len({d.digest() for d in stays}) == len(stays), "an unchanged outcome was recorded again"


def test_our_own_test_is_not_held_against_the_flow_it_disturbs() -> None:
    """While a test runs a lone flow has half the path; its quality counts what it would have had."""
    stage = make_stage()
    flow = stage.submit()
    for _ in range(4):
        stage.pass_time(2.5)
        stage.carry(flow, int(2.5 * 29e6 / 8))
        stage.pass_time(2.5)
        stage.carry(flow, int(2.5 * 29e6 / 8))
    stage.pass_time(5)
    stage.measure("al2s", 6.0, duration=5.0, age=2.0)  # less than the 7 Mbit/s bound
    stage.measure("al2s", loss=0.0)
    assert stage.flow(flow).quality is not Quality.VIOLATED


def test_a_refusing_switch_leads_to_another_path_or_to_the_queue() -> None:
    """R6: roll back what was added, mark that candidate unusable for a time."""
    stage = make_stage(internet=6.5)
    before = stage.installed()
    stage.refuse(OSU_EDGE, "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL")
    flow = stage.submit(**SIX)
    assert flow.state is FlowState.QUEUED
    assert stage.announcements("install-failed")
    stage.end_faults()
    stage.pass_time(6)
    assert stage.installed() == before, "a half-installed path was left behind"
    stage.pass_time(31)
    know(stage, al2s=58.0)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_switch_that_drops_in_the_middle_of_an_install() -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    assert stage.flow(flow).state is FlowState.INSTALLING
    stage.end_faults()
    stage.disconnect(OSU_EDGE)
    assert stage.flow(flow).state is FlowState.QUEUED
    stage.connect(OSU_EDGE)
    stage.pass_time(35)
    know(stage, al2s=58.0)
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert stage.output_of(flow) == L2_PORT


def test_a_switch_restart_gets_its_rules_back_and_nothing_else_changes() -> None:
    """R10: no wipe; dump, difference, sync."""
    stage = make_stage()
    flow = stage.submit()
    rules = stage.installed()
    stage.disconnect(MU_EDGE)
    stage.switches[MU_EDGE].table.clear()
    stage.connect(MU_EDGE)
    assert stage.installed() == rules
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_controller_restart_touches_no_rule_that_is_right() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.batches.clear()
    stage.restart()
    assert stage.batches == []
    assert stage.flow(flow).state is FlowState.ACTIVE
    stage.report(flow)
    assert stage.flow(flow).state is FlowState.FINISHED


def test_a_controller_restart_in_the_middle_of_an_install_finishes_it() -> None:
    stage = make_stage()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    stage.end_faults()
    stage.restart()
    assert stage.flow(flow).state is FlowState.ACTIVE
    assert stage.output_of(flow) == L2_PORT


def test_a_restart_does_not_lose_the_queue_or_count_numbers_again() -> None:
    stage = make_stage(al2s=1.0)
    waiting = stage.submit()
    stage.restart()
    know(stage, al2s=58.0)
    assert stage.flow(waiting).state is FlowState.ACTIVE
    assert stage.submit(**SIX).number == waiting.number + 1


def test_rules_somebody_removed_come_back_and_foreign_rules_stay() -> None:
    """R4, R20, R1."""
    stage = make_stage()
    flow = stage.submit()
    foreign = Rule(MU_EDGE, 0, Match(), (Output(9),), cookie=0)
    stage.put_in(foreign)
    for rule in stage.rules_of(flow):
        stage.switches[rule.dpid].remove(rule)
    stage.pass_time(62)
    assert stage.output_of(flow) == L2_PORT
    assert foreign in {entry.rule for entry in stage.switches[MU_EDGE].table.values()}


def test_a_foreign_rule_in_our_place_is_never_overwritten() -> None:
    stage = make_stage()
    flow = stage.submit()
    (ours,) = (
        r
        for r in stage.rules_of(flow)
        if r.dpid == MU_EDGE and r.cookie >> 48 & 0xFF == 0x10 and r.match.in_port == 1
    )
    stage.report(flow)
    stage.pass_time(1)
    foreign = Rule(MU_EDGE, ours.priority, ours.match, (Output(9),), cookie=7)
    stage.put_in(foreign)
    stage.pass_time(61)
    know(stage, al2s=58.0)
    again = stage.submit(ports=[ours.match.tp_dst])
    assert again.state is FlowState.QUEUED
    assert ("install-failed", "error", again.id) in stage.announcements()
    assert foreign in {entry.rule for entry in stage.switches[MU_EDGE].table.values()}


def test_an_idle_flow_ends() -> None:
    """Spec section 2: a flow ends on its report or an idle time-out; that FLOW_REMOVED is expected."""
    stage = make_stage()
    flow = stage.submit()
    stage.carry(flow, 1_000_000)
    stage.pass_time(70)
    assert stage.flow(flow).state is FlowState.FINISHED
    assert not stage.rules_of(flow)


def test_packets_that_leave_and_do_not_arrive_move_the_flow() -> None:
    """R22: a flow is not up because its rules are installed."""
    stage = make_stage(internet=6.5)
    flow = stage.submit(**SIX)
    for _ in range(6):
        stage.pass_time(5)
        stage.carry(flow, 100_000, arrive=False)
    stage.pass_time(6)
    assert stage.flow(flow).path == "internet"
    assert stage.announcements("packets-lost")


def test_a_flow_without_ports_learns_its_connections() -> None:
    from adon.broker.events import FirstPacket
    from adon.flowvisor.topology.path import FiveTuple

    stage = make_stage()
    flow = stage.submit(ports=[])
    (learn,) = (r for r in stage.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x12 and r.dpid == MU_EDGE)
    seen = FiveTuple(6, 20_001, 40_123)
    stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, learn.cookie, "10.1.0.10", "10.2.0.10", seen))
    assert stage.flow(flow).tuples == (seen,)
    exact = [r for r in stage.rules_of(flow) if r.match.tp_dst == 20_001 and r.match.in_port == 1]
    assert len(exact) == 1
    assert exact[0].priority > learn.priority


def test_paths_mostly_reserved_carry_no_load_generating_test() -> None:
    """Spec section 2: by policy counters serve where admitted bounds exceed half the capacity."""
    stage = make_stage(internet=6.5, al2s=1.0)
    flow = stage.submit(**SIX)
    assert flow.path == "internet"
    assert stage.quiet == {"internet"}
    stage.report(flow)
    assert stage.quiet == frozenset()


def test_the_queue_goes_by_priority_then_age() -> None:
    stage = make_stage(al2s=1.0, internet=1.0)
    low = stage.submit(priority=100)
    high = stage.submit(priority=900)
    stage.pass_time(5)
    know(stage, al2s=13.0)  # room for one
    assert stage.flow(high).state is FlowState.ACTIVE
    assert stage.flow(low).state is FlowState.QUEUED


def test_patience_ends_and_the_requester_is_told() -> None:
    stage = make_stage(al2s=1.0)
    flow = stage.submit(queue_patience="10 s")
    stage.pass_time(11)
    assert stage.flow(flow).state is FlowState.EXPIRED
    assert ("flow-ended", "info", flow.id) in stage.announcements()


@pytest.mark.parametrize("al2s", [58.0, 1.0])
def test_cancel_when_active_and_when_queued(al2s: float) -> None:
    stage = make_stage(al2s=al2s)
    flow = stage.submit()
    assert stage.cancel(flow).state is FlowState.CANCELLED
    stage.pass_time(1)
    assert not stage.rules_of(flow)
    with pytest.raises(Conflict, match="state"):
        stage.cancel(flow)


def test_cancel_while_installing_removes_what_was_sent() -> None:
    stage = make_stage()
    before = stage.installed()
    stage.silence(OSU_EDGE)
    flow = stage.submit()
    stage.end_faults()
    stage.cancel(flow)
    stage.pass_time(70)
    assert stage.installed() == before


def test_compute_chooses_the_cheaper_site_and_shows_both() -> None:
    """Algorithm 2 and 4: T_t of both sites is in the decision."""
    stage = make_stage()
    flow = stage.submit()
    decision = stage.decision(flow)
    assert {cost.site: cost.local for cost in decision.compute} == {"mu-hpc": True, "osu-hpc": False}
    cheapest = min(decision.compute, key=lambda cost: cost.cost)
    assert flow.compute_site == cheapest.site == decision.compute_site
    assert flow.transfer_size == cheapest.transfer_size


def test_worker_nodes_come_back_when_a_flow_ends() -> None:
    stage = make_stage()
    before = stage.snapshot()["resources"]
    flow = stage.submit()
    assert stage.snapshot()["resources"] != before
    stage.report(flow)
    assert stage.snapshot()["resources"] == before


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"destination": "nowhere"}, "destination"),
        ({"source": "nowhere"}, "source"),
        ({"template": "soykbb"}, "template"),
        ({"destination": "mu-dtn"}, "destination"),
        ({"qspec": {"throughput": {"min": "99 Mbps"}}}, "qspec.throughput.min"),
        ({"qspec": {"throughput": {"min": "200 Mbps"}}}, "qspec.throughput.min"),
    ],
)
def test_a_request_that_cannot_be_is_refused_by_field(fields: dict[str, object], field: str) -> None:
    stage = make_stage()
    with refused(InvalidInput, field):
        stage.submit(**fields)
    assert stage.saved.flows == {}


def test_two_flows_on_one_port_cannot_be_told_apart() -> None:
    stage = make_stage()
    stage.submit(ports=[7000])
    with refused(Conflict, field="ports"):
        stage.submit(ports=[7000])


def test_a_flow_that_never_was_cannot_be_cancelled() -> None:
    stage = make_stage()
    from adon.broker.events import FlowCancelled

    with pytest.raises(NotFound):
        stage.command(FlowCancelled, 99, "ann")


def test_the_same_events_give_the_same_decisions() -> None:
    def run() -> list[object]:
        stage = make_stage()
        stage.submit()
        stage.submit("neuroblastoma", streams=12)
        stage.pass_time(20)
        know(stage, al2s=5.0, internet=6.5)
        stage.submit(**SIX)
        return [decision.body() for decision in stage.saved.decisions]

    assert run() == run()


def test_nothing_is_sent_before_a_switch_has_been_read() -> None:
    stage = Stage(make_configuration())
    know(stage, al2s=58.0, internet=6.5)
    flow = stage.submit()
    down = dict.fromkeys(("al2s", "internet"), "switch-disconnected")
    stage.expect(flow, state="queued", code="none-qualified", why=down)
    assert stage.batches == []
    stage.connect(*PORTS)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_template_that_is_saved_changes_what_has_to_be_measured() -> None:
    stage = make_stage()
    before = stage.broker.needs[Metric.THROUGHPUT].max_age
    soykb = next(template for template in builtin_templates() if template.name == "soykb")
    selection = soykb.selection.model_copy(update={"max_age": 20.0})
    quick = soykb.model_copy(update={"name": "quick", "selection": selection})
    saved = stage.command(TemplateSaved, quick)
    assert saved.name == "quick"
    assert stage.needs == stage.broker.needs
    assert stage.needs[Metric.THROUGHPUT].max_age == 20.0 < before

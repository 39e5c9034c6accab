"""What a network or its users may do to us: it is refused, or waits with the reason."""

from __future__ import annotations

from adon.broker.flow import FlowState
from adon.errors import Conflict
from adon.flowvisor.topology.network_graph import PortState
from tests.apps.fabric import SITES
from tests.support.overlay_network import (
    LOWER,
    PORTS,
    UPPER,
    make_diamond_stage,
    make_fabric_stage,
    submit_between,
)
from tests.support.refusals import refused
from tests.support.stage import MU_EDGE, know, make_stage

FULL = "OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL"


def test_without_a_vlan_a_flow_waits_and_says_which_overlay_range_and_link_refuse_it() -> None:
    stage = make_fabric_stage(vlans="100")
    assert submit_between(stage, 0, 1, 5001).state is FlowState.ACTIVE
    waiting = submit_between(stage, 0, 2, 5002)
    stage.expect(waiting, state="queued", code="no-path")
    assert "overlays.mesh.vlans" in waiting.reason


def test_in_a_partition_a_flow_waits_and_goes_when_the_network_is_one_again() -> None:
    stage = make_diamond_stage()
    for dpid in (UPPER, LOWER):
        stage.change_port(dpid, "east", PortState(2, False))
    waiting = stage.submit("bulk", ports=[5001])
    stage.expect(waiting, state="queued", code="no-path")
    for dpid in PORTS:
        stage.disconnect(dpid)
    stage.restart()
    stage.connect()
    assert stage.flow(waiting).state is FlowState.ACTIVE


def test_every_pair_of_sites_in_a_network_full_of_loops_has_two_ways_that_do_not_meet_in_a_circle() -> None:
    """No circuit visits a switch twice."""
    stage = make_fabric_stage()
    assert len(stage.saved.circuits.circuits) == SITES * (SITES - 1)


def test_flows_that_the_same_packets_would_match_are_refused() -> None:
    stage = make_stage()
    stage.submit(ports=[5001, 5002])
    with refused(Conflict, field="ports"):
        stage.submit(ports=[5002, 5003])
    stage.submit(ports=[])
    with refused(Conflict, field="ports"):
        stage.submit(ports=[], source="osu-dtn", destination="mu-dtn")


def test_hundreds_of_requests_at_once_are_all_answered_and_leave_nothing() -> None:
    """More than fit: the path's capacity is shared, the others wait."""
    stage = make_fabric_stage()
    standing = stage.installed()
    flows = [submit_between(stage, number % 2, 2 + number % 3, 5000 + number) for number in range(200)]
    states = [stage.flow(flow).state for flow in flows]
    assert set(states) <= {FlowState.ACTIVE, FlowState.QUEUED}
    assert states.count(FlowState.ACTIVE) > 100
    for flow in sorted(flows, key=lambda flow: stage.flow(flow).state is FlowState.ACTIVE):
        stage.cancel(flow)
    stage.pass_time(5)
    assert stage.installed() == standing
    assert len(stage.broker.flows) == 0


def test_a_switch_that_answers_every_change_with_an_error_gets_no_flow_and_is_not_asked_without_end() -> None:
    stage = make_stage()
    stage.refuse(MU_EDGE, FULL)
    flow = stage.submit(ports=[5001])
    sent = len(stage.batches)
    stage.pass_time(300)
    assert stage.flow(flow).state in (FlowState.QUEUED, FlowState.FAILED)
    assert FULL in stage.flow(flow).reason
    assert not stage.rules_of(flow)
    assert len(stage.batches) - sent < 60
    stage.end_faults()
    stage.pass_time(3600)
    know(stage, al2s=58.0)
    again = stage.submit(ports=[5002])
    assert stage.flow(again).state is FlowState.ACTIVE

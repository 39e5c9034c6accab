"""What the counters prove is in test_counters.py; whole lives are in test_broker.py and test_trouble.py."""

from __future__ import annotations

import pytest

from adon.broker.counters import Evidence
from adon.broker.events import FirstPacket, RuleRemoved
from adon.broker.evidence import MAX_LEARNT
from adon.broker.flow import Flow, FlowState
from adon.flowvisor.topology.path import FiveTuple
from tests.support.stage import MU_EDGE, Stage, make_stage


def first_packet(stage: Stage, flow: Flow, port: int, *, back: bool = False) -> None:
    (learn,) = (r for r in stage.rules_of(flow) if r.cookie >> 48 & 0xFF == 0x12 and r.dpid == MU_EDGE)
    ends, seen = ("10.1.0.10", "10.2.0.10"), FiveTuple(6, port, 40_000)
    if back:
        ends, seen = ("10.2.0.10", "10.1.0.10"), FiveTuple(6, 40_000, port)
    stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, learn.cookie, *ends, seen))


@pytest.mark.parametrize("back", [False, True])
def test_a_connection_is_the_same_seen_from_either_side(back: bool) -> None:
    stage = make_stage()
    flow = stage.submit(ports=[])
    first_packet(stage, flow, 20_001, back=back)
    assert stage.flow(flow).tuples == (FiveTuple(6, 20_001, 40_000),)


def test_a_flow_learns_so_many_connections_and_no_more() -> None:
    stage = make_stage()
    flow = stage.submit(ports=[])
    for port in range(20_000, 20_000 + MAX_LEARNT + 1):
        first_packet(stage, flow, port)
    assert len(stage.flow(flow).tuples) == MAX_LEARNT


@pytest.mark.parametrize("reason", ["hard", "delete"])
def test_a_rule_that_went_for_another_reason_ends_no_flow(reason: str) -> None:
    stage = make_stage()
    flow = stage.submit()
    for rule in stage.rules_of(flow):
        stage.feed(RuleRemoved(*stage.stamp(), rule.dpid, rule, reason, 0, 0))
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_the_far_edge_says_whether_packets_arrive() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(5)
    assert stage.flow(flow).evidence == Evidence.WAITING
    stage.carry(flow, 100_000)
    stage.pass_time(6)
    assert stage.flow(flow).evidence == Evidence.ARRIVING
    assert stage.flow(flow).bytes_sent == 100_000
    assert stage.flow(flow).bytes_delivered > 0


def test_a_path_that_swallowed_packets_is_unknown_until_it_is_measured_again() -> None:
    """Otherwise the flow would come back when the hold-off is over, by values from before."""
    stage = make_stage(internet=6.5)
    flow = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    for _ in range(6):
        stage.pass_time(5)
        stage.carry(flow, 100_000, arrive=False)
    stage.pass_time(6)
    assert stage.flow(flow).path == "internet"
    for _ in range(24):
        stage.pass_time(5)
        stage.carry(flow, 4_000_000)
    assert stage.flow(flow).path == "internet", "the hold-off of al2s has been over for long"
    stage.measure("al2s", loss=0.0)
    stage.measure("al2s", 58.0)
    assert stage.flow(flow).path == "al2s"

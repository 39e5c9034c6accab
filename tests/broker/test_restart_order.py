"""After a restart twenty switches come back in any order: no rule, group or path changes."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.flow import FlowState
from tests.depth import DEPTH
from tests.support.overlay_network import make_fabric_stage, submit_between


@settings(max_examples=8 * DEPTH)
@given(st.randoms(use_true_random=False))
def test_switches_come_back_in_any_order_and_nothing_is_sent(chance: Random) -> None:
    stage = make_fabric_stage()
    flows = [submit_between(stage, one, other, 5001) for one in range(5) for other in range(one)]
    before = [(stage.flow(flow).state, stage.flow(flow).path) for flow in flows]
    assert {state for state, _ in before} == {FlowState.ACTIVE}
    circuits, sent = stage.saved.circuits, len(stage.batches)
    order = list(stage.ports.items())
    chance.shuffle(order)
    stage.ports = dict(order)
    stage.restart()
    stage.pass_time(5)
    assert stage.batches[sent:] == []
    assert [(stage.flow(flow).state, stage.flow(flow).path) for flow in flows] == before
    assert stage.saved.circuits == circuits


def test_a_switch_in_the_middle_that_is_away_moves_nothing() -> None:
    stage = make_fabric_stage()
    flow = submit_between(stage, 0, 2, 5001)
    path, sent, read = stage.flow(flow).path, len(stage.batches), stage.configuration
    circuit = next(one for one in stage.saved.circuits.circuits if one.name == path)
    edges = {site.edge for site in read.sites.values()}
    (name,) = set(read.links[circuit.links[0]].ends) - edges
    middle = read.switches[name].dpid
    stage.disconnect(middle)
    stage.pass_time(20)
    assert stage.flow(flow).path == path
    stage.connect(middle)
    stage.pass_time(20)
    assert (stage.flow(flow).path, stage.batches[sent:]) == (path, [])

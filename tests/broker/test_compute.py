from __future__ import annotations

import math
from dataclasses import replace

import pytest

from adon.broker import compute
from adon.broker.flow import FlowState
from adon.broker.resources.amounts import Limits
from adon.broker.resources.ledger import Ledger
from tests.broker.stage import Stage, catalog, configuration, ready


@pytest.mark.parametrize("nodes", [0, 1, 4])
def test_a_ledger_is_restored_as_far_as_the_site_still_has_nodes(nodes: int) -> None:
    stage = ready()
    flow = stage.submit()
    name = str(flow.compute_site)
    held = stage.broker.world.ledger.book(name).holds[flow.number]
    read = configuration()
    site = read.compute[name].model_copy(update={"worker_nodes": nodes})
    smaller = read.model_copy(update={"compute": {**read.compute, name: site}})
    book = compute.restored(smaller, [flow], catalog()).book(name)
    assert book.held.nodes == min(nodes, held.amounts.nodes)
    if nodes >= held.amounts.nodes:
        assert book.holds[flow.number] == held, "until when is kept with the flow"


def test_only_flows_that_run_hold_nodes() -> None:
    flow = ready().submit()
    waiting = replace(flow, state=FlowState.QUEUED)
    elsewhere = replace(flow, compute_site="gone")
    ledger = compute.restored(configuration(), [waiting, elsewhere], catalog())
    assert ledger == compute.restored(configuration(), [], catalog())
    assert not ledger.holders


def test_a_network_without_compute_sites_sends_the_raw_data() -> None:
    stage = ready(configuration().model_copy(update={"compute": {}}))
    flow = stage.submit()
    assert (flow.compute_site, flow.transfer_size) == (None, 100_000_000)
    assert stage.last_decision(flow).compute == ()


def test_a_template_without_a_cost_model_sends_the_raw_data() -> None:
    stage = ready(internet=6.5)
    flow = stage.submit("neuroblastoma")
    assert catalog().get("neuroblastoma").cost is None
    assert (flow.compute_site, flow.transfer_size) == (None, 100_000_000)


def test_no_site_with_room_means_waiting_with_the_reason() -> None:
    stage = ready()
    none = dict.fromkeys(stage.broker.world.ledger.sites, Limits(nodes=0))
    stage.broker.world.ledger = Ledger.of(none, (), 0)
    flow = stage.submit()
    assert flow.state is FlowState.QUEUED
    assert "no compute site can take it" in flow.reason


def test_without_a_path_the_network_terms_are_unknown() -> None:
    stage = Stage()
    flow = stage.submit()
    costs = stage.last_decision(flow).compute
    assert {cost.path for cost in costs} == {None}
    assert all(math.isinf(cost.cost) for cost in costs if not cost.local)

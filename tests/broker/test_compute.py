from __future__ import annotations

import math
from dataclasses import replace

import pytest

from adon.broker import compute
from adon.broker.events import TemplateSaved
from adon.broker.flow import FlowState
from adon.templates_catalog.model import MatchRule
from tests.support.factories import make_catalog
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage


@pytest.mark.parametrize("nodes", [0, 1, 4])
def test_a_ledger_is_restored_as_far_as_the_site_still_has_nodes(nodes: int) -> None:
    stage = make_stage()
    flow = stage.submit()
    name, read = str(flow.compute_site), stage.configuration
    held = stage.resources(name)["held"]
    site = read.compute[name].model_copy(update={"worker_nodes": nodes})
    stage.configuration = read.model_copy(update={"compute": {**read.compute, name: site}})
    stage.restart()
    assert stage.resources(name)["held"].get("nodes", 0) == min(nodes, held["nodes"])
    assert stage.holders() == {flow.number: name}


def test_only_flows_that_run_hold_nodes() -> None:
    flow = make_stage().submit()
    waiting = replace(flow, state=FlowState.QUEUED)
    elsewhere = replace(flow, compute_site="gone")
    ledger = compute.restore_ledger(make_configuration(), [waiting, elsewhere], make_catalog())
    assert ledger == compute.restore_ledger(make_configuration(), [], make_catalog())
    assert not ledger.holders


def test_a_network_without_compute_sites_sends_the_raw_data() -> None:
    stage = make_stage(make_configuration().model_copy(update={"compute": {}}))
    flow = stage.submit()
    assert (flow.compute_site, flow.transfer_size) == (None, 100_000_000)
    assert stage.decision(flow).compute == ()


def test_a_template_without_a_cost_model_sends_the_raw_data() -> None:
    stage = make_stage(internet=6.5)
    flow = stage.submit("neuroblastoma")
    assert make_catalog().get("neuroblastoma").cost is None
    assert (flow.compute_site, flow.transfer_size) == (None, 100_000_000)


def test_no_site_with_room_means_waiting_with_the_reason() -> None:
    stage = make_stage()
    stage.reserve_nodes()
    flow = stage.submit()
    stage.expect(flow, state="queued", code="no-site")


def test_without_a_path_the_network_terms_are_unknown() -> None:
    stage = Stage()
    flow = stage.submit()
    costs = stage.decision(flow).compute
    assert {cost.path for cost in costs} == {None}
    assert all(math.isinf(cost.cost) for cost in costs if not cost.local)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("no price list"), KeyError("site"), OverflowError("too large")]
)
def test_a_cost_function_that_raises_keeps_nobody_else_waiting(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flow waits with the error as the reason, which is recorded; the next flow is served as ever."""

    def broken(*_: object) -> float:
        raise error

    monkeypatch.setattr("adon.broker.cost.functions.money", broken)
    stage = make_stage()
    cost = stage.catalog.get("soykb").cost
    assert cost is not None
    paid = cost.model_copy(update={"function": "money"})
    priced = stage.catalog.get("soykb").model_copy(
        update={"name": "priced", "cost": paid, "match": MatchRule()}
    )
    stage.command(TemplateSaved, priced)
    flow = stage.submit("priced")
    assert flow.state is FlowState.QUEUED
    assert {one.cost for one in stage.decision(flow).compute} == {math.inf}
    assert all(repr(error) in one.why for one in stage.decision(flow).compute)
    assert stage.submit().state is FlowState.ACTIVE
    know(stage, al2s=58.0)
    assert stage.cancel(flow).state is FlowState.CANCELLED

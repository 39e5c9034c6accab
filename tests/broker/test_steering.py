from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.deciding import choose_path
from adon.broker.flow import Flow
from adon.broker.steering import attached, rules_for_flow, rules_for_paths
from adon.flowvisor.cookie import Kind, cookie_owner
from tests.broker.stage import MU_EDGE, OSU_EDGE, Stage, configuration, ready


def placed(**fields: object) -> tuple[Stage, Flow]:
    stage = ready()
    flow = stage.submit(**fields)
    assert flow.path == "al2s"
    return stage, flow


def kinds(stage: Stage, flow: Flow) -> set[Kind] | None:
    world = stage.broker.world
    need, choice = choose_path(world, flow, stage.now)
    rules = rules_for_flow(flow, need, choice, world.flows.priority(flow), world.network.topology)
    return None if rules is None else {cookie_owner(rule.cookie)[0] for rule in rules}


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([7000], {Kind.FLOW_INGRESS, Kind.FLOW_DELIVERY}),
        ([], {Kind.FLOW_LEARN, Kind.FLOW_DELIVERY}),
    ],
)
def test_declared_connections_have_rules_undeclared_ones_are_learnt(
    ports: list[int], expected: set[Kind]
) -> None:
    assert kinds(*placed(ports=ports)) == expected


def test_the_rules_are_those_in_the_switches() -> None:
    stage, flow = placed()
    world = stage.broker.world
    need, choice = choose_path(world, flow, stage.now)
    rules = rules_for_flow(flow, need, choice, world.flows.priority(flow), world.network.topology)
    assert set(rules or ()) == stage.rules_of(flow)


@pytest.mark.parametrize(("standby", "deliveries"), [(None, 4), (1, 4), (0, 2)])
def test_so_many_paths_stand_ready_as_the_policy_says(standby: int | None, deliveries: int) -> None:
    stage = ready(configuration(standby_paths=standby))
    rules = stage.rules_of(stage.submit(ports=[7000]))
    assert sum(cookie_owner(rule.cookie)[0] is Kind.FLOW_DELIVERY for rule in rules) == deliveries


def test_no_rules_on_a_path_that_is_not_there_or_between_hosts_that_are_not() -> None:
    stage, flow = placed()
    assert kinds(stage, replace(flow, path="not-a-path")) is None
    stage.port(MU_EDGE, "mu-edge-dtn", None)
    assert attached(flow, stage.broker.world.network.topology) is None
    assert kinds(stage, flow) is None


def test_measurements_are_pinned_once_both_edges_are_known() -> None:
    stage = Stage()
    assert rules_for_paths(stage.broker.world.network.topology) == {}
    stage.connect(MU_EDGE)
    assert rules_for_paths(stage.broker.world.network.topology) == {}
    stage.connect(OSU_EDGE)
    found = rules_for_paths(stage.broker.world.network.topology)
    assert sorted(found) == ["path-0", "path-1"]
    assert {rule for rules in found.values() for rule in rules} == stage.installed()
    assert all(len(set(rules)) == len(rules) for rules in found.values())

"""Slices as a researcher meets them: membership, flowspace, marking, share."""

from __future__ import annotations

from typing import Any

import pytest

from adon.broker.flow import FlowState
from adon.config.policy import DscpByPriority
from adon.errors import Forbidden, InvalidInput
from adon.flowvisor.rules.action import SetDscp
from adon.flowvisor.rules.cookie import cookie_tenant, owner_name
from adon.flowvisor.rules.rule import Rule
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.refusals import refused
from tests.support.stage import Stage, know, make_stage, verdicts

SIX: dict[str, Any] = {"qspec": {"throughput": {"min": "6 Mbps"}}}


def rules_of(stage: Stage, number: int) -> list[Rule]:
    """The rules of a flow, whatever its tenant."""
    owner = f"f-{number}"
    return [rule for rule in stage.rules_in() if owner_name(rule.cookie) == owner]


def two() -> Stage:
    return make_stage(
        make_sliced_configuration(
            {"genomics": make_slice(7, "5000-5999"), "imaging": make_slice(8, 6000, who="bob")}
        )
    )


def test_a_flow_belongs_to_the_slice_of_its_requester_and_its_rules_say_so() -> None:
    stage = two()
    flow = stage.submit(ports=[5001])
    assert (flow.slice, flow.state) == ("genomics", FlowState.ACTIVE)
    assert stage.decision(flow).slice == "genomics"
    assert {cookie_tenant(rule.cookie) for rule in rules_of(stage, flow.number)} == {7}


@pytest.mark.parametrize(
    ("by", "fields", "error", "field"),
    [
        ("eve", {"ports": [5001]}, Forbidden, None),
        ("ann", {"ports": [5001], "slice": "imaging"}, Forbidden, None),
        ("ann", {"ports": [6000]}, InvalidInput, "slice"),
        ("bob", {"ports": [6000, 5001]}, InvalidInput, "slice"),
        ("ann", {"ports": []}, InvalidInput, "slice"),
    ],
)
def test_what_a_slice_may_not_have_is_refused_before_anything_is_kept(
    by: str, fields: dict[str, Any], error: type[Exception], field: str | None
) -> None:
    stage = two()
    before = stage.installed()
    with refused(error, field):
        stage.submit(by=by, **fields)
    assert (stage.saved.flows, stage.installed()) == ({}, before)


def test_without_slices_there_is_none_to_name() -> None:
    stage = make_stage(make_sliced_configuration())
    assert stage.submit().slice is None
    with refused(InvalidInput, field="slice"):
        stage.submit(slice="genomics")


def test_a_share_that_is_used_up_closes_the_path_with_the_reason() -> None:
    """Half of al2s is 30.3 Mbps, half of the internet path 3.4: one flow of 20 fits, a second does not."""
    stage = make_stage(make_sliced_configuration({"genomics": make_slice(7, "5000-5999")}))
    twenty: dict[str, Any] = {"qspec": {"throughput": {"min": "20 Mbps"}}}
    first = stage.submit(ports=[5001], **twenty)
    stage.measure("al2s", 58.0)
    second = stage.submit(ports=[5002], **twenty)
    assert (first.path, second.state) == ("al2s", FlowState.QUEUED)
    found = stage.decision(second)
    assert verdicts(found) == {"al2s": "excluded", "internet": "excluded"}
    assert found.candidates[0].code == "slice-limit"
    stage.report(first)
    assert stage.flow(second).path == "al2s"


@pytest.mark.parametrize(("by", "port", "gives_way"), [("ann", 5002, True), ("bob", 6000, False)])
def test_only_a_flow_of_the_same_slice_gives_way(by: str, port: int, gives_way: bool) -> None:
    """Algorithm 2 among tenants; both slices are so large that the path, and no share, is what is full."""
    slices = {
        "genomics": make_slice(7, "5000-5999", share=1),
        "imaging": make_slice(8, 6000, who="bob", share=1),
    }
    stage = make_stage(make_sliced_configuration(slices))
    low = stage.submit(ports=[5001], qspec={"throughput": {"min": "6 Mbps"}})
    high = stage.submit(by=by, ports=[port], priority=800, qspec={"throughput": {"min": "54 Mbps"}})
    assert stage.flow(low).path == ("internet" if gives_way else "al2s")
    assert stage.flow(high).path == ("al2s" if gives_way else None)


@pytest.mark.parametrize(("by", "port", "gives_way"), [("ann", 5002, True), ("bob", 6000, False)])
def test_only_a_flow_of_the_same_slice_loses_its_rung(by: str, port: int, gives_way: bool) -> None:
    slices = {
        "genomics": make_slice(7, "5000-5999", share=1),
        "imaging": make_slice(8, 6000, who="bob", share=1),
    }
    stage = make_stage(make_sliced_configuration(slices, {"mode": "meters"}))
    low = stage.submit(ports=[5001], qspec={"throughput": {"min": "30 Mbps"}})
    stage.measure("al2s", 58.0)
    high = stage.submit(by=by, ports=[port], priority=800, qspec={"throughput": {"min": "25 Mbps"}})
    assert stage.flow(high).path == ("al2s" if gives_way else None)
    assert stage.flow(low).state is (FlowState.QUEUED if gives_way else FlowState.ACTIVE)


def test_a_running_flow_is_not_driven_away_by_its_slice() -> None:
    stage = make_stage(make_sliced_configuration({"genomics": make_slice(7, "5000-5999")}))
    first = stage.submit(ports=[5001], **SIX)
    smaller = make_sliced_configuration(
        {"genomics": make_slice(7, "5000-5999", share={"al2s": 0.01, "internet": 0.95})}
    )
    stage.configuration = smaller
    stage.restart()
    stage.pass_time(40)
    know(stage, al2s=58.0, internet=6.5)
    assert (stage.flow(first).path, stage.flow(first).state) == ("al2s", FlowState.ACTIVE)


@pytest.mark.parametrize(
    ("fields", "mark", "expected"),
    [
        ({"marking": {"dscp": "EF"}}, "LE", {46}),
        ({}, "LE", {1}),
        ({}, None, {10}),
        ({"priority": 600}, None, set()),
    ],
)
def test_packets_are_marked_as_asked_else_by_slice_else_by_priority(
    fields: dict[str, Any], mark: str | None, expected: set[int]
) -> None:
    by_priority = (DscpByPriority.model_validate({"priorities": [0, 599], "dscp": "AF11"}),)
    stage = make_stage(
        make_sliced_configuration(
            {"genomics": make_slice(7, "5000-5999", mark=mark)}, dscp_by_priority=by_priority
        )
    )
    flow = stage.submit(ports=[5001], **fields)
    found = {
        action.dscp
        for rule in rules_of(stage, flow.number)
        for action in rule.actions
        if isinstance(action, SetDscp)
    }
    assert found == expected


def test_a_marking_that_the_slice_does_not_allow() -> None:
    stage = make_stage(make_sliced_configuration({"genomics": make_slice(7, "5000-5999", dscp=["LE"])}))
    with refused(InvalidInput, field="marking.dscp"):
        stage.submit(ports=[5001], marking={"dscp": "EF"})

"""Fireflies in transcripts: for connections with scitags whose ports are known, if anybody is to be told."""

from __future__ import annotations

import json
from ipaddress import ip_address
from typing import Any

import pytest

from adon.broker.events import FirstPacket
from adon.config.policy import FireflyCollector
from adon.flowvisor.topology.path import FiveTuple
from tests.support.network_factories import make_sliced_configuration
from tests.support.stage import MU_EDGE, Stage, make_stage

COLLECTOR = FireflyCollector(host=ip_address("127.0.0.1"))
TAGS: dict[str, Any] = {"marking": {"scitags": {"experiment": 2, "activity": 9}}}


def learnt(collector: FireflyCollector | None, **fields: Any) -> Stage:
    """A flow that learns one connection and ends."""
    stage = make_stage(make_sliced_configuration(fireflies=collector))
    flow = stage.submit(ports=[], **fields)
    (rule,) = (r for r in stage.rules_in(MU_EDGE) if r.cookie >> 48 & 0xFF == 0x12 and r.match.in_port == 1)
    what = FiveTuple(6, 20_001, 40_000)
    stage.feed(FirstPacket(*stage.stamp(), MU_EDGE, rule.cookie, "10.1.0.10", "10.2.0.10", what))
    stage.now += 5
    stage.report(flow)
    return stage


def test_the_beginning_and_the_end_of_a_connection_are_told() -> None:
    told = [json.loads(b"{" + payload.partition(b" {")[2]) for payload in learnt(COLLECTOR, **TAGS).fireflies]
    assert [body["flow-lifecycle"]["state"] for body in told] == ["start", "end"]
    for body in told:
        assert body["context"] == {"experiment-id": 2, "activity-id": 9, "application": "adon"}
        assert (body["flow-id"]["src-port"], body["flow-id"]["dst-port"]) == (40_000, 20_001)


@pytest.mark.parametrize(
    ("collector", "fields"), [(None, TAGS), (COLLECTOR, {}), (COLLECTOR, {"marking": {"dscp": "LE"}})]
)
def test_nobody_is_told_without_a_collector_or_without_tags(
    collector: FireflyCollector | None, fields: Any
) -> None:
    assert learnt(collector, **fields).fireflies == []


def test_a_flow_whose_source_ports_are_any_is_not_told() -> None:
    stage = make_stage(make_sliced_configuration(fireflies=COLLECTOR))
    stage.report(stage.submit(ports=[5001], **TAGS))
    assert stage.fireflies == []

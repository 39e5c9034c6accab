from __future__ import annotations

import json

import pytest
from hypothesis import given

from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome
from adon.broker.sites.jobs import JobState, SiteJob
from adon.flowvisor.rules.action import Action, Output, SetEthDst
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Entry
from adon.store import entry_codec
from adon.store.decision_rows import flow_number
from adon.templates_catalog.model import Template
from measurement.model import from_json, to_json
from tests.broker.sites.values import job
from tests.store import values
from tests.support.factories import make_template
from tests.support.refusals import refused


def through_json(body: dict[str, object]) -> dict[str, object]:
    """What a database gives back."""
    read: dict[str, object] = json.loads(json.dumps(body, allow_nan=False))
    return read


@given(values.flows)
def test_flow_round_trip(flow: Flow) -> None:
    assert from_json(Flow, through_json(to_json(flow))) == flow


@given(values.decisions)
def test_decision_round_trip(decision: Decision) -> None:
    body = to_json(decision)
    assert body == decision.body()
    assert from_json(Decision, through_json(body)) == decision


@given(values.outcomes)
def test_outcome_round_trip(outcome: FlowOutcome) -> None:
    assert from_json(FlowOutcome, through_json(to_json(outcome))) == outcome


@given(values.entries)
def test_entry_round_trip(entry: Entry) -> None:
    read = entry_codec.decode_entry(through_json(entry_codec.encode_entry(entry)))
    assert read == entry
    assert getattr(read, "owner", None) == getattr(entry, "owner", None)


@given(values.actions)
def test_action_round_trip(action: Action) -> None:
    read = entry_codec.decode_action(through_json(entry_codec.encode_action(action)))
    assert read == action
    assert type(read) is type(action)


@pytest.mark.parametrize(
    "job", [job(), job(7, flow=17, size=10, arguments=("a",), state=JobState.FAILED, exit_status=-9)]
)
def test_job_round_trip(job: SiteJob) -> None:
    assert from_json(SiteJob, through_json(to_json(job))) == job


def test_template_round_trip() -> None:
    template = make_template(
        qspec={"throughput": {"min": "700 Mbps", "target": "5.5 Gbps"}, "loss": {"max": "0.01 %"}},
        rspec={"compute": {"worker_nodes": 4, "memory": "64 GiB"}},
        tables={"throughput": {"points": [["700 Mbps", 1], ["5.5 Gbps", 10]]}},
        cost={"local_copy": True},
    )
    assert from_json(Template, through_json(to_json(template))) == template


@given(values.entries, values.entries)
def test_slot_texts_are_equal_when_slots_are(one: Entry, other: Entry) -> None:
    assert (entry_codec.slot_text(one.slot) == entry_codec.slot_text(other.slot)) == (one.slot == other.slot)
    again = entry_codec.decode_entry(entry_codec.encode_entry(one))
    assert entry_codec.slot_text(again.slot) == entry_codec.slot_text(one.slot)


def test_actions_with_equal_fields_stay_apart() -> None:
    assert entry_codec.encode_action(SetEthDst("02:00:00:00:0a:01"))["type"] == "set_eth_dst"


def test_unsigned_64_bit_numbers_are_text() -> None:
    body = entry_codec.encode_entry(values.a_rule(dpid=(1 << 64) - 1))
    assert body["dpid"] == "ffffffffffffffff"
    assert body["cookie"] == "0xad10000000000001"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**entry_codec.encode_entry(values.a_rule()), "match": {"ipv9_src": "x"}},
        {**entry_codec.encode_entry(values.a_rule()), "actions": [{"type": "teleport"}]},
        {**entry_codec.encode_entry(values.a_rule()), "actions": [{"type": "output", "colour": 1}]},
        {**entry_codec.encode_entry(values.a_rule()), "dpid": "mu-edge"},
    ],
)
def test_what_is_no_rule_is_refused(body: dict[str, object]) -> None:
    with refused(ValueError):
        entry_codec.decode_entry(body)


def test_an_empty_match_is_an_empty_object() -> None:
    assert entry_codec.encode_match(Match()) == {}
    assert entry_codec.encode_match(Match(ip_proto=0)) == {"ip_proto": 0}
    assert entry_codec.encode_action(Output(2)) == {"type": "output", "port": 2}


@pytest.mark.parametrize("text", ["", "17", "g-17", "f-", "f--1", "f-1x"])
def test_what_is_no_flow_id_is_refused(text: str) -> None:
    with refused(ValueError):
        flow_number(text)
    assert flow_number("f-17") == 17

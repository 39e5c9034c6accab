from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from pydantic_core import from_json as from_database

from adon.flowvisor.rules.action import PushVlan, SetEthDst, SetEthSrc, SetVlan
from adon.flowvisor.rules.rule import Entry
from adon.store import entry_codec
from tests.store import values
from tests.support.refusals import refused


def through_json(body: dict[str, object]) -> dict[str, object]:
    """What a database gives back."""
    read: dict[str, object] = json.loads(json.dumps(body, allow_nan=False))
    return read


@given(values.entries)
def test_entry_round_trip(entry: Entry) -> None:
    read = entry_codec.decode_entry(through_json(entry_codec.encode_entry(entry)))
    assert read == entry
    assert getattr(read, "owner", None) == getattr(entry, "owner", None)


@given(values.entries, values.entries)
def test_slot_texts_are_equal_when_slots_are(one: Entry, other: Entry) -> None:
    assert (entry_codec.slot_text(one.slot) == entry_codec.slot_text(other.slot)) == (one.slot == other.slot)
    again = entry_codec.decode_entry(entry_codec.encode_entry(one))
    assert entry_codec.slot_text(again.slot) == entry_codec.slot_text(one.slot)


def test_actions_with_equal_fields_stay_apart() -> None:
    rule = values.a_rule()
    for action in (SetEthSrc("02:00:00:00:0a:01"), SetEthDst("02:00:00:00:0a:01"), PushVlan(5), SetVlan(5)):
        entry = replace(rule, actions=(action,))
        (read,) = entry_codec.decode_entry(through_json(entry_codec.encode_entry(entry))).actions
        assert (type(read), read) == (type(action), action)


def test_unsigned_64_bit_numbers_are_exact() -> None:
    rule = values.a_rule(dpid=(1 << 64) - 1)
    assert entry_codec.decode_entry(from_database(json.dumps(entry_codec.encode_entry(rule)))) == rule


RULE = entry_codec.encode_entry(values.a_rule())


@pytest.mark.parametrize(
    "body",
    [
        {},
        {name: value for name, value in RULE.items() if name != "dpid"},
        {**RULE, "match": {**RULE["match"], "ipv9_src": "x"}},
        {**RULE, "actions": [{"type": "Teleport"}]},
        {**RULE, "actions": [{"type": "Output", "colour": 1}]},
        RULE["match"],
        17,
    ],
)
def test_what_is_no_rule_is_refused(body: object) -> None:
    with refused(ValueError):
        entry_codec.decode_entry(body)


def test_defaults_are_left_out() -> None:
    assert RULE["match"].keys() == {"type", "in_port", "eth_type", "ip_proto", "ip_src", "tp_dst"}
    assert RULE["actions"] == [{"type": "PushVlan", "vlan": 1701}, {"type": "Output", "port": 2}]

"""Every entry we can make has a meaning in words."""

from __future__ import annotations

import pytest
from hypothesis import given

from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Masked, Match
from adon.flowvisor.meaning import deeds, packets, purpose
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.path_rules import path_rules
from adon.flowvisor.pipeline import Pipeline
from adon.flowvisor.rule import MeterEntry, Rule
from adon.flowvisor.rules import Steered, flow_rules
from tests.flowvisor.network import AL2S, MU, PATHS, ROUTED, SOURCE, TARGET
from tests.store import values


def test_the_first_rule_of_a_flow() -> None:
    first = flow_rules(Steered(17, SOURCE, TARGET, AL2S, PATHS), (FiveTuple(6, 5001),), 500, 60)[0]
    assert isinstance(first, Rule)
    assert purpose(first) == "puts this flow's packets onto its path, at the sender's edge"
    assert packets(first.match) == "TCP from 10.1.0.10 to 10.2.0.10 port 5001 coming in by port 1"
    assert deeds(first) == ("address them to 02:00:00:00:0b:10", "tag them 100", "send them out of port 2")


def test_groups_and_meters() -> None:
    group = path_rules(AL2S, {MU: Pipeline(staged=True)}, {MU: ROUTED})[0]
    assert deeds(group) == (
        "while port 2 is up: tag them 100, send them out of port 2",
        "while port 3 is up: address them to 02:00:00:0a:00:01, send them out of port 3",
    )
    meter = MeterEntry(MU, 40960, 10_000_000, 1_000_000)
    assert purpose(meter) == "drops what is above 10 Mbps"


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (Match(), "every packet"),
        (Match(metadata=Masked(1, 0xFFFFFF)), "labelled 0x1/0xffffff by an earlier table"),
        (Match(ip_proto=47, vlan=3), "IP protocol 47 tagged 3"),
    ],
)
def test_packets(match: Match, text: str) -> None:
    assert packets(match) == text


def test_a_slice_is_named_and_a_later_version_s_kind_is_no_error() -> None:
    assert purpose(Rule(MU, 1, Match(), (), cookie(Kind.FLOW_POLICY, 1, 9))).endswith(", for slice 9")
    assert "more kinds" in purpose(Rule(MU, 1, Match(), (), 0xAD77 << 48))


@given(values.rules)
def test_every_rule_has_words(rule: Rule) -> None:
    assert purpose(rule)
    assert deeds(rule)
    assert packets(rule.match)

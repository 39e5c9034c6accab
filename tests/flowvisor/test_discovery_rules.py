from __future__ import annotations

from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.pipeline import MEASUREMENT_PRIORITY, Pipeline, discovery_rules
from adon.flowvisor.rules.rule import rule_text


def test_one_rule_that_brings_lldp_whole_and_nothing_else() -> None:
    (rule,) = discovery_rules(0xA01, 3)
    assert cookie_owner(rule.cookie) == (Kind.DISCOVERY, 3)
    assert rule_text(rule) == (
        "cookie=0xad04000000000003, table=0, priority=45000,dl_type=0x88cc actions=CONTROLLER:65535"
    )


def test_it_stays_above_all_others_and_within_16_bits() -> None:
    for offset in (-19_000, 0, 25_000):
        (rule,) = discovery_rules(0xA01, 0, Pipeline(priority_offset=offset))
        assert MEASUREMENT_PRIORITY + offset < rule.priority <= 0xFFFF

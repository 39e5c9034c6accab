"""The rules of unannounced flows, and reports in which there are thousands of them."""

from __future__ import annotations

from dataclasses import replace

from adon.config.slices import Flowspace
from adon.flowvisor.action import Output, ToController, Unknown
from adon.flowvisor.connections import Addressed, folded, is_connections, reactive_rules, refusal
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.path import Attachment
from adon.flowvisor.pipeline import Pipeline
from adon.flowvisor.rule import ReportedRule, Rule

HERE = Attachment("mu-dtn", "mu", 0xA01, 4, "10.1.0.10", "02::0a", "02::01", "2001:db8:1::10")
THERE = Addressed("osu", ("10.2.0.10", "2001:db8:2::10"))
OTHERS = (Addressed("mu", ("10.1.0.10",)), THERE)
ALL = Rule(
    0xA01,
    15_002,
    Match(in_port=4, eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", ip_dst="10.2.0.10", tp_dst=5001),
    (Output(2),),
    cookie(Kind.FLOW_CONNECTION, 7),
    idle_timeout=60,
)


def made(**space: object) -> list[Rule]:
    return list(reactive_rules([Flowspace.model_validate(space)], 1, Pipeline(), [HERE], OTHERS))


def test_only_what_an_entry_has_is_shown_per_pair_protocol_and_port() -> None:
    rules = made(protocols=["tcp"], ports=[5001, "6000-6001"], source=["10.1.0.0/16"])
    assert [rule.match.tp_dst for rule in rules] == [5001, 6000, 6001]
    assert {(r.match.in_port, r.match.ip_src, r.match.ip_dst, r.match.ip_proto) for r in rules} == {
        (4, "10.1.0.10", "10.2.0.10", 6)
    }
    assert {rule.actions for rule in rules} == {(ToController(0xFFFF),)}
    assert {rule.cookie for rule in rules} == {cookie(Kind.REACTIVE, 1)}
    assert {rule.priority for rule in rules} == {15_000}


def test_both_versions_of_ip_and_every_protocol_with_ports() -> None:
    rules = made()
    kinds = {(rule.match.eth_type, rule.match.ip_proto, rule.match.tp_dst) for rule in rules}
    assert kinds == {(t, p, None) for t in (0x0800, 0x86DD) for p in (6, 17, 132)}


def test_an_entry_that_no_host_here_may_use_shows_nothing() -> None:
    assert made(source=["192.0.2.0/24"]) == []
    assert made(sites=["osu", "psc"]) == []


def test_a_refusal_lies_between_connections_and_what_is_shown() -> None:
    (shown,) = made(protocols=["tcp"], ports=[5001], source=["10.1.0.0/16"])
    drop = refusal(shown, 5001, 29.2)
    assert shown.priority < drop.priority < ALL.priority
    assert (drop.actions, drop.hard_timeout, drop.match) == ((), 30, shown.match)
    assert refusal(shown, 5001, 1e9).hard_timeout == 0xFFFF


def reported(port: int, octets: int = 100, **fields: object) -> ReportedRule:
    rule = replace(ALL, match=replace(ALL.match, tp_src=port), **fields)  # type: ignore[arg-type]
    return ReportedRule(rule, 1, octets, 5.0 + port)


def test_all_connections_of_a_flow_are_told_as_one_rule() -> None:
    other = reported(9, cookie=cookie(Kind.FLOW_CONNECTION, 8))
    found = folded([reported(1), other, reported(2, 50)])
    assert found.connections == {"f-7": 2, "f-8": 1}
    assert found.rules[0] == ReportedRule(ALL, 2, 150, 7.0)
    assert len(found.rules) == 2


def test_connections_that_do_not_do_the_same_are_not_what_anybody_wants() -> None:
    for order in ((1, 2, 3), (2, 1, 3), (3, 2, 1)):
        items = {1: reported(1), 2: reported(2, actions=(Output(9),)), 3: reported(3)}
        (one,) = folded([items[number] for number in order]).rules
        assert one.rule != ALL
        assert isinstance(one.rule.actions[0], Unknown)
        assert is_connections(one.rule)


def test_refusals_are_left_out_and_everything_else_is_left_alone() -> None:
    drop = ReportedRule(replace(ALL, cookie=cookie(Kind.REFUSED, 0)), 0, 0, 1.0)
    plain = ReportedRule(replace(ALL, cookie=cookie(Kind.FLOW_INGRESS, 7)), 0, 0, 1.0)
    assert folded([drop, plain]).rules == (plain,)

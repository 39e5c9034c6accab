"""Rules with counters as switches report them."""

from __future__ import annotations

from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import ReportedRule, Rule
from adon.flowvisor.topology.path import Attachment

SOURCE = Attachment("a", "mu", 1, 1, "10.1.0.10", "02:00:00:00:0a:0a", "02:00:00:00:0a:01")
DESTINATION = Attachment("b", "osu", 2, 1, "10.2.0.10", "02:00:00:00:0b:0a", "02:00:00:00:0b:01")


def make_reported_rule(
    dpid: int, kind: Kind, octets: int, *, back: bool = False, port: int = 5001
) -> ReportedRule:
    """Return what a switch reports of a rule of flow 1."""
    ends = {"ip_src": SOURCE.address, "ip_dst": DESTINATION.address, "tp_dst": port}
    if back:
        ends = {"ip_src": DESTINATION.address, "ip_dst": SOURCE.address, "tp_src": port}
    rule = Rule(dpid, 30_500, Match(**ends), (Output(1),), cookie(kind, 1), idle_timeout=60)  # type: ignore[arg-type]
    return ReportedRule(rule, octets // 1000, octets, 1.0)

"""Many rules of the kind that the receiving edge has."""

from __future__ import annotations

import random

from adon.flowvisor.rules.action import Output, PopVlan, SetEthDst, SetEthSrc
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, Match
from adon.flowvisor.rules.rule import Rule

DPID = 0xA01
RULES = 10_000


def delivery_rules(seed: int) -> tuple[Rule, ...]:
    """Delivery rules, each of a flow of its own from one of 400 hosts elsewhere to one of 10 here.

    Port, VLAN, both addresses and a data port are matched, the tag is taken off, both MACs are rewritten; no
    time-outs, so that emptying the table makes no messages.
    """
    chance = random.Random(seed)
    senders = [
        f"10.{site}.{lan}.{host}" for site in range(2, 12) for lan in range(4) for host in range(10, 20)
    ]
    receivers = [f"10.1.0.{host}" for host in range(10, 20)]
    return tuple(
        Rule(
            DPID,
            30_500,
            Match(
                in_port=2,
                vlan=100,
                eth_type=ETH_TYPE_IPV4,
                ip_proto=6,
                ip_src=chance.choice(senders),
                ip_dst=chance.choice(receivers),
                tp_dst=number + 1024,
            ),
            (PopVlan(), SetEthSrc("02:00:00:00:0a:01"), SetEthDst("02:00:00:00:0a:10"), Output(1)),
            cookie(Kind.FLOW_DELIVERY, number),
        )
        for number in range(RULES)
    )

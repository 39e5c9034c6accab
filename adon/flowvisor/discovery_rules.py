"""The rule that brings hellos to the controller (R18): LLDP, whole, and nothing else.

One per switch, above every other rule of ours, so that neither a flow's rule nor the campus's own
forwarding can swallow a hello.  Its cookie is how a packet-in is known to be asked for.
"""

from __future__ import annotations

from adon.flowvisor.lldp import ETH_TYPE_LLDP
from adon.flowvisor.rule import Kind, Match, Rule, ToController, cookie

DISCOVERY_PRIORITY = 45_000
HIGHEST_PRIORITY = 0xFFFF
WHOLE_FRAME = 0xFFFF
"""OFPCML_NO_BUFFER: the switch keeps nothing back (OpenFlow 1.3.5, 7.2.5)."""


def discovery_rules(dpid: int, index: int, *, offset: int = 0) -> tuple[Rule, ...]:
    """What a switch needs so that links can be found at its ports.

    :param index: the switch's place in the configuration, which its cookie names.
    :param offset: shifts all our priority bands (``policy.priority_offset``, R7), as far as there is room.
    """
    return (
        Rule(
            dpid=dpid,
            priority=min(HIGHEST_PRIORITY, DISCOVERY_PRIORITY + offset),
            match=Match(eth_type=ETH_TYPE_LLDP),
            actions=(ToController(WHOLE_FRAME),),
            cookie=cookie(Kind.DISCOVERY, index),
        ),
    )

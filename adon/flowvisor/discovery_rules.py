"""The rule that brings hellos to the controller (R18): LLDP, whole, and nothing else.

One per switch, above every other rule of ours, so that neither a flow's rule nor the campus's own
forwarding can swallow a hello.  Its cookie is how a packet-in is known to be asked for.
"""

from __future__ import annotations

from adon.flowvisor.action import ToController
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.lldp import ETH_TYPE_LLDP
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import DISCOVERY_PRIORITY, SINGLE, Pipeline
from adon.flowvisor.rule import Rule

HIGHEST_PRIORITY = 0xFFFF
WHOLE_FRAME = 0xFFFF
"""OFPCML_NO_BUFFER: the switch keeps nothing back (OpenFlow 1.3.5, 7.2.5)."""


def discovery_rules(dpid: int, index: int, pipeline: Pipeline = SINGLE) -> tuple[Rule, ...]:
    """What a switch needs so that links can be found at its ports.

    :param index: the switch's place in the configuration, which its cookie names.
    :param pipeline: says our first table, and shifts our priority bands, as far as there is room (R7, R8).
    """
    return (
        Rule(
            dpid=dpid,
            priority=min(HIGHEST_PRIORITY, pipeline.at(DISCOVERY_PRIORITY)),
            match=Match(eth_type=ETH_TYPE_LLDP),
            actions=(ToController(WHOLE_FRAME),),
            cookie=cookie(Kind.DISCOVERY, index),
            table=pipeline.classification,
        ),
    )

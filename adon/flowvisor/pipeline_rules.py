"""What a switch needs in our tables before any path or flow: the table misses.

In the staged pipeline a packet without policy goes on to transit; there, one without a label is dropped
(OpenFlow's own miss): none gets so far.  In the first table the campus's forwarding stays as it is
unless ``table_miss`` says that ours is to be there.
"""

from __future__ import annotations

from typing import Literal

from adon.flowvisor.action import Normal
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import MISS_PRIORITY, Pipeline
from adon.flowvisor.rule import Rule

Miss = Literal["keep", "normal", "drop"]


def pipeline_rules(dpid: int, index: int, pipeline: Pipeline, miss: Miss) -> tuple[Rule, ...]:
    """The table misses of one switch.

    :param index: the switch's place in the configuration: owner in the cookies.
    :param miss: what happens to packets that are nobody's: ``keep`` makes no rule.
    """
    ours = cookie(Kind.PIPELINE, index)
    rules: list[Rule] = []
    if miss != "keep":
        actions = (Normal(),) if miss == "normal" else ()
        rules.append(Rule(dpid, MISS_PRIORITY, Match(), actions, ours, table=pipeline.classification))
    if pipeline.staged:
        goto = pipeline.transit
        rules.append(Rule(dpid, MISS_PRIORITY, Match(), (), ours, table=pipeline.policy, goto=goto))
    return tuple(rules)

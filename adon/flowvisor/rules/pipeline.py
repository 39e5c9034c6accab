"""The tables, priority bands and numbers of our rules: one page an operator can hold against a dump.

Two forms of the same pipeline (OpenFlow 1.3.5, 5.1).  **Single**: everything in one table and in our priority
bands, for a switch that somebody else (NORMAL forwarding, Faucet) drives too.  **Staged**: three tables in a
row, numbered from ``table_offset``::

      classification                policy                      transit
    +--------------------+      +----------------------+      +-----------------------+
    | whose packet is it |      | what may it have     |      | how does it get there |
    | match: 5-tuple     |----->| match: metadata      |----->| match: metadata       |----> port, group
    | write: label,      |      |   (policy number)    |      |   (path label)        |
    |   policy number    |      | meter, DSCP, queue   |      | VLAN, next hop, port  |
    +--------------------+      +----------------------+      +-----------------------+
             |  a flow without policy ------------------------------------^
             v  miss: as ``table_miss`` says; "keep" leaves the campus's own rules alone

In the staged form a move changes one number in one classification rule; the way of a whole path changes
in one transit rule or group.  Delivery and measurement rules need no later table.

======  ==============================================================================================
 bits   metadata
======  ==============================================================================================
 0-23   path label: twice the path's index, + 1 against its order of sites, + 1; 0 for none
24-63   policy number: the flow's number; 0 for none
======  ==============================================================================================

==========  ==========================================================================================
 priority   rules (R7); ``policy.priority_offset`` shifts all but the table miss
==========  ==========================================================================================
45000       discovery: LLDP of ours to the controller
40000       measurement: a pair of test addresses is pinned to one path, whatever else is installed
35000       transit: what arrives on a path's VLAN at a switch in the middle
30000-30999 flows, by their priority; policy and path labels in the later tables
20000       learning: the first packets of a flow that did not declare its ports
15002       connections of unannounced flows; only where the policy opts in, as the next two
15001       refused: unannounced packets that are dropped for a while
15000       reactive: unannounced packets that a template may match
    0       table miss; below and between: everything of the campus, not ours
==========  ==========================================================================================

Groups and meters have no cookie: ours are known by their number.  Only these are ever touched (R1).

What a switch needs in our tables before any path or flow: the table misses.

In the staged pipeline a packet without policy goes on to transit; there, one without a label is dropped
(OpenFlow's own miss): none gets so far.  In the first table the campus's forwarding stays as it is
unless ``table_miss`` says that ours is to be there.

The rule that brings hellos to the controller (R18): LLDP, whole, and nothing else.

One per switch, above every other rule of ours, so that neither a flow's rule nor the campus's own
forwarding can swallow a hello.  Its cookie is how a packet-in is known to be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adon.config import Configuration
from adon.flowvisor.rules.action import Normal, ToController
from adon.flowvisor.rules.cookie import Kind, cookie, is_our_cookie, owner_name
from adon.flowvisor.rules.match import ETH_TYPE_LLDP, Masked, Match
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule
from adon.flowvisor.topology.path import CandidatePath

DISCOVERY_PRIORITY = 45_000
MEASUREMENT_PRIORITY = 40_000
TRANSIT_PRIORITY = 35_000
FLOW_PRIORITY = 30_000
LEARN_PRIORITY = 20_000
CONNECTION_PRIORITY = 15_002
REFUSED_PRIORITY = 15_001
REACTIVE_PRIORITY = 15_000
MISS_PRIORITY = 0

LABEL_MASK = (1 << 24) - 1
POLICY_MASK = (1 << 64) - 1 - LABEL_MASK

GROUP_PREFIX, GROUP_MASK = 0xAD << 24, 0xFF << 24
METER_FIRST, METER_COUNT = 0xA000, 0x1000
"""Meters 40960 to 45055 are ours: within what Open vSwitch and common hardware count up to."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where our rules go in one switch; see the module's text.

    :param table_offset: the number of our first table (R8).
    :param priority_offset: shifts our bands (R7).
    """

    staged: bool = False
    table_offset: int = 0
    priority_offset: int = 0

    @property
    def classification(self) -> int:
        """The table that packets enter ours by."""
        return self.table_offset

    @property
    def policy(self) -> int:
        """The table of meters, queues and DSCP."""
        return self.table_offset + 1 if self.staged else self.table_offset

    @property
    def transit(self) -> int:
        """The table that knows paths."""
        return self.table_offset + 2 if self.staged else self.table_offset

    @property
    def tables(self) -> tuple[int, ...]:
        """Every table of ours, in order."""
        return tuple(dict.fromkeys((self.classification, self.policy, self.transit)))

    def at(self, band: int) -> int:
        """The priority of a band in this switch."""
        return band + self.priority_offset


SINGLE = Pipeline()


def label(path: CandidatePath) -> Masked:
    """The metadata that says which path a packet takes, and which way along it."""
    against = path.key.source > path.key.destination
    return Masked((path.index << 1 | against) + 1, LABEL_MASK)


def policy_number(flow_number: int) -> Masked:
    """The metadata that says whose policy a packet is under."""
    return Masked(flow_number << 24 & POLICY_MASK, POLICY_MASK)


def both(one: Masked, other: Masked) -> Masked:
    """Two parts of the metadata as one."""
    return Masked(one.value | other.value, one.mask | other.mask)


def group_number(path_index: int) -> int:
    """The group that a path leads into at its edge."""
    return GROUP_PREFIX | path_index


def owner_of(entry: Entry) -> str:
    """Whose an entry is, as far as it says itself: ``f-17``, ``path-0``, ``switch-2``.

    A meter that a switch reports says only its number (``meter-40961``): whose it is knows who gave it out.
    """
    match entry:
        case Rule():
            return owner_name(entry.cookie)
        case GroupEntry():
            ours = entry.number & GROUP_MASK == GROUP_PREFIX
            return f"path-{entry.number & ~GROUP_MASK}" if ours else f"group-{entry.number}"
        case MeterEntry():
            return f"meter-{entry.number}" if entry.owner is None else f"f-{entry.owner}"


def is_ours(entry: Entry) -> bool:
    """Whether an entry that a switch reports is ours to touch."""
    match entry:
        case Rule():
            return is_our_cookie(entry.cookie)
        case GroupEntry():
            return entry.number & GROUP_MASK == GROUP_PREFIX
        case MeterEntry():
            return METER_FIRST <= entry.number < METER_FIRST + METER_COUNT


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


_MOST_URGENT = 0xFFFF
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
            priority=min(_MOST_URGENT, pipeline.at(DISCOVERY_PRIORITY)),
            match=Match(eth_type=ETH_TYPE_LLDP),
            actions=(ToController(WHOLE_FRAME),),
            cookie=cookie(Kind.DISCOVERY, index),
            table=pipeline.classification,
        ),
    )


def pipelines_of(configuration: Configuration) -> dict[int, Pipeline]:
    """Return, per datapath id, where our rules go in each configured switch."""
    shift = configuration.policy.priority_offset
    return {
        switch.dpid: Pipeline(switch.pipeline == "staged", switch.table_offset, shift)
        for switch in configuration.switches.values()
    }

"""Tables, priority bands and numbers of ADON's rules, as a reference for dumps of switches.

The pipeline has two forms (OpenFlow 1.3.5, 5.1).  **Single**: all rules in one table and in ADON's priority
bands, for a switch with other control (NORMAL forwarding, Faucet).  **Staged**: three consecutive tables,
numbered from ``table_offset``::

      classification                policy                      transit
    +--------------------+      +----------------------+      +-----------------------+
    | owner of a packet  |      | treatment of packets |      | route of packets      |
    | match: 5-tuple     |----->| match: metadata      |----->| match: metadata       |----> port, group
    | write: label,      |      |   (policy number)    |      |   (path label)        |
    |   policy number    |      | meter, DSCP, queue   |      | VLAN, next hop, port  |
    +--------------------+      +----------------------+      +-----------------------+
             |  a flow without policy ------------------------------------^
             v  miss: by ``table_miss``; "keep" does not change the campus's own rules

In the staged form a reroute changes one number in one classification rule; one transit rule or group changes
the port of a whole path.  Delivery and measurement rules need no later table.

======  ==============================================================================================
 bits   metadata
======  ==============================================================================================
 0-23   path label: twice the path's index, + 1 against its order of sites, + 1; 0 for none
24-63   policy number: the flow's number; 0 for none
======  ==============================================================================================

==========  ==========================================================================================
 priority   rules (R7); ``policy.priority_offset`` shifts all but the table miss
==========  ==========================================================================================
45000       discovery: LLDP probes to the controller
40000       measurement: a pair of test addresses is pinned to one path, above all flows
35000       transit: packets on a path's VLAN at a switch between the edges
30000-30999 flows, by their priority; policy and path labels in the later tables
20000       learning: the first packets of a flow that did not declare its ports
15002       connections of unregistered flows; only if the policy opts in, as the next two
15001       refused: packets of unregistered flows that are dropped for a time
15000       reactive: packets of unregistered flows that a template may match
    0       table miss; below and between: rules of the campus
==========  ==========================================================================================

Groups and meters have no cookie: their number identifies ADON's, and only these are changed (R1).

Table misses are installed before any path or flow.  In the staged pipeline a packet without policy continues
to transit, where OpenFlow's own miss drops packets without a label.  In the first table the campus's
forwarding stays unchanged unless ``table_miss`` states another action.

Each switch has one discovery rule, which sends whole LLDP frames to the controller (R18).  It is above every
other rule, so that neither a flow's rule nor the campus's own forwarding takes a probe.  Its cookie
identifies the packet-ins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adon.config import Configuration
from adon.flowvisor.rules.action import Normal, ToController
from adon.flowvisor.rules.cookie import Kind, cookie, is_our_cookie, owner_name
from adon.flowvisor.rules.match import ETH_TYPE_LLDP, MaskedNumber, Match
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
"""Meters 40960 to 45055 are ADON's, within the range of Open vSwitch and common hardware."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Tables and priorities of ADON's rules in one switch.

    :param table_offset: number of the first table (R8).
    :param priority_offset: added to all bands (R7).
    """

    staged: bool = False
    table_offset: int = 0
    priority_offset: int = 0

    @property
    def classification(self) -> int:
        """First table of ADON's rules."""
        return self.table_offset

    @property
    def policy(self) -> int:
        """Table of meters, queues and DSCP."""
        return self.table_offset + 1 if self.staged else self.table_offset

    @property
    def transit(self) -> int:
        """Table of paths."""
        return self.table_offset + 2 if self.staged else self.table_offset

    @property
    def tables(self) -> tuple[int, ...]:
        """All tables of ADON's rules, in order."""
        return tuple(dict.fromkeys((self.classification, self.policy, self.transit)))

    def at(self, band: int) -> int:
        """Return the priority of a band in this switch."""
        return band + self.priority_offset


SINGLE = Pipeline()


def label(path: CandidatePath) -> MaskedNumber:
    """Return the metadata of a path and its direction."""
    against = path.key.source > path.key.destination
    return MaskedNumber((path.index << 1 | against) + 1, LABEL_MASK)


def policy_number(flow_number: int) -> MaskedNumber:
    """Return the metadata of a flow's policy."""
    return MaskedNumber(flow_number << 24 & POLICY_MASK, POLICY_MASK)


def both(one: MaskedNumber, other: MaskedNumber) -> MaskedNumber:
    """Combine two parts of the metadata."""
    return MaskedNumber(one.value | other.value, one.mask | other.mask)


def group_number(path_index: int) -> int:
    """Return the group number of a path at its edge."""
    return GROUP_PREFIX | path_index


def owner_of(entry: Entry) -> str:
    """Return the owner of an entry: ``f-17``, ``path-0``, ``switch-2``.

    A reported meter has only a number (``meter-40961``), which does not name its flow.
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
    """Return whether a reported entry is ADON's."""
    match entry:
        case Rule():
            return is_our_cookie(entry.cookie)
        case GroupEntry():
            return entry.number & GROUP_MASK == GROUP_PREFIX
        case MeterEntry():
            return METER_FIRST <= entry.number < METER_FIRST + METER_COUNT


Miss = Literal["keep", "normal", "drop"]


def pipeline_rules(dpid: int, index: int, pipeline: Pipeline, miss: Miss) -> tuple[Rule, ...]:
    """Return the table misses of one switch.

    :param index: the switch's position in the configuration: owner in the cookies.
    :param miss: action for packets without a rule; ``keep`` creates no rule.
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
"""OFPCML_NO_BUFFER: the switch sends whole packets (OpenFlow 1.3.5, 7.2.5)."""


def discovery_rules(dpid: int, index: int, pipeline: Pipeline = SINGLE) -> tuple[Rule, ...]:
    """Return the rule that sends LLDP frames to the controller.

    :param index: the switch's position in the configuration: owner in the cookie.
    :param pipeline: states the first table and the offset of priorities; the priority is at most 65535 (R7,
        R8).
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
    """Return the pipeline of each configured switch by datapath id."""
    shift = configuration.policy.priority_offset
    return {
        switch.dpid: Pipeline(switch.pipeline == "staged", switch.table_offset, shift)
        for switch in configuration.switches.values()
    }

"""Which rules steer a flow, and the measurements, over their paths.

Joins what the broker knows of a flow (request, path chosen, connections learnt) with the topology as
switches report it, and hands them to :mod:`adon.flowvisor.rules`.  As long as a switch has not reported a
port that is needed there are no rules: that is said by None or left out, it is no error.  Functions of
values only.
"""

from __future__ import annotations

from adon.broker.choice import Choice, Need
from adon.broker.flow import Flow
from adon.broker.intake import PROTOCOLS
from adon.errors import Unavailable
from adon.flowvisor.path import Attachment
from adon.flowvisor.rule import Rule
from adon.flowvisor.rules import flow_rules, learn_rules, measurement_rules
from adon.flowvisor.topology import Topology
from measurement.model import PathKey


def attached(flow: Flow, topology: Topology) -> tuple[Attachment, Attachment] | None:
    """Where a flow's hosts hang; None as long as a switch has not reported the port of one."""
    try:
        return topology.attachment(flow.request.source), topology.attachment(flow.request.destination)
    except Unavailable:
        return None


def rules_for_flow(
    flow: Flow, need: Need, choice: Choice, priority: int, topology: Topology
) -> tuple[Rule, ...] | None:
    """The rules of a flow on its path, the other candidates standing by; None without a port they need.

    :param priority: the flow's, 0..999.
    """
    ends, chosen = attached(flow, topology), choice.paths.get(str(flow.path))
    if ends is None or chosen is None:
        return None
    standby = tuple(choice.paths.values())
    offset = topology.configuration.policy.priority_offset
    rules: tuple[Rule, ...] = ()
    if not flow.request.ports:
        protocol = PROTOCOLS[need.template.protocol]
        rules = learn_rules(flow.number, *ends, protocol, chosen, standby, offset=offset)
    if flow.tuples:
        idle = int(need.template.selection.idle_timeout)
        rules += flow_rules(flow.number, *ends, flow.tuples, chosen, standby, priority, idle, offset=offset)
    return rules


def rules_for_measurements(topology: Topology) -> dict[str, tuple[Rule, ...]]:
    """Per owner (``path-0``), the rules that pin measurement addresses to the path they are to measure.

    Of a test whose ends are not both known yet there are none.
    """
    offset = topology.configuration.policy.priority_offset
    by_owner: dict[str, tuple[Rule, ...]] = {}
    for test in topology.configuration.measurements.tests:
        path = topology.candidate(PathKey(test.path, test.from_, test.to)).path
        if path is None:
            continue
        try:
            source, destination = topology.test_ends(test)
        except Unavailable:
            continue
        rules = measurement_rules(source, destination, path, offset=offset)
        known = by_owner.get(f"path-{path.index}", ())
        by_owner[f"path-{path.index}"] = known + tuple(r for r in rules if r not in known)
    return by_owner

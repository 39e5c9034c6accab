"""Slice of a flow, and the limits of the slice, which are checked before rules are compiled.

The check has two parts.  A permanent violation (a requester who is not a member, connections outside the
flowspace, a priority or DSCP outside the slice) refuses the request.  A *temporary* one (an exhausted share
of a path, or budget of rules) excludes a path from the flow's candidates, with the reason; a flow without
candidates waits in the queue.  The field and code of a problem name the limit of the slice.

Source: FlowVisor (Sherwood et al., 2009): flowspace, bandwidth and table entries per slice; R9.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network

from adon.config.slices import Slice
from adon.errors import Problem
from adon.flowspace import Box, build_boxes, find_outside
from adon.flowvisor.topology.path import FiveTuple, dpid_text
from adon.marking import dscp_text
from adon.units import format_rate, format_ratio


@dataclass(frozen=True, slots=True)
class Requester:
    """Name, roles and groups of a requester."""

    name: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SliceNeeds:
    """Request of a flow to its slice.

    :param space: its connections.
    :param ends: source and destination site.
    :param dscp: mark of its packets, if any.
    :param bound: throughput bound of its QSpec in bits/s; 0 for none.
    """

    space: tuple[Box, ...]
    ends: tuple[str, str]
    priority: int
    dscp: int | None = None
    bound: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources of the other flows of a slice.

    :param bandwidth: sum of their throughput bounds in the same direction per path, in bits/s.
    :param rules: number of rules per datapath id.
    """

    bandwidth: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[int, int] = field(default_factory=dict)


def list_connections(
    source: Collection[str], destination: Collection[str], protocol: int, tuples: Collection[FiveTuple]
) -> tuple[Box, ...]:
    """Return the connections of a flow between two hosts, in every version of IP that both have.

    :param source, destination: their addresses.
    :param tuples: declared connections; all ports if empty.
    """
    ends = [ip_network(each) for each in source], [ip_network(each) for each in destination]
    ports = [(each.destination_port, each.destination_port) for each in tuples] or [(1, 65_535)]
    return build_boxes(*ends, [protocol], ports)


def select_slice(
    slices: Mapping[str, Slice], who: Requester, named: str | None, ask: SliceNeeds
) -> str | Problem:
    """Return the slice of a requester's flow.

    A named slice requires membership.  Without a name it is the requester's only slice, or the only one that
    may have the flow.
    """
    mine = [name for name, one in slices.items() if one.members.includes(who.name, who.roles, who.groups)]
    if named is not None:
        if named in mine:
            return named
        return Problem("slice", f"{who.name} is not a member of slice {named!r}", code="forbidden")
    if not mine:
        return Problem("slice", f"{who.name} is not a member of any slice", code="forbidden")
    if len(mine) == 1:
        return mine[0]
    fitting = [name for name in mine if permanent_violation(name, slices[name], ask) is None]
    if len(fitting) == 1:
        return fitting[0]
    which = "several of them allow" if fitting else "none of them allows"
    cause = f"{who.name} is a member of {', '.join(mine)}, and {which} the flow; name one of them"
    return Problem("slice", cause, code="forbidden")


def permanent_violation(name: str, of: Slice, ask: SliceNeeds) -> Problem | None:
    """Return the permanent violation of a slice's limits by a flow, or None."""
    low, high = of.priorities
    if not low <= ask.priority <= high:
        cause = f"{ask.priority} is out of range; slice {name!r} has the priorities {low} to {high}"
        return Problem("priority", cause, code="out-of-range")
    if ask.dscp is not None and of.dscp is not None and ask.dscp not in of.dscp:
        allowed = ", ".join(map(dscp_text, of.dscp)) or "none"
        cause = f"slice {name!r} does not allow {dscp_text(ask.dscp)}; it allows {allowed}"
        return Problem("marking.dscp", cause, code="unknown-value")
    return _check_flowspace(name, of, ask, None)


def find_violation(
    name: str, of: Slice, ask: SliceNeeds, path: str, capacity: float, usage: Usage, rules: Mapping[int, int]
) -> Problem | None:
    """Return the present violation of a slice's limits by a flow on one path, or None.

    :param capacity: of the path, in bits/s.
    :param usage: resources of the slice's other flows.
    :param rules: number of rules of the flow per datapath id.
    """
    refused = permanent_violation(name, of, ask) or _check_flowspace(name, of, ask, path)
    if refused is not None:
        return refused
    share, used = of.share_of(path), usage.bandwidth.get(path, 0.0)
    if share == 0.0:
        return Problem("share", f"slice {name!r} has no share of {path}", code="missing")
    if used + ask.bound > share * capacity:
        cause = f"slice {name!r} has {format_ratio(share)} of {path}, {format_rate(share * capacity)}"
        cause = f"{cause}; its flows use {format_rate(used)} and this flow needs {format_rate(ask.bound)}"
        return Problem("share", cause, code="out-of-range")
    return _check_rule_budget(name, of, usage, rules)


def _check_flowspace(name: str, of: Slice, ask: SliceNeeds, path: str | None) -> Problem | None:
    """Return the problem of connections outside the flowspace (of one path, if given), or None."""
    reached = [box for space in of.flowspace if space.reaches(ask.ends, path) for box in space.boxes]
    left = find_outside(ask.space, reached)
    if left is None:
        return None
    where = f" on {path}" if path is not None else ""
    cause = f"the flowspace of slice {name!r} does not contain {left.example()}{where}"
    return Problem("slice", cause, code="outside-flowspace")


def _check_rule_budget(name: str, of: Slice, usage: Usage, rules: Mapping[int, int]) -> Problem | None:
    if of.rule_budget is None:
        return None
    for dpid, needed in sorted(rules.items()):
        held = usage.rules.get(dpid, 0)
        if held + needed > of.rule_budget:
            cause = f"slice {name!r} has {of.rule_budget} rules per switch"
            cause = f"{cause}; in {dpid_text(dpid)} its flows use {held} and this flow needs {needed}"
            return Problem("rule_budget", cause, code="out-of-range")
    return None

"""Which slice a flow belongs to, and whether the slice may have it: asked before any rule is compiled.

The check has two halves.  What can never be (somebody who is no member, connections outside the
flowspace, a priority or DSCP that is not the slice's) refuses the request.  What cannot be *now* (the share
of a path is used up, or the budget of rules) takes a path from the flow's candidates, with the reason; the
flow waits if none is left.  The field and code of a problem name the limit of the slice.

Sources: FlowVisor (Sherwood et al., 2009): flowspace, bandwidth and table entries per slice; R9.  Values
and functions only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network

from adon.config.slices import Slice
from adon.errors import Problem
from adon.flowspace import Box, boxes, outside
from adon.flowvisor.topology.path import FiveTuple, dpid_text
from adon.marking import dscp_text
from adon.units import format_rate, format_ratio


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who asks, as far as membership goes."""

    name: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ask:
    """What a flow asks of its slice.

    :param space: its connections.
    :param ends: the sites it goes from and to.
    :param dscp: what its packets are to be marked with, if with anything.
    :param bound: the throughput that its QSpec bounds, in bits/s; 0 for none.
    """

    space: tuple[Box, ...]
    ends: tuple[str, str]
    priority: int
    dscp: int | None = None
    bound: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What the other flows of a slice hold.

    :param bandwidth: per path, the sum of their throughput bounds the same way, in bits/s.
    :param rules: per datapath id.
    """

    bandwidth: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[int, int] = field(default_factory=dict)


def connections(
    source: Collection[str], destination: Collection[str], protocol: int, tuples: Collection[FiveTuple]
) -> tuple[Box, ...]:
    """The connections of a flow between two hosts, in every version of IP that both have.

    :param source, destination: their addresses.
    :param tuples: those declared; with none, every port counts.
    """
    ends = [ip_network(each) for each in source], [ip_network(each) for each in destination]
    ports = [(each.destination_port, each.destination_port) for each in tuples] or [(1, 65_535)]
    return boxes(*ends, [protocol], ports)


def slice_of(slices: Mapping[str, Slice], who: Who, named: str | None, ask: Ask) -> str | Problem:
    """The slice that somebody's flow belongs to.

    The one they named, if they are a member; else their only one; else the only one of theirs that may
    have the flow.
    """
    mine = [name for name, one in slices.items() if one.members.includes(who.name, who.roles, who.groups)]
    if named is not None:
        if named in mine:
            return named
        return Problem("slice", f"{who.name} is no member of a slice {named!r}", code="forbidden")
    if not mine:
        return Problem("slice", f"{who.name} is a member of no slice", code="forbidden")
    if len(mine) == 1:
        return mine[0]
    fitting = [name for name in mine if never(name, slices[name], ask) is None]
    if len(fitting) == 1:
        return fitting[0]
    which = "each may have it" if fitting else "none may have it"
    cause = f"{who.name} is a member of {', '.join(mine)}, and {which}: name one"
    return Problem("slice", cause, code="forbidden")


def never(name: str, of: Slice, ask: Ask) -> Problem | None:
    """Why a slice may not have a flow whatever becomes of others; None if it may."""
    low, high = of.priorities
    if not low <= ask.priority <= high:
        cause = f"slice {name!r} has the priorities {low} to {high}, not {ask.priority}"
        return Problem("priority", cause, code="out-of-range")
    if ask.dscp is not None and of.dscp is not None and ask.dscp not in of.dscp:
        allowed = ", ".join(map(dscp_text, of.dscp)) or "none"
        cause = f"slice {name!r} may mark with {allowed}, not with {dscp_text(ask.dscp)}"
        return Problem("marking.dscp", cause, code="unknown-value")
    return _beyond(name, of, ask, None)


def verdict(
    name: str, of: Slice, ask: Ask, path: str, capacity: float, usage: Usage, rules: Mapping[int, int]
) -> Problem | None:
    """Why a slice may not have a flow on one path now; None if it may.

    :param capacity: of the path, in bits/s.
    :param usage: what the slice's other flows hold.
    :param rules: how many the flow would need, per datapath id.
    """
    refused = never(name, of, ask) or _beyond(name, of, ask, path)
    if refused is not None:
        return refused
    share, used = of.share_of(path), usage.bandwidth.get(path, 0.0)
    if share == 0.0:
        return Problem("share", f"slice {name!r} has no share of {path}", code="missing")
    if used + ask.bound > share * capacity:
        cause = f"slice {name!r} has {format_ratio(share)} of {path}, {format_rate(share * capacity)}"
        cause = f"{cause}; its flows hold {format_rate(used)} and this one needs {format_rate(ask.bound)}"
        return Problem("share", cause, code="out-of-range")
    return _over_budget(name, of, usage, rules)


def _beyond(name: str, of: Slice, ask: Ask, path: str | None) -> Problem | None:
    """Whether some of a flow's connections are outside the flowspace (on this path, if one is given)."""
    reached = [box for space in of.flowspace if space.reaches(ask.ends, path) for box in space.boxes]
    left = outside(ask.space, reached)
    if left is None:
        return None
    where = f" on {path}" if path is not None else ""
    cause = f"slice {name!r} does not have {left.example()}{where}"
    return Problem("slice", cause, code="outside-flowspace")


def _over_budget(name: str, of: Slice, usage: Usage, rules: Mapping[int, int]) -> Problem | None:
    if of.rule_budget is None:
        return None
    for dpid, needed in sorted(rules.items()):
        held = usage.rules.get(dpid, 0)
        if held + needed > of.rule_budget:
            cause = f"slice {name!r} has {of.rule_budget} rules per switch"
            cause = f"{cause}; in {dpid_text(dpid)} its flows hold {held} and this one needs {needed}"
            return Problem("rule_budget", cause, code="out-of-range")
    return None

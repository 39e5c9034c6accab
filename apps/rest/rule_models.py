"""Views of rules: listed, compared, explained, and traced."""

from __future__ import annotations

from pydantic import Field

from apps.rest.models import ListView, NewestFirstView, View
from apps.rest.times import Time


class RuleView(View):
    """A rule that should be in a switch, and how far it has come."""

    dpid: str
    state: str
    error: str
    owner: str
    kind: str
    text: str = Field(description="as ovs-ofctl -O OpenFlow13 prints it")


class RuleList(ListView):
    """Rules by switch and priority."""

    items: list[RuleView]


class ExplainedRule(RuleView):
    """A rule with what it is for, which packets it takes and what it does with them."""

    purpose: str
    packets: str
    deeds: list[str]


class Explanation(View):
    """Why some rules are there.

    :param because: the decision's reason in words; None if no decision is behind them.
    """

    owner: str
    because: str | None
    decision: str | None
    requester: str | None
    items: list[ExplainedRule]


class SwitchDifference(View):
    """How one switch differed from what should be when its rules were last read."""

    name: str
    dpid: str
    connected: bool
    missing: list[str]
    wrong: list[str] = Field(description="what should stand in a slot that holds something else of ours")
    extra: list[str]
    blocked: list[str] = Field(description="what cannot be put in: a rule that is not ours is in its place")


class DifferenceList(ListView):
    """Desired against reported rules, per switch; nothing is changed by asking."""

    at: Time
    items: list[SwitchDifference]


class Synchronised(View):
    """The switches that are being compared and repaired now."""

    switches: list[str] = Field(description="by name")


class HeaderView(View):
    """The headers of a packet that our rules look at or change."""

    eth_src: str
    eth_dst: str
    vlan: int | None
    ip_src: str
    ip_dst: str
    ip_proto: int
    tp_src: int
    tp_dst: int
    dscp: int


class StepView(View):
    """One table: the rule that took the packet, whose it is, and why it is there."""

    table: int
    rule: str | None
    owner: str | None
    why: str


class LegView(View):
    """A packet in one switch; ``path`` brought it there."""

    switch: str
    dpid: str
    in_port: int
    path: str
    packet: HeaderView
    steps: list[StepView]
    outputs: list[int] = Field(description="port numbers; -1 the controller, -2 NORMAL")


class EndView(View):
    """How one copy of the packet ended."""

    fate: str
    text: str
    switch: str
    packet: HeaderView


class TraceView(View):
    """Where a packet would go now, by what the switches hold."""

    packet: HeaderView
    legs: list[LegView]
    ends: list[EndView]
    paths: list[str]
    copies: int = Field(description="copies that go to the controller")


class SentView(View):
    """One change that was sent to a switch, and what led to it."""

    at: Time
    dpid: str
    op: str
    owner: str
    cause: str
    batch: str
    text: str


class SentList(NewestFirstView):
    """What was sent, the newest first."""

    items: list[SentView]

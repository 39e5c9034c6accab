"""Flow rules: listed, explained, compared with what switches report, and sent."""

from __future__ import annotations

from pydantic import Field

from adon.api.base import ListView, NewestFirstView, View
from adon.api.times import Time


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

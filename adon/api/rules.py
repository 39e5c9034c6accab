"""Flow rules: listed, explained, compared with what switches report, and sent."""

from __future__ import annotations

from pydantic import Field

from adon.api.base import InOrder, ListAtTime, ListView, NewestFirst, Query, Time, View


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


class DifferenceList(ListAtTime):
    """Desired against reported rules, per switch; nothing is changed by asking."""

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


class SentList(ListView):
    """What was sent, the newest first."""

    items: list[SentView]


class RuleQuery(InOrder):
    """Filters of rules."""

    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    flow: str | None = Field(default=None, description="rules of this flow (f-17)")


class ExplainQuery(Query):
    """Owner of the rules to explain."""

    of: str = Field(
        pattern=r"^(f-\d{1,18}|path-\d{1,9}|switch-\d{1,9}|0x[0-9a-f]{1,16})$",
        description="a flow (f-17), another owner (path-0, switch-2), or a cookie as a switch prints it",
    )


class SentQuery(NewestFirst):
    """Filters of messages to switches."""

    flow: str | None = Field(default=None, description="messages for this flow (f-17)")
    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    cause: str | None = Field(default=None, max_length=64, description="the event that caused the message")
    limit: int = Field(default=100, ge=1, le=1000)

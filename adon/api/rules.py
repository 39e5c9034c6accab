"""Flow rules: listed, explained, compared with what switches report, and sent."""

from __future__ import annotations

from pydantic import Field

from adon.api.base import InOrder, ListAtTime, ListView, NewestFirst, Query, Time, View


class RuleView(View):
    """Desired rule of a switch, with its state."""

    dpid: str
    state: str
    error: str
    owner: str
    kind: str
    text: str = Field(description="text of the rule as ovs-ofctl -O OpenFlow13 prints it")


class RuleList(ListView):
    """Rules by switch and priority."""

    items: list[RuleView]


class RuleExplanation(RuleView):
    """Rule with its purpose, match and actions in words."""

    purpose: str
    packets: str
    deeds: list[str]


class RuleExplanationList(View):
    """Explanation of the rules of an owner.

    :param because: the decision's reason in words; None if no decision is behind them.
    """

    owner: str
    because: str | None
    decision: str | None
    requester: str | None
    items: list[RuleExplanation]


class SwitchDifference(View):
    """Difference of a switch's last reported rules from the desired rules."""

    name: str
    dpid: str
    connected: bool
    missing: list[str]
    wrong: list[str] = Field(description="desired rules whose slot has a different rule of ADON")
    extra: list[str]
    blocked: list[str] = Field(description="desired rules whose slot has a foreign rule")


class DifferenceList(ListAtTime):
    """Differences between desired and reported rules, per switch."""

    items: list[SwitchDifference]


class SynchronisationView(View):
    """Switches whose rules are compared and repaired now."""

    switches: list[str] = Field(description="names of the switches")


class SentMessage(View):
    """Message to a switch, with its cause."""

    at: Time
    dpid: str
    op: str
    owner: str
    cause: str
    batch: str
    text: str


class SentMessageList(ListView):
    """Messages to switches, newest first."""

    items: list[SentMessage]


class RuleQuery(InOrder):
    """Filters of rules."""

    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    flow: str | None = Field(default=None, description="rules of this flow (f-17)")


class ExplainQuery(Query):
    """Owner of the rules to explain."""

    of: str = Field(
        pattern=r"^(f-\d{1,18}|path-\d{1,9}|switch-\d{1,9}|0x[0-9a-f]{1,16})$",
        description="flow (f-17), other owner (path-0, switch-2), or cookie as a switch prints it",
    )


class SentMessageQuery(NewestFirst):
    """Filters of messages to switches."""

    flow: str | None = Field(default=None, description="messages for this flow (f-17)")
    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    cause: str | None = Field(default=None, max_length=64, description="event that caused the message")
    limit: int = Field(default=100, ge=1, le=1000)

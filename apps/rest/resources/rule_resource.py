"""Rules: listed, explained, compared, repaired; what was sent to switches."""

from __future__ import annotations

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import InOrder
from adon.api.rules import (
    DifferenceList,
    ExplainQuery,
    RuleExplanation,
    RuleExplanationList,
    RuleList,
    RuleQuery,
    RuleView,
    SentMessage,
    SentMessageList,
    SentMessageQuery,
    SynchronisationView,
)
from adon.errors import InvalidInput, NotFound
from adon.flowvisor.rules.cookie import cookie_owner, is_our_cookie, owner_name
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule, rule_text
from adon.flowvisor.topology.path import dpid_text
from adon.store.entry_codec import slot_text
from adon.store.network_rows import SavedRule
from apps import journal
from apps.rest.authorisation import owner_filter, read_subject
from apps.rest.dispatch import handles
from apps.rest.pagination import GONE, TimePage, cut, page
from apps.rest.rule_description import describe_packets, describe_purpose, describe_steps
from apps.rest.services import services


@handles(routes.LIST_RULES)
def list_rules(query: RuleQuery) -> RuleList:
    """Return the desired rules and their states; a researcher names a flow."""
    store = services().store
    if query.flow is None:
        if owner_filter(Action.RULE_READ) is not None:
            raise InvalidInput.of("flow", "is required; expected a flow of yours, for example f-17")
    else:
        read_subject("flow", query.flow, Action.RULE_READ)
    dpid = None if query.dpid is None else int(query.dpid, 16)
    # From the last one shown on, to see that it is still there; one more tells of a next page.
    found = store.rules(dpid=dpid, owner=query.flow, first=query.after, limit=query.limit + 2)
    if query.after is not None:
        if not found or _slot(found[0]) != query.after:
            raise InvalidInput.of("after", GONE)
        found = found[1:]
    shown, following = page(found, query.limit, _slot)
    return RuleList(items=[_rule(one) for one in shown], next=following)


def _slot(saved: SavedRule) -> str:
    return slot_text(saved.rule.slot)


def _kind(entry: Entry) -> str:
    match entry:
        case Rule():
            return cookie_owner(entry.cookie)[0].name.lower()
        case GroupEntry():
            return "group"
        case MeterEntry():
            return "meter"


def _rule(saved: SavedRule) -> RuleView:
    return RuleView(
        dpid=dpid_text(saved.rule.dpid),
        state=saved.state,
        error=saved.error,
        owner=saved.owner,
        kind=_kind(saved.rule),
        text=rule_text(saved.rule),
    )


@handles(routes.RULES_DIFF)
def rules_diff(query: InOrder) -> DifferenceList:
    """Return the differences between present and desired rules; change nothing."""
    found = DifferenceList.model_validate(services().controller.call("rules.diff", {}))
    return cut(found, query, lambda one: str(one.name))


@handles(routes.RULES_SYNC)
def rules_sync() -> SynchronisationView:
    """Compare and repair the rules of every connected switch now."""
    return SynchronisationView.model_validate(services().controller.call("rules.sync", {}))


@handles(routes.EXPLAIN_RULES)
def explain_rules(query: ExplainQuery) -> RuleExplanationList:
    """Return the purpose and meaning of rules, in words; a researcher names a flow."""
    owner, wanted = _asked_about(query.of)
    store = services().store
    decision = because = requester = None
    if owner.startswith("f-"):
        flow = read_subject("flow", owner, Action.RULE_READ)
        decision, because, requester = flow.decision, flow.reason, flow.requester
    elif owner_filter(Action.RULE_READ) is not None:
        raise InvalidInput.of("of", "names no flow of yours; expected for example f-17")
    found = [one for one in store.rules(owner=owner) if wanted is None or _cookie(one.rule) == wanted]
    if not found:
        raise NotFound("rules of", query.of)
    items = [_explained(one) for one in found]
    return RuleExplanationList(
        owner=owner, because=because, decision=decision, requester=requester, items=items
    )


def _asked_about(of: str) -> tuple[str, int | None]:
    """The owner that a question names, and the cookie if it names one.

    :raises InvalidInput: for a cookie that is not ours.
    """
    if not of.startswith("0x"):
        return of, None
    cookie = int(of, 16)
    if not is_our_cookie(cookie):
        raise InvalidInput.of("of", f"{of} is not a cookie of ADON; expected one with the prefix 0xad")
    return owner_name(cookie), cookie


def _cookie(entry: Entry) -> int | None:
    return entry.cookie if isinstance(entry, Rule) else None


def _explained(saved: SavedRule) -> RuleExplanation:
    rule = saved.rule
    taken = describe_packets(rule.match) if isinstance(rule, Rule) else "packets that rules hand to it"
    return RuleExplanation(
        **_rule(saved).model_dump(),
        purpose=describe_purpose(rule),
        packets=taken,
        deeds=list(describe_steps(rule)),
    )


@handles(routes.LIST_SENT)
def list_sent(query: SentMessageQuery) -> SentMessageList:
    """Return the changes sent to switches, the newest first, each with the event that caused it."""
    sent = TimePage(query)
    lines = journal.read(
        services().journal,
        sent.limit,
        before=sent.until,
        owner=query.flow,
        dpid=query.dpid,
        cause=query.cause,
    )
    found = [SentMessage.model_validate(line) for line in lines]
    shown, following = sent.cut(found, lambda one: one.at)
    return SentMessageList(items=shown, next=following)

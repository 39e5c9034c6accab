"""Rules: listed, explained, compared, repaired; what was sent to switches."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.rules import (
    DifferenceList,
    ExplainedRule,
    Explanation,
    RuleList,
    RuleView,
    SentList,
    SentView,
    Synchronised,
)
from adon.errors import InvalidInput, NotFound
from adon.flowvisor.rules.cookie import cookie_owner, is_our_cookie, owner_name
from adon.flowvisor.rules.rule import Entry, GroupEntry, MeterEntry, Rule, rule_text
from adon.flowvisor.topology.path import dpid_text
from adon.store.entry_codec import slot_text
from adon.store.rule_rows import SavedRule
from apps import journal
from apps.rest.answers import done, json_answer
from apps.rest.api.common import Query, answers, blueprint, flow_number
from apps.rest.api.rule_words import describe_packets, describe_purpose, describe_steps
from apps.rest.guard import action, only_own
from apps.rest.owned import check_flow
from apps.rest.paging import (
    GONE,
    InOrder,
    Moment,
    NewestFirst,
    by_time,
    cut,
    listed,
    page,
    until,
    wanted,
)
from apps.rest.services import services

api = blueprint("rules", "OpenFlow rules: shown, explained, compared, repaired")


class RuleQuery(InOrder):
    """Which rules."""

    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    flow: str | None = Field(default=None, description="the rules of this flow (f-17)")


@api.get("/rules", responses=answers(200, RuleList))
@action(Action.RULE_READ)
def list_rules(query: RuleQuery) -> Response:
    """The rules that should be in the switches, and how far each has come; a researcher asks by flow."""
    store = services().store
    if query.flow is None:
        if only_own(Action.RULE_READ) is not None:
            raise InvalidInput.of("flow", "name a flow of yours, as in ?flow=f-17")
    else:
        check_flow(Action.RULE_READ, store.flow(flow_number(query.flow)))
    dpid = None if query.dpid is None else int(query.dpid, 16)
    # From the last one shown on, to see that it is still there; one more tells of a next page.
    found = store.rules(dpid=dpid, owner=query.flow, first=query.after, limit=query.limit + 2)
    if query.after is not None:
        if not found or _slot(found[0]) != query.after:
            raise InvalidInput.of("after", GONE)
        found = found[1:]
    shown, following = page(found, query.limit, _slot)
    return listed(RuleList(items=[_rule(one) for one in shown], next=following))


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


@api.get("/rules/diff", responses=answers(200, DifferenceList))
@action(Action.NETWORK_READ)
def rules_diff(query: InOrder) -> Response:
    """How the switches differ from what should be; nothing is changed (R4)."""
    return cut(differences(), query, lambda one: str(one.name))


def differences() -> DifferenceList:
    """Desired against reported rules of every switch.

    :raises Unavailable: if the controller does not answer.
    """
    return DifferenceList.model_validate(services().controller.call("rules.diff", {}))


@api.post("/rules/sync", responses=answers(202, Synchronised))
@action(Action.NETWORK_SYNC)
def rules_sync() -> Response:
    """Read every connected switch and repair it now, whatever the period says (R4)."""
    return done(synchronised(), HTTPStatus.ACCEPTED)


def synchronised() -> Synchronised:
    """Have the controller compare and repair every connected switch.

    :raises Unavailable: if the controller does not answer.
    """
    return Synchronised.model_validate(services().controller.call("rules.sync", {}))


class ExplainQuery(Query):
    """Whose rules are to be explained."""

    of: str = Field(
        pattern=r"^(f-\d{1,18}|path-\d{1,9}|switch-\d{1,9}|0x[0-9a-f]{1,16})$",
        description="a flow (f-17), another owner (path-0, switch-2), or a cookie as a switch prints it",
    )


@api.get("/rules/explain", responses=answers(200, Explanation))
@action(Action.RULE_READ)
def explain_rules(query: ExplainQuery) -> Response:
    """Why rules are there and what they do, in words; a researcher asks about flows of their own."""
    owner, wanted = _asked_about(query.of)
    store = services().store
    decision = because = requester = None
    if owner.startswith("f-"):
        flow = store.flow(flow_number(owner))
        check_flow(Action.RULE_READ, flow)
        decision, because, requester = flow.decision, flow.reason, flow.requester
    elif only_own(Action.RULE_READ) is not None:
        raise InvalidInput.of("of", "name a flow of yours, as in ?of=f-17")
    found = [one for one in store.rules(owner=owner) if wanted is None or _cookie(one.rule) == wanted]
    if not found:
        raise NotFound("rules of", query.of)
    items = [explained(one) for one in found]
    return json_answer(
        Explanation(owner=owner, because=because, decision=decision, requester=requester, items=items)
    )


def _asked_about(of: str) -> tuple[str, int | None]:
    """The owner that a question names, and the cookie if it names one.

    :raises InvalidInput: for a cookie that is not ours.
    """
    if not of.startswith("0x"):
        return of, None
    cookie = int(of, 16)
    if not is_our_cookie(cookie):
        raise InvalidInput.of("of", f"{of} is not a cookie of ours: they begin with 0xad")
    return owner_name(cookie), cookie


def _cookie(entry: Entry) -> int | None:
    return entry.cookie if isinstance(entry, Rule) else None


def explained(saved: SavedRule) -> ExplainedRule:
    """A rule with what it is for, in words."""
    rule = saved.rule
    taken = describe_packets(rule.match) if isinstance(rule, Rule) else "packets that rules hand to it"
    return ExplainedRule(
        **_rule(saved).model_dump(),
        purpose=describe_purpose(rule),
        packets=taken,
        deeds=list(describe_steps(rule)),
    )


class SentQuery(NewestFirst):
    """Which messages."""

    flow: str | None = Field(default=None, description="what was sent for this flow (f-17)")
    dpid: str | None = Field(default=None, pattern="^[0-9a-f]{16}$")
    cause: str | None = Field(default=None, max_length=64, description="the event that led to it")
    limit: int = Field(default=100, ge=1, le=1000)


@api.get("/rules/sent", responses=answers(200, SentList))
@action(Action.NETWORK_READ)
def list_sent(query: SentQuery) -> Response:
    """The changes sent to switches, the newest first, each with the event that led to it."""
    moment = Moment.of(query)
    found = _sent(query, wanted(moment, query.limit), until(moment, None))
    shown, following = by_time(found, query.limit, moment, lambda one: one.at)
    return listed(SentList(items=shown, next=following))


def sent(query: SentQuery) -> list[SentView]:
    """What was sent to switches, the newest first."""
    return _sent(query, query.limit, None)


def _sent(query: SentQuery, limit: int, before: float | None) -> list[SentView]:
    lines = journal.read(
        services().journal,
        limit,
        before=before,
        owner=query.flow,
        dpid=query.dpid,
        cause=query.cause,
    )
    return [SentView.model_validate(line) for line in lines]

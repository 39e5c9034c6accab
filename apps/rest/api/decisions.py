"""Decisions: the record of a choice, with everything it was based on."""

from __future__ import annotations

from typing import Annotated

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.base import listed_values
from adon.api.decisions import DecisionPage, DecisionView, WhyNotView
from adon.api.times import Time
from adon.broker.decision import Outcome
from adon.errors import Unavailable
from adon.store.decision_rows import DecisionFilter
from adon.values import Name
from apps.rest.answers import json_answer
from apps.rest.api.common import Address, answers, blueprint, flow_number
from apps.rest.decision_views import to_decision_summary, to_decision_view
from apps.rest.guard import action, only_own
from apps.rest.owned import check_owned
from apps.rest.paging import NewestFirst, cursor, listed, page, read_cursor
from apps.rest.services import services

api = blueprint("decisions", "What was chosen, among what, and why")


class DecisionQuery(NewestFirst):
    """Which decisions."""

    flow: str | None = Field(default=None, max_length=20, description="as in f-17")
    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    outcome: Annotated[Outcome, listed_values(Outcome)] | None = None
    path: Name | None = Field(default=None, description="the path that was chosen")
    site: Name | None = Field(default=None, description="the compute site that was chosen")
    since: Time | None = Field(default=None, description="made then or later")
    until: Time | None = Field(default=None, description="made before then")


@api.get("/decisions", responses=answers(200, DecisionPage))
@action(Action.DECISION_READ)
def list_decisions(query: DecisionQuery) -> Response:
    """Decisions about all flows, the newest first; a researcher sees those about their own."""
    wanted = DecisionFilter(
        flow=None if query.flow is None else flow_number(query.flow),
        requester=only_own(Action.DECISION_READ),
        **query.model_dump(include={"template", "outcome", "path", "site"}),
        since=query.since,
        until=query.until,
    )
    before = read_cursor(query.before, str)
    found = services().store.decisions_in_short(wanted, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda one: cursor(one.at, one.id))
    return listed(DecisionPage(items=[to_decision_summary(one) for one in shown], next=following))


class DecisionAddress(Address):
    """Which decision."""

    id: str = Field(max_length=80)


@api.get("/decisions/<id>", responses=answers(200, DecisionView))
@action(Action.DECISION_READ)
def get_decision(path: DecisionAddress) -> Response:
    """One decision: candidates with values, ages and scores, compute sites, and the reason in words."""
    store = services().store
    decision = store.decision(path.id)
    owner = store.flow(flow_number(decision.flow)).requester
    check_owned(Action.DECISION_READ, "decision", decision.id, owner)
    return json_answer(to_decision_view(decision))


@api.get("/decisions/<id>/why-not", responses=answers(200, WhyNotView))
@action(Action.DECISION_READ)
def get_why_not(path: DecisionAddress) -> Response:
    """Per path and site that was not taken, the smallest change of one quantity that would have had it taken.

    Worked out when it is first asked for, in some seconds, by making the decision again from what it saw.
    """
    store, why_nots = services().store, services().why_nots
    decision = store.decision(path.id)
    owner = store.flow(flow_number(decision.flow)).requester
    check_owned(Action.DECISION_READ, "decision", decision.id, owner)
    store.snapshot(decision.id)
    if why_nots is None:
        raise Unavailable("this web process was not told where the state is")
    return json_answer(WhyNotView.model_validate(why_nots.of(decision.id)))

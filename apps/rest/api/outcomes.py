"""Outcomes: what flows that have ended leave behind."""

from __future__ import annotations

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.flows import OutcomeList, OutcomeView
from adon.api.times import Time
from apps.rest.answers import json_answer
from apps.rest.api.common import FlowAddress, answers, blueprint
from apps.rest.flow_views import to_outcome_view
from apps.rest.guard import action, only_own
from apps.rest.owned import check_flow
from apps.rest.paging import NewestFirst, cursor, listed, page, read_cursor
from apps.rest.services import services

api = blueprint("outcomes", "What transfers that have ended were promised, got, and met on their way")


class OutcomeQuery(NewestFirst):
    """Which outcomes."""

    template: str | None = Field(default=None, max_length=80, description="soykb, or soykb@3")
    since: Time | None = Field(default=None, description="of flows that ended then or later")
    limit: int = Field(default=100, ge=1, le=1000)


@api.get("/outcomes", responses=answers(200, OutcomeList))
@action(Action.FLOW_READ)
def list_outcomes(query: OutcomeQuery) -> Response:
    """What flows left behind, those that ended last first; a researcher sees their own."""
    own = only_own(Action.FLOW_READ)
    before = read_cursor(query.before, int)
    found = services().store.outcomes(query.template, query.since, query.limit + 1, own, before)
    shown, following = page(found, query.limit, lambda one: cursor(one.ended_at, one.flow))
    return listed(OutcomeList(items=[to_outcome_view(one) for one in shown], next=following))


@api.get("/flows/<id>/outcome", responses=answers(200, OutcomeView))
@action(Action.FLOW_READ)
def get_outcome(path: FlowAddress) -> Response:
    """What a flow left behind; 404 as long as it has not ended."""
    store = services().store
    check_flow(Action.FLOW_READ, store.flow(path.number))
    return json_answer(to_outcome_view(store.outcome(path.number)))

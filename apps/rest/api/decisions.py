"""Decisions with everything that they were based on."""

from __future__ import annotations

from adon.access.policy import Action
from adon.api import routes
from adon.api.decisions import DecisionPage, DecisionQuery, DecisionSummary, DecisionView, WhyNotView
from adon.broker.decision import Decision
from adon.errors import Unavailable
from adon.store.decision_rows import DecisionFilter
from apps.rest.dispatch import handles
from apps.rest.flow_views import to_decision_view
from apps.rest.guard import only_own
from apps.rest.owned import flow_number
from apps.rest.paging import cursor, page, read_cursor
from apps.rest.services import services


@handles(routes.LIST_DECISIONS)
def list_decisions(query: DecisionQuery) -> DecisionPage:
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
    return DecisionPage(
        items=[DecisionSummary.of(one, candidates=len(one.candidates)) for one in shown], next=following
    )


@handles(routes.GET_DECISION)
def get_decision(decision: Decision) -> DecisionView:
    """One decision: candidates with values, ages and scores, compute sites, and the reason in words."""
    return to_decision_view(decision)


@handles(routes.GET_WHY_NOT)
def get_why_not(decision: Decision) -> WhyNotView:
    """Per path and site that was not taken, the smallest change of one quantity that would have had it taken.

    Worked out when it is first asked for, in some seconds, by making the decision again from what it saw.
    """
    why_nots = services().why_nots
    services().store.snapshot(decision.id)
    if why_nots is None:
        raise Unavailable("this web process was not told where the state is")
    return WhyNotView.model_validate(why_nots.of(decision.id))

"""Decisions: the record of a choice, with everything it was based on."""

from __future__ import annotations

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from apps.rest.answers import json_answer
from apps.rest.api.common import Address, answers, blueprint, flow_number
from apps.rest.guard import action, check_flow
from apps.rest.models import DecisionView
from apps.rest.services import services

api = blueprint("decisions", "What was chosen, among what, and why")


class DecisionAddress(Address):
    """Which decision."""

    id: str = Field(max_length=80)


@api.get("/decisions/<id>", responses=answers(200, DecisionView))
@action(Action.DECISION_READ)
def get_decision(path: DecisionAddress) -> Response:
    """One decision: candidates with values, ages and scores, compute sites, and the reason in words."""
    store = services().store
    decision = store.decision(path.id)
    check_flow(Action.DECISION_READ, store.flow(flow_number(decision.flow)))
    return json_answer(DecisionView.of(decision).body())

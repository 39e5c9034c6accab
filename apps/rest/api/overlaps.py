"""Conflicting runs that met: what the plan is there to prevent."""

from __future__ import annotations

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.measurements import OverlapList, OverlapView
from adon.api.times import Time
from apps.rest import seen
from apps.rest.answers import json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.guard import action
from apps.rest.measurement_views import to_execution_view
from apps.rest.services import services

api = blueprint("overlaps", "Runs of the plan that met")

LAST_S = 3600.0
MOST = 500


class OverlapQuery(Query):
    """Since when."""

    since: Time | None = Field(default=None, description="noticed then or later; an hour ago if left out")


@api.get("/overlaps", responses=answers(200, OverlapList))
@action(Action.MEASUREMENT_READ)
def get_overlaps(query: OverlapQuery) -> Response:
    """Pairs of conflicting runs that ran at the same time all the same."""
    parts = services()
    since = parts.clock() - LAST_S if query.since is None else query.since
    items = [
        OverlapView(first=to_execution_view(one), second=to_execution_view(other))
        for one, other in seen.overlaps(parts, g.actor, since)[:MOST]
    ]
    return json_answer(OverlapList(items=items))

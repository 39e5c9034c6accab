"""The part of a flow's page that advises on its transfer."""

from __future__ import annotations

from adon.broker.flow import Flow
from adon.errors import Conflict, NotFound, Unavailable
from apps.rest.advice_facts import subject_of
from apps.rest.advice_models import AdviceView
from apps.rest.api.advice import advice_view


def advice_for(flow: Flow) -> AdviceView | None:
    """The advice for a flow; None where there can be none: no TCP, no path, nobody to ask."""
    try:
        return advice_view(subject_of(flow), flow.id)
    except (Conflict, NotFound, Unavailable):
        return None

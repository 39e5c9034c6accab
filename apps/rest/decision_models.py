"""Decisions in a list: what was decided; what it was based on is at its own address."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field

from adon.broker.decision import Outcome
from adon.store.decision_rows import DecisionInShort
from apps.rest.models import NewestFirstView, View, listed_values
from apps.rest.times import Time


class DecisionSummary(View):
    """What was decided about one flow at one time."""

    id: str
    flow: str
    at: Time
    cause: str
    outcome: Annotated[Outcome, listed_values(Outcome)]
    path: str | None
    previous_path: str | None
    code: str = Field(description="the rule that led to the outcome")
    reason: str
    template: str
    compute_site: str | None
    candidates: int = Field(description="paths that it chose among")
    alarm: str | None = Field(description="the alarm that led to it, if one did")
    trigger: str | None = Field(description="the template's trigger that led to it, if one did")
    slice: str | None

    @classmethod
    def of(cls, decision: DecisionInShort) -> Self:
        """The decision in short."""
        same = {name: getattr(decision, name) for name in cls.model_fields if name != "candidates"}
        return cls(**same, candidates=len(decision.candidates))


class DecisionPage(NewestFirstView):
    """Decisions about all flows, the newest first."""

    items: list[DecisionSummary]

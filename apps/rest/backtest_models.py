"""What the API takes and answers about backtests of templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from apps.rest.backtests import Backtest, State
from apps.rest.models import NewestFirstView, TemplateBody, View
from apps.rest.times import Time


class BacktestBody(BaseModel):
    """Which version of a template is to be tried on which past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: TemplateBody
    since: Time
    until: Time | None = Field(default=None, description="now, if it is left out")


class HappenedView(View):
    """What really became of a flow."""

    paths: list[str]
    took_seconds: float | None


class ReplayedView(View):
    """What becomes of a flow with one version of the template."""

    template: str
    state: str
    refused: str
    paths: list[str]
    moves: int
    violations: int
    violated_seconds: float
    took_seconds: float | None


class ComparedView(View):
    """One flow: as it was, with today's version, with the one that is tried."""

    flow: str
    template: str
    size_bytes: int
    submitted_at: Time
    happened: HappenedView
    present: ReplayedView
    proposed: ReplayedView
    moved: bool
    saved_seconds: float | None = Field(
        description="below zero: lost; none where one of the two did not finish"
    )


class FoundView(View):
    """The comparison of the two versions."""

    present: str
    proposed: str
    model: str
    moved: int
    saved_seconds: float
    model_off_by: float | None = Field(description="median of |replayed - real| / real, with today's version")
    flows: list[ComparedView]


class BacktestView(View):
    """A backtest, and what came of it."""

    id: str
    template: str
    requester: str
    asked_at: Time
    since: Time
    until: Time
    state: State
    ended_at: Time | None
    cause: str = Field(description="why it failed")
    found: FoundView | None

    @classmethod
    def of(cls, one: Backtest) -> Self:
        """The backtest as it is answered."""
        same = ("id", "template", "requester", "asked_at", "since", "until", "state", "ended_at", "cause")
        found = None if one.found is None else _found(one.found)
        return cls(**{name: getattr(one, name) for name in same}, found=found)


class BacktestSummary(View):
    """A backtest without what came of it."""

    id: str
    template: str
    requester: str
    asked_at: Time
    since: Time
    until: Time
    state: State
    ended_at: Time | None
    cause: str

    @classmethod
    def of(cls, one: Backtest) -> Self:
        """The backtest as it is listed."""
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class BacktestList(NewestFirstView):
    """Backtests, the newest first."""

    items: list[BacktestSummary]


def _found(body: Mapping[str, Any]) -> FoundView:
    """The comparison out of the command's JSON, which tells ``since`` and ``until`` as well."""
    return FoundView.model_validate({name: body[name] for name in FoundView.model_fields})

"""The state of ADON's own parts, its version and its controllers."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from adon.api.base import ListView, View
from adon.api.times import Time


class Health(View):
    """Whether this process, or what it needs, works."""

    status: Literal["ok"]
    checks: dict[str, str] = Field(default={})


class PartState(StrEnum):
    """How a part is; from the best to the worst."""

    OK = "ok"
    DEGRADED = "degraded"
    AWAY = "away"


class PartStanding(View):
    """A process, a database, or what is connected to them."""

    name: str
    state: PartState
    since: Time | None = Field(description="in this state, as far as the web process knows")
    text: str = Field(description="what is the matter, in words; empty if all is well")
    data_at: Time | None = Field(default=None, description="of when its latest data are")
    data_age_seconds: float | None = None
    figures: dict[str, Any] = Field(default={}, description="numbers by name, with the unit in it")


class StandingView(View):
    """ADON part by part; the state is that of the worst part that flows need."""

    at: Time
    state: PartState
    parts: list[PartStanding]


class VersionOfAdon(View):
    """Which version of ADON answers."""

    version: str
    code: str = Field(description="a digest of the source that decides")
    api: str
    schema_revision: str = Field(description="of the state's database")
    python: str


class ControllerView(View):
    """A controller that is active, or was the last to be."""

    name: str
    active: bool
    generation: int = Field(description="grows at every change of the active controller")
    lease_s: float | None = Field(description="how long its lease still runs; null without high availability")


class ControllerList(ListView):
    """The active controller; none where none has run."""

    items: list[ControllerView]

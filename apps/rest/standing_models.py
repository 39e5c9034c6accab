"""What the API answers about how ADON itself is, part by part, and which version it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from apps.rest.models import View
from apps.rest.times import Time


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

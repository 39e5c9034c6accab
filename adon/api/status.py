"""The state of ADON's own parts, its version and its controllers."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, field_validator

from adon.api.base import ListView, Query, Time, View


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


EVENT_KINDS = ("alarm", "notice", "announce", "flow", "decision", "path")
"""``alarm``, ``notice`` and ``path`` come from the collector, the others from the controller."""
LONGEST_STREAM_S = 300.0
"""Seconds after which an event stream ends; clients open it again by themselves, where they left off."""


class EventQuery(Query):
    """Duration and kinds of an event stream."""

    seconds: float = Field(
        default=LONGEST_STREAM_S, gt=0, le=LONGEST_STREAM_S, description="duration of the stream in seconds"
    )
    kinds: str | None = Field(
        default=None, max_length=200, description=f"only these, separated by commas: {', '.join(EVENT_KINDS)}"
    )

    @field_validator("kinds")
    @classmethod
    def _known(cls, text: str | None) -> str | None:
        for kind in [] if text is None else text.split(","):
            if kind not in EVENT_KINDS:
                raise ValueError(f"{kind[:40]!r} is not one of {', '.join(EVENT_KINDS)}")
        return text

"""State of ADON's own parts, its version and its controllers."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, field_validator

from adon.api.base import ListView, Query, Time, View


class Health(View):
    """Health of this process and its dependencies."""

    status: Literal["ok"]
    checks: dict[str, str] = Field(default={})


class PartState(StrEnum):
    """State of a part, best first."""

    OK = "ok"
    DEGRADED = "degraded"
    AWAY = "away"


class PartStatus(View):
    """State of a process, a database, or a connected system."""

    name: str
    state: PartState
    since: Time | None = Field(description="start of this state, as known to the web process")
    text: str = Field(description="reason in words; empty in the state ok")
    data_at: Time | None = Field(default=None, description="time of its latest data")
    data_age_seconds: float | None = None
    figures: dict[str, Any] = Field(default={}, description="numbers by name, which contains the unit")


class StatusView(View):
    """State of all parts; the overall state is the worst state of a part that flows require."""

    at: Time
    state: PartState
    parts: list[PartStatus]


class VersionOfAdon(View):
    """Version of ADON."""

    version: str
    code: str = Field(description="digest of the source of the decision code")
    api: str
    schema_revision: str = Field(description="schema of the state database")
    python: str


class ControllerView(View):
    """Present or last active controller."""

    name: str
    active: bool
    generation: int = Field(description="number that grows at every change of the active controller")
    lease_s: float | None = Field(description="remaining time of its lease; null without high availability")


class ControllerList(ListView):
    """Active controller; empty if no controller has run."""

    items: list[ControllerView]


EVENT_KINDS = ("alarm", "notice", "announce", "flow", "decision", "path")
"""``alarm``, ``notice`` and ``path`` come from the collector, the others from the controller."""
LONGEST_STREAM_S = 300.0
"""Seconds after which an event stream ends; clients reconnect at the last event."""


class EventQuery(Query):
    """Duration and kinds of an event stream."""

    seconds: float = Field(
        default=LONGEST_STREAM_S, gt=0, le=LONGEST_STREAM_S, description="duration of the stream in seconds"
    )
    kinds: str | None = Field(
        default=None,
        max_length=200,
        description=f"only these, separated by commas: {', '.join(EVENT_KINDS)}",
    )

    @field_validator("kinds")
    @classmethod
    def _known(cls, text: str | None) -> str | None:
        for kind in [] if text is None else text.split(","):
            if kind not in EVENT_KINDS:
                raise ValueError(f"{kind[:40]!r} is unknown; expected some of {','.join(EVENT_KINDS)}")
        return text

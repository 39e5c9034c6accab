"""Maintenance windows and rehearsed failures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from adon.api.base import Body, InOrder, ListView, PathDirection, Query, Time, View, enumeration_schema
from adon.broker.maintenance import Scope, Stage
from adon.broker.scenario import Failure
from adon.units import Duration
from adon.values import Name


class WindowBody(Body):
    """Maintenance window to create."""

    scope: Annotated[Scope, enumeration_schema(Scope)] = Field(description="kind of the object to close")
    name: Name = Field(description="its name in the configuration")
    begins: Time
    ends: Time
    lead: Duration = Field(default=600.0, description="time before the start for rerouting")
    note: str = Field(default="", max_length=200)

    def request(self) -> dict[str, Any]:
        """Return the request to the controller; times in seconds since the epoch."""
        times = {"begins": self.begins, "ends": self.ends, "lead": f"{self.lead!r} s"}
        return {"scope": self.scope.value, "name": self.name, "note": self.note, **times}


class WindowView(View):
    """Maintenance window."""

    id: str
    scope: Annotated[Scope, enumeration_schema(Scope)]
    name: str
    begins: Time
    ends: Time
    lead_seconds: float
    note: str
    requester: str
    stage: Annotated[Stage, enumeration_schema(Stage)]


class WindowList(ListView):
    """Maintenance windows, in the order of their creation."""

    items: list[WindowView]


class AffectedView(View):
    """Effect of a failure on a flow."""

    flow: str
    requester: str
    priority: int
    bound_bps: float
    path: str = Field(alias="from", description="present path")
    to: str | None
    outcome: Literal["moves", "stays", "queues"]
    q: float | None
    estimate_bps: float | None
    quality: str = Field(description="met, degraded or unknown; null for a flow without a path")
    why: str

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class LoadView(PathDirection):
    """Sum of the throughput bounds on a directed path, before and after the failure."""

    capacity_bps: float
    carries_bps: float
    before_bps: float
    after_bps: float
    down: bool


class RehearsalView(View):
    """Effects of one failure on the running flows."""

    failure: Failure
    name: str
    verdict: Literal["fine", "unknown", "broken"]
    broken: int = Field(description="flows whose QSpec would be violated")
    paths: list[str] = Field(description="paths that would be down")
    flows: list[AffectedView]
    loads: list[LoadView]


class RehearsalList(View):
    """Rehearsed failures, most severe first."""

    at: Time
    items: list[RehearsalView]


class WindowQuery(InOrder):
    """Filter of maintenance windows."""

    all: bool = Field(default=False, description="include windows that have ended or were cancelled")


class WhatIfQuery(Query):
    """Failure to rehearse; every single failure by default."""

    failure: Failure | None = None
    name: str | None = Field(
        default=None,
        max_length=200,
        description="a link, path or switch; SWITCH:PORT; m-3, or path:, link:, switch:, site: and a name",
    )

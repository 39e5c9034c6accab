"""The queue of flows, and reservations of resources."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from adon.api.base import Body, InOrder, ListAtTime, ListView, Time, View, listed_values
from adon.api.flows import FlowView
from adon.broker.resources.reservation import Stage
from adon.timestamps import When
from adon.units import Rate, Size
from adon.values import Name


class QueueView(ListAtTime):
    """The waiting flows, first to be served first; of very many the first 1 000."""

    waiting: int = Field(default=0, description="all that wait, anybody's")
    items: list[FlowView]


class WaitingView(View):
    """What a waiting flow waits for."""

    id: str
    at: Time
    phase: str = Field(description="asleep, calm, hurried (its deadline is near) or due (reserved)")
    before: int = Field(description="flows that are before it")
    waiting: int = Field(description="all flows that wait")
    expires_at: Time | None
    not_overtaken_from: Time | None = Field(description="a flow that comes later is never before it")
    claims: bool = Field(description="what it waits for is kept for it")
    waits_for: list[str]


_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class ReservationBody(Body):
    """Request to reserve resources of one site or path."""

    compute: Name | None = Field(default=None, description="a compute site, or else a path")
    path: Name | None = None
    source: Name | None = Field(default=None, description="the site that the path leads from")
    destination: Name | None = Field(default=None, description="the site that the path leads to")
    begins: When | None = Field(default=None, description="at once, if it is left out")
    ends: When
    worker_nodes: _Count = 0
    cores: _Count = 0
    gpus: _Count = 0
    memory: Size = 0
    storage: Size = 0
    bandwidth: Rate = 0.0
    flow: str | None = Field(default=None, max_length=20, description="for this flow of one's own alone")
    note: str = Field(default="", max_length=200)


class ReservationView(View):
    """A reservation."""

    id: str
    stage: Annotated[Stage, listed_values(Stage)]
    compute: str | None
    path: str | None
    source: str | None
    destination: str | None
    worker_nodes: int
    cores: int
    gpus: int
    memory_bytes: int
    storage_bytes: int
    bandwidth_bps: int
    begins: Time
    ends: Time
    owner: str
    flow: str | None
    note: str
    words: str = Field(description="all of it in one line")


class ReservationList(ListView):
    """Reservations, in the order in which they were made."""

    items: list[ReservationView]


class ReservationQuery(InOrder):
    """Filter of reservations."""

    all: bool = Field(default=False, description="include reservations that have ended or were released")

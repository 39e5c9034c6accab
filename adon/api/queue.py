"""The queue of flows, and reservations of resources."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from adon.api.base import Body, InOrder, ListAtTime, ListView, Time, View, enumeration_schema
from adon.api.flows import FlowView
from adon.broker.resources.reservation import Stage
from adon.timestamps import When
from adon.units import Rate, Size
from adon.values import Name


class QueueView(ListAtTime):
    """Waiting flows in the order of service; at most the first 1 000."""

    waiting: int = Field(default=0, description="number of all waiting flows, of all users")
    items: list[FlowView]


class WaitingView(View):
    """State of a waiting flow."""

    id: str
    at: Time
    phase: str = Field(description="asleep, calm, hurried (close to its deadline) or due (reserved)")
    before: int = Field(description="number of flows before it")
    waiting: int = Field(description="number of waiting flows")
    expires_at: Time | None
    not_overtaken_from: Time | None = Field(description="whether no later flow can overtake it")
    claims: bool = Field(description="whether the resource that it waits for is claimed for it")
    waits_for: list[str]


_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class ReservationBody(Body):
    """Request to reserve resources of one site or path."""

    compute: Name | None = Field(default=None, description="kind of the resource: compute site or path")
    path: Name | None = None
    source: Name | None = Field(default=None, description="source site of the path")
    destination: Name | None = Field(default=None, description="destination site of the path")
    begins: When | None = Field(default=None, description="start; by default now")
    ends: When
    worker_nodes: _Count = 0
    cores: _Count = 0
    gpus: _Count = 0
    memory: Size = 0
    storage: Size = 0
    bandwidth: Rate = 0.0
    flow: str | None = Field(default=None, max_length=20, description="own flow that the reservation is for")
    note: str = Field(default="", max_length=200)


class ReservationView(View):
    """A reservation."""

    id: str
    stage: Annotated[Stage, enumeration_schema(Stage)]
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
    words: str = Field(description="summary in one line")


class ReservationList(ListView):
    """Reservations, in the order of their creation."""

    items: list[ReservationView]


class ReservationQuery(InOrder):
    """Filter of reservations."""

    all: bool = Field(default=False, description="include reservations that have ended or were released")

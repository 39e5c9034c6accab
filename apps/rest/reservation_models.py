"""What the API answers about resources: compute sites with what is free of them, and reservations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from adon.broker.forecasting.calibration import Calibration
from adon.broker.resources.reservation import Reservation, Stage
from adon.broker.resources.reserving import as_json
from adon.timestamps import When
from adon.units import Rate, Size
from adon.values import Name
from apps.rest.api.common import flow_number
from apps.rest.models import ListView, View, listed_values
from apps.rest.times import Time

_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class ReservationBody(BaseModel):
    """Resources of one place that are to be kept for whoever asks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    def request(self, now: float) -> dict[str, Any]:
        """What the controller is asked; times in seconds since the epoch.

        :raises NotFound: for what cannot be a flow's id.
        """
        asked = self.model_dump(mode="json", exclude={"begins", "ends", "flow"}, exclude_none=True)
        begins = None if self.begins is None else self.begins.seen_from(now)
        times = {"begins": begins, "ends": self.ends.seen_from(now)}
        return {**asked, **times, "flow": None if self.flow is None else flow_number(self.flow)}


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

    @classmethod
    def of(cls, reservation: Reservation, now: float) -> Self:
        """The reservation as it is at this time."""
        return cls.answered(as_json(reservation, now))

    @classmethod
    def answered(cls, body: Mapping[str, Any]) -> Self:
        """The reservation as the controller answered it."""
        units = {"memory_bytes": "memory", "storage_bytes": "storage", "bandwidth_bps": "bandwidth"}
        return cls.model_validate({**body, **{name: body[field] for name, field in units.items()}})


class ReservationList(ListView):
    """Reservations, in the order in which they were made."""

    items: list[ReservationView]


class SiteResourcesView(View):
    """A compute site: what it has, what flows hold of it, what is free for anybody now.

    Resources by name; one that is not limited, or of which nothing is known, is not named.
    """

    name: str
    campus: str
    limits: dict[str, int]
    held: dict[str, int]
    free: dict[str, int]
    flows: list[str] = Field(description="who holds something of it")
    overdrawn: list[str] = Field(description="what is promised now and not there")
    node_rate_bps: float
    queue_wait_seconds: float | None = Field(description="none: no resource there is ours to use")
    queue_wait_deviation_seconds: float | None
    price_per_node_hour: float
    origin: str
    why: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """A site of the controller's snapshot as it is answered."""
        units = {"node_rate_bps": "node_rate", "queue_wait_seconds": "queue_wait"}
        units |= {"queue_wait_deviation_seconds": "queue_wait_deviation"}
        return cls.model_validate({**entry, **{name: entry[field] for name, field in units.items()}})


class SiteResourcesList(ListView):
    """All compute sites at one moment."""

    at: Time
    items: list[SiteResourcesView]


class CurvePoint(View):
    """Of the intervals that should hold so many truths, so many did."""

    nominal: float
    observed: float


class CalibrationView(View):
    """How well the forecasts of some finished flows held.

    ``least`` and ``most`` bound the coverage with 95 % confidence; ``bias`` and ``error`` are the median of
    (expected - took) / took and of its size; ``score`` is the median interval score over what was taken.
    """

    flows: str = Field(description="all, at once, after a wait")
    count: int
    nominal: float
    covered: float
    least: float
    most: float
    bias: float
    error: float
    score: float | None
    curve: list[CurvePoint]

    @classmethod
    def of(cls, flows: str, found: Calibration) -> Self:
        """The calibration as it is answered."""
        same = ("count", "nominal", "covered", "least", "most", "bias", "error")
        return cls(
            flows=flows,
            **{name: getattr(found, name) for name in same},
            score=found.score if math.isfinite(found.score) else None,
            curve=[CurvePoint(nominal=level, observed=share) for level, share in found.curve],
        )


class CalibrationList(View):
    """Forecasts of all finished flows, and apart of those that ran at once and that had waited."""

    items: list[CalibrationView]

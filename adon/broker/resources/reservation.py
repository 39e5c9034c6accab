"""Reservations: resources of one place that are kept for somebody from one time until another.

A reservation belongs to a person, and is for all flows of that person, or for one of them alone.  It does
not hold anything itself: flows that it is for draw on it, others find it taken.  It begins and expires by
itself.  Times are seconds since the epoch; no clock is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from adon.broker.resources.amounts import Amounts, Place, whole_rate
from adon.errors import InvalidFields
from adon.units import Rate, Size
from adon.values import Name, Value

LONGEST_S = 31 * 86_400.0
"""A reservation of more than a month is a slip of the pen: resources that are never free are the site's to
give."""

FARTHEST_S = 366 * 86_400.0
"""One that ends in more than a year is one, too."""

_COMPUTE = ("worker_nodes", "cores", "memory", "gpus", "storage")
_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class Stage(StrEnum):
    """Where a reservation is in its life."""

    AHEAD = "ahead"
    ACTIVE = "active"
    OVER = "over"
    RELEASED = "released"


class ReservationRequest(Value):
    """What somebody asks for; times in seconds since the epoch.

    Either ``compute`` names a compute site, or ``path`` with ``source`` and ``destination`` (sites) one
    direction of a path.

    :param begins: from when on; at once if it is None.
    :param flow: the number of the one flow that it is for; all of its owner's flows if it is None.
    """

    compute: Name | None = None
    path: Name | None = None
    source: Name | None = None
    destination: Name | None = None
    begins: Annotated[float, Field(ge=0)] | None = None
    ends: Annotated[float, Field(ge=0)]
    worker_nodes: _Count = 0
    cores: _Count = 0
    gpus: _Count = 0
    memory: Size = 0
    storage: Size = 0
    bandwidth: Rate = 0.0
    flow: Annotated[int, Field(ge=1)] | None = None
    note: str = Field(default="", max_length=200)

    @model_validator(mode="after")
    def _of_one_place(self) -> Self:
        wrong: list[str] = []
        if (self.compute is None) is (self.path is None):
            wrong.append("compute: or path is required, not both; for example osu-hpc")
        ends = (self.source, self.destination)
        if self.path is not None and None in ends:
            wrong.append("source: and destination are required with a path; for example mu")
        if self.compute is not None:
            if ends != (None, None):
                wrong.append("source: goes with a path; expected no source and destination")
            if self.bandwidth:
                wrong.append("bandwidth: a compute site has none; expected worker_nodes, for example 8")
        elif any(getattr(self, name) for name in _COMPUTE):
            wrong.append("path: a path has bandwidth only; expected for example 700 Mbps")
        if not self.amounts:
            wrong.append(
                "compute: no amount; for example worker_nodes: 8"
                if self.path is None
                else "bandwidth: is zero; for example 700 Mbps"
            )
        if self.begins is not None and self.ends <= self.begins:
            wrong.append("ends: is not after begins; expected a later time, for example 24 h")
        if wrong:
            raise InvalidFields(wrong)
        return self

    @property
    def place(self) -> Place:
        """What it is of."""
        return Place(self.compute or "", self.path or "", self.source or "", self.destination or "")

    @property
    def amounts(self) -> Amounts:
        """How much."""
        bandwidth = whole_rate(self.bandwidth)
        return Amounts(self.worker_nodes, self.cores, self.memory, self.gpus, self.storage, bandwidth)


@dataclass(frozen=True, slots=True)
class Reservation:
    """One reservation; replaced as a whole when it is released.

    :param flow: the number of the one flow that it is for, if it is for one.
    """

    number: int
    place: Place
    amounts: Amounts
    begins: float
    ends: float
    owner: str
    flow: int | None = None
    note: str = ""
    asked_at: float = 0.0
    released_at: float | None = None

    @property
    def id(self) -> str:
        """``r-3``: how it is named at the borders."""
        return f"r-{self.number}"

    def stage(self, now: float) -> Stage:
        """Where it is in its life at this time."""
        if self.released_at is not None:
            return Stage.RELEASED
        if now >= self.ends:
            return Stage.OVER
        return Stage.ACTIVE if now >= self.begins else Stage.AHEAD

    @property
    def for_whom(self) -> str:
        """``f-17 of ann``, or ``ann``."""
        return self.owner if self.flow is None else f"f-{self.flow} of {self.owner}"

    @property
    def words(self) -> str:
        """``reservation r-3 (4 worker nodes of osu-hpc for ann, 2026-11-21 02:00 to 04:00 UTC)``."""
        what = f"{self.amounts.words} of {self.place.words} for {self.for_whom}"
        return f"reservation {self.id} ({what}, {period_text(self.begins, self.ends)})"


def period_text(begins: float, ends: float) -> str:
    """``2026-11-21 02:00 to 04:00 UTC``."""
    first, last = (datetime.fromtimestamp(at, UTC) for at in (begins, ends))
    until = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} to {until} UTC"


def moment_text(at: float) -> str:
    """``2026-11-21 02:00:05 UTC``."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
